"""The example is played as its README says, twice at once, and the providers' ledgers judge."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.demo.conftest import ROOT

KEY = re.compile(r"[0-9a-f]{12}(?=/spring/)")  # the part that a new database brings


@dataclass(frozen=True)
class Said:
    code: int
    text: str
    group: int
    left: list[Path]

    @property
    def parts(self) -> dict[str, str]:
        """What stands between empty lines, by its first word."""
        blocks = self.text.split("\n\n")
        return {block.split()[0]: " ".join(block.split()) for block in blocks}


def played(folder: Path) -> subprocess.Popen[str]:
    folder.mkdir()
    return subprocess.Popen(
        [sys.executable, "-m", "examples.notifications"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # a group of its own, so that what it leaves behind can be found
    )


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Said, Said]:
    folders = [tmp_path_factory.mktemp("notifications") / "temp" for _ in range(2)]
    processes = [played(folder) for folder in folders]
    texts = [process.communicate(timeout=240)[0] for process in processes]
    first, second = (
        Said(process.returncode, text, process.pid, list(folder.iterdir()))
        for process, text, folder in zip(processes, texts, folders, strict=True)
    )
    return first, second


@pytest.fixture
def said(twice: tuple[Said, Said]) -> Said:
    return twice[0]


def gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def test_every_reader_gets_one_notification(said: Said) -> None:
    assert said.code == 0, said.text
    assert "WRONG" not in said.text
    assert said.text.splitlines()[-1] == "every reader got it once"
    assert said.text.count("100 sent, none twice") == 5
    assert " ".join(said.text.split()).count("laws all kept, by the ledger") == 3


def test_the_twentieth_has_landed_and_is_not_on_record_when_it_dies(said: Said) -> None:
    killed = "kill -9 19 landed, 1 sending, 80 never tried; the provider has sent 20"
    for number in ("1.", "2.", "3."):
        assert killed in said.parts[number]
        key = r"key of 20 [0-9a-f]{12}/spring/mail#20/[0-9a-f]{16}@1 "
        assert re.search(key, said.parts[number])


def test_a_provider_that_honours_keys_is_sent_it_again_under_the_same_key(said: Said) -> None:
    assert "the next one sent it again, under the same key" in said.parts["1."]
    assert "100 sent, none twice; 101 requests" in said.parts["1."]


def test_a_provider_that_can_be_asked_is_asked_and_sent_nothing_again(said: Said) -> None:
    assert "the next one asked by the same key: it was there" in said.parts["2."]
    assert "100 sent, none twice; 100 requests" in said.parts["2."]


def test_a_provider_that_does_neither_is_looked_into_by_a_person(said: Said) -> None:
    part = said.parts["3."]
    assert "the next one opened a case: only a person can find out" in part
    assert "80 of 100 items of mail have not begun: 1 unknown, and on_unknown is hold_all" in part
    assert "ada the provider's own list has message-20 to reader-20@example.org: landed" in part


def test_nothing_after_the_unknown_one_is_sent_unless_the_saga_says_so(said: Said) -> None:
    same = "0 begun before it was settled; 21 begins in the same record"
    assert same in said.parts["1."]
    assert same in said.parts["2."]
    assert "0 begun before it was settled; 21 begins in a later record" in said.parts["3."]
    one_by_one, others_go_on = said.parts["3."].split("One at a time")[1:]
    assert "hold_all after 20 0 begun before 20 was settled; completed" in one_by_one
    assert "hold_item after 20 80 begun before 20 was settled; completed" in others_go_on


def test_a_cancel_says_how_many_are_sent_unknown_and_never_tried(said: Said) -> None:
    rows = re.findall(
        r"(cancel's answer|the case is open|compensated) ([\d ]+)", said.parts["Cancelled"]
    )
    figures = [(name, *map(int, numbers.split())) for name, numbers in rows]
    at_20 = [("cancel's answer", 19, 1, 0, 80), ("compensated", 20, 0, 0, 80)]
    assert figures == [
        ("cancel's answer", 18, 1, 0, 81),
        ("compensated", 19, 0, 0, 81),
        *at_20,
        *at_20,
        at_20[0],
        ("the case is open", 19, 0, 1, 80),
        at_20[1],
    ]
    assert re.findall(r"ledger: (\d+)", said.parts["Cancelled"]) == ["19", "20", "20", "20"]


def test_it_is_plain_text_of_80_columns_and_the_same_every_time(twice: tuple[Said, Said]) -> None:
    first, second = (KEY.sub("KEY", said.text) for said in twice)
    assert first == second
    assert first.isascii()
    assert max(map(len, twice[0].text.splitlines())) <= 80


def test_its_readme_shows_what_it_says(said: Said) -> None:
    readme = (ROOT / "examples/notifications/README.md").read_text(encoding="utf-8")
    assert KEY.sub("KEY", said.text) in KEY.sub("KEY", readme)


def test_it_leaves_nothing_behind(twice: tuple[Said, Said]) -> None:
    assert all(gone(said.group) for said in twice)
    assert [said.left for said in twice] == [[], []]


def test_what_is_ended_from_outside_leaves_nothing_behind(tmp_path: Path) -> None:
    with played(tmp_path / "temp") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.readline()  # orchestrators have come and gone
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 143
    assert gone(process.pid)
    assert not list((tmp_path / "temp").iterdir())
