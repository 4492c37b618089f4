"""Many items at once: pages that end, and a death and a cancel that fit into records."""

from __future__ import annotations

import json

from saga.journal.records import RECORD_LIMIT
from tests.cli.doing import sql, until
from tests.cli.shell import Shell

APP = """
import asyncio
import json
import time
from datetime import timedelta
from pathlib import Path
from pydantic import BaseModel
from saga import App, Call, Compensation, Each, Effect, Irreversible, Provider, Saga, Undo, Unknown
from saga import bind, input_of, item_of

class Person(BaseModel):
    id: str

class Campaign(BaseModel):
    people: list[Person]

class Mail(BaseModel):
    person: str

class Sent(BaseModel):
    id: str

async def send(call: Call[Mail]) -> Sent:
    raise Unknown("nobody answered")

async def hang(call: Call[Mail]) -> Sent:
    entry = {"key": call.key, "run_id": call.run_id, "step": call.step, "of_key": None}
    with Path("ledger.jsonl").open("a") as ledger:
        ledger.write(json.dumps({**entry, "at": time.time()}) + "\\n")
    await asyncio.sleep(0 if Path("go").exists() else 600)
    return Sent(id="sent")

async def find(call: Call[Mail]) -> Sent:
    with Path("asked").open("a") as asked:
        asked.write(call.args.person + "\\n")
    return Sent(id="found")

async def unsend(call: Undo[Mail, Sent | None]) -> None: ...

campaign = input_of(Campaign)
person = item_of(campaign.people)
mails = Each("mail", Effect("mail.send", send), over=campaign.people, key=person.id,
             args=bind(Mail)(person=person.id), on_unknown="hold_item", parallel=40,
             compensation=Irreversible("mail cannot be unsent"))
post = Provider("post", key_life=timedelta(days=1), in_flight=0.01)
slow = Each("mail", Effect("mail.hang", hang, probe=find, provider=post,
            timeout=timedelta(minutes=20)),
            over=campaign.people, key=person.id, args=bind(Mail)(person=person.id),
            on_unknown="hold_item", parallel=400,
            compensation=Compensation("mail.unsend", unsend, provider=post))
fast = Provider("fast", in_flight=0.01)
lost = Each("mail", Effect("mail.lose", send, provider=fast, timeout=timedelta(seconds=0.5)),
            over=campaign.people, key=person.id, args=bind(Mail)(person=person.id),
            on_unknown="hold_item", parallel=400,
            compensation=Compensation("mail.unsend", unsend, provider=fast))
app = App(Saga("campaign", campaign, [mails]), Saga("slow", campaign, [slow]),
          Saga("lost", campaign, [lost]))
"""
PEOPLE, MANY = 40, 1500


def begin(shell: Shell, saga: str, count: int) -> None:
    (shell.folder / "many.py").write_text(APP)
    people = json.dumps({"people": [{"id": f"p{n}"} for n in range(count)]})
    assert shell.saga("start", "many.py:app", saga, "c1", people).code == 0


def longest_record(shell: Shell) -> int:
    ((length,),) = sql(shell, "SELECT max(length(CAST(body AS BLOB))) FROM journal")
    return int(length)


def test_forty_open_cases_are_no_endless_page(shell: Shell) -> None:
    begin(shell, "campaign", PEOPLE)
    assert shell.saga("orchestrator", "many.py:app", "--until-idle").code == 0
    assert len(shell.json("why", "c1")["holds"]) >= PEOPLE
    why, show = shell.saga("why", "c1").out, shell.saga("show", "c1").out
    assert why.count("waits for a person") == 3
    assert f"And {PEOPLE - 3} more that wait for the same" in why
    assert "saga why c1 --json" in why.replace("\\", "")
    assert show.count("waits for a person") == 10
    assert f"And {PEOPLE - 10} more cases" in show


def test_four_hundred_calls_of_a_dead_process_are_asked_about_once_each(shell: Shell) -> None:
    begin(shell, "slow", 450)
    first = shell.begin("orchestrator", "many.py:app", "--lease", "1", "--poll", "0.05")
    until(lambda: len(shell.ledger()) == 400)
    first.kill()
    (shell.folder / "go").touch()
    second = shell.begin("orchestrator", "many.py:app", "--lease", "1", "--poll", "0.05")
    assert shell.saga("wait", "c1", "--timeout", "60s").code == 0
    second.kill()
    asked = (shell.folder / "asked").read_text().split()
    assert sorted(asked) == sorted(f"p{n}" for n in range(400))
    assert len(shell.ledger()) == 450
    assert longest_record(shell) < RECORD_LIMIT


def test_a_run_with_fifteen_hundred_open_cases_can_be_cancelled(shell: Shell) -> None:
    begin(shell, "lost", MANY)
    assert shell.saga("orchestrator", "many.py:app", "--until-idle").code == 0
    assert sql(shell, "SELECT count(*) FROM cases WHERE state = 'open'") == [(MANY,)]
    cancelled = shell.saga("cancel", "c1", "--reason", "nobody answers")
    assert cancelled.code == 0, cancelled.err
    assert longest_record(shell) < RECORD_LIMIT
    assert sql(shell, "SELECT phase FROM runs") == [("compensating",)]
    ((left,),) = sql(shell, "SELECT count(*) FROM cases WHERE state = 'open'")
    assert 0 < left < MANY  # the rest is answered by the next records
