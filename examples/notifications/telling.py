"""The figures of the scenes as plain text of at most 80 columns."""

from __future__ import annotations

from textwrap import wrap

from examples.notifications.scenes import Cancelled, Cut
from examples.notifications.stage import Counts, counts

__all__ = ["about", "head_of_cancelled", "say", "tell_cancelled", "tell_cut", "tell_other"]

_WIDTH, _LABEL = 80, 16
_NAME, _COLUMN = 26, 10


def say(text: str = "") -> None:
    """A line, at once."""
    print(text, flush=True)


def about(label: str, text: str) -> None:
    """A text beside its label, on as many lines as it needs."""
    for number, line in enumerate(wrap(text, _WIDTH - _LABEL, break_on_hyphens=False)):
        say(f"{'' if number else '   ' + label:<{_LABEL}}{line}")


def tell_cut(cut: Cut) -> None:
    """A run from the kill to its end."""
    about("kill -9", f"{_said(cut.killed)}; the provider has sent {cut.outside}")
    about("key of 20", ", ".join(cut.keys))
    about("the next one", cut.recovery.first)
    if cut.person is not None:
        case = cut.person.case
        about("case", f"{case.id} ({case.kind}): {case.text}")
        about("saga why", cut.person.holds)
        about("ada", f"the provider's own list has {cut.person.found}: landed")
    about(
        "after 20",
        f"{cut.recovery.meanwhile} begun before it was settled; 21 begins in"
        f" {cut.recovery.begins} record",
    )
    about("the end", f"{cut.end.outcome}: {_said(counts(cut.end))}")
    about("the ledger", _books(cut))


def tell_other(title: str, cut: Cut) -> None:
    """What came of the same in another definition, in short."""
    about(title, f"{cut.recovery.meanwhile} begun before 20 was settled; {cut.end.outcome}")
    about("", _books(cut))


def head_of_cancelled() -> None:
    """What stands above the cancelled runs."""
    names = ("landed", "sending", "unknown", "never")
    say(f"{'Cancelled':<{_NAME}}" + "".join(f"{name:>{_COLUMN}}" for name in names))


def tell_cancelled(title: str, cancelled: Cancelled) -> None:
    """A cancelled run: what the answer said, and what it came to."""
    say(f"   {title}")
    _row("cancel's answer", cancelled.answer)
    if cancelled.asked is not None:
        _row("the case is open", cancelled.asked)
    _row(f"{cancelled.end.outcome}", counts(cancelled.end), f"  ledger: {cancelled.sent}")


def _row(name: str, of: Counts, more: str = "") -> None:
    figures = (of.landed, of.sending, of.unknown, of.never)
    say(f"{'      ' + name:<{_NAME}}" + "".join(f"{one:>{_COLUMN}}" for one in figures) + more)


def _said(of: Counts) -> str:
    parts = {"landed": of.landed, "sending": of.sending, "unknown": of.unknown}
    known = [f"{count} {name}" for name, count in parts.items() if count]
    return ", ".join([*known, f"{of.never} never tried"])


def _books(cut: Cut) -> str:
    twice = "none twice" if cut.most_for_one == 1 else "SOMEBODY TWICE"
    return f"{cut.sent} sent, {twice}; {cut.requests} requests"
