"""The person in front of the queue: reads a case, looks at the shop, decides.

He is honest and slow enough: what he says about the outside he has seen there, and where he is
told that it is too early he looks again later. What can be decided either way, chance decides.
"""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from saga import Case, Client, Conflict, NotAllowed

__all__ = ["Person"]

NAME = "night-shift"


class Person:
    """Decides the cases of one database, with an eye on the ledger of the shop."""

    def __init__(self, client: Client, ledger: Path, chance: random.Random) -> None:
        self._client, self._ledger, self._chance = client, ledger, chance
        self.verdicts: list[tuple[str, str]] = []  # (case kind, verdict)

    def look_at_all(self) -> None:
        """One round through the open cases."""
        for listed in self._client.cases():
            case = self._client.case(listed.id)
            if case.state != "open" or (case.not_before and case.read_at < case.not_before):
                continue
            try:
                self._decide(case)
            except (Conflict, NotAllowed):
                continue  # something became known meanwhile, or it is too early: the next round

    def _decide(self, case: Case) -> None:
        receipt = self._seen(case.key)
        verdict, given = self._verdict(case, receipt), None
        if verdict == "landed":
            given = receipt
        self._client.resolve(
            case.id, verdict, reason=f"{case.kind}, looked it up", actor=NAME, receipt=given
        )
        self.verdicts.append((case.kind, verdict))

    def _verdict(self, case: Case, receipt: dict[str, Any] | None) -> str:
        if case.kind == "late":
            return "accept"
        if receipt is not None:
            return "landed"
        likely = [name for name in ("retry", "retry", "absent") if name in case.verdicts]
        return self._chance.choice(likely or ["accept"])

    def _seen(self, key: str | None) -> dict[str, Any] | None:
        """What the shop has under a key."""
        with closing(sqlite3.connect(self._ledger, timeout=10)) as db:
            db.execute("PRAGMA query_only=ON")
            row = db.execute("SELECT receipt FROM effects WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])
