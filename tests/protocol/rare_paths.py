"""What must have happened somewhere, or a search that finds nothing wrong has proved nothing.

Parts of the labels of moves. They are asserted where all laws hold: the small configurations in the
tests, the whole ones in `__main__`.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["RARE_PATHS", "never_taken"]

RARE_PATHS = (
    "crashes",
    "takes the paused",
    "drops its memory",
    "the owner is slow",
    "commit in doubt, it was committed",
    "commit in doubt, it was not committed; a locking read says so",
    "finds that it owns the run, takes it up",
    "cannot connect",
    "is lost on the way",
    "the reply is lost",
    "its request is still on its way",
    "a copy stays under way",
    "stalls",
    "after send_by",
    "reaches the provider, is refused",
    "reports as evidence: step 1#1 landed",
    "reports as evidence: step 1#1 not_sent",
    "reports as evidence: step 2#1 refused",
    "a webhook reports that step 1 landed",
    "a webhook reports that step 1/undo landed",
    "cancel is recorded",
    "deadline is recorded",
    "nothing of it has left",
    "resent inside key life",
    "absent by protocol",
    "it was absent",
    "again, since the proof was old, absent by protocol",
    "a person asked for it",
    "step 1~2",
    "step 1/undo~2",
    "without a receipt",
    "opens a case for step 1: unknown",
    "opens a case for step 1: exhausted",
    "opens a case for step 1/undo: unknown",
    "opens a case for step 1/undo: undo_refused",
    "opens a case for step 1/undo: undo_exhausted",
    "a person looks at the case of step 1: late",
    "a person looks at the case of step 1/undo: late",
    "a person decides probe",
    "a person decides retry for step 1/undo",
    "a person decides landed",
    "a person decides absent",
    "a person decides undone for step 1/undo",
    "a person decides accept",
    "a person decides too late",
    "since a person asked",
    "learns nothing",
    "watches and finds late",
    "ends the watch",
)


def never_taken(labels: Iterable[str]) -> list[str]:
    taken = set(labels)
    return [path for path in RARE_PATHS if not any(path in label for label in taken)]
