"""What is wrong with the database: said once, not at every look, and once that it is over."""

from __future__ import annotations

import logging

from saga.errors import SagaError

__all__ = ["Complaint"]

_log = logging.getLogger("saga")


class Complaint:
    """The last thing that the orchestrator `who` has said of it."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._text = ""

    def about(self, error: Exception) -> None:
        """Log it, unless it is what was said before. With its traceback where it is a bug."""
        if str(error) != self._text:
            self._text = str(error)
            bug = not isinstance(error, SagaError)
            _log.error("orchestrator %s: %s", self._who, error, exc_info=bug)

    def over(self) -> None:
        """The database has answered; whoever reads the log last should know."""
        if self._text:
            self._text = ""
            _log.info("orchestrator %s: the database answers again", self._who)
