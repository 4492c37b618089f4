"""A budget through the command line: its case, the commands to paste, and processes that die."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.shell import Shell

APP = """
import json
import os
import signal
import time
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from pydantic import BaseModel
from saga import Absent, App, Budget, Call, Compensation, Effect, Each, Provider, Retry, Saga, Undo
from saga import bind, input_of, item_of

class Person(BaseModel):
    id: str

class Campaign(BaseModel):
    people: list[Person]
    price: Decimal

class Mail(BaseModel):
    person: str
    price: Decimal

class Sent(BaseModel):
    id: str

def called(what, call):
    entry = {"what": what, "key": call.key, "at": time.time()}
    with Path("calls.jsonl").open("a") as calls:
        calls.write(json.dumps(entry) + "\\n")
    dies = Path("dies")  # the next so many calls, of what it says, kill the process
    if dies.exists():
        kind, left = dies.read_text().split()
        if kind == what and int(left):
            dies.write_text(f"{kind} {int(left) - 1}")
            os.kill(os.getpid(), signal.SIGKILL)

def landed(call, of_key):
    entry = {"key": call.key, "run_id": call.run_id, "step": call.step, "of_key": of_key}
    with Path("ledger.jsonl").open("a") as ledger:
        ledger.write(json.dumps({**entry, "at": time.time()}) + "\\n")

def known(key):
    file = Path("ledger.jsonl")
    rows = file.read_text().splitlines() if file.exists() else []
    return any(json.loads(row)["key"] == key for row in rows)

async def mail(call: Call[Mail]) -> Sent:
    called("send", call)
    if not known(call.key):
        landed(call, None)
    return Sent(id=call.args.person)

async def find(call: Call[Mail]) -> Sent | Absent:
    called("probe", call)
    return Sent(id=call.args.person) if known(call.key) else Absent()

async def sorry(call: Undo[Mail, Sent]) -> None:
    called("undo", call)
    landed(call, call.of_key)

