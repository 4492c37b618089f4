"""The processes of the demo: the shop, orchestrators, and `saga` as a person types it.

Whatever was started here ends with the stage, whatever happens on it; nothing else is touched.
Orchestrators are in sessions of their own, so that Ctrl-C in a terminal reaches the demo first,
which then ends them.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from textwrap import wrap

from examples.order_flow.demo.interruptions import Interruptions
from examples.order_flow.demo.tales import Tale
from examples.order_flow.order_flow import order_flow
from examples.order_flow.shop import Shop, running_shop
from saga import Client

__all__ = ["DATABASE", "LEDGER", "Stage", "Trouble", "client_of", "staged"]

DATABASE, LEDGER = "saga.db", "ledger.db"
_ROOT = Path(__file__).resolve().parents[3]
_APP = "examples.order_flow.order_flow:app"
_PATIENCE = 45.0  # seconds for one thing to happen; far more than it takes on a busy machine
_PAUSE = 0.03
_TO_LEAVE = 5.0  # seconds an orchestrator gets at the end


class Trouble(Exception):
    """It cannot go on; the text says why."""


def client_of(folder: Path) -> Client:
    """A client of the database in a folder."""
    return Client(f"sqlite:///{folder / DATABASE}")


class Stage:
    """What is on it: `shop`, `client`, and the orchestrators that were started."""

    def __init__(self, folder: Path, shop: Shop, interruptions: Interruptions) -> None:
        self.folder, self.shop = folder, shop
        self.client = client_of(folder)
        self._interruptions = interruptions
        self._began = time.monotonic()
        self._alive: dict[int, subprocess.Popen[bytes]] = {}
        self._started = 0

    def say(self, text: str) -> None:
        """Tell on stderr what is going on. A command stays on one line: it can be pasted."""
        lines = [text] if text.startswith("$") else wrap(text, 70)
        print(
            f"{time.monotonic() - self._began:5.1f} s  " + "\n         ".join(lines),
            file=sys.stderr,
            flush=True,
        )

    # ---- orders

    def order(self, tale: Tale) -> None:
        """Tell the shop how to misbehave, and start the run."""
        self._interruptions.check()
        for rule in tale.rules:
            options = dict(rule)
            self.shop.rule(options.pop("act"), run_id=tale.id, **options)
        self.client.start(order_flow, tale.order, run_id=tale.id)

    def held(self, name: str) -> None:
        """Wait until the shop holds a request or an answer of this order."""
        self.until(lambda: self.shop.held(run_id=name), f"{name} held by the shop")

    def ended(self, name: str) -> None:
        """Wait until this run has ended."""

        def why() -> str:
            return self.client.why(name).text

        self.until(lambda: self.client.show(name).phase == "ended", f"the end of {name}", why)

    def recorded(self, name: str, kind: str, **fields: object) -> None:
        """Wait until the journal of a run has an event of this kind with these fields."""
        wanted = {"kind": kind} | fields
        self.until(
            lambda: any(
                wanted.items() <= event.items()
                for record in self.client.journal(name)
                for event in record.events
            ),
            f"{kind} in the journal of {name}",
        )

    # ---- orchestrators

    def orchestrator(self) -> int:
        """Start one; its pid."""
        self._interruptions.check()
        self._started += 1
        command = [sys.executable, "-m", "saga", "orchestrator", _APP, "--db"]
        command += [f"sqlite:///{self.folder / DATABASE}", "--lease", "5s", "--poll", "0.1s"]
        environment = self._environment() | {"SHOP_URL": self.shop.url}
        with (self.folder / "orchestrators.log").open("ab") as log:
            process = subprocess.Popen(
                [*command, "--grace", "2s"],
                cwd=_ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            self._alive[process.pid] = process
        self.say(f"orchestrator {self._started} starts (pid {process.pid})")
        return process.pid

    def serving(self, name: str, pid: int) -> None:
        """Wait until this orchestrator could take up a run."""
        self.until(
            lambda: any(one.pid == pid for one in self.client.why(name).orchestrators),
            f"the orchestrator with pid {pid} alive",
        )

    def kill(self, pid: int) -> None:
        """`kill -9`, and be sure that it is gone."""
        process = self._alive[pid]
        process.kill()
        process.wait()
        del self._alive[pid]

    # ---- a person

    def typed(self, words: Iterable[str]) -> str:
        """A command as a person types it, in the folder of the database; what it prints."""
        self._interruptions.check()
        program, *rest = words
        assert program == "saga", program
        self.say(f"$ {shlex.join(['saga', *rest])}")
        answer = subprocess.run(
            [sys.executable, "-m", "saga", *rest],
            cwd=self.folder,
            env=self._environment() | {"SAGA_DATABASE_URL": f"sqlite:///{DATABASE}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
        if answer.returncode:
            raise Trouble(
                f"saga {shlex.join(rest)}: exit code {answer.returncode}\n{answer.stderr}"
            )
        return answer.stdout

    # ---- waiting, and the end

    def until(
        self, condition: Callable[[], object], what: str, why: Callable[[], str] = lambda: ""
    ) -> None:
        """Look until it is so. Raises `Trouble` if it does not come, or if somebody has died."""
        end = time.monotonic() + _PATIENCE
        self._interruptions.check()
        while not condition():
            self._interruptions.check()
            for pid, process in self._alive.items():
                if (code := process.poll()) is not None:
                    raise Trouble(
                        f"the orchestrator with pid {pid} ended with {code}: {self._log()}"
                    )
            if time.monotonic() > end:
                raise Trouble(f"after {_PATIENCE:g} s still not: {what}. {why()}")
            time.sleep(_PAUSE)

    def close(self) -> None:
        """End all orchestrators, gently if they let us, and the client."""
        for process in self._alive.values():
            process.terminate()
        for process in self._alive.values():
            try:
                process.wait(_TO_LEAVE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._alive.clear()
        self.client.close()

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
        return os.environ | {"PYTHONPATH": path}

    def _log(self) -> str:
        lines = (self.folder / "orchestrators.log").read_text(errors="replace").splitlines()
        return "\n".join(["", *lines[-20:]])


@contextmanager
def staged(folder: Path, interruptions: Interruptions) -> Iterator[Stage]:
    """A stage with the shop open, its files in `folder`."""
    with ExitStack() as stack:
        try:
            shop = stack.enter_context(running_shop(folder / LEDGER))
        except RuntimeError as error:
            raise Trouble(str(error)) from error
        stage = Stage(folder, shop, interruptions)
        stack.callback(stage.close)
        stage.say(f"the shop is open: {shop.url} (pid {shop.pid})")
        yield stage
