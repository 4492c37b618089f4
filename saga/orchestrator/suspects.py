"""Who is near its last death: calls that were out each time that their process died.

Everything that was under way beside the one that kills has died with it as often. Therefore those
that one more death would set aside are sent one at a time: it then tells which of them it was.
"""

from __future__ import annotations

from saga.machine.state import Action
from saga.machine.ways import contract_of
from saga.orchestrator.held import Held

__all__ = ["Suspects"]


class Suspects:
    """Lets one run at a time send what may kill its process; the others wait for it."""

    def __init__(self) -> None:
        self._alone: Held | None = None
        self._waiting: dict[str, Held] = {}

    def blocks(self, run: Held, action: Action | None) -> bool:
        """Whether sending an action again has to wait for another one."""
        if action is None or not action.crashes:
            return False
        if action.crashes < contract_of(run.saga.spec, action).retry.crashes - 1:
            return False
        if self._alone is None or self._alone is run or not _is_out(self._alone):
            self._alone = run
            self._waiting.pop(run.run_id, None)
            return False
        self._waiting[run.run_id] = run
        return True

    def next(self) -> Held | None:
        """The run that waits for longest, once no call of the one before it is out."""
        if not self._waiting or (self._alone is not None and _is_out(self._alone)):
            return None
        return self._waiting.pop(next(iter(self._waiting)))

    def forget(self, run: Held) -> None:
        """It is not ours any more."""
        self._waiting.pop(run.run_id, None)
        if self._alone is run:
            self._alone = None


def _is_out(run: Held) -> bool:
    """Whether a call has begun, or is about to. One beyond its time that keeps a thread is over."""
    attempts = (one for action in run.state.active.values() for one in action.open.values())
    return bool(run.writing or run.stale) or any(attempt.in_flight for attempt in attempts)
