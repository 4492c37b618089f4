"""The making of a file: whole or not at all, once, and only by who may."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from textwrap import dedent

import pytest

from saga.client import Client
from saga.errors import DatabaseError
from saga.journal.database import Database
from saga.journal.sealing import Keyring

ROOT = Path(__file__).parents[2]


def printed(program: str, path: Path) -> str:
    """What a program prints that is given a database."""
    ran = subprocess.run(
        [sys.executable, "-c", dedent(program), f"sqlite:///{path}"],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


# ---- the making


MAKE = """
    import os, sys
    from saga.journal.database import Database
    from saga.journal.sealing import Keyring

    def work():
        database = Database(sys.argv[1], Keyring(), create=True)
        os.write(1, (database.instance + "\\n").encode())
        return 0

    children = []
    for _ in range(20):
        child = os.fork()
        if not child:
            os._exit(work())
        children.append(child)
    sys.exit(any(os.waitpid(child, 0)[1] for child in children))
"""


def test_of_twenty_processes_that_open_a_new_file_one_makes_it(tmp_path: Path) -> None:
    names = printed(MAKE, tmp_path / "a.db").split()
    assert len(names) == 20
    assert len(set(names)) == 1


def test_of_twenty_threads_that_open_a_new_file_one_makes_it(tmp_path: Path) -> None:
    names: list[str] = []

    def work() -> None:
        database = Database(f"sqlite:///{tmp_path / 'a.db'}", Keyring(), create=True)
        names.append(database.instance)
        database.close()

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names) == 20
    assert len(set(names)) == 1


DIE = """
    import os, signal, sys
    import saga.journal.database
    from saga.errors import DatabaseError
    from saga.journal.backend import driver
    from saga.journal.database import Database
    from saga.journal.sealing import Keyring
    from saga.journal.verify import verify_database

    url, fill = sys.argv[1], saga.journal.database.fill

    def make(step):
        steps = iter(range(1000))

        def traced(statement):
            if next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)

        def watched(connection, *rest):
            driver(connection).set_trace_callback(traced)
            fill(connection, *rest)

        saga.journal.database.fill = watched
        Database(url, Keyring(), create=True)

    for step in range(1000):
        child = os.fork()
        if not child:
            make(step)
            os._exit(0)
        end = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert end == -signal.SIGKILL, end
        try:
            database = Database(url, Keyring())
        except DatabaseError as error:
            assert str(error).startswith("no database at"), error
            continue
        with database.connection() as connection:
            assert verify_database(connection, database.keys) == []
        print(step)
        break
"""


def test_a_making_that_is_killed_leaves_no_database_or_a_whole_one(tmp_path: Path) -> None:
    """Killed before each of its statements, until one time it was durable already."""
    assert int(printed(DIE, tmp_path / "a.db")) > 25  # statements


def test_only_who_may_make_a_database_makes_one(tmp_path: Path) -> None:
    client = Client(f"sqlite:///{tmp_path / 'a.db'}")
    with pytest.raises(DatabaseError, match=f"no database at {tmp_path / 'a.db'}"):
        client.runs()
    assert list(tmp_path.iterdir()) == []
