"""Long numbers and large receipts: C055, C058."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from saga import Call, Provider, Refused
from saga.journal.records import PAYLOAD_LIMIT
from tests.cases.odd_values import Anything, Given, returning
from tests.cases.world import World

NUMBERS = [9007199254740993, 2**63, -(2**63) - 1, 10**40]
DECIMAL = "123456789012345678901234567890.123456789"


@pytest.mark.parametrize("number", NUMBERS)
def test_every_digit_of_a_long_number_stays_the_same(world: World, number: int) -> None:
    """C055, riverqueue/riverui#593, temporalio/ui#2670, StackStorm/st2web#665.

    Through the input, the receipt, a verdict's receipt, the database and the arguments of the undo.
    Left for later: forms of a page. The command line prints the same object.
    """
    whole = Anything(number=number, text=DECIMAL, deep={"also": [number]})

    def refused(call: Call[Given]) -> Any:
        assert call.args.number == number
        raise Refused("no")

    app = returning(str(world.folder), lambda _: whole, then=refused)
    world.client.start(app.sagas[0], {"number": number, "text": DECIMAL}, run_id="r1")
    world.run_until_idle(app)

    run = world.show()
    assert run.outcome == "compensated"
    assert run.steps[0].receipt == whole.model_dump()
    (undo,) = world.ledger.calls("undo s1")
    assert undo["receipt"] == whole.model_dump()
    ((intent, receipt),) = world.query(
        "SELECT intent, receipt FROM actions WHERE step = 's1' AND direction = 'forward'"
    )
    for text in (intent, receipt):
        assert f":{number}," in text or f":{number}}}" in text
        assert f'"{DECIMAL}"' in text
    assert json.loads(receipt) == whole.model_dump()


def test_a_verdicts_receipt_keeps_its_digits(world: World) -> None:
    """C055, the way round through a person."""

    def lost(_: Call[Given]) -> Any:
        raise ConnectionError("lost")

    def refused(_: Call[Given]) -> Any:
        raise Refused("no")

    app = returning(str(world.folder), lost, then=refused)
    world.client.start(app.sagas[0], {}, run_id="r1")
    world.run_until_idle(app)
    (case,) = world.client.cases()
    given = {"number": 10**40, "text": DECIMAL}
    world.client.resolve(case.id, "landed", reason="seen there", receipt=given)
    world.run_until_idle(app)

    assert world.show().outcome == "compensated"
    (undo,) = world.ledger.calls("undo s1")
    assert (undo["receipt"]["number"], undo["receipt"]["text"]) == (10**40, DECIMAL)


@pytest.mark.parametrize("letter", ["x", "é", "漢", "\U0001f600"])
@pytest.mark.parametrize("over", [-1, 0, 1])
def test_a_receipt_is_stored_whole_up_to_the_limit_and_is_unknown_beyond(
    world: World, letter: str, over: int
) -> None:
    """C058, pydantic/pydantic-ai#7157, temporalio/temporal#397: once; size and limit are named."""
    rest = PAYLOAD_LIMIT + over - len(Anything().model_dump_json().encode())
    width = len(letter.encode())
    text = letter * (rest // width) + "." * (rest % width)
    app = returning(str(world.folder), lambda _: Anything(text=text))
    world.client.start(app.sagas[0], {}, run_id="r1")
    world.run_until_idle(app)
    world.run_until_idle(app)

    run = world.show()
    assert len(world.ledger.calls("s1")) == len(world.ledger.landed("s1")) == 1
    assert run.steps[0].attempts == 1
    if over <= 0:
        assert run.outcome == "completed"
        stored = run.steps[0].receipt["text"]
        assert hashlib.sha256(stored.encode()).digest() == hashlib.sha256(text.encode()).digest()
    else:
        (case,) = world.client.cases()
        assert (case.kind, run.steps[0].state) == ("unknown", "unknown")
        assert f"{PAYLOAD_LIMIT + 1} bytes; the limit is {PAYLOAD_LIMIT}" in case.text


def test_where_keys_are_honoured_a_receipt_that_is_too_large_ends_in_a_case(world: World) -> None:
    """C058, with a provider that may be sent the same key again: bounded, and one effect."""
    app = returning(
        str(world.folder),
        lambda _: Anything(text="x" * PAYLOAD_LIMIT),
        provider=Provider("keyed", key_life=3600),
    )
    world.client.start(app.sagas[0], {}, run_id="r1")
    world.run_until_idle(app)
    world.run_until_idle(app)

    (case,) = world.client.cases()
    assert "the limit is" in case.text
    assert len(world.ledger.calls("s1")) == world.show().steps[0].attempts == 3
    assert len({call["key"] for call in world.ledger.calls("s1")}) == 1
