"""The shop is a process of its own: it starts, is killed, ends, and its file tells the truth."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import select
import signal
import socket
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from examples.order_flow.shop import Shop, read_effects, read_ledger, running_shop
from tests.shop.asking import CHARGE, HOLD, meanwhile, post


def test_it_says_where_it_listens_in_one_line_of_json(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "examples.order_flow.shop"]
    command += ["--port", "0", "--ledger", str(tmp_path / "ledger.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        assert said == {
            "url": f"http://127.0.0.1:{said['port']}",
            "port": said["port"],
            "pid": process.pid,
        }
        process.send_signal(signal.SIGTERM)
        rest, complaints = process.communicate(timeout=10)
    assert (process.returncode, rest, complaints) == (0, b"", b"")


def test_it_listens_on_the_loopback_address_only(shop: Shop) -> None:
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("no /proc here")
    mine = {line.split()[1] for line in table.read_text().splitlines()[1:] if " 0A " in line}
    addresses = {
        one.partition(":")[0] for one in mine if int(one.partition(":")[2], 16) == shop.port
    }
    assert addresses == {socket.inet_aton("127.0.0.1")[::-1].hex().upper()}


def test_sigterm_ends_it_cleanly_whatever_is_held_and_nothing_of_that_acts(
    tmp_path: Path,
) -> None:
    with running_shop(tmp_path / "ledger.db") as shop, meanwhile() as posting:
        shop.rule("hold_request", run_id="held")
        shop.rule("late", run_id="late", seconds=3600)
        held = posting(shop, "/charges", CHARGE, key="held", run="held")
        late = posting(shop, "/charges", CHARGE, key="late", run="late")
        shop.wait_held(run_id="held")
        shop.wait_held(run_id="late")
        assert shop.stop() == 0
        for answer in (held, late):
            with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
                answer.result()
    assert read_ledger(shop.path) == []


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux only")
def test_a_tied_shop_ends_with_whoever_started_it(tmp_path: Path) -> None:
    starter = (
        "import os, sys; from examples.order_flow.shop import Shop\n"
        "shop = Shop(sys.argv[1]); print(shop.pid, flush=True); os._exit(1)"
    )
    command = [sys.executable, "-c", starter, str(tmp_path / "ledger.db")]
    root = Path(__file__).parents[2]
    said = subprocess.run(command, stdout=subprocess.PIPE, cwd=root, check=False, timeout=20)
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(int(said.stdout))
        readable, _, _ = select.select([descriptor], [], [], 10)
        os.close(descriptor)
        assert readable == [descriptor]


def test_a_shop_that_cannot_start_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RuntimeError, match="did not start: exit code 1"):
        Shop(tmp_path / "no" / "such" / "folder" / "ledger.db")
    assert capfd.readouterr().err == "the shop cannot start: unable to open database file\n"


def test_killed_in_the_middle_it_has_all_or_nothing_of_each_request(tmp_path: Path) -> None:
    """Requests from several clients, SIGKILL among them, then all books are compared."""
    with running_shop(tmp_path / "ledger.db") as shop:
        for round_ in range(3):
            with ThreadPoolExecutor(5) as threads:
                hammers = [threads.submit(hammer, shop, f"{round_}-{n}") for n in range(4)]
                while len(shop.ledger()) < 100 * (round_ + 1):
                    pass
                shop.kill()
                answered = {key for hammering in hammers for key in hammering.result()}
            keys = [row["key"] for row in read_ledger(shop.path)]
            assert len(keys) == len(set(keys))
            assert answered <= set(keys)
            assert books_agree(shop.path)
            shop.start_again()


def hammer(shop: Shop, name: str) -> list[str]:
    """Hold and charge until the shop is gone; the keys that were answered."""
    answered: list[str] = []
    for number in range(10_000):
        for path, body in (("/holds", HOLD), ("/charges", CHARGE)):
            key = f"{name}-{number}{path}"
            try:
                assert post(shop, path, body, key=key).status == 201
            except (OSError, http.client.HTTPException):
                return answered
            answered.append(key)
    return answered


def books_agree(path: Path) -> bool:
    """Ledger rows, kept answers and business rows tell the same."""

    def count(query: str) -> int:
        number: int = db.execute(query).fetchone()[0]
        return number

    with closing(sqlite3.connect(path)) as db:
        effects = count("SELECT count(*) FROM effects")
        charges = count("SELECT count(*) FROM effects WHERE kind = 'charge'")
        return (
            effects == count("SELECT count(*) FROM answers")
            and charges == count("SELECT count(*) FROM charges")
            and effects - charges == count("SELECT count(*) FROM holds")
            and count("SELECT sum(held) FROM stock") == count("SELECT sum(quantity) FROM holds")
        )


def test_reading_the_file_is_reading_only(tmp_path: Path) -> None:
    with running_shop(tmp_path / "ledger.db") as shop:
        post(shop, "/charges", CHARGE, key="k", run="r", step="charge")
    assert [row["key"] for row in read_ledger(shop.path)] == ["k"]
    assert read_effects(shop.path)[0]["receipt"]["charge_id"] == "charge_1"
    with pytest.raises(sqlite3.OperationalError):
        read_ledger(tmp_path / "another.db")
    assert not (tmp_path / "another.db").exists()
