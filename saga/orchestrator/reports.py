"""What an owner that lost its run still knows: proof, brought like everybody else's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from saga.errors import SagaError
from saga.journal.database import Database
from saga.journal.definitions import Specs
from saga.journal.transact import ask
from saga.machine.commands import Command, ProbeAnswer, Reply, Report
from saga.orchestrator.held import Held

__all__ = ["as_report", "bring"]

_log = logging.getLogger("saga")


def as_report(run: Held, command: Command) -> Callable[[float], Report] | None:
    """A reply or a probe's answer as a report; `None` if it proves nothing."""
    if isinstance(command, Reply) and command.result in ("landed", "refused", "not_sent"):
        attempt, result, error = command.attempt, command.result, command.error
    elif isinstance(command, ProbeAnswer) and command.answer == "landed":
        attempt, result, error = 0, "landed", None
    else:
        return None
    action, receipt = run.state.actions[command.key], command.receipt
    return lambda at: Report(
        at=at,
        key=action.key,
        digest=action.digest,
        attempt=attempt,
        result=result,
        receipt=receipt,
        error=error,
    )


async def bring(
    database: Database, specs: Specs, run_id: str, report: Callable[[float], Report]
) -> None:
    """Append a report to a run, like any client would. Raises nothing."""
    try:
        answered = await asyncio.to_thread(ask, database, specs, run_id, report)
    except SagaError as error:
        _log.warning("run %s: what we know of it could not be reported: %s", run_id, error)
    else:
        if answered.rejected is not None:
            _log.debug("run %s: %s", run_id, answered.rejected.text)
