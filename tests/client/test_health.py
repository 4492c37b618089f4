"""health and verify: whether the whole can go on, and whether it is what it was."""

from __future__ import annotations

import pytest

from saga import Client, UnknownRun
from tests.client.desk import Desk
from tests.moved_clock import MovedClock


def codes(client: Client, kind: str = "problem") -> list[str]:
    return [finding.code for finding in client.health().findings if finding.kind == kind]


def test_an_empty_database_is_well_even_without_an_orchestrator(desk: Desk) -> None:
    desk.idle()
    health = desk.client.health()
    assert (health.ok, health.phases, health.due, health.orchestrators) == (True, {}, (), ())


def test_due_runs_that_nobody_moves_are_a_problem_for_each_saga(desk: Desk) -> None:
    desk.start("r1")
    desk.start("r2")
    health = desk.client.health()
    assert not health.ok
    (due,) = health.due
    assert (due.saga, due.version, due.runs, due.run_id) == ("desk", 1, 2, "r1")
    assert 0 <= due.late < 30
    assert health.phases == {"running": 2}


def test_a_run_that_waits_for_its_time_is_not_due(desk: Desk) -> None:
    desk.run("r1", {"plain": "down"})
    (nobody,) = [one for one in desk.client.health().findings if one.kind == "problem"]
    assert nobody.code == "no_orchestrator"
    assert "1 run has a due time, the first is" in nobody.text
    assert desk.client.health().due == ()
    later = Client(desk.url, clock=MovedClock(4000))
    (nobody,) = [one for one in later.health().findings if one.kind == "problem"]
    assert nobody.code == "no_orchestrator"
    assert "1 run to be moved, the oldest is r1, due since" in nobody.text


def test_cases_and_pauses_are_notices(desk: Desk) -> None:
    desk.run("r1", {"plain": "lose"})
    desk.client.pause(saga="desk", reason="night", actor="ada")
    health = desk.client.health()
    assert (health.ok, health.open_cases) == (True, 1)
    assert codes(desk.client, "notice") == ["open_cases", "paused", "no_key"]
    assert health.oldest_case_at == desk.client.case("r1/1").opened_at
    assert [(pause.kind, pause.name) for pause in health.pauses] == [("saga", "desk")]


def test_a_damaged_run_that_has_not_ended_is_found_without_an_orchestrator(desk: Desk) -> None:
    desk.start("r1")
    desk.start("r2")
    desk.query("UPDATE journal SET at = at + 1 WHERE run_id = 'r2'")
    assert desk.client.health().damaged == ("r2",)
    assert "damaged" in codes(desk.client)
    assert desk.client.show("r2").damaged
    assert not desk.client.show("r1").damaged
    desk.broken = True


def test_verify_tells_how_far_it_is(desk: Desk) -> None:
    for number in range(3):
        desk.start(f"r{number}")
    told: list[tuple[int, int]] = []
    found = desk.client.verify(progress=lambda done, total: told.append((done, total)))
    assert (found.ok, found.runs, found.damages, found.sealed) == (True, 3, (), False)
    assert told[-1] == (3, 3)


def test_verify_of_one_run_looks_at_no_other(desk: Desk) -> None:
    desk.start("r1")
    desk.start("r2")
    desk.query("UPDATE runs SET tenant = 'other' WHERE run_id = 'r2'")
    assert desk.client.verify("r1").ok
    found = desk.client.verify("r2")
    assert not found.ok
    assert found.damages[0].run_id == "r2"
    assert "tenant" in found.damages[0].text
    with pytest.raises(UnknownRun):
        desk.client.verify("r3")
    desk.broken = True
