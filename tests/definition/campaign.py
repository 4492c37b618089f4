"""A campaign that writes to many people: the contracts and models of the tests of `Each`."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from saga import (
    Call,
    Compensation,
    Each,
    Effect,
    NothingToUndo,
    Step,
    Undo,
    bind,
    input_of,
    item_of,
)

__all__ = [
    "FIND",
    "READS",
    "Campaign",
    "Letter",
    "Owner",
    "People",
    "Person",
    "Sent",
    "campaign",
    "each",
    "find",
    "found",
    "note",
    "over_receipt",
    "person",
    "send",
    "send_mail",
    "unsend_mail",
]


class Owner(BaseModel):
    id: int


class Person(BaseModel):
    id: str
    name: str = "nobody"
    score: float = 0.0
    nick: str | None = None
    owner: Owner | None = None
    tags: list[str] = []


class Campaign(BaseModel):
    text: str
    people: list[Person]
    others: list[Person] = []
    names: list[str] = []
    maybe: list[Person] | None = None


class Letter(BaseModel):
    to: str
    text: str


class Sent(BaseModel):
    mail_id: str


class People(BaseModel):
    """A receipt that holds a list."""

    found: list[Person]


async def send(call: Call[Letter]) -> Sent:
    return Sent(mail_id=f"{call.item}: {call.args.text} {call.args.to}")


async def unsend(call: Undo[Letter, Sent]) -> None:
    assert call.receipt.mail_id


campaign = input_of(Campaign)
person = item_of(campaign.people)
send_mail = Effect("mail.send", send, target=["to"])
unsend_mail = Compensation("mail.unsend", unsend)


def each(name: str = "mail", **given: Any) -> Each[Letter, Sent]:
    """One that is good, but for what is `given`."""
    named: dict[str, Any] = {
        "over": campaign.people,
        "key": person.id,
        "args": bind(Letter)(to=person.name, text=campaign.text),
        "compensation": unsend_mail,
        **given,
    }
    return Each(name, named.pop("effect", send_mail), **named)


READS = NothingToUndo("reads only")


async def find(call: Call[Campaign]) -> People:
    return People(found=call.args.people)


async def note(call: Call[Person]) -> Sent:
    return Sent(mail_id=f"{call.item}: {call.args.name} {call.args.owner}")


FIND = Effect("people.find", find)


def found(**given: Any) -> Step[Campaign, People]:
    return Step("find", FIND, args=campaign, compensation=READS, **given)


def over_receipt(step: Step[Campaign, People], **given: Any) -> Any:
    """An each over the people whom a step has found."""
    one = item_of(step.receipt.found)
    args = bind(Letter)(to=one.name, text="hello")
    return each(over=step.receipt.found, key=one.id, args=args, **given)
