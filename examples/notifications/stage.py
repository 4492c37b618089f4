"""A provider's stage: its process, a database of saga's, orchestrators that come and are killed.

Nothing that is started here outlives the program, and nothing is timed: whatever must have happened
before the next move is looked up, outside or in the journal.
"""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.notifications.notifications import SAGAS, Campaign, Reader
from examples.notifications.provider import Ledger
from examples.order_flow.demo.interruptions import Interruptions
from examples.processes import running
from saga import Client, Run

__all__ = ["KINDS", "READERS", "Counts", "Stage", "counts", "staged"]

READERS = [Reader(number=n, address=f"reader-{n}@example.org") for n in range(1, 101)]
KINDS = {"keys": ("--keys",), "queries": ("--queries",), "neither": ()}

_APP = "examples/notifications/notifications.py:app"


@dataclass(frozen=True)
class Counts:
    """What a run says of its notifications. `sending`: no answer yet; `never`: never tried."""

    landed: int
    sending: int
    unknown: int
    never: int


def counts(run: Run) -> Counts:
    """The items of the only step, by what is known of them."""
    items = run.steps[0].items
    if items is None:
        return Counts(0, 0, 0, len(READERS))
    found = [items.states.get(name, 0) for name in ("landed", "sending", "unknown", "waiting")]
    assert sum(found) == items.total, items
    return Counts(*found)


@dataclass(frozen=True)
class Stage:
    """One provider with its ledger, and the database of those who send through it."""

    url: str
    provider: str
    ledger: Ledger
    client: Client
    interruptions: Interruptions

    def start(self, saga: str, run_id: str) -> None:
        """A campaign to all readers."""
        given = Campaign(text="Spring is here", readers=READERS)
        self.client.start(SAGAS[saga], given, run_id=run_id, actor="agent")

    def hold(self, number: int) -> None:
        """From now on the provider sends the notification with this number and does not answer."""
        wish = {"to": READERS[number - 1].address, "number": number}
        self.ledger.hold.write_text(json.dumps(wish), encoding="utf-8")

    def let_go(self) -> None:
        """The provider answers again."""
        self.ledger.hold.unlink()

    @contextmanager
    def orchestrator(self, *options: str) -> Iterator[subprocess.Popen[str]]:
        """A process that moves the runs."""
        command = ("saga", "orchestrator", _APP, "--db", self.url, "--poll", "0.1", *options)
        with running(*command, NOTIFIER_URL=self.provider) as process:
            yield process

    def reach(self, run_id: str, number: int) -> None:
        """Wait until so many have landed outside, and all but the last one are on record."""
        self._until(lambda: len(self.ledger.sent(run_id)) == number, "so many outside")
        self._until(lambda: counts(self.client.show(run_id)).landed == number - 1, "so many here")

    def cut(self, saga: str, run_id: str, number: int) -> Run:
        """Start a run, and `kill -9` its orchestrator when the provider has sent that one."""
        self.start(saga, run_id)
        self.hold(number)
        with self.orchestrator() as process:
            self.reach(run_id, number)
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.let_go()
        return self.client.show(run_id)

    def carry_on(self, run_id: str) -> Run:
        """Another orchestrator does what it can, and leaves."""
        with self.orchestrator("--until-idle") as process:
            self.leaves(process)
        return self.client.show(run_id)

    def leaves(self, process: subprocess.Popen[str]) -> None:
        """Wait until an orchestrator has left by itself."""
        self._until(lambda: process.poll() is not None, "an orchestrator that leaves")

    def _until(self, condition: Callable[[], Any], what: str) -> None:
        for _ in range(3000):
            self.interruptions.check()
            if condition():
                return
            time.sleep(0.02)
        raise TimeoutError(f"it never came to: {what}")


@contextmanager
def staged(kind: str, interruptions: Interruptions) -> Iterator[Stage]:
    """A provider of this kind, in a folder of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=f"notifications-{kind}-") as folder:
        ledger, url = Ledger(Path(folder) / "sent.db"), f"sqlite:///{folder}/saga.db"
        command = ("examples.notifications.provider", "--ledger", str(ledger.path), "--tied")
        with running(*command, *KINDS[kind]) as provider:
            assert provider.stdout is not None
            where = json.loads(provider.stdout.readline())["url"]
            client = Client(url)
            try:
                yield Stage(url, where, ledger, client, interruptions)
            finally:
                client.close()
