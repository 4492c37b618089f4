"""Asking something of a run from outside: a cancel, a report. It answers as a run, or an error."""

from __future__ import annotations

from collections.abc import Callable

from saga.errors import Conflict, NotAllowed, SagaError
from saga.inquiries.alive import alive
from saga.inquiries.runs import noticed
from saga.inquiries.source import Source
from saga.journal.transact import ask
from saga.machine.commands import Command, Rejected, Rejection
from saga.views import Run, run_view

__all__ = ["asked"]


def asked(
    source: Source, run_id: str, letter: Callable[[float], Command], *, unchanged: Rejection
) -> Run:
    """The run after a command. Turned down for `unchanged`, it is given as it is.

    Raises `UnknownRun`, `NotAllowed`, `Conflict`, `Tampered`.
    """
    answered = ask(source.database(), source.specs(), run_id, letter)
    if answered.rejected is not None and answered.rejected.reason is not unchanged:
        raise _refusal(answered.rejected)
    live = source.read(lambda connection: alive(connection, source))
    return noticed(run_view(answered.history), live)


def _refusal(rejected: Rejected) -> SagaError:
    if rejected.reason is Rejection.WRONG_DIGEST:
        return Conflict(rejected.text)
    return NotAllowed(rejected.reason.value, rejected.text)
