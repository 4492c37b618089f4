"""What a hostile provider may do with a request: each mood a small thing with a name.

What is done is a hash of the seed, the key and the number of the attempt or question, so that a run
is the same whatever the order in which requests arrive. A `Mood` is about one request; a `Trait` is
a promise about keys, stragglers or answers that the provider breaks for a key, in some runs only
(`breaks_promises`). An item of a list is a request of its own: where the provider breaks down under
a list, it applies some of the items that are in flight, and none of them is answered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = [
    "ACTING",
    "AGAIN",
    "ANSWERING",
    "ECHOES",
    "HALVES",
    "IN_FLIGHT",
    "KEY_LIFE",
    "LATE_UNTIL",
    "TIMEOUT",
    "TRAITS",
    "VISIBLE_AFTER",
    "Mood",
    "Trait",
    "acting",
    "answering",
    "breaks_down",
    "breaks_promises",
    "chance",
    "is_applied",
    "moods_of",
    "own_part",
    "trait_of",
]

# What the provider declares (sagas.py) and keeps in every run whose promises are kept. Seconds.
TIMEOUT = 0.4
IN_FLIGHT = 0.25
VISIBLE_AFTER = 0.1
LATE_UNTIL = 1.0
KEY_LIFE = 2.4

_BROKEN_RUNS = 0.3  # how many runs meet broken promises
_BROKEN_KEYS = 0.5  # and how many keys of those runs
_BROKEN_LISTS = 0.4  # under how many lists the provider breaks down


@dataclass(frozen=True)
class Mood:
    """One way to treat a request. `weight` says how often, beside the others.

    `acts`: now, soon (within the time-out), late (within `in_flight` of the deadline), straggling
    (within `late_until`, and nobody knows of it before), long (the same, and it says that it is in
    progress), half (now or never, by the item) or never. `says`, of an action: receipt, nothing,
    hang_up, half (of a line), too_late (after the time-out), error, refused, busy, wrong_key,
    wrong_digest, anothers (receipt); of a question: truth, stale, cannot_say and the like.
    `stored`: what is said is kept under the key and said again, where keys are honoured.
    """

    name: str
    weight: float
    acts: str = "never"
    says: str = "receipt"
    stored: bool = False


_UNHEARD = Mood("acts when nobody listens", 4, "late", "nothing")

ACTING = (
    Mood("prompt", 45, "now"),
    Mood("slow", 4, "soon"),
    Mood("accepts and hangs", 3, "never", "nothing"),
    _UNHEARD,
    Mood("straggles", 3, "straggling", "nothing"),
    Mood("works for long", 2, "long", "nothing"),
    Mood("loses the request", 3, "never", "hang_up"),
    Mood("loses the reply", 4, "now", "hang_up"),
    Mood("answers half a line", 2, "now", "half"),
    Mood("answers after the time-out", 3, "now", "too_late"),
    Mood("an error, and nothing done", 2, "never", "error"),
    Mood("an error, though it is done", 2, "now", "error", stored=True),
    Mood("replays an error", 2, "never", "error", stored=True),
    Mood("refuses", 5, "never", "refused", stored=True),
    Mood("not now", 4, "never", "busy"),
)
"""What an action may meet where promises are kept."""

AGAIN = (Mood("refuses what was sent before", 10, "never", "refused", stored=True),)
"""Further ones for a second attempt, the first of which may still land."""

ECHOES = (
    Mood("echoes another key", 4, "now", "wrong_key"),
    Mood("echoes another digest", 4, "now", "wrong_digest"),
    Mood("gives the receipt of another", 4, "never", "anothers"),
)
"""Further ones, where promises are broken."""

HALVES = (
    Mood("applies half a batch, and dies", 1, "half", "hang_up"),
    Mood("applies half a batch, and hangs", 1, "half", "nothing"),
)
"""What the first attempts of all items of a list meet in a run under which it breaks down."""

ANSWERING = (
    Mood("tells the truth", 45, says="truth"),
    Mood("answers stale", 12, says="stale"),
    Mood("cannot say", 4, says="error"),
    Mood("hangs when asked", 3, says="nothing"),
    Mood("hangs up when asked", 3, says="hang_up"),
    Mood("answers half a line when asked", 2, says="half"),
)
"""What a question may meet. While something is under way the truth is: in progress."""


@dataclass(frozen=True)
class Trait:
    """A promise that is broken for a key, whatever the moods of its requests."""

    name: str
    weight: float


TRAITS = (
    Trait("ignores the key", 5),
    Trait("forgets the key early", 5),
    Trait("lands too late", 3),
    Trait("denies what landed", 3),
    Trait("denies what landed for a while", 3),
)


def chance(*parts: object) -> float:
    """From 0 up to 1, always the same for the same parts."""
    text = "\0".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "big") / 2**56


def own_part(key: str) -> str:
    """A key without the id of its database, which is another one each time."""
    return key.partition("/")[2]


def breaks_promises(seed: int, run_id: str) -> bool:
    """Whether the provider breaks promises in a run."""
    return chance(seed, "broken", run_id) < _BROKEN_RUNS


def trait_of(seed: int, run_id: str, key: str) -> str:
    """The promise that is broken for a key; empty: none."""
    if not breaks_promises(seed, run_id):
        return ""
    if chance(seed, "is broken", own_part(key)) >= _BROKEN_KEYS:
        return ""
    return TRAITS[_drawn(TRAITS, chance(seed, "trait", own_part(key)))].name


def breaks_down(seed: int, run_id: str) -> Mood | None:
    """How the provider breaks down under a list of a run, if it does."""
    drawn = chance(seed, "breaks down", run_id) / _BROKEN_LISTS
    return HALVES[_drawn(HALVES, drawn)] if drawn < 1 else None


def is_applied(seed: int, key: str) -> bool:
    """Whether an item is one of those that were applied before the provider broke down."""
    return chance(seed, "half", own_part(key)) < 0.5


def acting(seed: int, run_id: str, key: str, attempt: int, *, undo: bool) -> Mood:
    """The mood for an attempt. Undos are refused less often: each one goes to a person."""
    if attempt == 1 and trait_of(seed, run_id, key) == "lands too late":
        return _UNHEARD
    if attempt == 1 and not undo and "#" in key and (down := breaks_down(seed, run_id)) is not None:
        return down
    moods: Sequence[Mood] = (
        *ACTING,
        *(AGAIN if attempt > 1 else ()),
        *(ECHOES if breaks_promises(seed, run_id) else ()),
    )
    mood = moods[_drawn(moods, chance(seed, own_part(key), attempt))]
    if undo and mood.says == "refused" and chance(seed, own_part(key), "spared") < 0.7:
        return ACTING[0]
    return mood


def answering(seed: int, key: str, number: int) -> Mood:
    """The mood for the so-manieth question about a key."""
    return ANSWERING[_drawn(ANSWERING, chance(seed, own_part(key), "asked", number))]


def moods_of(*, broken: bool = True) -> Iterator[str]:
    """The names of all that may be met."""
    yield from (mood.name for mood in (*ACTING, *AGAIN, *HALVES, *ANSWERING))
    if broken:
        yield from (mood.name for mood in (*ECHOES, *TRAITS))


def _drawn(choice: Sequence[Mood | Trait], at: float) -> int:
    left = at * sum(one.weight for one in choice)
    for position, one in enumerate(choice):
        left -= one.weight
        if left < 0:
            return position
    return len(choice) - 1
