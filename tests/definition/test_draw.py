"""Drawing: Mermaid text of the way forward and the way back."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from saga import Effect, Irreversible, NothingToUndo, Saga, Savepoint, Wait
from saga.definition import draw
from tests.definition.order_flow import order_flow
from tests.definition.trips import book, step, trip

ORDER_FLOW = """\
flowchart TD
    start(["order-flow 1"])
    s0["reserve<br/>inventory.reserve@1"]
    u0["undo of reserve<br/>inventory.release@1"]:::undo
    s1["charge<br/>payments.charge@1"]
    u1["undo of charge<br/>payments.refund@1"]:::undo
    s2["ship<br/>shipping.create@1"]
    u2["undo of ship<br/>shipping.cancel@1"]:::undo
    completed(["completed"])
    compensated(["compensated"])
    start --> s0
    s0 --> s1
    s1 --> s2
    s2 --> completed
    s0 -. refused .-> compensated
    s0 -. cancelled .-> u0
    u0 -.-> compensated
    s1 -. refused .-> u0
    s1 -. cancelled .-> u1
    u1 -.-> u0
    s2 -. refused .-> u1
    s2 -. cancelled .-> u2
    u2 -.-> u1
    classDef undo stroke-dasharray: 4 3
"""


def test_the_order_flow_is_drawn_with_its_way_back() -> None:
    assert order_flow.draw() == ORDER_FLOW
    assert draw(order_flow.spec()) == ORDER_FLOW


def test_the_way_back_goes_past_what_leaves_nothing() -> None:
    reads = NothingToUndo("reads only")
    text = Saga("s", trip, [step("a"), step("b", compensation=reads), step("c")]).draw()
    assert "s2 -. refused .-> u0" in text
    assert "u1" not in text
    assert "nothing to undo: reads only" in text
    only = Saga("s", trip, [step("a", compensation=reads), step("b")]).draw()
    assert "s1 -. refused .-> compensated" in only
    assert "u1 -.-> compensated" in only


def test_an_irreversible_step_has_no_way_back() -> None:
    mail = step("b", compensation=Irreversible("mail cannot be unsent"))
    text = Saga("s", trip, [step("a"), mail]).draw()
    assert "irreversible: mail cannot be unsent" in text
    assert "s1 -. refused .-> u0" in text
    assert "s1 -. cancelled" not in text


def test_titles_and_reasons_cannot_write_mermaid() -> None:
    hostile = '"] --> x["<script>`end`'
    text = Saga(
        "s", trip, [step("a", title=hostile), step("b", compensation=NothingToUndo(hostile))]
    ).draw()
    assert "<script>" not in text
    assert '"] --> x' not in text
    assert "#34;#93; --#62; x#91;" in text


def test_branches_are_drawn_with_every_way_back() -> None:
    """Nothing that reads a specification may take it for a line."""
    spec: dict[str, Any] = order_flow.spec()
    spec["steps"][1]["after"] = []
    spec["steps"][2]["after"] = ["reserve", "charge"]
    text = draw(spec)
    assert "start --> s0" in text
    assert "start --> s1" in text
    assert "s0 --> s2" in text
    assert "s1 --> s2" in text
    assert "s2 -. refused .-> u0" in text
    assert "s2 -. refused .-> u1" in text
    assert len(re.findall("--> completed", text)) == 1


def test_what_is_optional_goes_on_and_what_is_behind_a_pivot_goes_to_a_person() -> None:
    last = step("d", effect=Effect("mail.send", book), compensation=NothingToUndo("a mail"))
    rows = [step("a"), step("b", optional=True), step("c", pivot=True), last]
    text = Saga("s", trip, rows).draw()
    assert "s1 -. refused" not in text
    assert "s1 -. cancelled .-> u1" in text
    assert "s2 -. refused .-> u1" in text
    assert "s2 -. cancelled" not in text
    assert 's3 -. does not land .-> case3(["a case, for a person"])' in text
    assert "s3 -. cancelled" not in text


def test_a_long_saga_is_drawn_too() -> None:
    """Deeper than Python calls go."""
    reads = NothingToUndo("reads only")
    rows = [step(f"s{number}", compensation=reads) for number in range(1200)]
    assert "s1198 --> s1199" in Saga("s", trip, rows).draw()


def test_a_wait_says_for_how_long_and_only_a_missing_signal_ends_it() -> None:
    class Paid(BaseModel):
        amount: str

    day = timedelta(days=1)
    rest, paid = Wait("rest", time=90), Wait("paid", signal=Paid, limit=day)
    text = Saga("s", trip, [step("a"), rest, paid, step("b")]).draw()
    assert "rest<br/>waits: 0:01:30" in text
    assert "paid<br/>waits: a signal, at most 1 day, 0:00:00" in text
    assert "s1 -. " not in text
    assert "s2 -. no signal .-> u0" in text


def test_behind_a_savepoint_the_way_back_leads_to_the_other_path() -> None:
    flight = Savepoint("by_air", steps=[step("b"), step("c")], instead=[step("d"), step("e")])
    text = Saga("s", trip, [step("a"), flight]).draw()
    ways = re.findall(r"(\w+) -\. refused \.-> (\w+)", text)
    assert ways == [("s0", "compensated"), ("s1", "s3"), ("s2", "u1"), ("s3", "u0"), ("s4", "u3")]
    assert "u1 -.-> s3" in text
    assert "u3 -.-> u0" in text


def test_an_inner_savepoint_goes_back_to_the_outer_one() -> None:
    inner = Savepoint("inner", steps=[step("b")], instead=[step("c")])
    outer = Savepoint("outer", steps=[inner], instead=[step("d")])
    text = Saga("s", trip, [step("a"), outer]).draw()
    ways = re.findall(r"(\w+) -\. refused \.-> (\w+)", text)
    assert ways == [("s0", "compensated"), ("s1", "s2"), ("s2", "s3"), ("s3", "u0")]
