"""Runs that wait, as heads alone, and processes that claim of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from saga.journal.backend import driver
from saga.journal.database import Database
from saga.journal.ownership import claim, register
from saga.journal.sharing import Circle
from saga.journal.tables import definitions, runs

__all__ = ["FOREIGN", "LATER", "NOW", "ORDERS", "OURS", "ROOM", "TRIPS", "Waiting", "tenants"]

NOW, LATER = 1000.0, 9000.0
ROOM = 50
TRIPS, ORDERS, FOREIGN = "sha256:1", "sha256:2", "sha256:0"
OURS = (TRIPS, ORDERS)


class Waiting:
    """Runs that wait, and a process that claims of them. A run is named after its tenant."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.circle = Circle()
        with database.connection() as connection, database.turn(connection):
            for digest in (*OURS, FOREIGN):
                values = {"saga": digest, "version": 1, "spec": "", "stored_at": 0.0}
                row = {"digest": digest, "key_id": "", "seal": "", **values}
                connection.execute(definitions.insert().values(row))
            for own in ("me", "another"):
                register(connection, own, [], 15.0, 0.0)

    def add(
        self, tenant: str, count: int = 1, due: float = 500.0, definition: str = TRIPS
    ) -> list[str]:
        """So many more runs of a tenant, each due a little later than the one before."""
        return self.each([tenant], count, due, definition)

    def each(
        self,
        tenants: Iterable[str],
        count: int = 1,
        due: float = 500.0,
        definition: str = TRIPS,
    ) -> list[str]:
        rows = [
            {
                "run_id": f"{tenant}.{definition[-1]}.{due:.0f}.{number}",
                "tenant": tenant,
                "saga": "s",
                "saga_version": 1,
                "definition": definition,
                "phase": "running",
                "version": 1,
                "fence": 1,
                "due_at": due + number / 1000,
                "started_at": 1.0,
                "key_id": "",
                "seal": "0" * 64,
            }
            for tenant in tenants
            for number in range(count)
        ]
        with self.database.connection() as connection, self.database.turn(connection):
            values = [tuple(row.get(column.name) for column in runs.c) for row in rows]
            self.database.statements.new_run.run(driver(connection).cursor(), values)
        return [str(row["run_id"]) for row in rows]

    def claims(self, room: int = ROOM, **given: Any) -> list[str]:
        """Claim, commit, and say which."""
        with self.claiming(room, **given) as claimed:
            return claimed

    @contextmanager
    def claiming(
        self, room: int = ROOM, own: str = "me", circle: Circle | None = None, **given: Any
    ) -> Iterator[list[str]]:
        """What is claimed; it is committed at the end of the block."""
        options = {"digests": OURS, "now": NOW, "held": Everything(), **given}
        with self.database.connection() as connection, self.database.turn(connection):
            claimed = claim(connection, own, limit=room, circle=circle or self.circle, **options)
            yield [run.run_id for run in claimed]

    def claims_until(self, names: Iterable[str], most: int, room: int = ROOM) -> int:
        """How many claims it takes until all of these are ours; so many at the most."""
        left = set(names)
        for number in range(1, most + 1):
            left.difference_update(self.claims(room))
            if not left:
                return number
        raise AssertionError(f"after {most} claims {len(left)} still wait, {min(left)} first")


class Everything(list[str]):
    """All runs of ours are in memory."""

    def __contains__(self, name: object) -> bool:
        return True


def tenants(claimed: Iterable[str]) -> Counter[str]:
    """How many of each tenant."""
    return Counter(name.partition(".")[0] for name in claimed)
