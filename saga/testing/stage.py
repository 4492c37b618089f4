"""The stage on which lives are lived: one database, one world, one clock, set up anew each time.

A crash leaves nothing but the database and the world. The image of the database is the bytes of its
files at that instant, as a killed process leaves them.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saga.client import Client
from saga.definition.calls import Call
from saga.definition.saga import App
from saga.errors import DatabaseError
from saga.journal.definitions import Specs
from saga.journal.sqlite import database_path
from saga.journal.transact import ask
from saga.machine.commands import Command
from saga.settings import Settings
from saga.testing.explored import LEASE, CountedIds, ExploredDatabase, Hooks, explored
from saga.testing.laws import broken_laws
from saga.testing.moving import MovingClock, MovingLoop
from saga.testing.observer import Observer
from saga.testing.outside import Answer, Snapshot
from saga.testing.person import decide_case, verdicts_on
from saga.testing.seam import Crash, Fault, Point, Seam, Strike
from saga.testing.somebody import cancel, signals
from saga.testing.violation import Violation
from saga.testing.world import World

__all__ = ["RUN_ID", "Image", "Life", "Stage"]

RUN_ID = "explored"
_IDLE_LOOKS = 10  # after so many at which nothing has changed, a run comes to no rest
_MEMORY = Path("/dev/shm")  # noqa: S108  a folder of our own is made there


@dataclass(frozen=True, slots=True)
class Image:
    """All that is there after a crash."""

    files: tuple[bytes | None, ...]
    outside: Snapshot
    own: Any
    moved: float


@dataclass(slots=True)
class Life:
    """What became of one orchestrator: it died, or its runs came to rest."""

    points: list[Point]
    died: Image | None
    violations: list[Violation] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class Stage:
    """`own`: objects in which effects that are not of `world` keep their state."""

    def __init__(
        self, app: App, world: World, own: Sequence[Any], payloads: Mapping[str, Any]
    ) -> None:
        memory = str(_MEMORY) if _MEMORY.is_dir() else None
        self._folder = Path(tempfile.mkdtemp(prefix="saga-explore-", dir=memory))
        self.url = f"sqlite:///{self._folder / 'explored.db'}"
        path = database_path(self.url)
        ends = ("", "-wal", "-journal", "-shm")
        self._files = tuple(path.with_name(path.name + end) for end in ends)
        self.app, self.world, self.clock = app, world, MovingClock()
        self._own, self._signals = own, payloads
        self._claims_only = False
        self._ids = CountedIds()
        self._client = Client(self.url, clock=self.clock, ids=self._ids)
        self.passed: Callable[[Seam], None] = lambda _: None  # after each step of a life
        world.outside.clock = self.clock

    def begin(self, input: Any) -> Image:  # noqa: A002  the word of the surface
        """A database with one run that has just been started."""
        (saga,) = self.app.sagas
        self._client.start(saga, input, run_id=RUN_ID)
        self._client.close()
        keys = Settings().keyring()
        specs = {saga.digest(): saga.machine_spec}
        self._databases = [ExploredDatabase(self.url, keys, self.clock) for _ in range(3)]
        for database in self._databases:
            # Before an image is taken or put back: who closes a file lets go of all its locks.
            database.close()
        self.observer = Observer(self._databases[2], self.clock.now, specs)
        return self.image()

    def close(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self._folder, ignore_errors=True)

    # ---- images

    def image(self) -> Image:
        """What is there now."""
        files = tuple(file.read_bytes() if file.exists() else None for file in self._files[:-1])
        own = deepcopy([_content(one) for one in self._own])
        return Image(files, self.world.outside.now.copied(), own, self.clock.monotonic())

    def restore(self, image: Image) -> None:
        """Put back what was there."""
        self.observer.forget()
        self._databases[2].close()
        self._client.close()
        for file, content in zip(self._files, (*image.files, None), strict=True):
            if content is None:
                file.unlink(missing_ok=True)
            else:
                file.write_bytes(content)
        for one, content in zip(self._own, deepcopy(image.own), strict=True):
            _refill(one, content)
        self.world.outside.now = image.outside.copied()
        self.clock.set(image.moved)

    # ---- lives

    def live(self, start: Image, fault: Fault | None = None, *, outage: float = 0.0) -> Life:
        """One orchestrator from `start` on, `outage` seconds later, to its death or to rest."""
        self.restore(start)
        self.clock.move(outage)
        died: list[Image] = []
        seam = Seam(fault, lambda: died.append(self.image()))
        life = Life(seam.points, None)
        self._run(self._databases[0], seam, life)
        self.observer.look()
        if died:
            life.died = died[0]
        elif seam.restless:
            life.violations.append(Violation(4, RUN_ID, "it comes to no rest"))
        else:
            self.world.outside.settle()
            life.violations += broken_laws(self._databases[2], self.world.ledger)
        life.violations += self.observer.violations + self.world.violations
        return life

    def _run(self, database: ExploredDatabase, seam: Seam, life: Life) -> None:
        """A process from its start to its end."""
        loop = MovingLoop(self.clock)

        def failed(_: object, context: dict[str, Any]) -> None:
            if not seam.dead and context.get("exception") is not None:
                life.failures.append(repr(context["exception"]))

        loop.set_exception_handler(failed)
        self.world.gate = seam.passing
        try:
            with suppress(Crash):
                loop.run_until_complete(self._main(database, seam))
        except Exception as error:  # noqa: BLE001  whatever it is, it is a finding
            if seam.doubted and isinstance(error, DatabaseError):
                seam.end()  # as a process does that cannot even register
            else:
                life.failures.append(repr(error))
        finally:
            _bury(loop, seam)
            database.seam = None
            database.close()

    async def _main(self, database: ExploredDatabase, seam: Seam) -> None:
        hooks = Hooks(
            sent=lambda call, probe: self.observer.at_call(call, probe=probe),
            ended=lambda call, probe, ended: self._ended(seam, call, ended, probe=probe),
            durable=lambda: self._durable(orchestrator.id, seam),
            meanwhile=self._meanwhile,
        )
        orchestrator = explored(self.app, database, seam, hooks, self.clock, self._ids)
        async with orchestrator:
            idle, before = 0, 0
            while idle < _IDLE_LOOKS:
                await orchestrator.run_until_idle()
                self.observer.look()
                wait = self._wait(orchestrator.id)
                if wait is None:
                    return
                self.clock.move(wait)
                version = sum(run.version for run in self.observer.runs.values())
                idle, before = (idle + 1 if version == before else 0), version
        self.observer.violations.append(Violation(4, RUN_ID, "it comes to no rest"))

    def _wait(self, own: str) -> float | None:
        """How long to let pass until something is due; `None` if nothing ever is."""
        heads = [r.head for r in self.observer.runs.values() if r.state.phase != "ended"]
        waits = [
            # What another has is taken over when its lease is over, and not before.
            LEASE / 4 if head.owner not in (None, own) else head.due - self.clock.now()
            for head in heads
            if head.due is not None
        ]
        return None if not waits else max(min(waits), 1.0)

    # ---- what happens in a life

    def _durable(self, owner: str, seam: Seam) -> None:
        if self.observer.at_commit(owner):
            seam.quiet = 0
        self.passed(seam)
        if self._claims_only and any(
            run.head.owner == owner for run in self.observer.runs.values()
        ):
            seam.die()

    def _ended(self, seam: Seam, call: Call[Any], ended: Any, *, probe: bool) -> None:
        (saga,) = self.app.sagas
        step = saga.step(call.step)
        contract = step.effect if not hasattr(call, "of_key") else step.undo
        self.observer.heard(call, ended.value, ended.error, probe=probe)
        ours = getattr(getattr(contract, "do", None), "world", None) is self.world
        if not ours and not probe and ended.error is None:
            honours = contract is not None and contract.provider.spec.honours_keys
            if not (honours and call.key in self.world.outside.now.answers):
                answer = Answer(call.digest, self.clock.now(), ended.value)
                self.world.outside.act(call, answer)
        self.passed(seam)

    def _meanwhile(self, strike: Strike) -> None:
        if strike is Strike.CANCELLED:
            self.cancel()
        elif strike is Strike.SIGNALLED:
            self.signal()
        elif strike is Strike.NAPS:
            self.clock.move(LEASE / 2)
        else:
            self._another(claims_only=strike is Strike.CLAIMED)

    def cancel(self) -> None:
        """A client cancels, if that is still possible."""
        self._ask([cancel])

    def signal(self) -> None:
        """Somebody brings what the run waits for; the second time again."""
        self._ask(signals(self._signals))

    def _ask(self, letters: Sequence[Callable[[float], Command]]) -> None:
        database = self._databases[2]
        for letter in letters:
            ask(database, Specs(database.keys), RUN_ID, letter)
        self.observer.look()

    def verdicts(self) -> list[tuple[str, str]]:
        """The open cases, each with every verdict that is offered."""
        return list(verdicts_on(self._client))

    def decide(self, case_id: str, verdict: str) -> bool:
        """A person decides a case; whether that was truthful and possible."""
        decided = decide_case(self._client, case_id, verdict, self.world.outside, self.clock)
        self.observer.look()
        return decided

    def _another(self, *, claims_only: bool) -> None:
        """Another process takes over, while this thread sleeps."""
        seam = Seam(None, lambda: None)
        life = Life(seam.points, None)
        gate = self.world.gate
        self._claims_only = claims_only
        thread = threading.Thread(target=self._run, args=(self._databases[1], seam, life))
        thread.start()
        thread.join()
        self._claims_only = False
        self.world.gate = gate


def _bury(loop: asyncio.AbstractEventLoop, seam: Seam) -> None:
    """End what is left on the loop of a process; it can reach nothing any more."""
    seam.dead = True
    for _ in range(50):
        tasks = asyncio.all_tasks(loop)
        if not tasks:
            break
        for task in tasks:
            task.cancel()
        with suppress(Crash, asyncio.CancelledError):
            loop.run_until_complete(asyncio.sleep(0))
    loop.close()


def _content(one: Any) -> Any:
    return one if isinstance(one, dict | list | set) else vars(one)


def _refill(one: Any, content: Any) -> None:
    if isinstance(one, list):
        one[:] = content
        return
    place = one if isinstance(one, dict | set) else vars(one)
    place.clear()
    place.update(content)
