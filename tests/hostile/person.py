"""The person in front of the queue: looks at the counter of the provider, and tells the truth.

What can be decided in more than one way is decided by a hash of the seed and the case. Where a
verdict says that an effect was taken back, it is taken back first, at the counter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from saga import Case, Client, Conflict, NotAllowed
from saga.journal.sqlite import library
from tests.hostile import wire
from tests.hostile.moods import LATE_UNTIL, TIMEOUT, chance

__all__ = ["Person", "rows"]

_NAME = "night-shift"
_MARGIN = 0.2
_IMPATIENT = 0.3


def rows(path: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """Read the database file, past everything that the product does."""
    with closing(library.connect(str(path), timeout=60)) as connection:
        found: list[tuple[Any, ...]] = connection.execute(sql, values).fetchall()
        return found


class Person:
    """Decides the cases of one database."""

    def __init__(self, client: Client, path: Path, counter: wire.Counter, seed: int) -> None:
        self._client, self._path, self._counter, self._seed = client, path, counter, seed
        self.verdicts: Counter[str] = Counter()

    def look_at_all(self) -> None:
        """One round through the open cases."""
        for case in self._client.cases():
            early = _too_early(case)
            if early and not self._is_impatient(case):
                continue
            try:
                verdict = self._hasty(case) if early else self._decide(case)
            except (Conflict, NotAllowed):
                continue  # something became known meanwhile, or it is too early: the next round
            if verdict:
                self.verdicts[f"{verdict} ({case.kind})"] += 1

    def _is_impatient(self, case: Case) -> bool:
        """Some try before the time. They have to be refused."""
        return _is_told(case) and chance(self._seed, "impatient", case.run_id) < _IMPATIENT

    def _hasty(self, case: Case) -> str:
        if self._counter.ask("look", key=case.key)["landed"]:
            return ""  # that can wait
        wished = "absent" if "absent" in case.verdicts else "retry"
        return f"too early, {self._say(case, wished)}"

    def _decide(self, case: Case) -> str:
        key = case.key or ""
        look = self._counter.ask("look", key=key)
        draw = chance(self._seed, case.run_id, case.id.rpartition("/")[2], case.version)
        if "probe" in case.verdicts and draw < 0.1:
            return self._say(case, "probe")
        draw = (draw - 0.1) / 0.9
        if case.kind == "late":
            return self._late(case, look["standing"], draw)
        if case.direction == "undo":
            return self._undo(case, look["landed"], draw)
        if look["landed"]:
            return self._landed(case, look, draw)
        return self._not_landed(case, draw)

    def _late(self, case: Case, standing: Sequence[str], draw: float) -> str:
        """An effect that the run does not count on. What it counts on stays."""
        if draw < 0.3:
            return self._say(case, "accept")
        ((state,),) = rows(self._path, "SELECT state FROM actions WHERE key = ?", case.key)
        keep = None
        if state == "landed" and len(case.receipts) > 1:
            recorded = case.receipts[0]
            keep = recorded["receipt_id"] if isinstance(recorded, dict) else None
        self._take_back(case.key or "", [one for one in standing if one != keep])
        return self._say(case, "undone")

    def _undo(self, case: Case, landed: Sequence[Any], draw: float) -> str:
        if landed:
            return self._say(case, "landed", receipt=landed[0])
        if draw < 0.6 and "retry" in case.verdicts:
            return self._say(case, "retry")
        if draw < 0.8:
            of_key = (case.key or "").partition("/undo@")[0]
            self._take_back(of_key, self._counter.ask("look", key=of_key)["standing"])
            return self._say(case, "undone")
        return self._say(case, "accept")

    def _landed(self, case: Case, look: dict[str, Any], draw: float) -> str:
        """It happened; where it happened more than once, the rest is taken back."""
        stands = look["standing"]
        if stands and (draw < 0.8 or "undone" not in case.verdicts):
            self._take_back(case.key or "", stands[1:])
            (receipt,) = [one for one in look["landed"] if one["receipt_id"] == stands[0]]
            return self._say(case, "landed", receipt=receipt)
        if "undone" in case.verdicts:
            self._take_back(case.key or "", stands)
            return self._say(case, "undone")
        return self._say(case, "accept")

    def _not_landed(self, case: Case, draw: float) -> str:
        wished = ("retry", "accept") if draw < 0.5 else ("absent", "accept")
        if draw > 0.9:
            wished = ("accept", "accept")
        return self._say(case, next(name for name in wished if name in case.verdicts))

    def _take_back(self, key: str, receipt_ids: Sequence[str]) -> None:
        for one in receipt_ids:
            self._counter.ask("reverse", key=key, receipt_id=one)

    def _say(self, case: Case, verdict: str, *, receipt: Any = None) -> str:
        evidence = "taken back at the counter" if verdict == "undone" else None
        self._client.resolve(
            case.id,
            verdict,
            reason=f"{case.kind}, asked at the counter",
            actor=_NAME,
            receipt=receipt,
            evidence=evidence,
        )
        return verdict


def _is_told(case: Case) -> bool:
    """Whether the case says until when it is too early."""
    return case.not_before is not None and case.read_at < case.not_before


def _too_early(case: Case) -> bool:
    """Before this nobody can say that nothing happened; some providers say until when, some not."""
    if _is_told(case):
        return True
    age = (case.read_at - case.opened_at).total_seconds()
    return "-neither-" in case.run_id and age < TIMEOUT + LATE_UNTIL + _MARGIN
