"""Exceptions that cannot be rebuilt, and NUL and friends: C056, C057."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from saga import BadInput, Call
from tests.cases.odd_values import Anything, Given, returning
from tests.cases.world import World


class _NeedsKeywords(Exception):
    def __init__(self, *, code: int, body: str) -> None:
        super().__init__(f"{code}: {body}")


class _BadText(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class _Locked(Exception):
    def __init__(self) -> None:
        super().__init__("holds a lock")
        self.lock = threading.Lock()


def _chained(_: Call[Given]) -> Any:
    last: Exception = _NeedsKeywords(code=0, body="the first")
    for number in range(1000):
        following = ValueError(f"cause {number}")
        following.__cause__ = last
        last = following
    raise last


def _local(_: Call[Given]) -> Any:
    class OnlyHere(Exception):
        pass

    raise OnlyHere("defined in a function")


def _raising(make: Callable[[], BaseException]) -> Callable[[Call[Given]], Any]:
    def raising(_: Call[Given]) -> Any:
        raise make()

    return raising


ERRORS: dict[str, tuple[Callable[[Call[Given]], Any], str, str]] = {
    "keywords": (_raising(lambda: _NeedsKeywords(code=7, body="b")), "_NeedsKeywords", "7: b"),
    "text": (_raising(_BadText), "_BadText", "its __str__ raised RuntimeError"),
    "lock": (_raising(_Locked), "_Locked", "holds a lock"),
    "local": (_local, "OnlyHere", "defined in a function"),
    "large": (_raising(lambda: ValueError("x" * 50_000_000)), "ValueError", "xxx"),
    "chain": (_chained, "ValueError", "cause 999"),
    "group": (
        _raising(lambda: ExceptionGroup("many", [ValueError(str(n)) for n in range(500)])),
        "ExceptionGroup",
        "many",
    ),
}

ELSEWHERE = """
import sys
from saga import Client
client = Client(sys.argv[1])
for run in client.runs():
    assert client.show(run.id) == run
    print(run.id, run.steps[0].error["type"])
for case in client.cases():
    assert client.case(case.id).error, case
assert not [name for name in sys.modules if name.startswith("tests")]
"""


def test_exceptions_that_cannot_be_rebuilt_are_kept_as_text(world: World) -> None:
    """C056, dbos-inc/dbos-transact-py#371, #395, czpython/druks#552.

    The type's name and a bounded text; shown and listed by a process that has never heard of them.
    """
    for name, (raising, _, _) in ERRORS.items():
        app = returning(str(world.folder), raising, name=name)
        world.client.start(app.sagas[0], {}, run_id=name)
        world.run_until_idle(app)

    for name, (_, kind, text) in ERRORS.items():
        run = world.show(name)
        (error,) = [step.error for step in run.steps if step.error]
        assert (run.steps[0].state, len(run.cases)) == ("unknown", 1)
        assert error["type"].endswith(kind)
        assert text in error["text"]
    for (body,) in world.query("SELECT body FROM journal"):
        for event in json.loads(body)["events"]:
            if event.get("error"):
                error = event["error"]
                whole = "".join([error["type"], error["text"], *error["leaves"]])
                assert len(whole.encode()) <= 2048
    shown = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, world.url],
        capture_output=True,
        text=True,
        check=False,
        cwd=world.folder,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert shown.returncode == 0, shown.stderr
    assert len(shown.stdout.splitlines()) == len(ERRORS)


def test_text_of_every_kind_comes_back_as_it_was(world: World) -> None:
    """C057, firecrawl/firecrawl#4113, #4203, windmill-labs/windmill#10274, on SQLite.

    U+0000 is refused by name or makes the result unknown (above); the six characters that write it
    stay six characters. Left for later: the same on PostgreSQL.
    """
    text = "\\u0000 \ufffe \U0001f600 \x01 \x1b[31m \u202e é e\u0301"
    app = returning(str(world.folder), lambda call: Anything(text=call.args.text, deep={text: 1}))
    world.client.start(app.sagas[0], {"text": text}, run_id="r1")
    world.run_until_idle(app)

    run = world.show()
    assert run.outcome == "completed"
    assert run.steps[0].receipt["text"] == text
    assert run.steps[0].receipt["deep"] == {text: 1}
    with pytest.raises(BadInput, match="text"):
        world.client.start(app.sagas[0], {"text": "a\0b"}, run_id="r2")
    with pytest.raises(BadInput):
        world.client.start(app.sagas[0], {}, run_id="r\0")


def test_an_error_text_with_nul_stops_nobody(world: World) -> None:
    """C057 (errors, notes): the orchestrator lives, a healthy run goes on meanwhile."""

    def nul(call: Call[Given]) -> Any:
        if call.run_id == "healthy":
            return Anything()
        raise ValueError("bad \0 and \ud800 and \x1b[31m text")

    app = returning(str(world.folder), nul)
    for run_id in ("r1", "healthy"):
        world.client.start(app.sagas[0], {}, run_id=run_id)
    world.run_until_idle(app)

    assert world.show("healthy").outcome == "completed"
    error = world.show("r1").steps[0].error
    assert error is not None
    assert error["text"] == "bad \ufffd and \ufffd and \ufffd[31m text"
    (case,) = world.client.cases()
    for odd in ("\0", "a\0b", "\ud800"):
        with pytest.raises(BadInput):
            world.client.resolve(case.id, "accept", reason=odd)
        with pytest.raises(BadInput):
            world.client.cancel("r1", reason=odd)
        with pytest.raises(BadInput):
            world.client.resolve(case.id, "undone", reason="looked", evidence=odd)
    assert world.client.case(case.id).state == "open"
