"""The server of the tests ends with whoever has started it, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.cases.waiting import until
from tests.postgres import programs
from tests.postgres.server import URL

ROOT = Path(__file__).parents[2]
HOLDER = """
    import time
    from tests.postgres.server import server
    print(server().url, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_of_it_is_left(end: signal.Signals) -> None:
    if os.environ.get(URL):
        pytest.skip("this server is not ours to end")
    holder = subprocess.Popen(
        [sys.executable, "-c", dedent(HOLDER)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        text=True,
    )
    assert holder.stdout is not None
    url = holder.stdout.readline().strip()
    folder = Path(url.partition("host=")[2])
    pid = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    holder.send_signal(end)
    holder.wait(60)
    holder.stdout.close()
    until(lambda: not folder.exists() and not Path(f"/proc/{pid}").exists(), "it has ended", 60)


def test_a_missing_server_is_no_reason_to_skip_anything(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "DEBIAN", tmp_path)
    monkeypatch.setattr(programs, "WHEEL", "nothing")
    monkeypatch.delenv(programs.BIN, raising=False)
    with pytest.raises(AssertionError, match="the tests do not go without"):
        programs.programs()
