"""Definitions that a type checker has to accept, and that are good when they run."""

import functools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from decimal import Decimal

from pydantic import BaseModel

from saga import (
    Absent,
    App,
    Call,
    CannotSay,
    Compensation,
    Each,
    Effect,
    InProgress,
    Irreversible,
    NothingToUndo,
    Provider,
    Retry,
    Saga,
    Step,
    Undo,
    bind,
    input_of,
    item_of,
)
from tests.definition.order_flow import (
    order_flow,
)


class Trip(BaseModel):
    traveller: str
    city: str


class Hotel(BaseModel):
    booking_id: str


class Address(BaseModel):
    street: str
    note: str | None = None


class Letter(BaseModel):
    to: Address
    lines: list[str]
    amounts: list[Decimal] = []


class Group(BaseModel):
    to: Address
    trips: list[Trip]
    names: list[str] = []


class Customer(BaseModel):
    name: str
    address: Address
    letters: list[str]


# The five-minute saga.
async def book(call: Call[Trip]) -> Hotel:
    return Hotel(booking_id=call.key)


async def drop(call: Undo[Trip, Hotel]) -> None: ...


trip = input_of(Trip)
hotel = Step(
    "hotel", Effect("hotel.book", book), args=trip, compensation=Compensation("hotel.drop", drop)
)
app = App(Saga("trip", trip, [hotel]))


# Sync and async functions, every answer of a probe, durations as numbers.
def book_now(call: Call[Trip]) -> Hotel:
    return Hotel(booking_id=call.args.city)


def find(call: Call[Trip]) -> Hotel | Absent | InProgress | CannotSay:
    return CannotSay("down")


def drop_blind(call: Undo[Trip, Hotel | None]) -> Hotel:
    return call.receipt or Hotel(booking_id=call.of_key)


Step(
    "hotel",
    Effect(
        "hotel.book",
        book_now,
        probe=find,
        timeout=2.5,
        target=["city"],
        provider=Provider("p", key_life=60, in_flight=timedelta(seconds=1)),
        retry=Retry(first=0.1, longest=2),
    ),
    args=trip,
    compensation=Compensation("hotel.drop", drop_blind, deadline=60),
    after=[hotel],
    hold=False,
    title="x",
)


# An undo of wider models fits; so does one that takes any.
class BigTrip(Trip):
    days: int


class BigHotel(Hotel):
    stars: int


async def book_big(call: Call[BigTrip]) -> BigHotel:
    raise NotImplementedError


def drop_any(call: Undo[BaseModel, BaseModel | None]) -> None: ...


big = input_of(BigTrip)
Step("a", Effect("big", book_big), args=big, compensation=Compensation("u", drop))
Step("a", Effect("big", book_big), args=big, compensation=Compensation("u", drop_any))
# A derived model may be bound.
Step("b", Effect("hotel.book", book), args=big, compensation=Compensation("u", drop_any))
Step(
    "b",
    Effect("hotel.book", book),
    args=bind(BigTrip)(traveller=big.traveller, city="x", days=big.days),
    compensation=NothingToUndo("reads only"),
)

# Lambdas and partials with their models given.
by_hand = Effect("e", lambda call: Hotel(booking_id=call.args.city), args=Trip, receipt=Hotel)
undo_by_hand = Compensation("u", lambda call: call.receipt, args=Trip, receipt=Hotel)
Step("c", by_hand, args=trip, compensation=undo_by_hand)


async def book_with(client: str, call: Call[Trip]) -> Hotel:
    raise NotImplementedError


Step(
    "d",
    Effect("e", functools.partial(book_with, "client")),
    args=trip,
    compensation=Irreversible("sent"),
)

# Nested models, lists and literals.
customer = input_of(Customer)


def send(call: Call[Letter]) -> Hotel:
    raise NotImplementedError


Step(
    "e",
    Effect("letter", send),
    compensation=Irreversible("sent"),
    args=bind(Letter)(
        to=bind(Address)(street=customer.address.street, note="by hand"),
        lines=[customer.name, "hello"],
        amounts=[Decimal(1)],
    ),
)
Step(
    "f",
    Effect("letter", send),
    compensation=Irreversible("sent"),
    args=bind(Letter)(to=customer.address, lines=customer.letters),
)
# A receipt passed whole, and a literal model.
Step(
    "g",
    Effect("e", lambda call: call.args, args=Hotel, receipt=Hotel),
    args=hotel.receipt,
    compensation=NothingToUndo("x"),
)
Step("h", by_hand, args=Trip(traveller="a", city="b"), compensation=undo_by_hand)

# One effect for each item of a list: by fields, passed whole, of texts, of a receipt.
group = input_of(Group)
one = item_of(group.trips)
written = Each(
    "i",
    Effect("letter", send),
    over=group.trips,
    key=one.traveller,
    args=bind(Letter)(to=group.to, lines=[one.city, one.traveller]),
    compensation=Irreversible("sent"),
    optional=True,
)
booked = Each(
    "j",
    by_hand,
    over=group.trips,
    args=one,
    compensation=undo_by_hand,
    parallel=3,
    batch=12,
    on_unknown="hold_item",
)
Each(
    "k",
    Effect("letter", send),
    over=group.names,
    key=item_of(group.names),
    args=bind(Letter)(to=group.to, lines=[item_of(group.names)]),
    compensation=NothingToUndo("x"),
)
listed = Step(
    "l",
    Effect("e", lambda call: call.args, args=Group, receipt=Group),
    args=group,
    compensation=NothingToUndo("x"),
)
traveller: str = item_of(listed.receipt.trips).traveller
Saga("group", group, [booked, written])


@asynccontextmanager
async def lifespan() -> AsyncIterator[Sequence[object]]:
    yield [object()]


App(order_flow, lifespan=lifespan)
key: str = hotel.receipt.booking_id
