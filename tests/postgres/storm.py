"""A storm over a server: several orchestrators, everything that may come over them, all at once.

As `tests.crash.storm`, on PostgreSQL: the same orders, shop, person and judgement; and beside kills
and stops of processes the server is stopped at once, backends are killed, connections are cut
between a COMMIT and its answer, and clocks jump. `python3 dev.py bench storm` runs it.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from saga import Client, DatabaseError
from tests.crash.evidence import ServerJournal
from tests.crash.nursery import Nursery
from tests.crash.orders import ADRIFT_SECONDS, adrift_flow, plain_adrift_flow
from tests.crash.storm import CHAOS, Report, judged
from tests.crash.trouble import Trouble
from tests.crash.watched_shop import WatchedShop
from tests.crash.weather import Place, Plan, Weather
from tests.databases import with_schema
from tests.postgres.proxy import Proxy
from tests.postgres.server import Server
from tests.postgres.troubles import (
    CutCommits,
    JumpingClocks,
    KilledBackends,
    StoppedServer,
    clockwork,
)

__all__ = ["LONG", "SHORT", "Gale", "storm"]

T = TypeVar("T")
_PATIENCE = 120.0  # seconds for the last runs to end
_AWAY = 60.0  # seconds that a client waits for the server


@dataclass(frozen=True)
class Gale:
    """What a storm over a server has to have done, at the least; and in about how many seconds."""

    seed: str
    runs: int
    kills: int
    stops: int
    server_stops: int
    backends: int
    commits: int
    jumps: int
    seconds: float
    processes: int = 4
    open: int = 80  # runs under way at a time

    @property
    def plan(self) -> Plan:
        """The part that any database can have."""
        return Plan(
            runs=self.runs,
            kills=self.kills,
            stops=self.stops,
            windows=0,
            seed=self.seed,
            processes=self.processes,
            steady=1,
            lease=2.0,  # a busy machine keeps it
            open=self.open,
            at_once=20,
            latest_kill=1.0,
            asleep=2,
            flows=(adrift_flow, plain_adrift_flow),
        )

    def part(self, share: float) -> Gale:
        """So much of it."""
        whole = {name: value for name, value in vars(self).items() if name in _COUNTED}
        counts = {name: math.ceil(value * share) for name, value in whole.items()}
        return replace(self, **counts, seconds=self.seconds * share)

    def with_seed(self, seed: str) -> Gale:
        return replace(self, seed=seed)


_COUNTED = ("runs", "kills", "stops", "server_stops", "backends", "commits", "jumps")
LONG = Gale("long", 1000, 1000, 200, 50, 200, 100, 100, seconds=300.0)
SHORT = Gale("short", 30, 8, 2, 1, 4, 3, 3, seconds=6.0, processes=3, open=30)


def storm(
    gale: Gale, server: Server, folder: Path, say: Callable[[str], None] = lambda _: None
) -> Report:
    """One storm, with its files in `folder`. The server must be our own, and it is stopped.

    `say` is told now and then how far it is.
    """
    began, plan = time.monotonic(), gale.plan
    direct = with_schema(server)
    shop = WatchedShop(folder / "shop.db", "--chaos", plan.seed, *CHAOS)
    try:
        with Proxy(server.folder) as proxy:
            place = Place(
                proxy.through(direct),
                lambda: ServerJournal(direct),
                away=True,
                adrift=ADRIFT_SECONDS,
            )
            with _people(folder, place) as (nursery, client):
                shop.rule("slow_request", run_id="storm-*5", times=None, seconds=0.1)
                weather = Weather(plan, nursery, place, client, shop)
                weather.troubles = [*_troubles(gale, server, direct, proxy, weather)]
                over = threading.Event()
                teller = threading.Thread(target=_tell, args=(weather, say, over), daemon=True)
                teller.start()
                weather.rage()
                over.set()
                for error in weather.errors:
                    raise error
                weather.settle(_PATIENCE)
    finally:
        shop.stop()
    return judged(weather, replace(place, url=direct), shop, time.monotonic() - began)


@contextmanager
def _people(folder: Path, place: Place) -> Iterator[tuple[Nursery, Client]]:
    with Nursery(folder, clockwork()) as nursery, closing(_Insistent(place.url)) as client:
        yield nursery, client


def _troubles(
    gale: Gale, server: Server, url: str, proxy: Proxy, weather: Weather
) -> Iterator[Trouble]:
    chance, seconds = gale.plan.chance, gale.seconds
    yield StoppedServer(server, gale.server_stops, seconds, chance("server"))
    yield KilledBackends(url, gale.backends, seconds, chance("backends"))
    yield CutCommits(proxy, gale.commits, seconds, chance("commits"))
    yield JumpingClocks(weather.alive, gale.jumps, seconds, chance("clocks"))


def _tell(weather: Weather, say: Callable[[str], None], over: threading.Event) -> None:
    while not over.wait(10):
        done = ", ".join(f"{one.name} {one.done}" for one in weather.troubles)
        say(f"kills {len(weather.deaths)}, stops {len(weather.stops)}, {done}")


class _Insistent(Client):
    """Asks again while the server is away, as whoever calls a client would."""

    def start(self, *args: Any, **options: Any) -> Any:
        return _insist(lambda: super(_Insistent, self).start(*args, **options))

    def cancel(self, *args: Any, **options: Any) -> Any:
        return _insist(lambda: super(_Insistent, self).cancel(*args, **options))

    def cases(self, *args: Any, **options: Any) -> Any:
        return _insist(lambda: super(_Insistent, self).cases(*args, **options))

    def case(self, *args: Any, **options: Any) -> Any:
        return _insist(lambda: super(_Insistent, self).case(*args, **options))

    def resolve(self, *args: Any, **options: Any) -> Any:
        return _insist(lambda: super(_Insistent, self).resolve(*args, **options))


def _insist(work: Callable[[], T]) -> T:
    end = time.monotonic() + _AWAY
    while True:
        try:
            return work()
        except DatabaseError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)
