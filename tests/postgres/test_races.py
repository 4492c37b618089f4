"""Many who write at once, where SQLite lets one after the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

from saga import Client
from saga.errors import Conflict
from tests.cases import scripted
from tests.cases.world import World
from tests.isolation.orders import ORDERS

MANY = 12


def _at_once(work: Callable[[int], Any]) -> list[Any]:
    """What each of many threads gets, an error too."""
    found, together = list[Any](), Barrier(MANY)

    def run(number: int) -> None:
        together.wait()
        try:
            found.append(work(number))
        except Exception as error:  # noqa: BLE001  whatever it is, the test must hear of it
            found.append(error)

    threads = [Thread(target=run, args=(number,)) for number in range(MANY)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_a_run_that_many_start_at_once_is_one_run(world: World, tmp_path: Path) -> None:
    """The definition is stored once too."""
    clients = [Client(world.url) for _ in range(MANY)]
    saga = scripted.app(str(tmp_path)).sagas[0]
    found = _at_once(lambda number: clients[number].start(saga, {}, run_id="one").id)
    assert found == ["one"] * MANY
    assert world.query("SELECT count(*) FROM journal") == [(1,)]
    assert world.query("SELECT count(*) FROM definitions") == [(1,)]
    other = _at_once(lambda number: clients[number].start(saga, {"acts": {}}, run_id=f"n{number}"))
    assert {run.phase for run in other} == {"running"}
    different = _at_once(
        lambda number: clients[number].start(
            saga, {"acts": {"s1": [f"land hold:{number}"]}}, run_id="two"
        )
    )
    assert sum(isinstance(one, Conflict) for one in different) == MANY - 1
    for client in clients:
        client.close()


def test_one_of_many_commands_at_once_is_taken_and_all_are_answered(world: World) -> None:
    world.start("r1")
    clients = [Client(world.url) for _ in range(MANY)]
    found = _at_once(lambda number: clients[number].cancel("r1", reason=f"{number}").outcome)
    for client in clients:
        client.close()
    assert found.count("compensated") >= 1
    assert world.query("SELECT count(*), max(seq) FROM journal") == [(2, 2)]
    assert world.client.verify().ok


def test_one_of_many_runs_of_a_resource_has_the_turn(world: World) -> None:
    world.build = ORDERS
    clients = [Client(world.url) for _ in range(MANY)]
    saga = world.app.sagas[0]
    found = _at_once(lambda n: clients[n].start(saga, _order(), run_id=f"r{n:02}").id)
    for client in clients:
        client.close()
    assert sorted(found, key=str) == [f"r{number:02}" for number in range(MANY)]
    assert world.query("SELECT count(*) FROM turns WHERE state = 'holds'") == [(1,)]
    world.run_until_idle()
    assert world.query("SELECT count(*) FROM runs WHERE outcome = 'completed'") == [(MANY,)]


def _order() -> dict[str, Any]:
    return {"order": "the same", "plan": {"acts": {}}}
