"""The page of a journal: all that happened to a run, an event a line.

It is needed most where rows are damaged, so nothing here takes a field of an event for granted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from saga.cli.paper import Command, Paper
from saga.inquiries.records import RecordView

__all__ = ["journal_page"]

_OTHER_WAYS = ("probe", "report", "person", "signal", "time", "undo")  # than by the reply
# What an event is about, where it is not about an action; the first that it has.
_ABOUT = ("step", "savepoint", "case", "outcome", "saga")


def journal_page(paper: Paper, records: Sequence[RecordView], _: Command) -> None:
    """The records of a run, each with its time and who wrote it."""
    places: dict[str, str] = {}
    rows: list[tuple[Any, ...]] = []
    for record in records:
        lines = [_line(event, places) for event in record.events]
        if record.damage:
            lines.append(f"damaged: {record.damage}")
        for number, line in enumerate(lines or [record.command]):
            first = (record.seq, record.at, _writer(record.fence))
            rows.append((*(first if number == 0 else ("", "", "")), line))
    paper.table(("record", "time", "by", "what happened"), rows)


def _writer(fence: object) -> str:
    if not isinstance(fence, int):
        return "?"
    return f"owner {fence}" if fence else "client"


def _line(event: object, places: dict[str, str]) -> str:
    if not isinstance(event, dict):
        return "?"
    kind, key = str(event.get("kind", "?")), str(event.get("key", ""))
    if kind == "intended":
        places[key] = _place(event)
    about = places.get(key, key) or next((event[one] for one in _ABOUT if event.get(one)), "")
    words = [kind.replace("_", " "), str(about), *_more(event, kind)]
    return " ".join(word for word in words if word)


def _place(event: dict[str, Any]) -> str:
    """The step, item and generation of an intent, and whether it reverses one."""
    place = str(event.get("step"))
    if event.get("item") is not None:
        place += f"#{event['item']}"
    if event.get("of_key"):
        place = f"undo of {place}"
    generation = event.get("generation")
    return place if generation in (None, 1) else f"{place}~{generation}"


def _more(event: dict[str, Any], kind: str) -> Iterator[str]:
    """What an event has to say beside what it is about."""
    if event.get("attempt"):
        yield f"(attempt {event['attempt']})"
    if kind in ("case_opened", "turned_back"):
        yield str(event.get("case") or event.get("savepoint") or "")
    if kind == "spread":
        yield f"{event.get('items')} items"
    if event.get("source") in _OTHER_WAYS:
        yield f"({event['source']})"
    for name in ("case_kind", "answer", "cause", "verdict"):
        if event.get(name):
            yield f"({event[name]})"
    if event.get("actor"):
        yield f"by {event['actor']}"
    if event.get("reason"):
        yield f"- {event['reason']}"
    error = event.get("error")
    if isinstance(error, dict) and kind != "case_opened":  # it stands above that
        yield f"- {error.get('type')}: {error.get('text')}"
