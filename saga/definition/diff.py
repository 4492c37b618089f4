"""The difference of two specifications, in words: what was edited under the same version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from saga.definition.meaning import meaning

__all__ = ["Change", "difference"]

_TUNING = ("timeout", "probe", "deadline", "provider", "retry", "reason", "residual", "concurrency")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `step` is empty for the saga itself.

    `meaning` is false for what may change without a new version: tuning, titles, reasons.
    """

    step: str
    text: str
    meaning: bool = True

    def __str__(self) -> str:
        return f"step {self.step!r}: {self.text}" if self.step else self.text


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """What changed between two specifications of a saga (`Saga.spec()`, or stored ones).

    First the saga, then the steps in their new order, then those that are gone. Empty if nothing
    did. A change with `meaning` needs a new version.
    """
    changes = [*_of_saga(old, new), *_of_steps(old, new)]
    if meaning(old) != meaning(new) and not any(change.meaning for change in changes):
        changes.append(Change("", "the meaning changed in a way that has no words here"))
    return changes


def _of_saga(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for part in ("format", "saga", "version"):
        yield from _value("", part, old[part], new[part])
    yield from _fields("", "input", old["input"], new["input"])
    paths = [".".join(one.get("exclusive") or ()) for one in (old, new)]
    yield from _value("", "exclusive", *paths)
    for part in ("title", "deadline"):
        yield from _value("", part, old[part], new[part], meaning=False)
    was, now = old.get("budget") or {}, new.get("budget") or {}
    for name in dict.fromkeys([*was, *now]):
        both = name in was and name in now
        yield from _value("", f"budget {name}", was.get(name), now.get(name), meaning=not both)


def _of_steps(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    before = {row["name"]: row for row in old["steps"]}
    after = {row["name"]: row for row in new["steps"]}
    for name, row in after.items():
        if name in before:
            yield from _of_step(name, before[name], row)
        else:
            yield Change(name, "is new")
    for name in before:
        if name not in after:
            yield Change(name, "is gone")
    kept = [name for name in before if name in after]
    order = [name for name in after if name in before]
    if kept != order:
        yield Change("", f"the order of the steps was {', '.join(kept)}, is {', '.join(order)}")


def _of_step(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    yield from _value(name, "comes after", old["after"], new["after"])
    yield from _value(name, "hold", old["hold"], new["hold"])
    yield from _value(name, "approval", old.get("approval"), new.get("approval"))
    yield from _value(name, "wait", old.get("wait"), new.get("wait"))
    yield from _of_each(name, old.get("each") or {}, new.get("each") or {})
    yield from _value(name, "savepoints", _path(old), _path(new))
    for part in ("optional", "pivot"):
        yield from _value(name, part, old.get(part, False), new.get(part, False))
    was, now = old.get("instead", []), new.get("instead", [])
    yield from _value(name, "instead", [row["name"] for row in was], [row["name"] for row in now])
    before = {row["name"]: row for row in was}
    for row in now:
        if row["name"] in before:
            yield from _of_contracts(row["name"], before[row["name"]], row)
    yield from _of_contracts(name, old, new)


def _of_contracts(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """What a step and each of its alternatives have of their own."""
    yield from _of_binding(name, old["args"], new["args"])
    yield from _of_contract(name, "effect", old["effect"], new["effect"])
    for part in ("args", "receipt"):
        yield from _fields(name, part, old["effect"][part], new["effect"][part])
    yield from _value(name, "target", old["effect"]["target"], new["effect"]["target"])
    yield from _value(name, "cost", old["effect"].get("cost"), new["effect"].get("cost"))
    yield from _value(name, "undo", old["undo"]["kind"], new["undo"]["kind"])
    if old["undo"]["kind"] == new["undo"]["kind"]:
        yield from _of_contract(name, "undo", old["undo"], new["undo"])
    yield from _value(name, "title", old["title"], new["title"], meaning=False)


def _path(row: Mapping[str, Any]) -> list[str]:
    """The savepoints that a step lies behind; after `or`, on the other path."""
    return [f"or {name}" if alternative else name for name, alternative in row.get("path", [])]


def _of_each(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for part in ("over", "key", "on_unknown"):
        yield from _value(name, part, old.get(part), new.get(part))
    for part in ("parallel", "batch"):
        yield from _value(name, part, old.get(part), new.get(part), meaning=False)


def _of_contract(
    step: str, what: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[Change]:
    labels = [f"{row['name']}@{row['version']}" if "name" in row else "" for row in (old, new)]
    if labels[0] != labels[1]:
        yield Change(step, f"{what} was {labels[0]}, is {labels[1]}")
    for part in ("needs_receipt",):
        yield from _value(step, f"{what} {part}", old.get(part), new.get(part))
    for part in _TUNING:
        yield from _nested(step, f"{what} {part}", old.get(part), new.get(part))


def _nested(step: str, what: str, old: Any, new: Any) -> Iterator[Change]:
    """Tuning: provider and retry member by member."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for part in dict.fromkeys([*old, *new]):
            yield from _nested(step, f"{what}.{part}", old.get(part), new.get(part))
    else:
        yield from _value(step, what, old, new, meaning=False)


def _of_binding(step: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    if "fields" not in old or "fields" not in new:
        yield from _value(step, "arguments", _bound(old), _bound(new))
        return
    was, now = old["fields"], new["fields"]
    for name in dict.fromkeys([*was, *now]):
        if name not in was:
            yield Change(step, f"argument {name} is bound to {_bound(now[name])}, was not bound")
        elif name not in now:
            yield Change(step, f"argument {name} is not bound, was {_bound(was[name])}")
        else:
            yield from _value(step, f"argument {name}", _bound(was[name]), _bound(now[name]))


def _bound(binding: Mapping[str, Any]) -> str:
    """A binding as it would be read aloud: `input.id`, `[reserve.receipt.hold_id]`, `"EUR"`."""
    match binding:
        case {"ref": path}:
            return ".".join(path)
        case {"value": value}:
            return json.dumps(value, ensure_ascii=False)
        case {"list": items}:
            return "[" + ", ".join(map(_bound, items)) + "]"
        case {"fields": parts} | {"dict": parts}:
            return "{" + ", ".join(f"{name}: {_bound(part)}" for name, part in parts.items()) + "}"
        case _:
            return json.dumps(binding, ensure_ascii=False)


def _fields(
    step: str, what: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[Change]:
    for name in dict.fromkeys([*old, *new]):
        place = f"{what}.{name}"
        if name not in old:
            yield Change(step, f"field {place} ({_type(new[name])}) is new")
        elif name not in new:
            yield Change(step, f"field {place} ({_type(old[name])}) is gone")
        elif _has_fields(old[name]) and _has_fields(new[name]):
            yield from _fields(step, place, old[name]["fields"], new[name]["fields"])
        elif old[name] != new[name]:
            yield Change(step, f"field {place} was {_type(old[name])}, is {_type(new[name])}")


def _has_fields(form: Any) -> bool:
    return isinstance(form, Mapping) and "fields" in form


def _type(form: Any) -> str:
    """A type of the normal form in short: `str`, `list[int]`, `null | str`."""
    if isinstance(form, str):
        return form
    ((kind, inner),) = form.items()
    if kind == "union":
        return " | ".join(map(_type, inner))
    if kind in ("literal", "enum"):
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in inner)
    if kind == "fields":
        return "{" + ", ".join(f"{name}: {_type(one)}" for name, one in inner.items()) + "}"
    if kind == "again":
        return "…"
    parts = inner if isinstance(inner, list) else [inner]
    return f"{kind}[{', '.join(map(_type, parts))}]"


def _value(step: str, what: str, old: Any, new: Any, *, meaning: bool = True) -> Iterator[Change]:
    if old != new:
        yield Change(step, f"{what} was {_shown(old)}, is {_shown(new)}", meaning)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value or "empty"
    if isinstance(value, list):
        return ", ".join(value) or "nothing"
    return json.dumps(value, ensure_ascii=False)
