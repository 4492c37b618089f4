"""signal, approvals, approve, refuse: through the command line, as processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import Shell

APP = """
import json
import time
from datetime import timedelta
from pathlib import Path
from pydantic import BaseModel
from saga import App, Approval, Call, Compensation, Effect, NothingToUndo, Saga, Step, Undo, Wait
from saga import input_of

class Ticket(BaseModel):
    ticket: str

class Event(BaseModel):
    amount: str

class Done(BaseModel):
    number: str

async def close(call: Call[Ticket]) -> Done:
    entry = {"key": call.key, "run_id": call.run_id, "step": call.step, "of_key": None}
    with Path("ledger.jsonl").open("a") as ledger:
        ledger.write(json.dumps({**entry, "at": time.time()}) + "\\n")
    return Done(number=call.args.ticket)

async def reopen(call: Undo[Ticket, Done]) -> None: ...

ticket = input_of(Ticket)
paid = Wait("paid", signal=Event, limit=timedelta(days=1))
closed = Step(
    "close",
    Effect("tickets.close", close),
    args=ticket,
    compensation=Compensation("tickets.reopen", reopen),
    approval=Approval(by=["ada", "bob"], expires=timedelta(hours=1), scope="close one ticket"),
)
app = App(Saga("close-ticket", ticket, [paid, closed]))
"""


@pytest.fixture
def asked(shell: Shell) -> dict[str, str]:
    """A run that waits for an approval; what a decision must name."""
    Path(shell.folder / "tickets.py").write_text(APP)
    start = ("start", "tickets.py:app", "close-ticket", "t1", '{"ticket": "ticket-7"}')
    assert shell.saga(*start).code == 0
    signal = ("signal", "t1", "paid", '{"amount": "9.50"}', "--message-id", "evt-1")
    assert shell.saga(*signal).code == 0
    assert shell.saga(*signal).code == 0  # delivered twice
    assert shell.saga("orchestrator", "tickets.py:app", "--until-idle").code == 0
    (one,) = shell.json("approvals")
    return {"version": str(one["version"]), "digest": one["digest"]}


def words(shown: dict[str, str], *more: str) -> tuple[str, ...]:
    return ("--version", shown["version"], "--digest", shown["digest"], *more)


def test_the_list_shows_what_is_sent_and_the_commands_to_paste(
    shell: Shell, asked: dict[str, str]
) -> None:
    page = shell.saga("approvals").out
    assert 'tickets.close@1 {"ticket": "ticket-7"}' in " ".join(page.split())
    pasted = f"saga approve t1 close --version {asked['version']} --digest {asked['digest']}"
    assert pasted in " ".join(page.replace("\\\n", " ").split())
    assert all(len(line) <= 80 or "saga " in line or "sha256" in line for line in page.splitlines())


def test_what_waits_for_people_is_said_by_show_wait_and_health(
    shell: Shell, asked: dict[str, str]
) -> None:
    waited = shell.saga("wait", "t1", "--timeout", "60")
    assert (waited.code, "close waits for people to approve it" in waited.out) == (9, True)
    assert shell.json("show", "t1")["approvals"] == ["close"]
    health = shell.saga("health", "--json").json
    assert (health["approvals"], health["open_cases"]) == (1, 0)
    assert "approvals" in [finding["code"] for finding in health["findings"]]
    assert shell.saga("approve", "t1", "close", *words(asked, "--by", "ada")).code == 0
    assert shell.json("show", "t1")["approvals"] == []
    assert shell.saga("health", "--json").json["approvals"] == 0
    assert shell.saga("wait", "t1", "--timeout", "0.2").code == 10


def test_approved_it_is_done(shell: Shell, asked: dict[str, str]) -> None:
    assert shell.saga("approve", "t1", "close", *words(asked, "--by", "ada")).code == 0
    assert shell.saga("approvals").out == "Nothing waits for an approval.\n"
    assert shell.saga("orchestrator", "tickets.py:app", "--until-idle").code == 0
    shown = shell.json("show", "t1")
    assert shown["outcome"] == "completed", shown["steps"][1]["error"]
    late = shell.saga("approve", "t1", "close", *words(asked, "--by", "bob"))
    assert (late.code, "used up" in late.err) == (5, True)


def test_refused_the_run_is_undone(shell: Shell, asked: dict[str, str]) -> None:
    why = ("--by", "bob", "--reason", "still open")
    assert shell.saga("refuse", "t1", "close", *words(asked, *why)).code == 0
    shown = shell.json("show", "t1")
    assert (shown["outcome"], shown["cause"]) == ("compensated", "refused")
    assert shown["cause_error"]["text"] == "bob: still open"


def test_what_was_not_shown_is_a_conflict_and_a_stranger_may_not(
    shell: Shell, asked: dict[str, str]
) -> None:
    other = {**asked, "version": "99"}
    assert shell.saga("approve", "t1", "close", *words(other, "--by", "ada")).code == 4
    assert shell.saga("approve", "t1", "close", *words(asked, "--by", "eve")).code == 5
    assert len(shell.json("approvals")) == 1


def test_a_signal_for_nothing_is_told_so(shell: Shell, asked: dict[str, str]) -> None:
    del asked
    for given, code in (
        (("signal", "t1", "payed", "--message-id", "m"), 5),
        (("signal", "t1", "paid", '{"amount": "1"}', "--message-id", "evt-1"), 4),
        (("signal", "t1", "paid", "{", "--message-id", "m"), 2),
        (("signal", "t2", "paid", "--message-id", "m"), 3),
    ):
        assert shell.saga(*given).code == code, given
