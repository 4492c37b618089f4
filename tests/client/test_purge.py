"""Purging: what goes, what stays and why, and what is said of what went. On both databases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from saga import BadInput, Client, Conflict, UnknownCase, UnknownRun
from saga.errors import DatabaseError
from saga.journal.database import Database
from saga.journal.purge import purge
from saga.journal.quarantine import set_aside
from saga.journal.sealing import Keyring
from tests.client.retention import DAY, Archive, Parcel
from tests.databases import Databases
from tests.orchestrator.doubtful_database import Doubt, DoubtfulDatabase

GONE = {"runs": 0, "journal": 0, "actions": 0, "cases": 0, "turns": 0, "tombstones": 1}
MONTH = 30 * DAY


@pytest.fixture
def archive(databases: Databases) -> Iterator[Archive]:
    """Whatever is purged: the laws hold at the end, and all that is stored verifies."""
    archive = Archive(databases)
    yield archive
    archive.laws_hold()
    archive.client.close()


def test_what_ended_long_ago_goes_with_all_its_rows(archive: Archive) -> None:
    archive.run(archive.plain, "a", "b", "c")
    archive.after(31)
    archive.run(archive.plain, "young")
    archive.start(archive.plain, "waits")
    definitions = archive.query("SELECT * FROM definitions ORDER BY digest")
    dry = archive.client.purge(MONTH, dry_run=True)
    assert (dry.runs, dry.kept, dry.dry_run) == (3, {"running": 1, "young": 1}, True)
    assert archive.ids() == ["a", "b", "c", "waits", "young"]
    seen: list[tuple[int, int, int]] = []
    done = archive.client.purge(MONTH, progress=lambda *at: seen.append(at))
    assert (done.runs, done.kept, done.dry_run) == (3, dry.kept, False)
    assert (done.before - dry.before) < timedelta(minutes=1)
    assert seen[-1] == (5, 5, 3)
    assert archive.ids() == ["waits", "young"]
    assert all(archive.left_of(run_id) == GONE for run_id in ("a", "b", "c"))
    assert archive.query("SELECT * FROM definitions ORDER BY digest") == definitions
    assert archive.client.verify().tombstones == 3
    assert archive.client.purge(MONTH).runs == 0
    archive.idle()
    assert archive.client.show("waits").outcome == "completed"


def test_a_purge_is_of_one_saga_where_one_is_named(archive: Archive) -> None:
    archive.run(archive.plain, "a")
    archive.run(archive.posted, "b")
    archive.after(100)
    assert archive.client.purge(MONTH, saga="plain").runs == 1
    assert archive.ids() == ["b"]
    for bad in (-1, float("nan"), "30d"):
        with pytest.raises(BadInput):
            archive.client.purge(bad)  # type: ignore[arg-type]


def test_the_name_of_a_saga_that_nobody_ever_started_is_bad_input(archive: Archive) -> None:
    archive.run(archive.plain, "a")
    with pytest.raises(BadInput, match="no run of a saga 'achive' was ever started"):
        archive.client.purge(older_than=0, saga="achive")


def test_a_run_stays_as_long_as_its_provider_may_honour_a_key_of_it(archive: Archive) -> None:
    """One that is honoured for ever keeps no run: the tombstone keeps the key."""
    archive.run(archive.keyed, "forty-days")
    archive.run(archive.plain, "for-ever")
    archive.after(39.9)
    assert archive.client.purge(MONTH).kept == {"key": 1}
    assert archive.ids() == ["forty-days"]
    archive.after(0.2)
    assert archive.client.purge(MONTH).runs == 1


def test_a_run_stays_until_its_watch_has_ended(archive: Archive) -> None:
    archive.run(archive.posted, "lost", lost=True)
    run = archive.client.show("lost")
    assert (run.phase, run.outcome) == ("ended", "compensated")
    archive.after(59)
    assert archive.client.purge(MONTH).kept == {"watch": 1}
    archive.after(2)
    assert archive.client.purge(MONTH).kept == {"watch": 1}  # nobody has read it for the last time
    archive.idle()
    assert archive.client.purge(MONTH).runs == 1


def test_what_may_land_late_is_kept_even_if_nobody_watches_it(archive: Archive) -> None:
    archive.run(archive.posted, "landed")
    archive.after(59)
    assert archive.client.purge(MONTH).kept == {"key": 1}
    archive.after(2)
    assert archive.client.purge(MONTH).runs == 1


def second_receipt(archive: Archive, client: Client, run_id: str) -> None:
    """A report of another landing: a case on a run that has ended."""
    call = next(call for call in archive.calls if call.run_id == run_id)
    client.report(run_id, call.key, digest=call.digest, attempt=1, receipt={"number": "N-2"})


def test_a_run_stays_as_long_as_a_person_has_the_word(archive: Archive) -> None:
    archive.run(archive.plain, "twice")
    second_receipt(archive, archive.client, "twice")
    archive.after(31)
    assert archive.client.purge(MONTH).kept == {"case": 1}
    (case,) = archive.client.cases()
    archive.client.resolve(case.id, "accept", reason="they may keep it", actor="bob")
    assert archive.client.purge(MONTH).runs == 1
    assert archive.left_of("twice") == GONE
    with pytest.raises(UnknownCase):
        archive.client.case(case.id)


def test_a_run_that_somebody_writes_to_meanwhile_stays(archive: Archive) -> None:
    """Between the look at it and the lock on it."""
    archive.run(archive.plain, "a", "twice")
    archive.after(31)
    other = Client(archive.url, clock=archive.clock)

    def meanwhile() -> None:  # the time is asked for first for the cutoff, then for each run
        archive.meanwhile(lambda: second_receipt(archive, other, "twice"))

    archive.meanwhile(meanwhile)
    done = archive.client.purge(MONTH)
    other.close()
    assert (done.runs, done.kept) == (1, {"owned": 1})
    assert archive.ids() == ["twice"]
    (case,) = archive.client.cases()
    archive.client.resolve(case.id, "accept", reason="fine", actor="bob")


@pytest.mark.parametrize("column", ["owner", "quarantined_at"])
def test_a_run_that_is_taken_or_set_aside_meanwhile_stays(archive: Archive, column: str) -> None:
    """Neither makes a record."""
    archive.run(archive.plain, "a")
    archive.after(31)
    value = "somebody" if column == "owner" else 1.0

    def looked_at() -> None:
        archive.query(f"UPDATE runs SET {column} = ?", value)

    def cutoff() -> None:
        archive.meanwhile(looked_at)

    archive.meanwhile(cutoff)
    done = archive.client.purge(MONTH)
    assert (done.runs, done.kept) == (0, {"owned": 1})
    archive.query(f"UPDATE runs SET {column} = NULL")


def test_a_run_that_an_orchestrator_has_stays(archive: Archive) -> None:
    archive.run(archive.plain, "owned")
    archive.after(31)
    archive.query("UPDATE runs SET owner = 'somebody'")
    assert archive.client.purge(MONTH, dry_run=True).kept == {"owned": 1}
    assert archive.client.purge(MONTH).kept == {"owned": 1}
    archive.query("UPDATE runs SET owner = NULL")


def test_a_damaged_run_stays_as_it_is(archive: Archive) -> None:
    """It is evidence, whether or not anybody has noticed."""
    archive.run(archive.plain, "altered", "aside", "fine")
    archive.after(31)
    for run_id in ("altered", "aside"):
        archive.query("UPDATE actions SET digest = digest || 'x' WHERE run_id = ?", run_id)
    archive.query("UPDATE runs SET quarantined_at = 1.0 WHERE run_id = 'aside'")
    before = archive.left_of("altered"), archive.left_of("aside")
    done = archive.client.purge(MONTH)
    assert (done.runs, done.kept) == (1, {"damaged": 2})
    assert (archive.left_of("altered"), archive.left_of("aside")) == before
    archive.query("UPDATE actions SET digest = replace(digest, 'x', '')")
    archive.query("UPDATE runs SET quarantined_at = NULL")
    assert archive.client.purge(MONTH).runs == 2


def test_a_run_that_is_set_aside_stays_until_a_person_has_let_it_back(archive: Archive) -> None:
    """Whole or not."""
    archive.run(archive.plain, "aside")
    archive.after(31)
    database = Database(archive.url, Keyring(), clock=archive.clock)
    now = database.now()
    database.write(lambda c: set_aside(c, database.keys, "aside", "it was altered", now))
    database.close()
    assert archive.client.purge(MONTH).kept == {"damaged": 1}
    (case,) = archive.client.cases()
    archive.client.resolve(case.id, "retry", reason="restored", actor="bob")
    assert archive.client.purge(MONTH).runs == 1
    assert archive.left_of("aside") == GONE


@pytest.mark.parametrize("fate", ["before", "after"])
def test_a_commit_in_doubt_is_looked_up(archive: Archive, fate: str) -> None:
    archive.run(archive.plain, "a", "b")
    archive.after(31)
    database = DoubtfulDatabase(archive.url, Keyring(), clock=archive.clock)
    database.given = Doubt(fate, only="INSERT INTO tombstones")
    before = archive.clock.now() - MONTH.total_seconds()

    def purged() -> int:
        return purge(database, before=before, saga=None, dry_run=False, progress=_silent).purged

    if fate == "before":
        with pytest.raises(DatabaseError, match="the commit failed"):
            purged()
        assert archive.ids() == ["a", "b"]
    assert purged() == 2
    assert database.given.hit == 1
    assert archive.left_of("a") == archive.left_of("b") == GONE
    database.close()


def _silent(*_: int) -> None:
    """Nobody asks how far it is."""


# ---- what is said of what went


def test_the_id_of_a_purged_run_is_never_used_again(archive: Archive) -> None:
    archive.run(archive.plain, "order-1")
    keys = [key for (key,) in archive.query("SELECT key FROM actions")]
    archive.after(31)
    archive.client.purge(MONTH)
    start = archive.client.start
    with pytest.raises(
        Conflict, match=r"of the same input, ended .completed at 20.*purged at 20"
    ) as same:
        start(archive.plain, Parcel(address="Rome"), run_id="order-1")
    assert same.value.remedy == "use another run id"
    with pytest.raises(Conflict, match="of another input, ended"):
        start(archive.plain, Parcel(address="Oslo"), run_id="order-1")
    with pytest.raises(Conflict, match="of another tenant, ended"):
        start(archive.plain, Parcel(address="Rome"), run_id="order-1", tenant="t")
    with pytest.raises(Conflict, match="of another saga, ended"):
        start(archive.posted, Parcel(address="Rome"), run_id="order-1")
    assert archive.left_of("order-1") == GONE
    (kept,) = archive.query("SELECT action_keys FROM tombstones")
    assert all(f'"{key}"' in kept[0] for key in keys)
    assert "Rome" not in str(archive.query("SELECT * FROM tombstones"))


def test_whoever_asks_for_a_purged_run_is_told(archive: Archive) -> None:
    archive.run(archive.plain, "order-1")
    archive.after(31)
    archive.client.purge(MONTH)
    client = archive.client
    asked = (
        client.show,
        client.why,
        client.journal,
        client.wait,
        client.verify,
        lambda run_id: client.cancel(run_id, reason="too late"),
        lambda run_id: second_receipt(archive, client, run_id),
    )
    for ask in asked:
        with pytest.raises(UnknownRun, match=r"order-1' ended .completed at .*, purged at "):
            ask("order-1")
        if ask is not asked[-1]:
            with pytest.raises(UnknownRun, match="no run 'order-2' in this database"):
                ask("order-2")
