"""Strict JSON at every entrance: C054."""

from __future__ import annotations

from typing import Any

import pytest

from saga import BadInput
from saga.journal.sealing import Keyring
from tests.cases.odd_values import Anything, Given, returning
from tests.cases.world import World

NAN, INFINITY = float("nan"), float("inf")
ODD_INPUTS: list[tuple[Any, str]] = [
    ({"share": NAN}, "share"),
    ({"share": INFINITY}, "share"),
    ({"share": 10**400}, "share"),
    ({"deep": {"a": [{"b": -INFINITY}]}}, "deep"),
    ({"deep": {"a": [{"b": [1.0, NAN]}]}}, "deep"),
    ({"text": "\ud800"}, "text"),
    ({"deep": {"a": [{"\udfff": 1}]}}, "deep"),
    ({"number": 1.0}, "number"),
    ({"number": "1"}, "number"),
    ({"deep": {"a": [{"b": object()}]}}, "deep"),
    ({"unknown": 1}, "unknown"),
    (Given.model_construct(share=NAN), "share"),
    (Given.model_construct(deep={"a": [{"b": NAN}]}), "deep"),
    (Given.model_construct(text="\ud800"), "text"),
]


@pytest.mark.parametrize("number", range(len(ODD_INPUTS)))
def test_an_input_that_is_not_strict_json_is_refused_by_name_and_writes_nothing(
    world: World, number: int
) -> None:
    """C054, pydantic/pydantic#7007, #11976, langfuse/langfuse#16048, freedomofpress/
    securedrop-client#1693, msgspec/msgspec#648. Files on the command line: tests of the CLI.
    """
    given, field = ODD_INPUTS[number]
    app = returning(str(world.folder), lambda _: Anything())
    world.client.start(app.sagas[0], {}, run_id="healthy")
    with pytest.raises(BadInput, match=field):
        world.client.start(app.sagas[0], given, run_id="odd")
    assert world.query("SELECT run_id FROM runs") == [("healthy",)]


@pytest.mark.parametrize(
    "receipt",
    [
        Anything(share=NAN),
        Anything(deep={"a": [{"b": INFINITY}]}),
        Anything(text="\ud800"),
        Anything(text="\0"),
        Anything.model_construct(deep={"a": {1: "a", "1": "b"}}),
        Anything.model_construct(number=object()),
    ],
)
def test_a_receipt_that_cannot_be_stored_is_unknown_and_never_failed(
    world: World, receipt: Anything
) -> None:
    """C054 (receipts), and C057: it landed outside; nothing is turned into null or sent again."""
    app = returning(str(world.folder), lambda _: receipt)
    world.client.start(app.sagas[0], {}, run_id="r1")
    world.run_until_idle(app)

    run = world.show()
    (case,) = world.client.cases()
    assert (run.phase, run.steps[0].state, case.kind) == ("running", "unknown", "unknown")
    assert "cannot be stored" in case.text
    assert len(world.ledger.calls("s1")) == len(world.ledger.landed("s1")) == 1
    ((key, digest),) = world.query("SELECT key, digest FROM actions")
    for odd in ({"share": NAN}, {"text": "\ud800"}):
        with pytest.raises(BadInput, match=r"share|text|receipt"):
            world.client.resolve(case.id, "landed", reason="seen there", receipt=odd)
        with pytest.raises(BadInput, match=r"share|text|receipt"):
            world.client.report("r1", key, digest=digest, attempt=1, receipt=odd)
    assert world.client.case(case.id).state == "open"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"due":', '"due":NaN,"was":'),
        ('"seq":1', '"seq":1,"seq":1'),
        ('"input":{', '"input":{"text":"x","text":"y",'),
        ('"share":0.0', '"share":1e400'),
        ('"text":""', '"text":"\\ud800"'),
    ],
)
def test_a_stored_record_that_is_not_strict_json_is_set_aside_before_any_call(
    world: World, old: str, new: str
) -> None:
    """C054 (stored records), with a seal that fits: without keys anybody can make one."""
    app = returning(str(world.folder), lambda _: Anything())
    world.client.start(app.sagas[0], {}, run_id="r1")
    world.client.start(app.sagas[0], {}, run_id="r2")
    ((body,),) = world.query("SELECT body FROM journal WHERE run_id = 'r1'")
    assert old in body
    changed = body.replace(old, new, 1)
    seal = Keyring.parse("").seal("record", "", "r1", "1", changed)
    world.query("UPDATE journal SET body = ?, seal = ? WHERE run_id = 'r1'", changed, seal)
    world.run_until_idle(app)

    world.broken = {14}
    assert world.ledger.calls(run_id="r1") == []
    assert world.show("r2").outcome == "completed"
    assert world.show("r1").damaged
    (case,) = world.client.cases()
    assert case.kind == "damaged"
