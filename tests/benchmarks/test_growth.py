"""The section `growth`: a history that the product accepts, and what is measured beside it."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.copies import copy_run
from benchmarks.workload import COMPENSATED, HAPPY, SLEEPER, Order, app, order
from saga import Client, Orchestrator, Saga
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from saga.testing import check_laws
from tests.benchmarks.measuring import bench, figures


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'saga.db'}"


def ran(url: str, saga: Saga[Order]) -> None:
    with closing(Client(url)) as client:
        client.start(saga, order(0), run_id="the-original")
    asyncio.run(Orchestrator(app, url).run_until_idle())


@pytest.mark.parametrize("saga", [HAPPY, SLEEPER], ids=["finished", "sleeping"])
@pytest.mark.parametrize("keys", ["", "k1:" + "QUJD" * 12], ids=["without keys", "sealed"])
def test_a_copy_is_what_the_product_would_have_written(
    url: str, saga: Saga[Order], keys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAGA_KEYS", keys)
    ran(url, saga)
    names = [f"copy-{number}" for number in range(7)]
    with closing(Database(url, Keyring.parse(keys))) as database:
        copy_run(database, "the-original", names, len(names))
    with closing(Client(url)) as client:
        assert client.verify().ok
        original, copied = client.show("the-original"), client.show("copy-3")
        assert (copied.phase, copied.due_at) == (original.phase, original.due_at)
        assert "copy-3" in (copied.steps[0].key or "")
        assert all("original" not in (step.key or "") for step in copied.steps)
    if saga is SLEEPER:
        assert not check_laws(url, _landed(url, [*names, "the-original"]))


def _landed(url: str, names: list[str]) -> list[dict[str, object]]:
    with closing(Client(url)) as client:
        keys = [(name, client.show(name).steps[0].key) for name in names]
    return [{"key": key, "run_id": name, "step": "reserve", "of_key": None} for name, key in keys]


def test_a_run_with_undos_is_not_copied(url: str) -> None:
    ran(url, COMPENSATED)
    with (
        closing(Database(url, Keyring())) as database,
        pytest.raises(AssertionError, match="the digest of an undo"),
    ):
        copy_run(database, "the-original", ["copy"], 1)


def test_the_section_growth_prints_tables_and_writes_json(tmp_path: Path) -> None:
    sizes = ["--history", "30", "--sleeping", "5", "--count", "1", "--watched", "0.2"]
    done = bench(tmp_path, "growth", "--rounds", "1", *sizes)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "copies verified, 0 damaged" in done.stdout
    found = figures(tmp_path, "growth")
    speeds = [(one["ids"], one["where"]) for one in found if "ids" in one]
    assert speeds == [(i, w) for i in ("growing", "anywhere") for w in ("empty", "filled")]
    assert {one["file"] for one in found if "question" in one} == {"few", "filled"}
    assert [one["sleeping"] for one in found if "sleeping" in one] == [0, 5]