post = Provider("post", key_life=timedelta(hours=1), in_flight=0.1, visible_after=0)
campaign = input_of(Campaign)
person = item_of(campaign.people)
mails = Each(
    "mail",
    Effect("post.mail", mail, probe=find, provider=post, retry=Retry(first=0.01, jitter=0),
           cost={"EUR": "price", "mails": 1}),
    over=campaign.people,
    key=person.id,
    args=bind(Mail)(person=person.id, price=campaign.price),
    compensation=Compensation("post.sorry", sorry, provider=post),
    parallel=1,
)
app = App(
    Saga("money", campaign, [mails], budget=Budget(units={"EUR": Decimal("1.00"), "mails": 50})),
    Saga("calls", campaign, [mails], budget=Budget(calls=6, attempts=4)),
)
"""
LIVES = ("orchestrator", "posts.py:app", "--until-idle", "--poll", "0.02", "--lease", "1")


def start(shell: Shell, saga: str, people: int = 5) -> None:
    Path(shell.folder / "posts.py").write_text(APP)
    listed = [{"id": f"p{number}"} for number in range(people)]
    given = json.dumps({"people": listed, "price": "0.35"})
    assert shell.saga("start", "posts.py:app", saga, "r", given).code == 0


@pytest.fixture
def stopped(shell: Shell) -> Shell:
    """Two mails for 0.35 each are sent, and the third would be too much for 1.00."""
    start(shell, "money")
    assert shell.saga(*LIVES).code == 0
    return shell


def calls(shell: Shell) -> list[str]:
    file = shell.folder / "calls.jsonl"
    rows = file.read_text().splitlines() if file.exists() else []
    return [json.loads(row)["what"] for row in rows]


def pasted(page: str, verb: str) -> list[str]:
    """The command that a page shows for a verdict."""
    lines = page.replace("\\\n", " ").splitlines()
    (line,) = [one for one in lines if one.strip().startswith("saga resolve") and verb in one]
    return shlex.split(line)[1:]


def test_the_case_says_what_is_spent_and_what_it_would_take(stopped: Shell) -> None:
    assert calls(stopped) == ["send"] * 2
    shown = stopped.json("show", "r")
    assert shown["budget"] == {
        "EUR": {"limit": "1.00", "spent": "0.70"},
        "mails": {"limit": "50", "spent": "2"},
    }
    page = " ".join(stopped.saga("show", "r").out.split())
    assert "EUR used 0.70 of 1.00 mails used 2 of 50" in page
    page = " ".join(stopped.saga("case", "r/1").out.split())
    assert "it takes 0.35 EUR, and 0.70 of 1.00 are used up" in page
    why = stopped.json("why", "r")
    assert [hold["rule"] for hold in why["holds"] if hold["rule"] == "budget"] == ["budget"]


def test_the_pasted_command_raises_the_budget(stopped: Shell) -> None:
    words = pasted(stopped.saga("case", "r/1").out, "raise")
    assert words[words.index("--evidence") + 1] == "EUR=1.05"
    words[words.index("--evidence") + 1] = "EUR=2"
    assert stopped.saga(*words).code == 0
    assert stopped.saga(*words).code == 4  # decided
    assert stopped.saga(*LIVES).code == 0
    assert calls(stopped) == ["send"] * 5
    shown = stopped.json("show", "r")
    assert (shown["outcome"], shown["budget"]["EUR"]) == (
        "completed",
        {"limit": "2", "spent": "1.75"},
    )


@pytest.mark.parametrize("evidence", ["EUR=1.00", "EUR=1.01", "EURO=5", "much", "EUR=1e9"])
def test_a_limit_that_is_not_enough_is_refused_and_said(stopped: Shell, evidence: str) -> None:
    words = pasted(stopped.saga("case", "r/1").out, "raise")
    words[words.index("--evidence") + 1] = evidence
    answer = stopped.saga(*words)
    assert (answer.code, "raise needs" in answer.err or "EUR" in answer.err) == (5, True)
    assert stopped.json("show", "r")["budget"]["EUR"]["limit"] == "1.00"


def test_the_pasted_command_has_the_run_undone(stopped: Shell) -> None:
    assert stopped.saga(*pasted(stopped.saga("case", "r/1").out, "compensate")).code == 0
    assert stopped.saga(*LIVES).code == 0
    shown = stopped.json("show", "r")
    assert (shown["outcome"], shown["cause"]) == ("compensated", "person")
    assert calls(stopped) == ["send"] * 2 + ["undo"] * 2


@pytest.mark.parametrize("kind", ["send", "probe"])
def test_no_death_of_a_process_lets_a_budget_be_exceeded(shell: Shell, kind: str) -> None:
    """Each call kills the process that makes it, as it leaves: what was counted stays counted."""
    start(shell, "calls")
    if kind == "probe":  # of a call that nobody has heard the end of
        (shell.folder / "dies").write_text("send 1")
        shell.saga(*LIVES)
    (shell.folder / "dies").write_text(f"{kind} 99")
    for _ in range(12):
        if shell.saga(*LIVES).code == 0:
            break
    else:
        pytest.fail("it is called again and again")
    budget = shell.json("show", "r")["budget"]
    made = calls(shell)
    assert len(made) <= budget["calls"]["spent"] <= 6
    assert made.count("send") <= budget["attempts"]["spent"] <= 4
    assert made.count(kind) >= 2
    assert len(shell.json("show", "r")["cases"]) == 1


def test_nor_does_a_death_at_any_other_moment(shell: Shell) -> None:
    """Killed from outside, ever later: before, within and after the commits of its records."""
    start(shell, "calls", people=20)
    for number in range(10):
        process = shell.begin(*LIVES)
        process.says(" runs ")
        if number % 2:
            before = len(calls(shell))
            while process.lives and len(calls(shell)) == before:
                pass
        if process.lives:
            process.kill()
        made, budget = calls(shell), shell.json("show", "r")["budget"]
        assert len(made) <= budget["calls"]["spent"] <= 6
        assert made.count("send") <= budget["attempts"]["spent"] <= 4
    assert shell.saga(*LIVES).code == 0
    (case,) = shell.json("cases")
    assert case["kind"] == "budget"
    made = calls(shell)
    assert len(made) <= 6
    assert made.count("send") <= 4
