"""The client by itself: what each method promises beyond the machine's rules."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from saga import BadInput, Client, Conflict, DatabaseError, NotAllowed, SagaError, UnknownRun
from saga.journal.backend import driver
from saga.journal.formats import FORMAT
from saga.journal.records import PAYLOAD_LIMIT, seal_record
from saga.journal.sealing import Keyring
from tests.client.desk import Desk, Doing
from tests.databases import files_only, server_only, traced

# ---- start, show, wait


@files_only
def test_constructing_one_touches_no_file_and_reads_the_environment_then(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAGA_DATABASE_URL", desk.url)
    client = Client()
    monkeypatch.setenv("SAGA_DATABASE_URL", "sqlite:////nowhere/else.db")
    assert not desk.database.exists()
    with pytest.raises(DatabaseError, match="no database at"):
        client.show("r1")
    client.start(desk.saga, Doing(), run_id="r1")
    assert desk.client.show("r1").id == "r1"


def test_a_second_start_gives_the_run_and_says_since_when(desk: Desk) -> None:
    first = desk.start("r1")
    again = desk.start("r1")
    assert again == first
    at = first.started_at.isoformat(timespec="seconds")
    assert again.notice.startswith(f"already started at {at}, running; use another run id")
    desk.idle()
    assert "completed; use another run id" in desk.start("r1").notice


@files_only
def test_an_input_too_large_for_a_record_creates_nothing(desk: Desk) -> None:
    with pytest.raises(BadInput, match="the limit is"):
        desk.client.start(desk.saga, Doing(secret="x" * PAYLOAD_LIMIT), run_id="r1")
    assert not desk.database.exists()


@files_only
def test_a_saga_is_given_itself_and_not_by_its_name(desk: Desk) -> None:
    with pytest.raises(BadInput, match="the saga is str") as refused:
        desk.client.start(desk.saga.name, Doing(), run_id="r1")  # type: ignore[arg-type]
    assert "give the Saga itself" in refused.value.remedy
    assert not desk.database.exists()


def test_several_threads_use_one_client(desk: Desk) -> None:
    threads = [threading.Thread(target=desk.start, args=(f"r{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(desk.client.runs()) == 8


@server_only
def test_a_run_that_moves_while_it_is_read_is_not_shown_as_damaged(desk: Desk) -> None:
    """Its head from before and its journal from after do not fit, and are no damage.

    In a file nobody can come in between: what is read together holds one state of it.
    """

    class Meddling(list[str]):
        def append(self, statement: str) -> None:
            if "FROM journal" in statement and not self:
                super().append(statement)
                with closing(Client(desk.url)) as other:
                    other.cancel("r1", reason="meanwhile")

    desk.start("r1")
    meddling = Meddling()
    with desk.client._source.database().connection() as connection:
        traced(driver(connection), meddling)
    assert not desk.client.show("r1").damaged
    assert desk.client.show("r1").outcome == "compensated"


def test_wait_inside_a_running_loop_is_refused_with_the_way_to_do_it(desk: Desk) -> None:
    desk.run("r1")

    async def inside() -> None:
        with pytest.raises(SagaError, match=r"use await asyncio\.to_thread"):
            desk.client.wait("r1")
        assert (await asyncio.to_thread(desk.client.wait, "r1")).outcome == "completed"
        assert desk.client.show("r1").outcome == "completed"

    asyncio.run(inside())


def test_wait_gives_up_in_time(desk: Desk) -> None:
    desk.start("r1")
    for timeout in (0, 0.05, timedelta(seconds=0.05)):
        with pytest.raises(TimeoutError, match="'r1'"):
            desk.client.wait("r1", timeout)
    for nonsense in (-1, float("nan"), "soon"):
        with pytest.raises(BadInput):
            desk.client.wait("r1", nonsense)  # type: ignore[arg-type]
    with pytest.raises(UnknownRun):
        desk.client.wait("r2", 0)


def test_wait_notices_damage_that_nobody_has_set_aside(desk: Desk) -> None:
    desk.start("r1")
    desk.query("UPDATE journal SET body = replace(body, 'itself', 'ITSELF')")
    assert desk.client.wait("r1", 10).damaged
    assert desk.client.wait("r1", 0).damaged
    desk.broken = True


def test_a_run_of_a_newer_version_is_neither_damaged_nor_read(desk: Desk) -> None:
    desk.start("r1")
    ((body,),) = desk.query("SELECT body FROM journal")
    newer = body.replace(f'"format":{FORMAT}', f'"format":{FORMAT + 1}', 1)
    seal = seal_record(Keyring(), "", "r1", 1, newer)
    desk.query("UPDATE journal SET body = ?, seal = ?", newer, seal)
    run = desk.client.show("r1")
    assert (run.damaged, run.steps) == (False, ())
    assert run.notice.startswith("it was written by a newer version")
    assert desk.client.why("r1").rule == "newer_version"
    (record,) = desk.client.journal("r1")
    assert "newer version" in record.damage
    desk.broken = True


def test_runs_are_pages_in_the_order_of_their_ids(desk: Desk) -> None:
    for run_id in ("b", "a", "C", "a.1"):
        desk.start(run_id)
    assert [run.id for run in desk.client.runs()] == ["C", "a", "a.1", "b"]
    assert [run.id for run in desk.client.runs(limit=2, after="C")] == ["a", "a.1"]
    assert [run.id for run in desk.client.runs("running", "desk")] == ["C", "a", "a.1", "b"]
    for wrong in ({"limit": 0}, {"limit": 10**9}, {"phase": "ended "}, {"after": "%"}):
        with pytest.raises(BadInput):
            desk.client.runs(**wrong)


# ---- journal


def test_the_journal_gives_every_record_with_its_events_as_data(desk: Desk) -> None:
    desk.run("r1")
    records = desk.client.journal("r1")
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert (records[0].command, records[0].fence) == ("start", 0)
    assert records[0].events[0]["kind"] == "started"
    assert records[-1].events[-1] == {"kind": "ended", "outcome": "completed"}
    assert all(record.fence and record.fence > 0 for record in records[1:])
    assert not any(record.damage for record in records)
    kinds = [event["kind"] for record in records for event in record.events]
    assert kinds.count("landed") == 4
    json.dumps([record.events for record in records])
    with pytest.raises(UnknownRun):
        desk.client.journal("r2")


def test_the_journal_of_a_damaged_run_says_which_record(desk: Desk) -> None:
    desk.run("r1")
    desk.query("UPDATE journal SET body = replace(body, 'N-plain', 'N-pla1n') WHERE seq = 3")
    records = desk.client.journal("r1")
    assert [record.seq for record in records if record.damage] == [3]
    assert records[2].events
    desk.query("UPDATE journal SET body = 'gone' WHERE seq = 4")
    records = desk.client.journal("r1")
    assert [record.seq for record in records if record.damage] == [3, 4]
    assert records[3].events == ()
    desk.broken = True


# ---- cancel, report


def test_what_cancel_returns_is_what_is_stored(desk: Desk) -> None:
    desk.run("r1", {"keyed": "down"})
    first = desk.client.cancel("r1", reason="enough")
    assert first == desk.client.show("r1") == desk.client.cancel("r1", reason="again")
    desk.idle()
    with pytest.raises(NotAllowed) as refused:
        desk.client.cancel("r1", reason="late")
    assert refused.value.rejection == "ended"


@pytest.mark.parametrize("reason", ["", "  \n", "x" * 2001, "nul\x00", "\udcff", 7])
def test_a_reason_that_says_nothing_is_refused(desk: Desk, reason: Any) -> None:
    desk.start("r1")
    with pytest.raises(BadInput):
        desk.client.cancel("r1", reason=reason)
    assert desk.client.show("r1").phase == "running"


def test_a_report_settles_an_unknown_action_and_closes_its_case(desk: Desk) -> None:
    run = desk.run("r1", {"plain": "lose"})
    step = run.steps[0]
    assert step.key is not None
    ((digest,),) = desk.query("SELECT digest FROM actions")
    desk.ledger.append(
        {"key": step.key, "run_id": "r1", "step": "plain", "of_key": None, "at": run_at(run)}
    )
    report = {"digest": digest, "attempt": 1}
    echo = {"number": "N-1", "idempotency_key": step.key, "intent_digest": digest}
    for name in ("idempotency_key", "intent_digest"):
        with pytest.raises(Conflict, match=name):
            desk.client.report("r1", step.key, receipt={**echo, name: "another"}, **report)
    with pytest.raises(Conflict):
        desk.client.report("r1", step.key, digest="sha256:0", attempt=1, receipt={"number": "1"})
    with pytest.raises(NotAllowed):
        desk.client.report("r1", "no/such/key", receipt={"number": "1"}, **report)
    for attempt in (-1, 1.0, True, None):
        with pytest.raises(BadInput):
            desk.client.report("r1", step.key, digest=digest, attempt=attempt, receipt={})  # type: ignore[arg-type]
    settled = desk.client.report("r1", step.key, receipt=echo, **report)
    assert (settled.steps[0].state, settled.cases) == ("landed", ())
    assert desk.client.report("r1", step.key, receipt=echo, **report) == settled
    desk.idle()
    assert desk.client.show("r1").outcome == "completed"


def run_at(run: Any) -> float:
    return float(run.started_at.timestamp())


def test_a_receipt_too_large_or_no_object_is_bad_input(desk: Desk) -> None:
    run = desk.run("r1", {"plain": "lose"})
    key = run.steps[0].key
    assert key is not None
    for receipt in ("text", 7, [1], {"number": "x" * PAYLOAD_LIMIT}, {"n": float("nan")}, {1: 2}):
        with pytest.raises(BadInput):
            desk.client.report("r1", key, digest="sha256:0", attempt=1, receipt=receipt)
        with pytest.raises(BadInput):
            desk.client.resolve("r1/1", "landed", reason="x", case_version=1,
                                looked_at=datetime.now(UTC), receipt=receipt)  # fmt: skip
    assert desk.client.case("r1/1").state == "open"


# ---- pauses


def test_the_first_reason_of_a_pause_stands(desk: Desk) -> None:
    desk.start("r1")
    first = desk.client.pause(saga="desk", reason="one", actor="ada")
    again = desk.client.pause(saga="desk", reason="two", actor="bob")
    assert (again, first.reason, first.sagas) == (first, "one", ("desk@1",))
    assert desk.client.resume(saga="desk") == first
    with pytest.raises(NotAllowed) as refused:
        desk.client.resume(saga="desk")
    assert refused.value.rejection == "not_paused"


def test_a_pause_names_exactly_one_thing(desk: Desk) -> None:
    desk.start("r1")
    for names in ({}, {"saga": "a", "effect": "b"}, {"provider": "a b"}, {"saga": ""}):
        with pytest.raises(BadInput):
            desk.client.pause(**names, reason="x")
    assert desk.client.health().pauses == ()


def test_a_child_of_a_fork_opens_the_database_anew(desk: Desk) -> None:
    desk.start("r1")
    child = os.fork()
    if child == 0:
        try:
            desk.start("r2")
            os._exit(0 if desk.client.show("r1").id == "r1" else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert [run.id for run in desk.client.runs()] == ["r1", "r2"]
