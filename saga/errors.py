"""What can go wrong, by what the caller can do about it.

Every error says what is wrong, which thing it concerns and what to do next. `SagaError` is the
common base; anything else that leaves this package is a bug in it.
"""

from __future__ import annotations

__all__ = [
    "BadInput",
    "Conflict",
    "DatabaseError",
    "DefinitionError",
    "NotAllowed",
    "SagaError",
    "Tampered",
    "UnknownCase",
    "UnknownRun",
]


class SagaError(Exception):
    """Base of all errors of this package. `remedy` says what to do, if the text does not.

    What it quotes of damaged rows may be bytes that are no text: every log and file can take it.
    """

    def __init__(self, message: str, *, remedy: str = "") -> None:
        self.message = message.encode("utf-8", "backslashreplace").decode()
        super().__init__(self.message)
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}. {self.remedy}" if self.remedy else self.message


class DefinitionError(SagaError):
    """The saga cannot be defined like this. `code` is stable, `remedy` says what to write."""

    def __init__(self, code: str, message: str, *, remedy: str) -> None:
        super().__init__(message, remedy=remedy)
        self.code = code


class BadInput(SagaError, ValueError):
    """A run id, an input or a size that cannot be taken. Nothing was created."""


class Conflict(SagaError):
    """Something else is there already, or was faster: read again, then decide again.

    An effect may raise it too: the provider has this key with another body. That is unknown to
    the machine and goes to a person at once.
    """


class UnknownRun(SagaError):
    """There is no run with this id in this database."""


class UnknownCase(SagaError):
    """There is no case with this id in this database."""


class NotAllowed(SagaError):
    """Not possible in the present state. `rejection` is the stable name of the reason."""

    def __init__(self, rejection: str, message: str, *, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.rejection = rejection


class DatabaseError(SagaError):
    """The database cannot be opened, read or written as it is."""


class Tampered(SagaError):
    """A record, seal or projection does not verify. The run is set aside; nothing is repaired."""
