"""`python -m examples.close_ticket`: the protocol of the lesson, step by step, with a kill -9.

Exit codes: 0 the ticket was closed exactly once, 1 it was not.
"""

from __future__ import annotations

import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from examples.close_ticket.close_ticket import Goal, close_ticket
from examples.close_ticket.tool import Store
from examples.processes import running
from saga import Client, Run

__all__ = ["main"]

_APP = "examples/close_ticket/close_ticket.py:app"


def _until(condition: Callable[[], Any], what: str) -> Any:
    for _ in range(1500):
        if found := condition():
            return found
        time.sleep(0.02)
    raise TimeoutError(f"it never came to: {what}")


def _say(number: int, text: str) -> None:
    print(f"{number}. {text}", flush=True)


def _approve(client: Client, run_id: str) -> None:
    (one,) = _until(lambda: [a for a in client.approvals() if a.run_id == run_id], "an approval")
    record = client.journal(run_id)[one.version - 1]
    _say(1, f"{run_id} waits for approval; record {one.version} ({record.command}) is sealed")
    _say(
        2,
        f"it is bound to {one.digest[:23]}…, record {one.version}, scope {one.scope!r}, "
        f"until {one.expires_at:%H:%M:%S}, observed {one.observation[:23]}…",
    )
    client.approve(run_id, one.step, version=one.version, digest=one.digest, actor="ada")


def _closed_once(client: Client, store: Store, url: str, tool: str) -> Run:
    """A crash between the tool's commit and the record of its receipt."""
    client.start(close_ticket, Goal(ticket="ticket-7"), run_id="run-42", actor="agent")
    hold = store.path.with_name(f"{store.path.name}.hold")
    hold.touch()
    with running("saga", "orchestrator", _APP, "--db", url, TICKETS_URL=tool) as first:
        _approve(client, "run-42")
        _until(store.writes, "the close in the tool's store")
        _say(3, f"the tool has committed the close and keeps its receipt: {store.writes()}")
        first.send_signal(signal.SIGKILL)
        first.wait()
    step = client.show("run-42").steps[1]
    _say(4, f"kill -9 before the receipt was recorded: {step.name} is {step.state}, {step.key}")
    hold.unlink()
    with running("saga", "orchestrator", _APP, "--db", url, TICKETS_URL=tool):
        _say(5, "another orchestrator takes the run up from its journal")
        done = client.wait("run-42", timeout=60)
    commands = " ".join(record.command for record in client.journal("run-42"))
    receipt = done.steps[1].receipt or {}
    same = receipt.get("idempotency_key") == done.steps[1].key
    _say(6, f"it asked by the same key; key and digest are equal: {same} ({commands})")
    _say(7, f"not closed again: {store.writes()}; {done.id} {done.outcome}, {receipt}")
    return done


def _satisfied(client: Client, url: str, tool: str) -> Run:
    """The same goal again: a current reading is the evidence, there is nothing to close."""
    client.start(close_ticket, Goal(ticket="ticket-7"), run_id="run-43", actor="agent")
    with running("saga", "orchestrator", _APP, "--db", url, TICKETS_URL=tool):
        _approve(client, "run-43")
        done = client.wait("run-43", timeout=60)
    print(f"   run-43 {done.outcome}: {done.steps[1].state}, {done.steps[1].evidence}")
    return done


def main() -> int:
    """Play both runs in a folder of their own, and compare with the tool's store."""
    with tempfile.TemporaryDirectory(prefix="close-ticket-") as folder:
        url, store = f"sqlite:///{folder}/saga.db", Store(Path(folder) / "tickets.db")
        command = ("examples.close_ticket.tool", "--store", str(store.path), "--tied")
        with running(*command) as tool:
            assert tool.stdout is not None
            where = json.loads(tool.stdout.readline())["url"]
            client = Client(url)
            closed = _closed_once(client, store, url, where)
            again = _satisfied(client, url, where)
            client.close()
        right = (
            closed.outcome == again.outcome == "completed"
            and store.writes() == [("ticket-7", "closed")]
            and closed.steps[1].receipt is not None
            and again.steps[1].receipt is None
            and again.steps[1].evidence is not None
        )
    print("closed exactly once" if right else "NOT closed exactly once")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
