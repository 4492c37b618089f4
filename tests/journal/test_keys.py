"""Keys: the first one seals, all of them verify, a forgotten one opens nothing."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from saga.client import Client
from saga.clock import Clock
from saga.errors import DatabaseError, NotAllowed
from saga.journal.backend import driver
from saga.journal.database import Database, backend_for
from saga.journal.sealing import Keyring
from saga.journal.sharing import Circle
from saga.journal.takeup import take_up
from saga.journal.verify import verify_database
from tests.journal.changes import TABLES
from tests.journal.served import LATER
from tests.journal.world import (
    BYSTANDER,
    KEY,
    RUNS,
    SECOND_KEY,
    Outside,
    keyed,
    opened,
    serve,
    trip,
)
from tests.moved_clock import MovedClock

Copy = Callable[[str | None], str]
BOTH = f"{SECOND_KEY},{KEY}"  # the second one seals


def damages(url: str, keys: str | None) -> list[str]:
    database = opened(url, keys)
    with database.connection() as connection:
        found = [damage.text for damage in verify_database(connection, database.keys)]
    database.close()
    return found


def key_ids(url: str, keys: str | None) -> dict[str, set[str]]:
    """Which keys have sealed what."""
    database = opened(url, keys)
    with database.connection() as connection:
        cursor = driver(connection)
        found = {
            table: {row[0] for row in cursor.execute(f"SELECT key_id FROM {table}").fetchall()}
            for table in ("runs", "journal", "instance", "sealing_keys")
        }
    database.close()
    return found


def test_after_a_rotation_the_first_key_seals_and_all_of_them_verify(copy: Copy) -> None:
    url, outside, clock = copy(KEY), Outside(), MovedClock(LATER)
    outside.generous = True
    with keyed(BOTH):
        serve(url, outside, clock)
        client = Client(url, clock=clock)
        client.start(trip, {"id": "n", "mode": "fine"}, run_id="new")
        assert client.show("running").outcome == "completed"
        client.close()
    assert {call[0] for call in outside.calls} == {"running", BYSTANDER}
    ids = key_ids(url, BOTH)
    assert ids["journal"] == ids["runs"] == ids["sealing_keys"] == {"k1", "k2"}
    assert ids["instance"] == {"k1"}
    assert damages(url, BOTH) == []
    assert damages(url, f"{KEY},{SECOND_KEY}") == []


@pytest.mark.parametrize("keys", [KEY, SECOND_KEY, None])
def test_after_a_rotation_neither_key_may_be_forgotten(copy: Copy, keys: str | None) -> None:
    """What the missing one has sealed would look like damage, and a run would be set aside."""
    url = copy(KEY)
    opened(url, BOTH).close()
    with pytest.raises(DatabaseError, match="SAGA_KEYS"):
        opened(url, keys)


def rows(url: str) -> list[Any]:
    """All that there is, whoever may open it."""
    with closing(backend_for(url, Clock()).connect()) as connection:
        return [connection.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES]


@pytest.mark.parametrize(("made", "keys"), [(KEY, None), (KEY, SECOND_KEY), (None, KEY)])
def test_a_database_is_opened_only_with_the_keys_it_was_made_with(
    copy: Copy, made: str | None, keys: str | None
) -> None:
    url = copy(made)
    before = rows(url)
    with pytest.raises(DatabaseError, match="it was made with") as refused:
        opened(url, keys)
    assert "set SAGA_KEYS as it was" in refused.value.remedy
    assert backend_for(url, Clock()).name in refused.value.message
    with keyed(keys), pytest.raises(DatabaseError, match="it was made with"):
        serve(url, Outside(), MovedClock())
    assert rows(url) == before


def test_another_key_under_the_same_name_opens_nothing(copy: Copy) -> None:
    url = copy(KEY)
    with pytest.raises(DatabaseError, match="another key under the name 'k1'"):
        opened(url, "k1:" + SECOND_KEY.partition(":")[2])


def test_whoever_lacks_a_key_that_others_have_begun_to_use_sets_nothing_aside(copy: Copy) -> None:
    """A rotation in the wrong order: one process seals with k2 before the other knows of it.

    The other one may be running already. What it cannot judge it leaves alone.
    """
    url, clock, old = copy(KEY), MovedClock(LATER), Outside()
    old.generous = True
    database = Database(url, Keyring.parse(KEY), clock=clock)  # open all the while
    with keyed(BOTH):
        client = Client(url, clock=clock)
        client.cancel("running", reason="no more", actor="eve")
        client.close()
    with database.connection() as connection:
        assert taken(connection, database, clock) == (["running"], [])
    database.close()
    with keyed(BOTH):
        client = Client(url, clock=clock)
        assert [case.kind for case in client.cases()] == ["undo_refused"]
        client.close()


def taken(connection: Any, database: Database, clock: MovedClock) -> tuple[list[str], list[str]]:
    """What a claim makes of the runs of `trip`: left to others, and damaged."""
    with database.turn(connection):
        takeup = take_up(
            connection,
            database.keys,
            "old",
            {trip.digest(): trip.machine_spec},
            now=clock.now(),
            limit=10,
            held=(),
            circle=Circle(),
            skip=(),
            turns=(),
            settling=False,
            statements=database.statements,
        )
    return takeup.unable, takeup.damaged


def test_a_client_that_lacks_the_new_key_is_told_so(copy: Copy) -> None:
    url, clock = copy(KEY), MovedClock(LATER)
    with keyed(KEY):
        behind = Client(url, clock=clock)
        assert behind.show("running").phase == "running"
    with keyed(BOTH):
        ahead = Client(url, clock=clock)
        ahead.cancel("running", reason="no more", actor="eve")
        ahead.close()
    with pytest.raises(NotAllowed, match="key 'k2' has sealed records here"):
        behind.cancel("running", reason="me too", actor="eve")
    behind.close()


def test_a_seal_of_one_kind_passes_for_no_other_and_no_part_lends_to_its_neighbour() -> None:
    keys = Keyring.parse(KEY)
    seal = keys.seal("record", "ab", "c")
    assert keys.verify("k1", seal, "record", "ab", "c")
    assert not keys.verify("k1", seal, "head", "ab", "c")
    assert not keys.verify("k1", seal, "record", "a", "bc")
    assert not keys.verify("k1", seal, "record", "ab", "c", "")
    assert not keys.verify("k1", seal, "record", "abc")
    assert not keys.verify("", seal, "record", "ab", "c")
    assert not keys.verify("k1", seal.upper(), "record", "ab", "c")


@pytest.mark.parametrize("odd", ["é", "\udcff", "", None, b"x", 1, 1.5])
def test_what_no_seal_can_be_verifies_as_nothing_and_raises_nothing(odd: Any) -> None:
    """An altered row may hold anything, and must not stop whoever reads the rows beside it."""
    keys = Keyring.parse(KEY)
    assert not keys.verify("k1", odd, "record", "a")
    assert not keys.verify(odd, keys.seal("record", "a"), "record", "a")
    assert not keys.verify("k1", keys.seal("record", "a"), "record", odd)


def test_without_a_key_no_keyed_seal_is_taken_for_a_plain_one() -> None:
    keyed_ring, plain = Keyring.parse(KEY), Keyring()
    assert not plain
    assert plain.verify("", plain.seal("record", "a"), "record", "a")
    assert not keyed_ring.verify("", plain.seal("record", "a"), "record", "a")
    assert not plain.verify("k1", keyed_ring.seal("record", "a"), "record", "a")


SHORT = "k1:" + base64.b64encode(b"x" * 31).decode()


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        ",",
        f"{KEY},",
        f",{KEY}",
        f"{KEY},{KEY}",
        SHORT,
        "k1:",
        "k1:é" + "A" * 43,
        "k1:!" + KEY[4:],
        ":" + KEY.partition(":")[2],
        "k 1:" + KEY.partition(":")[2],
        "ké:" + KEY.partition(":")[2],
        KEY.partition(":")[2],
        f"{SECOND_KEY};{KEY}",
    ],
)
def test_a_malformed_saga_keys_is_refused_and_never_repeated(text: str) -> None:
    with pytest.raises(DatabaseError, match="SAGA_KEYS: entry") as refused:
        Keyring.parse(text)
    said = str(refused.value)
    assert KEY.partition(":")[2] not in said
    assert "secrets.token_bytes(32)" in said
    with keyed(text), pytest.raises(DatabaseError):
        Client("sqlite:///never.db")


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_no_keys_are_no_keys(text: str) -> None:
    assert not Keyring.parse(text)


def test_white_space_around_an_entry_is_none_of_it() -> None:
    keys = Keyring.parse(f" {SECOND_KEY} , {KEY}\n")
    assert keys.key_id == "k2"
    assert "k1" in keys


def test_a_keyring_shows_names_and_never_keys() -> None:
    keys = Keyring.parse(BOTH)
    assert repr(keys) == str(keys) == "Keyring(['k2', 'k1'])"


def test_the_command_of_the_remedy_makes_a_key_that_is_taken() -> None:
    with pytest.raises(DatabaseError) as refused:
        Keyring.parse("x")
    code = refused.value.remedy.partition("python -c '")[2].removesuffix("'")
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert Keyring.parse(made.stdout).key_id == "k1"


def test_the_runs_of_a_database_are_all_there(copy: Copy) -> None:
    """The world of these tests is what they take it for."""
    with keyed(KEY):
        client = Client(copy(KEY))
        assert {run.id for run in client.runs()} == {*RUNS, BYSTANDER}
        client.close()
