"""Pages of a run whose items have all come to nothing that a machine could settle: they end."""

from __future__ import annotations

import json

from tests.cli.shell import Shell

APP = """
from pydantic import BaseModel
from saga import App, Call, Each, Effect, Irreversible, Saga, Unknown, bind, input_of, item_of

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

campaign = input_of(Campaign)
person = item_of(campaign.people)
mails = Each("mail", Effect("mail.send", send), over=campaign.people, key=person.id,
             args=bind(Mail)(person=person.id), on_unknown="hold_item", parallel=40,
             compensation=Irreversible("mail cannot be unsent"))
app = App(Saga("campaign", campaign, [mails]))
"""
PEOPLE = 40


def test_forty_open_cases_are_no_endless_page(shell: Shell) -> None:
    (shell.folder / "many.py").write_text(APP)
    people = json.dumps({"people": [{"id": f"p{n}"} for n in range(PEOPLE)]})
    assert shell.saga("start", "many.py:app", "campaign", "c1", people).code == 0
    assert shell.saga("orchestrator", "many.py:app", "--until-idle").code == 0
    assert len(shell.json("why", "c1")["holds"]) >= PEOPLE
    why, show = shell.saga("why", "c1").out, shell.saga("show", "c1").out
    assert why.count("waits for a person") == 3
    assert f"And {PEOPLE - 3} more that wait for the same" in why
    assert "saga why c1 --json" in why.replace("\\", "")
    assert show.count("waits for a person") == 10
    assert f"And {PEOPLE - 10} more cases" in show
