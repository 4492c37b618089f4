"""An orchestrator on an altered database: no call for that run, a case, all others are served."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saga.client import Client
from saga.errors import Conflict, NotAllowed, Tampered
from saga.journal.backend import driver
from saga.journal.verify import verify_database
from tests.databases import files_only
from tests.journal.changes import Change
from tests.journal.served import LATER, alter, restore, serve_altered
from tests.journal.tamper import Bench, all_changes, sampled
from tests.journal.world import (
    BYSTANDER,
    KEY,
    RUNS,
    Outside,
    keyed,
    opened,
    other,
    serve,
    trip,
)
from tests.moved_clock import MovedClock

Copy = Callable[[str | None], str]
DUE = {"running", BYSTANDER}  # two hours later
REFUSED = ("instance", "sealing_keys")


@pytest.fixture
def changes(template: Callable[[str | None], str]) -> list[Change]:
    """A sample of every kind, the same ones each time."""
    database = opened(template(KEY))
    bench = Bench(database)
    try:
        kinds = sampled(all_changes(bench), 5)
    finally:
        bench.close()
        database.close()
    return [change for change in kinds if not change.group.startswith(REFUSED)]


def damaged_runs(url: str, change: Change) -> set[str]:
    """The runs that have a head and do not verify."""
    database = opened(url)
    with database.connection() as connection:
        damages = {damage.run_id for damage in verify_database(connection, database.keys)}
        heads = driver(connection).execute("SELECT run_id, definition FROM runs").fetchall()
    database.close()
    pinned = set()
    if change.group.startswith("definitions") and not change.group.endswith("added"):
        digest = change.names[0]
        pinned = {run_id for run_id, definition in heads if definition == digest}
    return {run_id for run_id, _ in heads} & (damages | pinned)


PARTS, TRIED = 5, 15


@files_only
@pytest.mark.parametrize("part", range(PARTS))
def test_no_call_is_made_for_a_damaged_run_and_all_others_are_served(
    copy: Copy, changes: list[Change], part: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert len(changes) >= 300
    for change in changes[part::PARTS]:
        url = copy(KEY)
        if not alter(url, change):
            continue
        damaged = damaged_runs(url, change)
        served = serve_altered(url)
        called = {run_id for run_id, _, _ in served.outside.calls}
        assert called == DUE - damaged - gone(change), change.what
        assert served.cases == damaged, change.what
        caplog.text.encode()  # no file could take what raises here


def gone(change: Change) -> set[str]:
    """Whose head is not there under its name any more."""
    removed = change.group in ("runs: removed", "runs.run_id")
    return set(change.runs) if removed else set()


@files_only
def test_a_damaged_instance_or_key_list_is_not_opened_at_all(
    copy: Copy, template: Callable[[str | None], str]
) -> None:
    database = opened(template(KEY))
    bench = Bench(database)
    for change in sampled(all_changes(bench), 2):
        if not change.group.startswith(REFUSED):
            continue
        url = copy(KEY)
        assert alter(url, change)
        served = serve_altered(url)
        assert served.refused, change.what
        assert served.outside.calls == []
    bench.close()
    database.close()


@files_only
def test_once_its_rows_are_restored_a_person_says_retry_and_it_goes_on(
    copy: Copy, changes: list[Change], template: Callable[[str | None], str]
) -> None:
    tried = 0
    for change in changes:
        if tried == TRIED:
            break
        url = copy(KEY)
        if not alter(url, change) or "running" not in damaged_runs(url, change):
            continue
        if change.group == "runs.quarantined_at":
            continue  # nothing but the mark, and that is right by now
        served = serve_altered(url)
        outside, clock = Outside(), MovedClock(LATER)
        outside.generous = True
        with keyed(KEY):
            client = Client(url, clock=clock)
            for case in client.cases():
                if case.kind != "damaged":
                    continue
                with pytest.raises(NotAllowed, match="still does not verify"):
                    client.resolve(case.id, "retry", reason="too early")
            restore(url, template(KEY), served.cases)
            for case in client.cases():
                if case.kind == "damaged":
                    client.resolve(case.id, "retry", reason="restored from last night")
            serve(url, outside, clock)
            assert client.show("running").outcome == "completed", change.what
            client.close()
        assert outside.of("running") == [("running", "car", "forward")], change.what
        database = opened(url)
        with database.connection() as connection:
            assert verify_database(connection, database.keys) == [], change.what
        database.close()
        tried += 1
    assert tried == TRIED


def aside(url: str, clock: MovedClock) -> Client:
    """`running` damaged, found, and set aside."""
    alter(url, change_of("UPDATE actions SET attempts = 7 WHERE run_id = 'running'"))
    serve(url, Outside(), clock)
    return Client(url, clock=clock)


def change_of(sql: str, *parameters: Any) -> Change:
    return Change("", sql, ((sql, parameters),), (), ())


def test_accept_leaves_it_aside_for_good(copy: Copy) -> None:
    url, clock, outside = copy(None), MovedClock(LATER), Outside()
    client = aside(url, clock)
    (case,) = [case for case in client.cases() if case.kind == "damaged"]
    closed = client.resolve(case.id, "accept", reason="not worth it", actor="carol")
    assert (closed.state, closed.verdict, closed.actor) == ("closed", "accept", "carol")
    serve(url, outside, clock)
    assert outside.of("running") == []
    assert client.show("running").damaged
    with pytest.raises(Conflict):
        client.resolve(case.id, "retry", reason="after all", case_version=2, looked_at=clock.now())
    client.close()


@files_only
def test_damage_that_comes_back_is_a_new_case(copy: Copy, template: Any) -> None:
    """Nothing is ever silently stuck: the closed case of last time must not hide this one."""
    url, clock = copy(None), MovedClock(LATER)
    client = aside(url, clock)
    restore(url, template(None), ["running"])
    client.resolve(client.case("running/damaged").id, "retry", reason="restored")
    aside(url, clock).close()
    cases = {case.id: case.state for case in client.cases(None) if case.kind == "damaged"}
    assert cases == {"running/damaged": "closed", "running/damaged~2": "open"}
    client.close()


@files_only
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE runs SET quarantined_at = NULL WHERE run_id = 'running'",
        "UPDATE runs SET quarantined_at = 1.0 WHERE run_id = 'running'",
        "UPDATE cases SET state = 'closed', closed_at = 1.0 WHERE kind = 'damaged'",
        "UPDATE cases SET verdict = 'accept', actor = 'alice' WHERE kind = 'damaged'",
        "UPDATE cases SET reason = 'nothing' WHERE kind = 'damaged'",
        "UPDATE cases SET seal = seal || '0' WHERE kind = 'damaged'",
        "DELETE FROM cases WHERE kind = 'damaged'",
    ],
)
def test_the_mark_and_the_case_of_a_damaged_run_cannot_be_taken_away(
    copy: Copy, template: Callable[[str | None], str], sql: str
) -> None:
    """The one write without a record has a seal of its own: all else of the run is whole again."""
    url, clock, outside = copy(None), MovedClock(LATER), Outside()
    aside(url, clock).close()
    restore(url, template(None), ["running"])
    (mark,) = (row for row in marks(url) if row[0] == "running")
    assert mark[1] is None  # the head came from the backup
    serve(url, outside, clock)  # and is marked anew
    assert alter(url, change_of(sql))
    serve(url, outside, clock)
    assert outside.of("running") == []
    database = opened(url, None)
    with database.connection() as connection:
        named = {damage.run_id for damage in verify_database(connection, database.keys)}
    database.close()
    assert named == {"running"}


def marks(url: str) -> list[Any]:
    database = opened(url, None)
    with database.connection() as connection:
        rows = driver(connection).execute("SELECT run_id, quarantined_at FROM runs").fetchall()
    database.close()
    return list(rows)


def test_a_made_up_case_of_damage_is_found_out(copy: Copy) -> None:
    url = copy(None)
    made_up = (
        "INSERT INTO cases (case_id, run_id, kind, state, version, opened_at, closed_at, verdict, "
        "actor, reason, key_id, seal) VALUES ('finished/damaged', 'finished', 'damaged', 'closed', "
        "2, 1.0, 2.0, 'retry', 'alice', 'she saw it', '', 'x')"
    )
    assert alter(url, change_of(made_up))
    database = opened(url, None)
    with database.connection() as connection:
        (damage,) = verify_database(connection, database.keys)
    database.close()
    assert damage.run_id == "finished"


def test_a_row_that_takes_no_owner_any_more_stops_nobody_else(copy: Copy) -> None:
    """A fence at its end, or a value of a wrong type, makes the claim of this row fail."""
    url = copy(KEY)
    assert alter(url, change_of(f"UPDATE runs SET fence = {2**63 - 1} WHERE run_id = 'running'"))
    served = serve_altered(url)
    assert served.outside.calls == [(BYSTANDER, "only", "forward")]
    assert served.cases == {"running"}


@files_only
def test_an_id_that_is_no_text_stops_nobody_else(copy: Copy) -> None:
    url = copy(KEY)
    assert alter(
        url, change_of("UPDATE runs SET run_id = CAST(x'ff00' AS TEXT) WHERE run_id = 'running'")
    )
    assert serve_altered(url).outside.calls == [(BYSTANDER, "only", "forward")]
    with keyed(KEY):
        client = Client(url)
        assert {run.id for run in client.runs()} == {BYSTANDER, *RUNS} - {"running"}
        client.close()


def test_a_damaged_definition_sets_its_runs_aside_and_is_left_as_it_is(copy: Copy) -> None:
    """The code that runs here could repair it, and with it the evidence would be gone."""
    url = copy(KEY)
    edit = "UPDATE definitions SET spec = replace(spec, 'hotel.book', 'hotel.bomb')"
    assert alter(url, change_of(f"{edit} WHERE saga = 'trip'"))
    served = serve_altered(url)
    assert served.outside.calls == [(BYSTANDER, "only", "forward")]
    assert served.cases == set(RUNS)
    with keyed(KEY):
        client = Client(url)
        with pytest.raises(Tampered, match="does not verify"):
            client.start(trip, {"id": "n", "mode": "fine"}, run_id="new")
        assert client.start(other, {"id": "n", "mode": "fine"}, run_id="new").phase == "running"
        client.close()
    database = opened(url)
    with database.connection() as connection:
        texts = [damage.text for damage in verify_database(connection, database.keys)]
    database.close()
    assert any(trip.digest() in text for text in texts)


def test_a_removed_definition_is_not_put_back_in_silence(copy: Copy) -> None:
    url = copy(KEY)
    assert alter(url, change_of("DELETE FROM definitions WHERE saga = 'trip'"))
    served = serve_altered(url)
    assert served.outside.calls == [(BYSTANDER, "only", "forward")]
    assert served.cases == set(RUNS)


def test_the_head_of_a_lost_run_makes_no_room_for_a_new_one(copy: Copy) -> None:
    """Its records are still there: a run under the same id would not be the same run."""
    url = copy(None)
    assert alter(url, change_of("DELETE FROM runs WHERE run_id = 'finished'"))
    client = Client(url)
    with pytest.raises(Tampered, match="head is missing"):
        client.start(trip, {"id": "t-finished", "mode": "fine"}, run_id="finished")
    client.close()
