"""`python -m tests.hostile.provider --seed 1`: a provider that does whatever its moods have it do.

It listens on a free port of 127.0.0.1, prints `{"port": …}`, and ends with its standard input. One
JSON line each way. `act` applies an effect (or an undo, with `of_key`), `find` asks by key; `look`,
`reverse` and `dump` are the counter, where people are told the truth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any

from tests.hostile import moods
from tests.hostile.books import Books, Request
from tests.hostile.moods import Mood

__all__ = ["Provider", "main", "running_provider"]

_ROOT = Path(__file__).resolve().parents[2]
_SLOW = 0.5 * moods.TIMEOUT
_TOO_LATE = 1.3 * moods.TIMEOUT


class Provider:
    """What is done with a request, and what is said."""

    def __init__(self, seed: int) -> None:
        self.seed, self.books = seed, Books()
        self._asked: Counter[str] = Counter()
        self._under_way: Counter[str] = Counter()  # accepted; of stragglers it knows nothing yet
        self._tasks: set[asyncio.Task[None]] = set()

    async def answer(self, request: Request) -> bytes:
        """What goes back; where it is no whole line, the connection ends with it."""
        match request["do"]:
            case "act":
                said = await self._act(request)
            case "find":
                said = await self._find(request)
            case _:
                said = self._counter(request)
        if said is None:
            return b""
        line = json.dumps(said).encode() + b"\n"
        return line[: len(line) // 2] if said.get("torn") else line

    async def _act(self, request: Request) -> dict[str, Any] | None:
        key, run, books = request["key"], request["run"], self.books
        books.came_in(request)
        trait = moods.trait_of(self.seed, run, key)
        undo = request["of_key"] is not None
        mood = moods.acting(self.seed, run, key, request["attempt"], undo=undo)
        kept = books.remembered(request, trait)
        if kept is not None and kept.said:
            return {"said": kept.said}
        if kept is not None and mood.says in ("refused", "error", "busy"):
            mood = moods.ACTING[0]  # it is done: under this key there is nothing else to say
        books.met[mood.name] += 1
        receipt = await self._done(request, trait, mood)
        final = mood.says != "refused" or request["kind"] == "keys"  # it replays refusals
        if mood.stored and final and request["kind"] in ("both", "keys"):
            books.keep(request, mood.says)
        return await self._said(request, mood, receipt)

    async def _done(self, request: Request, trait: str, mood: Mood) -> dict[str, Any] | None:
        """Act as the mood has it; the receipt, if it is known by now."""
        deadline, part = request["deadline"], self._part(request)
        until = deadline + moods.IN_FLIGHT
        if mood.acts == "soon":
            await asyncio.sleep(_SLOW * part)
        applied = mood.acts == "half" and moods.is_applied(self.seed, request["key"])
        if mood.acts in ("now", "soon") or applied:
            return self.books.land(request, trait, until)
        if mood.acts in ("never", "half"):
            return None
        if trait == "lands too late":
            at = deadline + moods.LATE_UNTIL + moods.VISIBLE_AFTER + 0.2 + 0.4 * part
            self._later(request, trait, at, inf)
        elif mood.acts in ("straggling", "long"):
            last = deadline + moods.LATE_UNTIL
            self._under_way[request["key"]] += mood.acts == "long"
            self._later(request, trait, until + part * (last - until), last)
        else:
            now = time.time()
            self._under_way[request["key"]] += 1
            self._later(request, trait, now + part * (until - now), until)
        return None

    def _part(self, request: Request) -> float:
        return moods.chance(self.seed, "lag", moods.own_part(request["key"]), request["attempt"])

    def _later(self, request: Request, trait: str, at: float, until: float) -> None:
        task = asyncio.create_task(self._land_at(request, trait, at, until))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _land_at(self, request: Request, trait: str, at: float, until: float) -> None:
        await asyncio.sleep(max(0.0, at - time.time()))
        before = len(self.books.lines)
        self.books.land(request, trait, until)
        if until == inf and len(self.books.lines) > before:
            self.books.breaks(request, trait)
        if self._under_way[request["key"]] > 0:
            self._under_way[request["key"]] -= 1

    async def _said(
        self, request: Request, mood: Mood, receipt: dict[str, Any] | None
    ) -> dict[str, Any] | None:
        match mood.says:
            case "hang_up":
                return None
            case "nothing" | "too_late":
                await asyncio.sleep(_TOO_LATE)
                return None
            case "error" | "refused" | "busy" as said:
                return {"said": said}
            case "wrong_key" | "wrong_digest" | "anothers" as how:
                self.books.breaks(request, mood.name)
                return {"said": "done", "receipt": _spoilt(how, request, receipt)}
            case _:
                pass
        if receipt is None:
            return {"said": "error"}
        return {"said": "done", "receipt": receipt, "torn": mood.says == "half"}

    async def _find(self, request: Request) -> dict[str, Any] | None:
        key, now = request["key"], time.time()
        self._asked[key] += 1
        mood = moods.answering(self.seed, key, self._asked[key])
        self.books.met[mood.name] += 1
        match mood.says:
            case "hang_up":
                return None
            case "nothing":
                await asyncio.sleep(_TOO_LATE)
                return None
            case "error":
                return {"said": "error"}
            case _:
                pass
        torn = mood.says == "half"
        stale = moods.VISIBLE_AFTER if mood.says == "stale" else 0.0
        receipt = self.books.found(key, now - stale)
        if receipt is not None and not self._denies(request, now):
            return {"said": "done", "receipt": receipt, "torn": torn}
        if receipt is None and self._under_way[key]:
            return {"said": "in_progress", "torn": torn}
        return {"said": "absent", "torn": torn}

    def _denies(self, request: Request, now: float) -> bool:
        key = request["key"]
        trait = moods.trait_of(self.seed, request["run"], key)
        still = now < self.books.deadlines.get(key, 0.0) + moods.LATE_UNTIL
        denies = trait == "denies what landed" or (
            trait == "denies what landed for a while" and still
        )
        if denies:
            self.books.breaks(request, trait)
            self.books.denied.add(key)
        return denies

    def _counter(self, request: Request) -> dict[str, Any]:
        """Where people come, and are told the truth."""
        books, key = self.books, request.get("key", "")
        match request["do"]:
            case "reverse":
                books.reverse(key, request["receipt_id"])
            case "dump":
                books.dump(Path(request["to"]))
            case _:  # only a look
                pass
        landed = [line["receipt"] for line in books.landings.get(key, ())]
        return {"landed": landed, "standing": books.standing.get(key, [])}


def _spoilt(how: str, request: Request, receipt: dict[str, Any] | None) -> dict[str, Any]:
    mine = {"receipt_id": "e0", "idempotency_key": request["key"]}
    mine = {**mine, "intent_digest": request["digest"], **(receipt or {})}
    if how in ("wrong_key", "anothers"):
        mine["idempotency_key"] = f"{request['key']}-of-another"
    if how in ("wrong_digest", "anothers"):
        mine["intent_digest"] = "sha256:" + "0" * 64
    return mine


async def _serve(provider: Provider, reader: asyncio.StreamReader, writer: Any) -> None:
    try:
        while line := await reader.readline():
            answer = await provider.answer(json.loads(line))
            writer.write(answer)
            if not answer.endswith(b"\n"):
                break
            await writer.drain()
    except ConnectionError:
        pass  # nobody listens any more
    finally:
        writer.close()


async def _listen(seed: int) -> None:
    provider, loop = Provider(seed), asyncio.get_running_loop()
    server = await asyncio.start_server(
        lambda reader, writer: _serve(provider, reader, writer), "127.0.0.1", 0, backlog=1000
    )
    _say({"port": server.sockets[0].getsockname()[1], "pid": os.getpid()})
    ended = asyncio.Event()

    def watch() -> None:
        while os.read(0, 1024):
            pass
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=watch, daemon=True).start()
    await ended.wait()
    os._exit(0)  # whatever is still being held is nobody's any more


def _say(said: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


@contextmanager
def running_provider(seed: int) -> Iterator[int]:
    """A provider in a process of its own; gives its port."""
    command = [sys.executable, "-m", "tests.hostile.provider", "--seed", str(seed)]
    with subprocess.Popen(
        command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield int(json.loads(process.stdout.readline())["port"])
        finally:
            process.stdin.close()
            process.wait(10)


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.provider", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    asyncio.run(_listen(parser.parse_args().seed))


if __name__ == "__main__":
    main()
