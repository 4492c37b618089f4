"""A journal told in a few lines, and the table of all orders.

Only the journal is asked, so a kept folder tells the same later. ASCII and at most 80 columns:
whoever pipes it into a file or reads it in a small window sees the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Protocol

from examples.order_flow.demo.judging import Effect
from examples.order_flow.demo.tales import Tale
from saga import Run

__all__ = ["WIDTH", "Line", "Record", "heading", "rows", "told"]

WIDTH = 80
_ORDER, _DONE, _ENDED, _BOOK = 13, 32, 14, 7
_WORD = 12
_BOOKS = {
    "stock": ("hold", "release"),
    "money": ("charge", "refund"),
    "parcel": ("shipment", "cancellation"),
}


class Record(Protocol):
    """What is asked of a record of the journal."""

    @property
    def events(self) -> Sequence[Mapping[str, Any]]: ...


@dataclass(frozen=True)
class Line:
    """A line of the table; `style` is what it looks like where there are colours."""

    text: str
    style: str = ""


# ---- the table


def heading() -> Iterator[Line]:
    """What stands above the orders."""
    yield Line(" " * (_ORDER + _DONE + _ENDED) + "the shop's ledger", "dim")
    left = f"{'order':<{_ORDER}}{'what was done to it':<{_DONE}}{'how it ended':<{_ENDED}}"
    yield Line((left + "".join(f"{name:<{_BOOK}}" for name in _BOOKS)).rstrip(), "bold")
    yield Line("-" * WIDTH, "dim")


def rows(
    tale: Tale, run: Run, records: Iterable[Record], effects: Sequence[Effect]
) -> Iterator[Line]:
    """An order: its row, and under it what saga did."""
    ended = [run.outcome or run.phase, *([f"({run.cause})"] if run.cause else [])]
    if run.damaged:
        ended = ["DAMAGED", f"({run.phase})"]
    books = "".join(f"{_balance(effects, *kinds):<{_BOOK}}" for kinds in _BOOKS.values())
    good = (run.outcome, run.cause) == (tale.outcome, tale.cause)
    columns = ([tale.id], wrap(tale.done, _DONE - 2), ended, [books])
    for number in range(max(len(column) for column in columns)):
        name, done, end, book = (column[number : number + 1] or [""] for column in columns)
        left = f"{name[0]:<{_ORDER}}{done[0]:<{_DONE}}{end[0]:<{_ENDED}}"
        yield Line((left + book[0]).rstrip(), "bold" if good else "bold red")
    for word, text in told(records):
        first, *more = wrap(text, WIDTH - _ORDER - _WORD) or [""]
        yield Line(" " * _ORDER + f"{word:<{_WORD}}{first}", "dim")
        yield from (Line(" " * (_ORDER + _WORD) + one, "dim") for one in more)
    yield Line("")


def _balance(effects: Iterable[Effect], forward: str, back: str) -> str:
    """`+1 -1`: one was made and one taken back."""
    kinds = Counter(row["kind"] for row in effects)
    parts = [f"+{kinds[forward]}"] if kinds[forward] else []
    parts += [f"-{kinds[back]}"] if kinds[back] else []
    return " ".join(parts) or "."


# ---- the lines


def told(records: Iterable[Record]) -> list[tuple[str, str]]:
    """What saga did, as words and sentences. What goes well is told in one line."""
    names: dict[str, str] = {}  # by key, what an action is called
    lines: list[tuple[str, str]] = []
    for event in (event for record in records for event in record.events):
        key = event.get("key", "")
        if event["kind"] == "intended":
            undo = "undo of " if event["direction"] == "undo" else ""
            names[key] = undo + event["step"]
        line = _landed(event, names) if event["kind"] == "landed" else _said(event, names.get(key))
        if line is None:
            continue
        word, text = line
        if lines and word == lines[-1][0] and word in ("landed", "undone"):
            text = f"{lines.pop()[1]}, {text}"
        lines.append((word, text))
    return lines


def _landed(event: Mapping[str, Any], names: Mapping[str, str]) -> tuple[str, str]:
    receipt = event["receipt"] or {}
    proof = next((receipt[one] for one in receipt if one != "idempotency_key"), "no receipt")
    name = names[event["key"]]
    match event["source"]:
        case "reply":
            step = name.removeprefix("undo of ")
            return ("landed" if step == name else "undone"), f"{step} ({proof})"
        case "probe":
            return "asked", f"the shop, by the same key: it has {proof}"
        case _:
            return "receipt", f"{proof}, for the {name}"


def _said(event: Mapping[str, Any], name: str | None) -> tuple[str, str] | None:
    line: tuple[str, str] | None = None
    match event["kind"]:
        case "sending" if event["attempt"] > 1:
            line = "sent again", f"{name}, under the same key"
        case "unknown" | "refused" | "not_sent" as kind:
            line = kind.replace("_", " "), f"{name}: {event['error']['text']}"
        case "probed":
            answer = str(event["answer"]).replace("_", " ")
            line = "asked", f"the shop, by the same key: {answer}"
        case "cancel_recorded":
            line = "cancel", f"by the {event['actor']}: {event['reason']}"
        case "case_opened":
            line = "case", f"{event['case']} ({event['case_kind']}): waits for a person"
        case "case_closed" if event["verdict"]:
            line = "verdict", f"{event['verdict']}, by {event['actor']}: {event['reason']}"
    return line
