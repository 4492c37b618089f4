"""The page of a journal: all that happened to a run, an event a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from saga.cli.paper import Command, Paper
from saga.definition.keys import place_of
from saga.inquiries.records import RecordView

__all__ = ["journal_page"]

# What an event is about, where it is not about an action; the first that it has.
_ABOUT = ("step", "savepoint", "case", "outcome", "saga")


def journal_page(paper: Paper, records: Sequence[RecordView], _: Command) -> None:
    """The records of a run, each with its time and who wrote it."""
    places: dict[str, str] = {}
    rows: list[tuple[Any, ...]] = []
    for record in records:
        who = f"owner {record.fence}" if record.fence else "client"
        lines = [_line(event, places) for event in record.events]
        if record.damage:
            lines.append(f"damaged: {record.damage}")
        for number, line in enumerate(lines or [record.command]):
            rows.append((record.seq, record.at, who, line) if number == 0 else ("", "", "", line))
    paper.table(("record", "time", "by", "what happened"), rows)


def _line(event: dict[str, Any], places: dict[str, str]) -> str:
    key = event.get("key")
    if event["kind"] == "intended":
        place = place_of(event["step"], event["item"])
        place = f"undo of {place}" if event["of_key"] else place
        generation = event["generation"]
        places[event["key"]] = f"{place}~{generation}" if generation > 1 else place
    about = places.get(key or "") or next((event[one] for one in _ABOUT if event.get(one)), "")
    words = [event["kind"].replace("_", " "), str(about), *_more(event)]
    return " ".join(word for word in words if word)


def _more(event: dict[str, Any]) -> Iterator[str]:
    """What an event has to say beside what it is about."""
    if event.get("attempt"):
        yield f"(attempt {event['attempt']})"
    for name in ("case_kind", "answer", "cause", "verdict"):
        if event.get(name):
            yield f"({event[name]})"
    if event.get("actor"):
        yield f"by {event['actor']}"
    if event.get("reason"):
        yield f"- {event['reason']}"
    if error := event.get("error"):
        yield f"- {error['type']}: {error['text']}"
