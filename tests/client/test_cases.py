"""Cases through the client: who read what, who decides, and what cannot be decided."""

from __future__ import annotations

import os
import pwd
from datetime import datetime
from typing import Any

import pytest

from saga import BadInput, Client, Conflict, NotAllowed
from saga.reconciliation.words import os_user
from tests.client.desk import Desk


def test_only_the_client_that_read_a_case_may_leave_out_what_it_saw(desk: Desk) -> None:
    desk.run("r1", {"plain": "lose"})
    other = Client(desk.url)
    with pytest.raises(NotAllowed) as refused:
        other.resolve("r1/1", "accept", reason="blind")
    assert refused.value.rejection == "not_shown"
    with pytest.raises(NotAllowed):
        other.resolve("r1/1", "accept", reason="blind", case_version=1)
    case = other.case("r1/1")
    assert case.receipt_fields == {"number": "str"}
    assert other.resolve("r1/1", "accept", reason="seen").verdict == "accept"
    desk.idle()
    assert desk.client.show("r1").outcome == "settled"


def test_a_case_that_was_read_before_a_cancel_must_be_read_again(desk: Desk) -> None:
    desk.run("r1", {"plain": "lose"})
    case = desk.client.case("r1/1")
    assert case.verdicts["landed"].endswith("the run goes on from there.")
    Client(desk.url).cancel("r1", reason="ticket 4711", actor="bob")
    with pytest.raises(Conflict, match="version 2, not 1"):
        desk.client.resolve("r1/1", "landed", reason="seen", receipt={"number": "1"})
    case = desk.client.case("r1/1")
    assert "undone" in case.verdicts["landed"]
    run = desk.client.show("r1")
    assert (run.cause, run.cause_reason, run.cause_actor) == ("cancelled", "ticket 4711", "bob")


def test_who_decides_is_the_user_of_the_system_not_of_the_environment(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "somebody-else")
    monkeypatch.setenv("USER", "somebody-else")
    desk.run("r1", {"plain": "lose"})
    desk.client.case("r1/1")
    case = desk.client.resolve("r1/1", "accept", reason="x")
    assert case.actor == pwd.getpwuid(os.getuid()).pw_name


def test_a_name_that_the_system_could_not_find_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_001)
    assert os_user() == "uid 4000000001"
    entry = pwd.struct_passwd(("late", "x", 4_000_000_001, 1, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: entry)
    assert os_user() == "late"


@pytest.mark.parametrize(
    "moment",
    ["yesterday", "2026-11-29T03:00:00", datetime.max,  # noqa: DTZ901
     float("nan"), float("inf"), -1,
     10**20, "0000-01-01T00:00:00+00:00", True, None.__class__],
)  # fmt: skip
def test_a_look_at_no_time_is_bad_input(desk: Desk, moment: Any) -> None:
    desk.run("r1", {"plain": "lose"})
    with pytest.raises(BadInput):
        desk.client.resolve("r1/1", "accept", reason="x", case_version=1, looked_at=moment)


def test_an_undo_that_is_undone_by_hand_lets_the_rest_go_on(desk: Desk) -> None:
    desk.run("r1", {"asked": "refuse"}, keyed="refuse")
    (case,) = desk.client.cases()
    assert (case.kind, case.direction, case.receipt_fields) == ("undo_refused", "undo", {})
    (landed,) = [step for step in desk.client.show("r1").steps if step.name == case.step]
    assert case.reverses == landed.receipt
    assert case.reverses
    with pytest.raises(NotAllowed):
        desk.client.resolve(case.id, "undone", reason="x")  # without evidence
    desk.client.resolve(case.id, "undone", reason="by hand", evidence="their mail")
    desk.idle()
    assert desk.client.show("r1").outcome == "compensated"


def test_the_case_of_a_run_that_cannot_be_read_offers_nothing_that_cannot_be_done(
    desk: Desk,
) -> None:
    desk.run("r1", {"plain": "lose"})
    desk.query("UPDATE runs SET tenant = 'other'")
    case = desk.client.case("r1/1")
    assert case.verdicts == {}
    assert "saga verify r1" in case.text
    desk.broken = True
