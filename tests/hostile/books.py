"""The books of the hostile provider: what really happened. They are the judge of a storm.

Lines are only appended. An undo takes back the effect whose receipt it names, or, without one, all
that stands under the key that it reverses. Keys are honoured here, or not, as the kind of provider
and the trait of the key have it; every promise that is broken is noted where it is broken.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tests.hostile.moods import KEY_LIFE

__all__ = ["FORGOTTEN", "Books", "Request"]

FORGOTTEN = "forgets what it denied"
"""A key that had landed is used up by age, when the saga counts its life from the absence on."""

Request: TypeAlias = dict[str, Any]

_EARLY = KEY_LIFE / 30  # how long a key lives that is forgotten early


@dataclass
class _Kept:
    """What is answered again under a key: a receipt, or what was said instead of one."""

    at: float
    receipt: dict[str, Any] | None
    said: str = ""


@dataclass
class Books:
    """`lines`: one for each effect that landed. `standing`: receipt ids by key, undos apart."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    reversed: list[str] = field(default_factory=list)  # receipt ids, by a person's hand
    standing: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    landings: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    met: Counter[str] = field(default_factory=Counter)
    broken: set[tuple[str, str, str]] = field(
        default_factory=set
    )  # (run, step or item, trait or mood)
    digests: dict[str, str] = field(default_factory=dict)
    deadlines: dict[str, float] = field(default_factory=dict)  # the last one, by key
    wrongs: list[tuple[str, str]] = field(default_factory=list)  # (run, what no caller may do)
    denied: set[str] = field(default_factory=set)  # keys of which an absence was said, falsely
    _kept: dict[str, _Kept] = field(default_factory=dict)

    def came_in(self, request: Request) -> None:
        """A key stands for one digest."""
        last = self.deadlines.get(request["key"], 0.0)
        self.deadlines[request["key"]] = max(last, request["deadline"])
        if self.digests.setdefault(request["key"], request["digest"]) != request["digest"]:
            self.wrongs.append((request["run"], f"{request['key']} came with another digest"))

    def breaks(self, request: Request, what: str) -> None:
        """A promise is broken now, and not before."""
        self.met[what] += 1
        self.broken.add((request["run"], request["place"], what))

    def remembered(self, request: Request, trait: str) -> _Kept | None:
        """What the provider still knows of a key that it honours."""
        kept = self._promised(request)
        if kept is None:
            return None
        early = trait == "forgets the key early" and time.time() - kept.at > _EARLY
        if trait == "ignores the key" or early:
            self.breaks(request, trait)  # it is treated as a new one
            return None
        return kept

    def _promised(self, request: Request) -> _Kept | None:
        """What it should still know of it."""
        kept = self._kept.get(request["key"]) if request["kind"] in ("both", "keys") else None
        return kept if kept is not None and time.time() - kept.at <= KEY_LIFE else None

    def keep(self, request: Request, said: str) -> None:
        """Say the same under this key from now on, whether or not it has landed or will."""
        kept = self._promised(request)
        if kept is None:
            kept = self._kept[request["key"]] = _Kept(time.time(), None)
        kept.said = said

    def land(self, request: Request, trait: str, until: float) -> dict[str, Any] | None:
        """Apply it; its receipt. `None` if that was promised not to happen any more."""
        if (kept := self.remembered(request, trait)) is not None and (kept.receipt or kept.said):
            return kept.receipt
        if time.time() > until:
            return None
        key, of_key = request["key"], request["of_key"]
        if key in self.denied and self.landings[key]:
            self.breaks(request, FORGOTTEN)
        receipt = {
            "receipt_id": f"e{len(self.lines) + 1}",
            "idempotency_key": key,
            "intent_digest": request["digest"],
        }
        line = {
            "key": key,
            "run_id": request["run"],
            "step": request["step"],
            "of_key": of_key,
            "at": time.time(),
            "attempt": request["attempt"],
            "receipt": receipt,
        }
        self.lines.append(line)
        self.landings[key].append(line)
        self._kept[key] = _Kept(line["at"], receipt)
        if of_key is None:
            self.standing[key].append(receipt["receipt_id"])
        else:
            self._take_back(of_key, request.get("of_receipt"))
        return receipt

    def _take_back(self, key: str, receipt_id: str | None) -> None:
        stands = self.standing[key]
        self.standing[key] = [one for one in stands if receipt_id not in (None, one)]

    def reverse(self, key: str, receipt_id: str) -> None:
        """A person takes an effect back at the counter."""
        self.reversed.append(receipt_id)
        self._take_back(key, receipt_id)

    def found(self, key: str, before: float) -> dict[str, Any] | None:
        """The newest receipt of what landed under a key before a time."""
        seen = [line["receipt"] for line in self.landings.get(key, ()) if line["at"] <= before]
        return seen[-1] if seen else None

    def dump(self, path: Path) -> None:
        """Everything, for the judge."""
        said = {
            "lines": self.lines,
            "standing": {key: stands for key, stands in self.standing.items() if stands},
            "met": self.met,
            "broken": sorted(self.broken),
            "wrongs": self.wrongs,
        }
        path.write_text(json.dumps(said), "utf-8")
