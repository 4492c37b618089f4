"""The meaning of a specification: what a run is pinned to, and its digest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saga.definition.canonical import digest

__all__ = ["meaning", "spec_digest"]


def meaning(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a specification that a run is pinned to: what is done, in what order, with what.

    Left out is what may change under way: tuning, titles, reasons, and the names of Python classes.
    """
    return {
        "format": spec["format"],
        "saga": spec["saga"],
        "version": spec["version"],
        "input": spec["input"],
        **({"exclusive": spec["exclusive"]} if "exclusive" in spec else {}),
        **({"groups": _groups_meaning(spec["groups"])} if "groups" in spec else {}),
        **({"budget": sorted(spec["budget"])} if "budget" in spec else {}),  # limits are tuning
        "steps": [
            {
                "name": row["name"],
                "after": row["after"],
                "hold": row["hold"],
                **{part: True for part in ("optional", "pivot") if row.get(part)},
                **{
                    part: row[part]
                    for part in ("wait", "approval", "groups", "path")
                    if part in row
                },
                **({"each": _each_meaning(row["each"])} if "each" in row else {}),
                **_contracts_meaning(row),
                **({"instead": _alternatives(row["instead"])} if "instead" in row else {}),
            }
            for row in spec["steps"]
        ],
    }


def _contracts_meaning(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "args": _binding_meaning(row["args"]),
        "effect": {
            part: row["effect"][part]
            for part in ("name", "version", "args", "receipt", "target", "cost")
            if part in row["effect"]
        },
        "undo": {
            part: row["undo"][part]
            for part in ("kind", "name", "version", "needs_receipt")
            if part in row["undo"]
        },
    }


def _alternatives(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"name": row["name"], **_contracts_meaning(row)} for row in rows]


def _each_meaning(each: Mapping[str, Any]) -> dict[str, Any]:
    """What is gone over, and what an unknown item holds; how many at once is tuning."""
    return {part: each[part] for part in ("over", "key", "on_unknown")}


def _groups_meaning(groups: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Which sagas the steps came from; their deadlines are tuning, as that of the whole is."""
    return [{"name": group["name"], "saga": group["saga"]} for group in groups]


def spec_digest(spec: Mapping[str, Any]) -> str:
    """`sha256:` and 64 hex digits over the meaning of a specification (`Saga.spec()`)."""
    return digest(meaning(spec))


def _binding_meaning(binding: Mapping[str, Any]) -> Mapping[str, Any]:
    match binding:
        case {"fields": fields}:
            return {"fields": {name: _binding_meaning(part) for name, part in fields.items()}}
        case {"dict": fields}:
            return {"dict": {name: _binding_meaning(part) for name, part in fields.items()}}
        case {"list": items}:
            return {"list": [_binding_meaning(item) for item in items]}
        case _:
            return binding
