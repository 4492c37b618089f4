"""The app of the section `recovery`, and the process that runs it.

Reserve, charge, ship; the charge hangs where SAGA_BENCH_HANGS is set: in every other run it has
landed by then, in the others it has not. What lands is written to a ledger, which stands for the
database of a provider that honours keys and can be asked. `python -m benchmarks.held_up URL ROOM
LEASE` is an orchestrator of it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from saga import (
    Absent,
    App,
    Call,
    Compensation,
    Effect,
    Orchestrator,
    Provider,
    Saga,
    Step,
    Undo,
    input_of,
)
from saga.orchestrator.collector import tune_collector

__all__ = ["READY", "Ledger", "Numbered", "app", "main", "numbered"]

READY = "is ready"
_HOUR = 3600.0
_HANGS = "SAGA_BENCH_HANGS"
_LEDGER = "SAGA_BENCH_LEDGER"


class Numbered(BaseModel):
    number: int


class Done(BaseModel):
    key: str


class Ledger:
    """What has landed, one line each, in the order of landing; many processes share the file."""

    def __init__(self, path: Path) -> None:
        self.lines: list[dict[str, Any]] = []
        self._keys: set[str] = set()
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        self._read_to = 0

    def knows(self, key: str) -> bool:
        """Whether something has landed under this key, whoever wrote it."""
        size = os.fstat(self._descriptor).st_size
        text = os.pread(self._descriptor, size - self._read_to, self._read_to)
        self._read_to += len(text)
        for line in text.splitlines():
            self.lines.append(json.loads(line))
            self._keys.add(self.lines[-1]["key"])
        return key in self._keys

    def land(self, call: Call[Any] | Undo[Any, Any], of_key: str | None = None) -> None:
        """Once for each key, as a provider does that honours them."""
        if self.knows(call.key):
            return
        line = {"key": call.key, "run_id": call.run_id, "step": call.step, "of_key": of_key}
        os.write(self._descriptor, json.dumps(line).encode() + b"\n")


async def _act(call: Call[Numbered]) -> Done:
    call.resource(Ledger).land(call)
    return Done(key=call.key)


async def _charge(call: Call[Numbered]) -> Done:
    hangs = _HANGS in os.environ
    if hangs and call.args.number % 2:
        await asyncio.sleep(_HOUR)
    done = await _act(call)
    if hangs:
        await asyncio.sleep(_HOUR)
    return done


async def _find(call: Call[Numbered]) -> Done | Absent:
    return Done(key=call.key) if call.resource(Ledger).knows(call.key) else Absent()


async def _undo(call: Undo[Numbered, Done]) -> None:
    call.resource(Ledger).land(call, call.of_key)


@asynccontextmanager
async def _lifespan() -> AsyncIterator[list[object]]:
    yield [Ledger(Path(os.environ[_LEDGER]))]


def _step(name: str, act: Any) -> Step[Numbered, Done]:
    effect = Effect(name, act, probe=_find, provider=_WAREHOUSE, timeout=_HOUR)
    return Step(name, effect, args=_GIVEN, compensation=Compensation(f"undo.{name}", _undo))


_WAREHOUSE = Provider("warehouse", key_life=24 * _HOUR, in_flight=1, visible_after=0, late_until=1)
_GIVEN = input_of(Numbered)
numbered = Saga(
    "numbered", _GIVEN, [_step("reserve", _act), _step("charge", _charge), _step("ship", _act)]
)
app = App(numbered, lifespan=_lifespan)


async def main(url: str, room: int, lease: float) -> None:
    """Orchestrate until the process ends."""
    async with Orchestrator(app, url, runs_at_once=room, lease=lease) as orchestrator:
        print(f"{orchestrator.id} {READY}", flush=True)
        await orchestrator.run()


if __name__ == "__main__":
    tune_collector()  # as `saga orchestrator` does
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
