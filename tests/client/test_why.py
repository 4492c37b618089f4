"""why: the rule that holds a run, its evidence, the next wake-up and what would free it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from saga import UnknownRun
from saga.inquiries.hold import Hold
from tests.client.desk import Desk


def hold(desk: Desk, run_id: str, rule: str) -> Hold:
    found = [hold for hold in desk.client.why(run_id).holds if hold.rule == rule]
    assert found, desk.rules(run_id)
    return found[0]


def in_an_hour(moment: datetime | None) -> bool:
    assert moment is not None
    return timedelta(minutes=50) < moment - datetime.now(UTC) < timedelta(minutes=70)


def test_a_run_that_nobody_knows_is_no_run(desk: Desk) -> None:
    desk.start("r1")
    for run_id in ("r2", "", "R1", "r1 ", "\udcff", "x" * 200):
        with pytest.raises(UnknownRun):
            desk.client.why(run_id)


def test_an_ended_run_waits_for_nothing(desk: Desk) -> None:
    desk.run("r1")
    why = desk.client.why("r1")
    assert (why.rule, why.phase, why.outcome) == ("ended", "ended", "completed")
    assert (why.next_wake_up, why.notice, len(why.holds)) == (None, "", 1)


def test_without_an_orchestrator_that_is_the_first_thing_to_say(desk: Desk) -> None:
    desk.start("r1")
    why = desk.client.why("r1")
    assert (why.rule, why.freed_by) == ("no_orchestrator", "saga orchestrator APP")
    assert why.notice == "no live orchestrator runs desk@1; start one: saga orchestrator APP"
    assert [hold.rule for hold in why.holds] == ["no_orchestrator", "due"]
    assert why.evidence[-1].startswith("record 1 of 20")


def test_what_was_not_sent_waits_for_its_next_attempt(desk: Desk) -> None:
    desk.run("r1", {"plain": "down"})
    found = hold(desk, "r1", "retry")
    assert (found.step, found.direction) == ("plain", "forward")
    assert in_an_hour(found.next_at)
    assert desk.client.why("r1").next_wake_up == found.next_at
    assert any("NotSent: nobody there" in line for line in found.evidence)


def test_an_unknown_one_that_honours_keys_waits_to_be_sent_again(desk: Desk) -> None:
    desk.run("r1", {"keyed": "lose"})
    found = hold(desk, "r1", "resend")
    assert "nobody knows whether keyed happened" in found.text
    assert any("ConnectionResetError: the answer is lost" in line for line in found.evidence)
    assert in_an_hour(found.next_at)


def test_an_unknown_one_that_can_be_asked_waits_for_its_probe(desk: Desk) -> None:
    desk.run("r1", {"asked": "lose"})
    found = hold(desk, "r1", "probe")
    assert "its provider is asked by key" in found.text
    assert found.next_at is not None


def test_a_case_waits_for_a_person_before_all_else(desk: Desk) -> None:
    desk.run("r1", {"plain": "lose"})
    why = desk.client.why("r1")
    assert (why.rule, why.freed_by) == ("case", "saga case r1/1")
    assert why.text.startswith("case r1/1 (unknown) waits for a person: Nobody can say")
    assert why.next_wake_up is None


def test_an_undo_that_is_held_says_behind_what(desk: Desk) -> None:
    desk.run("r1", {"asked": "refuse"}, keyed="refuse")
    rules = desk.rules("r1")
    assert rules[0] == "case"
    found = hold(desk, "r1", "undo_waits")
    assert (found.step, found.direction) == ("plain", "undo")
    assert "waits until keyed is settled or undone" in found.text


def test_what_is_unknown_for_good_is_undone_without_a_receipt_in_its_time(desk: Desk) -> None:
    desk.run("r1", {"bounded": "lose"})
    assert desk.rules("r1")[0] == "case"
    desk.client.cancel("r1", reason="enough")
    desk.idle()
    found = hold(desk, "r1", "undo_unknown")
    assert "its undo works without a receipt" in found.text
    assert in_an_hour(found.next_at)


def test_a_pause_holds_what_it_names_and_says_who_and_why(desk: Desk) -> None:
    desk.start("r1")
    desk.client.pause(provider="plain", reason="they move house", actor="ada")
    desk.idle()
    why = desk.client.why("r1")
    found = hold(desk, "r1", "paused")
    assert found.freed_by == "saga resume --provider plain"
    assert found.evidence[0].endswith("by ada: they move house")
    assert [pause.name for pause in why.pauses] == ["plain"]
    desk.client.resume(provider="plain")
    assert "paused" not in desk.rules("r1")


def test_a_pause_of_something_else_is_not_shown(desk: Desk) -> None:
    desk.start("r1")
    desk.client.pause(effect="bounded.do", reason="later")
    assert desk.client.why("r1").pauses == ()


def test_no_argument_is_ever_shown(desk: Desk) -> None:
    for run_id, plan in (("r1", {"plain": "lose"}), ("r2", {"keyed": "lose"})):
        desk.run(run_id, plan)
        assert "the-argument-itself" not in repr(desk.client.why(run_id))
