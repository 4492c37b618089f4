"""SIGKILL in the midst of a group commit, and SIGSTOP for longer than the lease."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import count, islice
from pathlib import Path

import pytest

from examples.order_flow.shop import Shop
from saga import Client
from saga.testing import check_laws
from tests.crash.evidence import FileJournal, until
from tests.crash.nursery import Child, Nursery
from tests.crash.orders import order, order_flow
from tests.crash.places import ACTIONS, TRIES, Missed, Place, Scene

LEASE = 1.0
IN_TIME = LEASE + 2.0
RUNS = 60  # more of them before each kill
KILLS = 8
_SLEEPS_IN = ACTIONS[1]
PAGES = 10  # of one commit, at least: many runs are in it


def test_a_process_killed_within_a_group_commit_loses_no_run_and_repeats_no_effect(
    shop: Shop, nursery: Nursery, tmp_path: Path
) -> None:
    """Each kill finds the turn to write taken, and pages written that no reader can see yet.

    After every other kill nobody has the file open any more: then the next process recovers what
    was written, and a commit that nobody was told of may turn out to be made.
    """
    url, database = f"sqlite:///{tmp_path / 'saga.db'}", tmp_path / "saga.db"
    names = (f"group-{number}" for number in count(1))
    chance = random.Random(7)  # the same moments each time, as far as the machine allows
    kept: FileJournal | None = None
    for number in range(KILLS):
        _start_many(url, names)
        child = nursery.orchestrate(url, shop.url, lease=LEASE)
        with closing(FileJournal(database)) as journal:
            until(lambda: _runs_of(journal, child), "a claim")  # noqa: B023  waited for here
            if kept is not None:
                kept.close()
            while not _halted_within_a_commit(journal, child, chance):
                _start_many(url, names)
            child.kill()
            assert journal.heads("phase <> 'ended'"), f"all had ended before kill {number}"
            kept = FileJournal(database) if number % 2 else None
    heir = nursery.orchestrate(url, shop.url, lease=LEASE)
    with closing(FileJournal(database)) as journal:
        until(lambda: not journal.heads("phase <> 'ended'"), "the end of all runs", within=30)
        started = len(journal.heads("outcome = 'completed'"))
    assert started >= KILLS * RUNS
    assert heir.terminate() == 0
    ledger = [row for row in shop.ledger() if row["run_id"].startswith("group-")]
    keys = Counter(row["key"] for row in ledger)
    assert (len(keys), max(keys.values())) == (3 * started, 1)
    assert check_laws(url, ledger) == []


def _runs_of(journal: FileJournal, child: Child) -> int:
    id_ = journal.id_of(child.pid)
    return 0 if id_ is None else len(journal.heads("owner = ?", id_))


def _start_many(url: str, names: Iterator[str]) -> None:
    with closing(Client(url)) as client:
        for name in islice(names, RUNS):
            client.start(order_flow, order(name), run_id=name)


def _halted_within_a_commit(journal: FileJournal, child: Child, chance: random.Random) -> bool:
    """Whether it is stopped with the pages of a commit of many runs on their way to the disk.

    If not, it goes on, and all runs have ended before such a commit was met.
    """
    child.halt()
    while not (journal.turn_is_taken and journal.pages_under_way >= PAGES):
        child.proceed()
        if not journal.heads("phase <> 'ended'"):
            return False
        time.sleep(chance.uniform(0.0003, 0.003))
        child.halt()
    return True


@pytest.mark.parametrize("window", [1, 3])
def test_a_process_that_sleeps_past_its_lease_appends_nothing_to_what_is_no_longer_its_own(
    window: int, shop: Shop, nursery: Nursery, tmp_path: Path
) -> None:
    """Its run is taken over and ends meanwhile. When it wakes up, a call is about to be made (1),
    or an answer is waiting for it (3).
    """
    url, database = f"sqlite:///{tmp_path / 'saga.db'}", tmp_path / "saga.db"
    sleeper = nursery.orchestrate(url, shop.url, lease=LEASE)
    until(database.exists, "a database")
    with closing(Client(url)) as client, closing(FileJournal(database)) as journal:
        former = until(lambda: journal.id_of(sleeper.pid), "a registered orchestrator")
        scene = _asleep(Scene(shop, client, journal, sleeper, f"sleeper-{window}"), window)
        stopped, fence = time.monotonic(), journal.head(scene.run_id).fence
        heir = nursery.orchestrate(url, shop.url, lease=LEASE)
        until(lambda: journal.head(scene.run_id).fence > fence, "a new owner")
        assert LEASE * 0.6 < time.monotonic() - stopped < IN_TIME  # it last beat before it slept
        assert client.wait(scene.run_id, timeout=10).outcome == "completed"
        records = journal.records(scene.run_id)

        shop.release(run_id=scene.run_id)
        sleeper.proceed()
        until(lambda: journal.id_of(sleeper.pid) not in (None, former), "a new life of its own")
        assert sleeper.terminate() == heir.terminate() == 0
        assert journal.records(scene.run_id) == records
        fences = [record.fence for record in records if record.fence]
        assert (fences, set(fences)) == (sorted(fences), {fence, fence + 1})
        # At most the one that had passed its last look at the lease when it fell asleep.
        assert scene.counted(_SLEEPS_IN, "POST") <= (2 if window == 1 else 1)
        assert [row["step"] for row in shop.ledger(scene.run_id)] == ["reserve", "charge", "ship"]
        ours = [row for row in shop.ledger() if row["run_id"].startswith(f"sleeper-{window}.")]
        assert check_laws(url, ours) == []


def _asleep(scene: Scene, window: int) -> Scene:
    """Stopped in this window of a charge; where it ran past that, another run is tried."""
    place = Place(_SLEEPS_IN, window)
    for number in range(TRIES):
        scene = Scene(
            scene.shop, scene.client, scene.journal, scene.child, f"{scene.run_id}.{number}"
        )
        scene.reach(place)
        try:
            scene.assert_hit(place)
        except Missed:
            scene.child.proceed()
        else:
            return scene
    pytest.fail(f"{place} was not hit in {TRIES} runs")
