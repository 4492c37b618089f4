"""What works and will cost a person's time: the warnings of `saga check`, never raised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from saga.definition.contracts import Compensation, Effect
from saga.definition.saga import Saga
from saga.definition.step import Step
from saga.definition.wait import Wait

__all__ = ["DefinitionWarning", "warnings"]


@dataclass(frozen=True, slots=True)
class DefinitionWarning:
    """Something that works and will cost a person's time. `code` is stable."""

    code: str
    step: str
    text: str
    remedy: str

    def __str__(self) -> str:
        return f"step {self.step!r}: {self.text}. {self.remedy}"


def warnings(saga: Saga[Any]) -> list[DefinitionWarning]:
    """What `saga check` warns of, in the order of the steps, effect before compensation."""
    found: list[DefinitionWarning] = []
    for step in saga.steps:
        if isinstance(step, Wait):
            continue
        for choice in step.choices:
            found.extend(_contract_warnings(choice, choice.effect))
            if isinstance(choice.compensation, Compensation):
                found.extend(_contract_warnings(choice, choice.compensation))
                found.extend(_undo_warnings(choice, choice.compensation))
    return found


def _contract_warnings(
    step: Step[Any, Any], contract: Effect[Any, Any] | Compensation[Any, Any]
) -> Iterator[DefinitionWarning]:
    facts = contract.provider.spec
    asked = contract.probe is not None

    def warning(code: str, text: str, remedy: str) -> DefinitionWarning:
        return DefinitionWarning(code, step.name, f"{contract.label}: {text}", remedy)

    if not asked and not facts.honours_keys:
        yield warning(
            "nobody-can-say",
            "no probe and no key life: a crash in this call goes to a person",
            "Add probe=, or provider=Provider(…, key_life=…) if the other side honours keys",
        )
    elif asked and not facts.honours_keys and None in (facts.in_flight, facts.visible_after):
        yield warning(
            "absent-never-counts",
            "the provider does not say when an action shows: a probe that finds nothing settles "
            "nothing, and goes to a person",
            "Declare in_flight= and visible_after= of the Provider",
        )
    if facts.key_life is not None:
        late = facts.late_until if facts.late_until is not None else facts.in_flight
        room = facts.key_life / 2 if late is None else facts.key_life - late
        if room <= contract.timeout:
            yield warning(
                "never-resent",
                "the key life is too short to send again after unknown",
                "Shorten timeout=, or declare the key_life= and late_until= that hold",
            )
    if asked and facts.late_until is None:
        yield warning(
            "no-watch",
            "what lands after it was taken as absent is not looked for",
            "Declare late_until= of the Provider",
        )


def _undo_warnings(
    step: Step[Any, Any], compensation: Compensation[Any, Any]
) -> Iterator[DefinitionWarning]:
    effect = step.effect
    can_find_out = effect.probe is not None or effect.provider.spec.honours_keys
    if compensation.needs_receipt and not can_find_out:
        yield DefinitionWarning(
            "undo-needs-receipt",
            step.name,
            f"{compensation.label} needs a receipt, and a lost reply leaves none",
            "Take Undo[…, Receipt | None] if it works by the key, or add probe= to the effect",
        )
