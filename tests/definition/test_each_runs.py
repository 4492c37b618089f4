"""An each that runs: what its items are called with, and what comes of the list of a receipt."""

from __future__ import annotations

from saga import (
    Call,
    Effect,
    Saga,
    bind,
    item_of,
)
from saga.testing import run
from tests.definition.campaign import (
    READS,
    Campaign,
    Letter,
    Owner,
    People,
    Person,
    Sent,
    campaign,
    each,
    found,
    note,
    over_receipt,
    person,
)


def test_each_item_is_called_with_its_own_arguments_under_a_key_of_its_own() -> None:
    given = Campaign(
        text="hello",
        people=[Person(id="p1", name="Ada"), Person(id="äö", name="Bob", owner=Owner(id=7))],
    )
    seen: dict[str, str] = {}

    def answer(call: Call[Letter]) -> Sent:
        assert call.item is not None
        seen[call.key.partition("/")[2]] = f"{call.item} {call.args.to}"
        return Sent(mail_id=call.item)

    ended = run(Saga("s", campaign, [each()]), given, answers={"mail": answer})
    assert ended.outcome == "completed"
    items = [key.split("#")[1].split("/")[0] for key in seen]
    assert items[0] == "p1"
    assert len(items[1]) == 32  # what is no id is not shown
    assert [said.split(" ", 1)[1] for said in seen.values()] == ["Ada", "Bob"]
    assert len({key.split("/")[2] for key in seen}) == 2  # another person, another target
    assert ended.steps[0].items is not None
    assert ended.steps[0].items.states == {"landed": 2}


def test_without_a_key_the_position_names_an_item() -> None:
    given = Campaign(text="hello", people=[Person(id="same"), Person(id="same")])
    ended = run(Saga("s", campaign, [each(key=None)]), given)
    assert ended.outcome == "completed"
    assert [line.item for line in ended.settlement] == ["0", "1"]
    assert ended.settlement[0].receipt == {"mail_id": "0: hello nobody"}


def test_a_list_of_texts_and_whole_items_really_go_in() -> None:
    name = item_of(campaign.names)
    scalar = each(over=campaign.names, key=name, args=bind(Letter)(to=name, text="to"))
    whole = each("note", effect=Effect("note", note), args=person, compensation=READS)
    given = Campaign(text="", people=[Person(id="p", owner=Owner(id=3))], names=["ada", "bob"])
    ended = run(Saga("s", campaign, [scalar, whole]), given)
    receipts = [line.receipt for line in ended.settlement]
    assert receipts == [
        {"mail_id": "ada: to ada"},
        {"mail_id": "bob: to bob"},
        {"mail_id": "p: nobody id=3"},
    ]


def test_the_list_of_a_receipt_is_the_one_that_was_recorded() -> None:
    before = found()
    saga = Saga("s", campaign, [before, over_receipt(before)])
    answered = People(found=[Person(id="x", name="Xi"), Person(id="y")])
    given = Campaign(text="", people=[Person(id="p")])
    ended = run(saga, given, answers={"find": answered})
    assert [line.item for line in ended.settlement] == [None, "x", "y"]
    assert ended.settlement[1].receipt == {"mail_id": "x: hello Xi"}
    assert run(saga, given).settlement[1].item == "p"
