"""Exit codes: what a script can tell apart."""

from __future__ import annotations

from saga.errors import (
    BadInput,
    Conflict,
    DatabaseError,
    DefinitionError,
    NotAllowed,
    SagaError,
    Tampered,
    UnknownCase,
    UnknownRun,
)

__all__ = [
    "BUG",
    "DONE",
    "FOUND",
    "INTERRUPTED",
    "OTHERWISE",
    "PERSON",
    "TIMED_OUT",
    "USAGE",
    "code_of",
]

DONE = 0
BUG = 1
USAGE = 2
FOUND = 7  # check, verify or health found something
OTHERWISE = 8  # the run has ended other than completed
PERSON = 9  # the run waits for a person
TIMED_OUT = 10
INTERRUPTED = 130

_CODES: tuple[tuple[type[SagaError], int], ...] = (
    (BadInput, USAGE),
    (UnknownRun, 3),
    (UnknownCase, 3),
    (Conflict, 4),
    (NotAllowed, 5),
    (DatabaseError, 6),
    (DefinitionError, FOUND),
    (Tampered, FOUND),
)


def code_of(error: BaseException) -> int:
    """The exit code of an error; `BUG` for one that nobody has foreseen."""
    if isinstance(error, TimeoutError):
        return TIMED_OUT
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    return USAGE if isinstance(error, SagaError) else BUG
