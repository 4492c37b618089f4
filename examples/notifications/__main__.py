"""`python -m examples.notifications`: 100 notifications, a kill -9 at the 20th, three providers.

Exit codes: 0 every reader got one notification and every figure is right, 1 something is not,
128 and the number of a signal that ended it.
"""

from __future__ import annotations

import sys

from examples.notifications.scenes import (
    Cancelled,
    broken_laws,
    cancelled_at_19,
    cancelled_at_20,
    cut_at_20,
)
from examples.notifications.stage import KINDS, Counts, Stage, staged
from examples.notifications.telling import (
    about,
    head_of_cancelled,
    say,
    tell_cancelled,
    tell_cut,
    tell_other,
)
from examples.order_flow.demo.interruptions import Interrupted, Interruptions

__all__ = ["main"]

_TITLES = {
    "keys": "A provider that honours keys and cannot be asked",
    "queries": "A provider that can be asked by key and sends whatever comes",
    "neither": "A provider that does neither",
}
_OTHERS = {
    "one-by-one": "One at a time instead of in batches, hold_all",
    "others-go-on": "One at a time, hold_item",
}
_UNANSWERED = "19 have landed, the answer to the 19th is under way"
_ANSWERS = {19: Counts(18, 1, 0, 81), 20: Counts(19, 1, 0, 80)}


def _played(stage: Stage, kind: str) -> list[str]:
    """The run of a provider, told; what is wrong with it."""
    cut = cut_at_20(stage, f"notify-{kind}", "spring")
    tell_cut(cut)
    return [] if cut.right else [f"the run at {kind} is not what it must be"]


def _held(stage: Stage) -> list[str]:
    """What an unknown one holds back in other definitions; what is wrong with that."""
    wrong = []
    for saga, title in _OTHERS.items():
        cut = cut_at_20(stage, saga, saga)
        say(f"   {title}")
        tell_other("  after 20", cut)
        wrong += [] if cut.right else [f"{saga} is not what it must be"]
    return wrong


def _kept(stage: Stage) -> list[str]:
    broken = broken_laws(stage)
    about("laws", "; ".join(broken) or "all kept, by the ledger")
    say()
    return broken


def _tell_all_cancelled(cancelled: dict[str, tuple[int, Cancelled]]) -> list[str]:
    head_of_cancelled()
    wrong = []
    for title, (landed, one) in sorted(cancelled.items(), key=lambda item: item[1][0]):
        tell_cancelled(title, one)
        right = one.right(_ANSWERS[landed], landed)
        wrong += [] if right else [f"cancelled, {title}: not what it must be"]
    say()
    return wrong


def main() -> int:
    """Play it at each provider, and compare every run with the provider's ledger."""
    interruptions = Interruptions()
    try:
        with interruptions.listening():
            return _play(interruptions)
    except Interrupted:
        assert interruptions.received is not None
        return 128 + interruptions.received


def _play(interruptions: Interruptions) -> int:
    wrong: list[str] = []
    cancelled: dict[str, tuple[int, Cancelled]] = {}
    for number, kind in enumerate(KINDS, start=1):
        say(f"{number}. {_TITLES[kind]}")
        with staged(kind, interruptions) as stage:
            wrong += _played(stage, kind)
            if kind == "neither":
                wrong += _held(stage)
                cancelled[_UNANSWERED] = 19, cancelled_at_19(stage, "one-by-one", "cancelled-19")
            one = cancelled_at_20(stage, f"notify-{kind}", "cancelled-20")
            cancelled[f"20 have landed, kill -9 ({kind})"] = 20, one
            wrong += _kept(stage)
    wrong += _tell_all_cancelled(cancelled)
    for what in wrong:
        say(f"WRONG: {what}")
    say("every reader got it once" if not wrong else "NOT as it must be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
