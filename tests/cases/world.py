"""Everything of one test: a database, the ledger outside, a client, and orchestrators."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from saga import App, Client, Orchestrator, Run
from saga.journal.sqlite import database_path
from tests.cases import scripted
from tests.cases.laws import violations
from tests.cases.ledger import Ledger
from tests.cases.processes import Process, orchestrate
from tests.cases.waiting import LONG, until
from tests.databases import Databases, FileDatabases

__all__ = ["World", "judged"]

SCRIPTED = "tests.cases.scripted:app"


class World:
    """A database, and an outside in `folder`.

    `build` (module:function) and `config` make the app, here and in other processes alike; without
    more it is the saga of `scripted`.
    """

    def __init__(self, folder: Path, databases: Databases | None = None) -> None:
        self.folder = folder
        self.databases: Databases = databases or FileDatabases(folder)
        self.url = self.databases.fresh()
        self.ledger = Ledger(folder)
        self.client = Client(self.url)
        self.build = SCRIPTED
        self.config: dict[str, Any] = {"folder": str(folder)}
        self.processes: list[Process] = []
        self.broken: set[int] = set()  # laws that this test breaks on purpose, by number

    # ---- what runs

    def of(self, **config: Any) -> World:
        """The same with this tuning of the app."""
        self.config |= config
        return self

    @property
    def app(self) -> App:
        """The app, made anew."""
        if self.build == SCRIPTED:
            return scripted.app(**self.config)
        module, _, name = self.build.partition(":")
        made: App = getattr(__import__(module, fromlist=[name]), name)(**self.config)
        return made

    def start(self, run_id: str = "r1", **acts: str | list[str]) -> Run:
        """Start a run of the scripted saga: `s1="land drop"`, `undo_s1=["not_sent", "land"]`."""
        plan = {
            name.replace("_", " "): [act] if isinstance(act, str) else act
            for name, act in acts.items()
        }
        return self.client.start(self.app.sagas[0], {"acts": plan}, run_id=run_id)

    def orchestrator(self, **options: Any) -> Process:
        """An orchestrator in a process of its own."""
        return self.process(orchestrate, self.url, self.build, self.config, _fast(options))

    def process(self, target: Callable[..., None], *args: object) -> Process:
        """Any process of this test; it does not outlive it."""
        log = self.folder / f"process-{len(self.processes)}.log"
        self.processes.append(process := Process(log, target, *args))
        return process

    def stop(self, process: Process) -> None:
        """SIGSTOP, while it is not writing: nobody can write past a writer that sleeps."""
        while True:
            process.send(signal.SIGSTOP)
            until(lambda: process.stopped, "it is stopped")
            if not self.databases.is_written(self.url):
                return
            process.send(signal.SIGCONT)

    def run_until_idle(self, app: App | None = None, *, debug: bool = False, **opts: Any) -> None:
        """An orchestrator in this process, until nothing is due within a minute.

        It would not wait for the lease of a killed one; so it is told of it, where no file says so.
        """
        if self.databases.kind != "sqlite":
            for process in self.processes:
                if not process.alive:
                    bury = "UPDATE orchestrators SET state = 'dead' WHERE pid = ?"
                    self.query(bury, process.pid)

        async def main() -> None:
            orchestrator = Orchestrator(app or self.app, self.url, **_fast(opts))
            await asyncio.wait_for(orchestrator.run_until_idle(), LONG)

        asyncio.run(main(), debug=debug)

    # ---- what is seen

    def show(self, run_id: str = "r1") -> Run:
        """The run as a client sees it."""
        return self.client.show(run_id)

    def rests(self, run_id: str = "r1", within: float = LONG) -> Run:
        """Wait until it has ended or has an open case."""
        return self.client.wait(run_id, timeout=within)

    def ends(self, run_id: str = "r1", within: float = LONG) -> Run:
        """Wait until it has ended."""
        until(lambda: self.show(run_id).phase == "ended", f"run {run_id} has ended", within)
        return self.show(run_id)

    def called(self, name: str, count: int = 1, **facts: object) -> None:
        """Wait until so many calls of a step (`s1`, `undo s1`) have come in outside."""
        until(
            lambda: len(self.ledger.calls(name, **facts)) >= count,
            f"{count} calls of {name}",
        )

    def held(self, gate: str) -> None:
        """Wait until a call is held at a gate."""
        until(lambda: self.ledger.lines("held", gate=gate), f"somebody is held at {gate}")

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask the database, past everything that the product does."""
        return self.databases.query(self.url, sql, *values)

    # ---- the end

    def close(self) -> None:
        """Nothing of the test goes on."""
        for process in self.processes:
            process.kill()
        self.client.close()

    def lawful(self) -> None:
        """The laws hold by the ledger, but for those that the test has broken itself."""
        if self.databases.kind != "sqlite" or database_path(self.url).exists():
            found = violations(self.url, self.ledger.landed())
            assert {one.law for one in found} == self.broken, "\n".join(map(str, found))


@contextmanager
def judged(world: World) -> Iterator[World]:
    """Closed at the end of the block; then the laws are checked by the ledger."""
    try:
        yield world
    finally:
        world.close()
    world.lawful()


def _fast(options: dict[str, Any]) -> dict[str, Any]:
    return {"lease": 2.0, "poll": 0.05, "grace": 5.0, **options}
