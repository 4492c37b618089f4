"""Reading a stored specification: canonical JSON (`Saga.spec()`) to what the machine decides by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from saga.definition.spec import (
    FORMAT,
    ApprovalSpec,
    ContractSpec,
    EachSpec,
    ProviderSpec,
    RetrySpec,
    SagaSpec,
    StepSpec,
    WaitSpec,
)

__all__ = ["read_spec"]


def read_spec(spec: Mapping[str, Any], digest: str) -> SagaSpec:
    """Read stored JSON (`Saga.spec()`). A missing field is a `KeyError`, never a default."""
    if spec["format"] != FORMAT:
        raise ValueError(f"specification format {spec['format']!r} is not {FORMAT}")
    rows: list[Mapping[str, Any]] = spec["steps"]
    position = {row["name"]: index for index, row in enumerate(rows)}
    after = [tuple(position[name] for name in row["after"]) for row in rows]
    before: list[list[int]] = [[] for _ in rows]
    for index, names in enumerate(after):
        for earlier in names:
            before[earlier].append(index)
    steps = tuple(
        StepSpec(
            index=index,
            **_contracts(row),
            after=after[index],
            before=tuple(before[index]),
            hold=row["hold"],
            optional=row.get("optional", False),
            declared_pivot=row.get("pivot", False),
            wait=_wait(row["wait"]) if "wait" in row else None,
            approval=_approval(row["approval"], position) if "approval" in row else None,
            each=_each(row["each"]) if "each" in row else None,
            groups=tuple(row.get("groups", ())),
            path=tuple((name, alternative) for name, alternative in row.get("path", ())),
        )
        for index, row in enumerate(rows)
    )
    steps = tuple(_with_alternatives(step, row) for step, row in zip(steps, rows, strict=True))
    groups: Sequence[Mapping[str, Any]] = spec.get("groups", ())
    limits = [(one["name"], one["deadline"]) for one in groups if one["deadline"] is not None]
    head = spec["saga"], spec["version"], digest, spec["deadline"]
    budget = tuple((name, Decimal(limit)) for name, limit in spec.get("budget", {}).items())
    exclusive = tuple(spec["exclusive"]) if "exclusive" in spec else None
    return SagaSpec(*head, steps, tuple(limits), budget, exclusive)


def _contracts(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a step and each of its alternatives have of their own."""
    undo = row["undo"]
    return {
        "name": row["name"],
        "effect": _contract(row["effect"]),
        "undo": undo["kind"],
        "compensation": _contract(undo) if undo["kind"] == "compensation" else None,
        "undo_reason": undo.get("reason", ""),
    }


def _with_alternatives(step: StepSpec, row: Mapping[str, Any]) -> StepSpec:
    """They stand where the step stands; an approval was for the step alone."""
    others = [replace(step, **_contracts(one), approval=None) for one in row.get("instead", ())]
    return replace(step, instead=tuple(others)) if others else step


def _wait(row: Mapping[str, Any]) -> WaitSpec:
    until = row["until"]
    return WaitSpec(
        time=row["time"],
        until=None if until is None else tuple(until),
        signal=tuple((name, name in row["needs"]) for name in row["signal"] or ()),
        limit=row["limit"],
    )


def _approval(row: Mapping[str, Any], position: Mapping[str, int]) -> ApprovalSpec:
    observed = row["observed"]
    return ApprovalSpec(
        by=tuple(row["by"]),
        people=row["people"],
        expires=row["expires"],
        observed=None if observed is None else position[observed],
        scope=row["scope"],
        policy=row["policy"],
    )


def _each(row: Mapping[str, Any]) -> EachSpec:
    return EachSpec(
        over=tuple(row["over"]),
        key=None if row["key"] is None else tuple(row["key"]),
        on_unknown=row["on_unknown"],
        parallel=row["parallel"],
        batch=row["batch"],
    )


def _contract(row: Mapping[str, Any]) -> ContractSpec:
    return ContractSpec(
        name=row["name"],
        version=row["version"],
        timeout=row["timeout"],
        probe=row["probe"],
        provider=ProviderSpec(**row["provider"]),
        retry=RetrySpec(**row["retry"]),
        deadline=row.get("deadline"),
        needs_receipt=row.get("needs_receipt", False),
        residual=row.get("residual"),
        cost=tuple((unit, _price(price)) for unit, price in row.get("cost", {}).items()),
    )


def _price(row: Mapping[str, str]) -> str | Decimal:
    return row["field"] if "field" in row else Decimal(row["always"])
