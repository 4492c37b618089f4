"""Records: one transition of one run, as the exact text that is sealed and stored.

`body` is written once and never re-serialised; the columns of the tables are projections of it.
Reading is strict: an unknown event, a missing or an extra field, a wrong type is damage, and a
newer format is neither damage nor ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, get_args, get_type_hints

from pydantic_core import to_json

from saga.definition.canonical import DEPTH_MAX
from saga.definition.strict_json import strict_loads
from saga.journal.formats import FORMAT, completed
from saga.journal.sealing import Keyring
from saga.machine.events import EVENTS, Event
from saga.version import VERSION

__all__ = [
    "PAYLOAD_LIMIT",
    "RECORD_LIMIT",
    "NewerFormat",
    "Record",
    "RecordTooLarge",
    "Unwritable",
    "json_size",
    "json_text",
    "read_record",
    "seal_record",
    "verify_record",
    "write_body",
]

RECORD_LIMIT = 256 * 1024  # bytes of one body
PAYLOAD_LIMIT = 120 * 1024  # bytes of the JSON of an input, of arguments, of a receipt
_DEPTH_MAX = DEPTH_MAX + 3  # a plain value inside an event, the list of events, the record
# May stand there as text: then it is read again. The sign alone is looked for ten times as fast.
_SUSPECT = ((b"\\", b"\\u0000"), (b"N", b"NaN"), (b"I", b"Infinity"))


class Unwritable(ValueError):
    """A record that nobody could read again: it is not written."""


class RecordTooLarge(Unwritable):
    """The body of a record would exceed `RECORD_LIMIT` bytes."""


class NewerFormat(Exception):
    """A record whose seal holds was written by a newer version: not damage, not ours to run."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record, read. `due` is the run's due time after it; `fence` 0 means a client wrote it."""

    run_id: str
    seq: int
    at: float
    fence: int
    due: float | None
    commands: tuple[str, ...]
    events: tuple[Event, ...]


def json_text(value: Any) -> str:
    """Compact JSON for an intent or a receipt; exact for integers of any size."""
    return to_json(value, inf_nan_mode="constants").decode()


def json_size(value: Any) -> int:
    """How many bytes the `json_text` of a value has."""
    return len(to_json(value, inf_nan_mode="constants"))


def write_body(
    run_id: str,
    seq: int,
    *,
    at: float,
    fence: int,
    due: float | None,
    key_id: str,
    commands: Sequence[str],
    events: Sequence[Event],
) -> str:
    """The text to seal; `Unwritable` if it could not be read again, or is too large."""
    row = {
        "format": FORMAT,
        "writer": VERSION,
        "run": run_id,
        "seq": seq,
        "at": at,
        "fence": fence,
        "due": due,
        "key_id": key_id,
        "commands": commands,
        "events": [_SHAPES[event.kind].row(event) for event in events],
    }
    try:
        body = to_json(row, inf_nan_mode="constants")
        for sign, mark in _SUSPECT:
            if sign in body and mark in body:
                strict_loads(body, depth_max=_DEPTH_MAX)
    except ValueError as error:  # a lone surrogate, U+0000 or no finite number
        raise Unwritable(
            f"a record that could not be read again ({type(error).__name__})"
        ) from None
    if len(body) > RECORD_LIMIT:
        raise RecordTooLarge(f"a record of {len(body)} bytes; the limit is {RECORD_LIMIT}")
    return body.decode()


def seal_record(keys: Keyring, previous: str, run_id: str, seq: int, body: str) -> str:
    """The seal of a record, chained to the one before it (empty for the first)."""
    return keys.seal("record", previous, run_id, str(seq), body)


def verify_record(
    keys: Keyring, key_id: str, seal: str, previous: str, run_id: str, seq: int, body: str
) -> bool:
    """Whether `seal` is that of this record in this place."""
    return keys.verify(key_id, seal, "record", previous, run_id, str(seq), body)


def read_record(body: str) -> Record:
    """Read a body strictly. `ValueError` says what is wrong; `NewerFormat` if it is not ours."""
    row = strict_loads(body, depth_max=_DEPTH_MAX)
    if not isinstance(row, dict):
        raise ValueError("a record is a JSON object")  # noqa: TRY004  damage, not misuse
    written = row.get("format")
    if not isinstance(written, int) or written < 1:
        raise ValueError("a record has a format")
    if written > FORMAT:
        raise NewerFormat(f"format {written}, written by {row.get('writer')!r}")
    if row.keys() != _FIELDS.keys():
        raise ValueError(f"fields {sorted(row.keys() ^ _FIELDS.keys())} are missing or not known")
    for name, kinds in _FIELDS.items():
        if not _is(row[name], kinds):
            raise ValueError(f"field {name!r} has the wrong type")
    if not all(isinstance(command, str) for command in row["commands"]):
        raise ValueError("field 'commands' has the wrong type")
    return Record(
        run_id=row["run"],
        seq=row["seq"],
        at=row["at"],
        fence=row["fence"],
        due=row["due"],
        commands=tuple(row["commands"]),
        events=tuple(_read_event(event, written, row["at"]) for event in row["events"]),
    )


_FIELDS: dict[str, tuple[type, ...]] = {
    "format": (int,),
    "writer": (str,),
    "run": (str,),
    "seq": (int,),
    "at": (float, int),
    "fence": (int,),
    "due": (float, int, NoneType),
    "key_id": (str,),
    "commands": (list,),
    "events": (list,),
}


def _is(value: object, kinds: tuple[type, ...] | None) -> bool:
    return kinds is None or type(value) in kinds  # JSON's true is not a number: never isinstance


class _Shape:
    """How events of one type are written, and what a stored one must look like."""

    def __init__(self, event: type[Event]) -> None:
        self.event = event
        self.names = ("kind", *(field.name for field in fields(event)))
        self._get = attrgetter(*self.names)
        hints = get_type_hints(event)
        self.kinds = {name: _json_types(hints[name]) for name in self.names[1:]}

    def row(self, event: Event) -> dict[str, Any]:
        values = self._get(event)
        if len(self.names) == 1:
            return {"kind": values}
        return dict(zip(self.names, values, strict=True))


def _json_types(hint: Any) -> tuple[type, ...] | None:
    """The Python types that a JSON value of this annotation has; None for any JSON."""
    if hint is Any:
        return None
    kinds: list[type] = []
    for part in get_args(hint) if isinstance(hint, UnionType) else (hint,):
        origin = getattr(part, "__origin__", part)
        kinds += [float, int] if origin is float else [origin]
    return tuple(kinds)


_SHAPES = {kind: _Shape(event) for kind, event in EVENTS.items()}


def _read_event(row: Any, written: int, at: float) -> Event:
    kind = row.get("kind") if isinstance(row, dict) else None
    shape = _SHAPES.get(kind) if isinstance(kind, str) else None
    if shape is None:
        raise ValueError("an event has a known kind")
    row = completed(row, shape.names, written, at)
    if tuple(row) != shape.names:
        raise ValueError(f"event {row['kind']!r} has other fields")
    del row["kind"]
    for name, kinds in shape.kinds.items():
        if not _is(row[name], kinds):
            raise ValueError(f"{shape.names[0]}.{name} has the wrong type")
    return shape.event(**row)
