"""The world outside: a file of its own, which effects write to and the tests judge by.

One JSON line each for a call that came in, an effect that landed, a call that ended and a question
about a key, in the order in which they happened, from whatever process. A line is one `write`, so a
killed process leaves whole lines. The orchestrator's own history is never asked.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from saga import Call, Undo

__all__ = ["Ledger", "Line", "name_of", "overlapping"]

Line: TypeAlias = dict[str, Any]


def name_of(call: Call[Any]) -> str:
    """`s1`, or `undo s1`."""
    return f"undo {call.step}" if isinstance(call, Undo) else call.step


class Ledger:
    """A provider's books, in a folder that holds the gates of held calls too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / "ledger.jsonl"
        self._path.touch()
        self._guard = threading.Lock()
        self._read = 0  # bytes of the file that are known here
        self._lines: list[Line] = []
        self._receipts: dict[str, list[str]] = {}  # by key

    # ---- for effects

    def note(self, what: str, **facts: object) -> None:
        """Append a line."""
        with self._locked() as file:
            self._append(file, what, facts)

    def called(self, call: Call[Any], what: str = "call", **facts: object) -> None:
        """A call came in (or, by `what`, something else about it)."""
        self.note(what, **_of(call), **facts)

    def land(self, call: Call[Any], *, careless: bool = False, **facts: object) -> str:
        """Apply the effect, once per key unless `careless`; the id of the receipt."""
        with self._locked() as file:
            landed = self._caught_up().get(call.key, [])
            if landed and not careless:
                return landed[0]
            receipt = f"r{len(landed) + 1}:{call.key}"
            of_key = call.of_key if isinstance(call, Undo) else None
            self._append(
                file, "landed", {**_of(call), "receipt": receipt, "of_key": of_key, **facts}
            )
            return receipt

    def found(self, key: str) -> str | None:
        """The id of the receipt of what landed under a key."""
        landed = self._caught_up().get(key)
        return landed[0] if landed else None

    # ---- gates

    def open(self, gate: str) -> None:
        """Let go on whoever is held there, and whoever comes later."""
        (self.folder / f"{gate}.open").touch()

    def is_open(self, gate: str) -> bool:
        """Whether a held call may go on."""
        return (self.folder / f"{gate}.open").exists()

    # ---- for tests

    def lines(self, what: str | None = None, **facts: object) -> list[Line]:
        """The lines of one kind that have these facts, in the order in which they happened."""
        self._caught_up()
        return [
            line
            for line in self._lines
            if what in (None, line["what"])
            and all(line.get(name) == value for name, value in facts.items())
        ]

    def calls(self, name: str | None = None, **facts: object) -> list[Line]:
        """The calls that came in: of a step (`s1`), of its undo (`undo s1`), or all."""
        return self.lines("call", **({"name": name} if name else {}), **facts)

    def landed(self, name: str | None = None, **facts: object) -> list[Line]:
        """The effects that landed, undos too: what a ledger tells `check_laws`."""
        return self.lines("landed", **({"name": name} if name else {}), **facts)

    def net(self, run_id: str | None = None) -> list[str]:
        """The keys of effects in place: landed and not taken back."""
        landed = self.landed(**({"run_id": run_id} if run_id else {}))
        taken_back = {line["of_key"] for line in landed if line["of_key"]}
        return [
            line["key"]
            for line in landed
            if line["of_key"] is None and line["key"] not in taken_back
        ]

    def order(self, run_id: str | None = None) -> list[str]:
        """The names of what landed, in that order: `s1`, `s2`, `undo s1`."""
        landed = self.landed(**({"run_id": run_id} if run_id else {}))
        return [line["name"] for line in landed]

    # ---- inside

    @contextmanager
    def _locked(self) -> Iterator[int]:
        file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)

    def _caught_up(self) -> Mapping[str, list[str]]:
        """Take note of what has been written since; the receipts by key."""
        with self._guard, self._path.open("rb") as file:
            file.seek(self._read)
            new = file.read()
            new = new[: new.rfind(b"\n") + 1]  # a line that is still being written comes next time
            self._read += len(new)
            for text in new.splitlines():
                self._lines.append(line := json.loads(text))
                if line["what"] == "landed":
                    self._receipts.setdefault(line["key"], []).append(line["receipt"])
            return self._receipts

    def _append(self, file: int, what: str, facts: Mapping[str, object]) -> None:
        line = {"what": what, "at": time.time(), "pid": os.getpid(), **facts}
        os.write(file, json.dumps(line).encode() + b"\n")


def _of(call: Call[Any]) -> Line:
    return {
        "name": name_of(call),
        "key": call.key,
        "run_id": call.run_id,
        "step": call.step,
        "attempt": call.attempt,
    }


def overlapping(lines: Sequence[Line]) -> list[str]:
    """The names of calls that began before the one before them had ended."""
    found, running = [], 0
    for line in lines:
        if line["what"] == "call":
            if running:
                found.append(line["name"])
            running += 1
        elif line["what"] == "end":
            running -= 1
    return found
