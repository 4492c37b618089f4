"""What is fixed while one configuration is searched: the saga, the provider, what may go wrong.

Time is discrete. A *tick* is the smallest duration that matters: the time-out of a call, the time a
request may be under way and the time until a probe shows an effect are one tick each, unless a
setting says otherwise. What goes wrong has a budget, so that every search ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from tests.protocol.names import Key

__all__ = ["Budget", "Probe", "Setting", "Stop"]

Probe = Literal["answers", "finds only", "none"]
Stop = Literal["cancel", "deadline"]


class Budget(NamedTuple):
    """How often each of these may still happen in one history."""

    crash: int = 0  # a process dies
    pause: int = 0  # a live owner is taken for dead: it slept, or its beat did not get through
    slow: int = 0  # a live owner lets a tick pass although something is due
    lost: int = 0  # a request or a reply is lost, a connection refused, a call given up early
    doubled: int = 0  # a request arrives, and a copy of it stays under way
    stalled: int = 0  # a request is under way for longer than `in_flight`, up to `late_until`
    doubt: int = 0  # a COMMIT returns an error
    stop: int = 0  # somebody cancels, or the deadline passes
    verdict: int = 0  # a person decides on a case
    report: int = 0  # somebody reports a receipt (a webhook)


_NOTHING = Budget()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One saga at one kind of provider."""

    # The saga
    steps: int = 2
    parallel: bool = False  # all steps at once; else each after the one before it
    irreversible: tuple[int, ...] = ()  # steps that declare that they cannot be undone
    undo_needs_receipt: bool = True  # `Undo[A, R]`; else `Undo[A, R | None]`
    hold: bool = True  # a stuck undo holds the undos of the steps before it

    # What the provider promises. Durations in ticks.
    keys: bool = True  # a repeated request under one key is one effect, for `key_life`
    probe: Probe = "answers"  # `finds only`: it shows what is there and can never say "absent"
    declared: bool = True  # in_flight, visible_after and late_until stand in the definition
    replays_refusals: bool = True
    timeout: int = 1  # send_by - time of the record
    in_flight: int = 1
    visible_after: int = 1
    late_until: int = 4
    key_life: int = 8
    late_declared: bool = True  # else nobody watches, and `in_flight` stands in for `late_until`

    # How the world is, where it can differ from what is promised.
    visible_really: int | None = None  # a provider that shows its effects later than it says
    sleeps: int | None = 0  # ticks past `send_by` at which a byte may still leave; None: no bound
    refusable: tuple[Key, ...] = (Key(2),)  # what the provider may say no to
    stops: tuple[Stop, ...] = ("cancel", "deadline")
    every_effect_is_reported: bool = False  # sooner or later, by a webhook
    budget: Budget = _NOTHING

    # Limits of the model: the product counts further and the rules are the same.
    attempts: int = 2  # not-sent attempts, and sendings of what is unknown, counted apart
    generations: int = 2
    stricter: bool = False  # also the laws that nobody can keep, see `laws`

    def behind(self, step: int) -> tuple[int, ...]:
        """The steps that directly follow `step`; undo runs against these edges."""
        return () if self.parallel or step == self.steps else (step + 1,)

    def before(self, step: int) -> tuple[int, ...]:
        """The steps that `step` directly follows."""
        return () if self.parallel or step == 1 else (step - 1,)

    @property
    def asks(self) -> bool:
        """The provider can be asked by key."""
        return self.probe != "none"

    @property
    def longest_under_way(self) -> int:
        """The longest time that a request can be under way, as far as it is declared."""
        return self.late_until if self.late_declared else self.in_flight

    @property
    def absence_counts(self) -> bool:
        """A probe can say "absent", and it is declared from when on that is evidence."""
        return self.probe == "answers" and self.declared

    @property
    def shows_after(self) -> int:
        """How long a probe really does not see a new effect; without one, nobody waits for that."""
        if not self.asks:
            return 0
        return self.visible_after if self.visible_really is None else self.visible_really

    @property
    def oldest(self) -> int:
        """The age at which the clock of a last sending stands still: no rule looks further."""
        return max(self.late_until + self.visible_after, self.in_flight + 2 * self.visible_after)
