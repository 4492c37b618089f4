"""A process that starts runs and says so after each of them, as an acknowledgement.

`python -m tests.journal.writing URL COUNT [SIZE]`; exit code 1 with the error of the first start
that is refused.
"""

from __future__ import annotations

import sys

from saga.errors import SagaError
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from saga.journal.starting import start_run
from saga.machine.commands import Start
from tests.journal.world import trip

__all__ = ["main"]


def main(url: str, count: int, size: int = 10) -> int:
    database = Database(url, Keyring(), create=True)
    for number in range(count):
        given = {"id": f"{number}", "mode": "fine", "note": "x" * size}
        start = Start(at=0.0, run_id=f"r{number}", instance="", tenant="", input=given, actor=None)
        try:
            start_run(database, trip.machine_spec, trip.stored_text, start)
        except SagaError as error:
            sys.stderr.write(f"{error}\n")
            return 1
        sys.stdout.write(f"r{number}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
