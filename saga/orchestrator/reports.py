"""What an owner that lost its run still knows: proof, brought like everybody else's."""

from __future__ import annotations

from collections.abc import Callable

from saga.machine.commands import Command, ProbeAnswer, Reply, Report
from saga.orchestrator.held import Held

__all__ = ["as_report"]


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
