"""The watchman looks at runs that others write to at the same moment."""

from __future__ import annotations

from contextlib import closing
from threading import Event, Thread
from typing import Any

from benchmarks.product import drain, start
from saga import Client
from saga.journal.database import Database
from saga.journal.definitions import Specs
from saga.journal.sealing import Keyring
from saga.journal.verify import patrol
from tests.databases import ServerDatabases

MOVING = "SELECT min(run_id) FROM runs WHERE owner IS NOT NULL AND phase <> 'ended'"


def test_a_run_that_is_written_to_is_not_taken_for_damaged(
    server_databases: ServerDatabases,
) -> None:
    """Its head is read before a record, its journal after it: that is no damage."""
    url, over, steps = server_databases.fresh(), Event(), list[int]()
    names = [f"r{number:04d}" for number in range(300)]
    with closing(Client(url)) as client, closing(Database(url, Keyring())) as database:
        start(client, "happy", names)

        def step(connection: Any) -> None:
            first = connection.exec_driver_sql(MOVING).scalar() or "r0000"
            specs, now = Specs(database.keys), database.now()
            patrol(connection, database.keys, specs, after=first[:-1], limit=60, now=now)
            steps.append(1)

        def watch() -> None:
            while not over.is_set():
                database.write(step)

        watchman = Thread(target=watch)
        watchman.start()
        drain(url, names, 50)
        over.set()
        watchman.join()
        assert len(steps) > 10
        assert client.cases() == []
        assert client.verify().ok
