"""A purge while others write, where SQLite lets one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from saga import Client, Conflict
from saga.errors import SagaError
from saga.inquiries.purging import Purge
from tests.client.retention import DAY, Archive, Parcel
from tests.databases import ServerDatabases
from tests.moved_clock import MovedClock

MONTH = 30 * DAY
GONE = {"runs": 0, "journal": 0, "actions": 0, "cases": 0, "turns": 0, "tombstones": 1}


@pytest.fixture
def archive(server_databases: ServerDatabases) -> Iterator[Archive]:
    """Whatever is purged: the laws hold at the end, and all that is stored verifies."""
    archive = Archive(server_databases)
    yield archive
    archive.laws_hold()
    archive.client.close()


def test_a_start_that_is_overtaken_by_a_whole_life_is_refused(archive: Archive) -> None:
    """Its id is free when it looks; before it writes another one has started, ended and gone."""
    archive.run(archive.plain, "before")

    def meanwhile() -> None:
        archive.run(archive.plain, "order-1")
        archive.after(31)
        assert archive.client.purge(MONTH).runs == 2

    late = Client(archive.url, clock=archive.clock)
    archive.meanwhile(meanwhile)
    with pytest.raises(SagaError, match="of the same input, ended"):
        late.start(archive.plain, Parcel(address="Rome"), run_id="order-1")
    late.close()
    assert archive.left_of("order-1") == GONE


def beside(archive: Archive, work: Callable[[], object]) -> tuple[Purge, Future[Any]]:
    """Purge the saga `plain`, and do `work` beside that while it has locked what goes."""
    pool = ThreadPoolExecutor(1)
    begun: list[Future[Any]] = []

    def locked() -> None:
        begun.append(pool.submit(work))
        time.sleep(0.5)
        assert not begun[0].done()

    def looked_at() -> None:  # one run
        archive.meanwhile(locked)

    def cutoff() -> None:
        archive.meanwhile(looked_at)

    archive.meanwhile(cutoff)
    purge = archive.client.purge(MONTH, saga="plain")
    wait(begun)
    pool.shutdown()
    return purge, begun[0]


def test_a_start_that_finds_the_run_waits_for_its_purge(archive: Archive) -> None:
    archive.run(archive.plain, "order-1")
    archive.after(31)
    other = Client(archive.url)
    again = partial(other.start, archive.plain, Parcel(address="Rome"), run_id="order-1")
    _, started = beside(archive, again)
    with pytest.raises(Conflict, match="of the same input, ended"):
        started.result()
    other.close()


def test_of_two_purges_at_once_one_waits_for_its_place_in_the_line(archive: Archive) -> None:
    archive.run(archive.plain, "a")
    archive.run(archive.posted, "b")
    archive.after(100)
    clock = MovedClock()
    clock.ahead = archive.clock.ahead
    other = Client(archive.url, clock=clock)
    purge, second = beside(archive, partial(other.purge, MONTH, saga="posted"))
    other.close()
    assert purge.runs == 1
    assert second.result() == replace(purge, before=second.result().before)
