"""The demo is played once, for real; then its books are altered, and the judge must say so."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from examples.order_flow.demo.tales import TALES
from tests.demo.conftest import Judged, Played, demo, gone


def row_of(table: str, order: str) -> str:
    """The row of an order and the lines under it, with single spaces."""
    start = re.compile(rf"^{order} ", re.MULTILINE)
    block = next(block for block in table.split("\n\n") if start.search(block))
    return " ".join(block[block.index(order) :].split())


def alter(folder: Path, book: str, statement: str) -> None:
    with closing(sqlite3.connect(folder / book)) as db, db:
        assert db.execute(statement).rowcount == 1


def test_it_ends_well_and_in_time(played: Played) -> None:
    assert played.code == 0, played.progress + played.table
    assert played.took < 60, played.progress
    assert "Ledger and runs agree" in played.table


def test_it_leaves_no_process_behind(played: Played) -> None:
    assert len(played.pids) == 4, played.progress  # the shop and three orchestrators
    assert all(gone(pid) for pid in played.pids)


def test_the_table_is_plain_text_of_80_columns(played: Played) -> None:
    assert played.table.isascii()
    assert "\x1b" not in played.table
    kept_in = f"Kept in {played.folder}"
    lines = [line for line in played.table.splitlines() if not line.startswith(kept_in)]
    assert max(map(len, lines)) <= 80


def test_each_order_is_shown_with_its_end_and_the_ledger_beside_it(played: Played) -> None:
    ends = {tale.id: row_of(played.table, tale.id) for tale in TALES}
    assert "completed +1 +1 +1" in ends["straight"]
    assert "compensated +1 -1 . ." in ends["declined"]
    assert "compensated +1 -1 +1 -1 . " in ends["no-parcel"]
    assert "completed +1 +1 +1" in ends["lost-answer"]
    assert "compensated +1 -1 +1 -1 +1 -1" in ends["cancelled"]
    assert "completed +1 +1 +1" in ends["killed-late"]
    assert "compensated +1 -1 +1 -1 . " in ends["no-refund"]


def test_what_saga_did_is_told_under_each_order(played: Played) -> None:
    early, late = (row_of(played.table, name) for name in ("killed-early", "killed-late"))
    assert "asked the shop, by the same key: absent sent again charge, under the same key" in early
    assert "unknown charge: the orchestrator that made this call is gone asked the shop" in late
    assert "sent again" not in late
    case = row_of(played.table, "no-refund")
    assert "case no-refund/1 (undo_refused): waits for a person verdict landed, by ann" in case
    assert re.search(r"receipt refund_\d+, for the undo of charge undone reserve", case)


def test_the_person_has_pasted_the_command_of_the_case(played: Played) -> None:
    typed = [line.partition("$ ")[2] for line in played.progress.splitlines() if "$ saga" in line]
    case, resolve = typed
    assert case == "saga case no-refund/1"
    assert resolve.startswith("saga resolve no-refund/1 landed --reason 'refunded")
    assert "--receipt @receipt.json --case-version 1 --looked-at 20" in resolve


def test_a_kept_folder_is_judged_as_it_was(played: Played, kept: Path, judged: Judged) -> None:
    code, said = judged(kept)
    assert code == 0
    assert played.table.startswith(said)


SECOND = (
    "INSERT INTO effects (key, run_id, step, of_key, service, kind, digest, receipt, at)"
    " SELECT {key}, run_id, step, of_key, service, kind, digest, receipt, at + 1 FROM effects"
    " WHERE kind = 'charge' AND run_id = 'killed-late'"
)
FORGED = (
    "INSERT INTO effects (key, run_id, step, of_key, service, kind, digest, receipt, at) VALUES"
    " ('k', '', 'charge', NULL, 'payments', 'charge', '',"
    """ '{"order_id": "nobody", "charge_id": "charge_99"}', 0)"""
)
OTHER = (
    """UPDATE effects SET receipt = replace(receipt, 'shipment_id": "', 'shipment_id": "other_')"""
    " WHERE kind = 'shipment' AND run_id = 'straight'"
)
ALTERED = {
    "charged again under the key": (SECOND.format(key="key"), "law 2", "killed-late"),
    "charged again under another key": (SECOND.format(key="key || '~'"), "law 1", "killed-late"),
    "never refunded": (
        "DELETE FROM effects WHERE kind = 'refund' AND run_id = 'no-parcel'",
        "law 3",
        "no-parcel: the ledger has hold, charge, release; it must have hold, charge, refund",
    ),
    "never refunded by hand": (
        "DELETE FROM effects WHERE kind = 'refund' AND run_id = ''",
        "no-refund: the ledger has hold, charge, release",
        "which the ledger has not",
    ),
    "never charged": (
        "DELETE FROM effects WHERE kind = 'charge' AND run_id = 'straight'",
        "law 12",
        "straight: charge has the receipt",
    ),
    "released before the refund": (
        "UPDATE effects SET seq = -1 WHERE kind = 'release' AND run_id = 'no-refund'",
        "no-refund: the ledger has release, hold, charge, refund",
        "it must have hold, charge, refund, release",
    ),
    "another receipt": (
        OTHER,
        "straight: ship has the receipt shipment_",
        "straight: the ledger has other_shipment_",
    ),
    "charged for nobody": (
        FORGED,
        "charge charge_99 belongs to no order (nobody)",
        "DISAGREE",
    ),
}


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_ledger_is_named_and_is_no_success(
    name: str, kept: Path, judged: Judged
) -> None:
    statement, *sentences = ALTERED[name]
    alter(kept, "ledger.db", statement)
    code, said = judged(kept)
    assert code == 1
    assert "LEDGER AND RUNS DISAGREE" in said
    assert all(sentence in said for sentence in sentences), said


def test_an_altered_run_is_named_too(kept: Path, judged: Judged) -> None:
    alter(kept, "saga.db", "UPDATE runs SET outcome = 'settled' WHERE run_id = 'straight'")
    code, said = judged(kept)
    assert code == 1
    assert "straight: what is stored of the run does not verify" in said
    assert "DAMAGED" in row_of(said, "straight")


def test_a_folder_that_is_in_use_is_not_played_in(kept: Path) -> None:
    before = sorted(kept.iterdir())
    with demo("--keep", str(kept)) as process:
        table, complaint = process.communicate(timeout=60)
    assert (process.returncode, table) == (2, "")
    assert "not an empty folder" in complaint
    assert sorted(kept.iterdir()) == before


@pytest.mark.parametrize(
    ("number", "send"), [(signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill)], ids=["^C", "TERM"]
)
def test_an_interruption_ends_all_that_it_has_started(
    number: signal.Signals,
    send: Callable[[int, int], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A terminal sends its Ctrl-C to all of a group: to the shop, too."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with demo() as process:
        assert process.stderr is not None
        said = [process.stderr.readline() for _ in range(2)]  # the shop, the first orchestrator
        pids = [int(pid) for pid in re.findall(r"\(pid (\d+)\)", "".join(said))]
        send(process.pid, number)
        table, rest = process.communicate(timeout=60)
    assert (process.returncode, table) == (128 + number, ""), rest
    assert f"{number.name}: all that was started has been ended" in rest
    assert len(pids) == 2
    assert all(gone(pid) for pid in pids)
    assert not list(tmp_path.iterdir())
