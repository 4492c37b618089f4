"""SIGKILL of a real orchestrator in each of the four windows, of each step and of each undo."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from examples.order_flow.shop import Shop
from saga import Client, Run
from saga.testing import check_laws
from tests.crash.evidence import FileJournal, until
from tests.crash.nursery import Nursery
from tests.crash.places import ACTIONS, PLACES, TRIES, Act, Missed, Place, Scene

LEASE = 1.0
IN_TIME = LEASE + 2.0


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_process_killed_here_leaves_one_effect_a_key_and_a_run_that_ends_right(
    place: Place, shop: Shop, nursery: Nursery, tmp_path: Path
) -> None:
    for attempt in range(TRIES):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        try:
            _kill_at(place, f"{place}-{attempt}", shop, nursery, folder / "saga.db")
        except Missed:
            continue
        return
    pytest.fail(f"{place} was not hit in {TRIES} runs")


def _kill_at(place: Place, run_id: str, shop: Shop, nursery: Nursery, database: Path) -> None:
    url = f"sqlite:///{database}"
    child = nursery.orchestrate(url, shop.url, lease=LEASE)
    until(database.exists, "a database")
    with closing(Client(url)) as client, closing(FileJournal(database)) as journal:
        until(lambda: journal.id_of(child.pid), "a registered orchestrator")
        scene = Scene(shop, client, journal, child, run_id)
        try:
            scene.reach(place)
            scene.assert_hit(place)
        finally:
            died, fence = time.monotonic(), 0
            child.kill()
        fence = journal.head(run_id).fence
        heir = nursery.orchestrate(url, shop.url, lease=LEASE)
        try:
            if journal.head(run_id).phase != "ended":
                until(lambda: journal.head(run_id).fence > fence, "a new owner")
                assert time.monotonic() - died < IN_TIME
            if place.window == 2:
                _let_the_held_request_act(scene, place)
            run = client.wait(run_id, timeout=20)
            _check_the_end(scene, place, run, url)
        finally:
            assert heir.terminate() == 0


def _let_the_held_request_act(scene: Scene, place: Place) -> None:
    """It is in the shop still, whoever sent it; a shop that shows it is asked before that."""
    if not place.act.undo:
        until(lambda: scene.on_record(place.act, "probed"), "an answer of the probe")
    else:
        until(lambda: scene.on_record(place.act, "landed"), "the same request sent again")
    assert scene.shop.release(run_id=scene.run_id) == 1


def _check_the_end(scene: Scene, place: Place, run: Run, url: str) -> None:
    """Whatever was killed where: each effect once, in its order, and the books agree."""
    act, undone = place.act, place.act.undo
    assert (run.phase, run.outcome) == ("ended", "compensated" if undone else "completed")
    ledger = scene.shop.ledger(run.id)
    assert [Act(row["step"], row["of_key"] is not None) for row in ledger] == list(
        ACTIONS if undone else ACTIONS[:3]
    )
    assert max(Counter(row["key"] for row in ledger).values()) == 1
    sendings, proof = scene.sendings(act), scene.proof(act)
    sent, asked = scene.counted(act, "POST"), scene.counted(act, "GET") > 0
    assert (sendings, sent, asked, proof) == _EVIDENCE[place.window, undone]
    assert check_laws(url, ledger) == []


# By window and direction: sendings on record, requests that reached the shop, whether the shop was
# asked, and what proved in the end that it landed.
_EVIDENCE = {
    (1, False): (2, 1, True, "reply"),  # nobody could know that the first one had not left
    (1, True): (2, 1, True, "reply"),
    (2, False): (1, 1, True, "probe"),  # the shop says that it has it: not sent again
    (2, True): (2, 2, True, "reply"),  # it does not: sent again under the same key
    (3, False): (1, 1, True, "probe"),
    (3, True): (1, 1, True, "probe"),
    (4, False): (1, 1, False, "reply"),
    (4, True): (1, 1, False, "reply"),
}
