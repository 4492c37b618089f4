"""The model is true to what is built: the product's machine does nothing that it does not allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.protocol.alongside import Alongside
from tests.protocol.machine import Machine
from tests.protocol.names import Key
from tests.protocol.setting import Budget, Setting
from tests.protocol.states import Action
from tests.protocol.taken_out import WithoutAgeOfLook
from tests.protocol.world import World

KINDS = {
    "keys and probe": Setting(),
    "keys": Setting(probe="none"),
    "probe": Setting(keys=False),
    "neither": Setting(keys=False, probe="none"),
    "keys, and a probe that never says absent": Setting(probe="finds only"),
    "a probe that never says absent": Setting(keys=False, probe="finds only"),
}
ONE_STEP: dict[str, Any] = {"steps": 1, "refusable": ()}
UNDO_REFUSED: dict[str, Any] = {"refusable": (Key(2), Key(1, undo=1), Key(1, undo=2))}


def settings() -> Iterator[tuple[str, Setting]]:
    """Cancels only: in the product a deadline is a time, and in the model it is a move."""
    rows: list[tuple[str, dict[str, Any], Budget]] = [
        ("a crash", {}, Budget(crash=1)),
        ("a lost message, a cancel, a verdict", {}, Budget(lost=1, stop=1, verdict=1)),
        ("a pause and a report", {}, Budget(pause=1, report=1)),
        ("a refused undo", UNDO_REFUSED, Budget(lost=1, verdict=1)),
        ("a refusal that is not replayed", {"replays_refusals": False}, Budget(lost=2)),
        ("parallel branches", {"parallel": True}, Budget(lost=1)),
        ("an irreversible step", {"irreversible": (2,)}, Budget(lost=1, stop=1)),
        (
            "an irreversible step beside another",
            {"irreversible": (2,), "parallel": True, "refusable": (Key(1),)},
            Budget(lost=1),
        ),
        (
            "an undo without a receipt",
            {"undo_needs_receipt": False},
            Budget(lost=1, stop=1, verdict=1),
        ),
        (
            "an undo that does not hold",
            {"hold": False, "refusable": (Key(2, undo=1), Key(1, undo=1))},
            Budget(stop=1, verdict=1),
        ),
        ("nothing declared", {"declared": False}, Budget(lost=1, verdict=1)),
        (
            "a straggler that is reported",
            {**ONE_STEP, "every_effect_is_reported": True},
            Budget(stalled=1, lost=1, verdict=1),
        ),
        ("a crash and a lost message", ONE_STEP, Budget(crash=1, lost=1, stop=1)),
        ("a report and two verdicts", ONE_STEP, Budget(lost=1, stop=1, verdict=2, report=1)),
    ]
    for kind, provider in KINDS.items():
        for name, changes, budget in rows:
            setting = replace(provider, stops=("cancel",), budget=budget, **changes)
            yield f"{kind}: {name}", setting


SETTINGS = dict(settings())


@pytest.mark.parametrize("name", SETTINGS)
def test_the_product_does_what_the_model_allows_and_comes_to_the_same(name: str) -> None:
    both = Alongside(SETTINGS[name])
    both.walk(limit=1)
    assert not both.differences, str(both.differences[0])
    assert both.commands["Intend"] > 0
    assert both.commands["Reply"] > 0


@pytest.mark.parametrize("attempts", [1, 3])
def test_they_count_attempts_alike(attempts: int) -> None:
    both = Alongside(
        replace(Setting(attempts=attempts, budget=Budget(lost=2)), **ONE_STEP),
    )
    both.walk(limit=1)
    assert not both.differences, str(both.differences[0])


def test_a_walk_hears_of_what_the_product_does_and_the_model_does_not_allow() -> None:
    """A comparison that cannot fail would prove nothing. This model never sends what a person has
    asked to be sent again."""

    class Hesitant(Machine):
        def may_send_as_asked(self, w: World, key: Key, action: Action) -> bool:
            return False

    both = Alongside(SETTINGS["keys: a refused undo"], Hesitant)
    both.walk(limit=1)
    assert [one.what for one in both.differences] == ["the model does not allow: send step 1"]


def test_a_walk_hears_of_a_rule_that_only_the_product_keeps() -> None:
    both = Alongside(
        SETTINGS["keys, and a probe that never says absent: a report and two verdicts"],
        WithoutAgeOfLook,
    )
    both.walk(limit=1)
    assert both.differences


def test_a_walk_hears_of_another_meaning_of_the_same_result() -> None:
    class Forgetful(Machine):
        def left_after_not_sent(self, action: Action, attempt: int) -> tuple[int, ...]:
            return ()

    both = Alongside(replace(SETTINGS["keys: a crash"], budget=Budget(lost=2)), Forgetful)
    both.walk(limit=1)
    assert both.differences
