"""A trip: a hotel and a flight. The city says what goes wrong; `ledger.jsonl` is the outside.

Copied into a folder as `trips.py`: the app that the command line is shown with.
"""

from __future__ import annotations

import asyncio
import json
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from saga import (
    IDEMPOTENT,
    App,
    Call,
    Compensation,
    Effect,
    NotSent,
    Refused,
    Retry,
    Saga,
    Step,
    Undo,
    input_of,
)


class Trip(BaseModel):
    city: str
    note: str = ""


class Hotel(BaseModel):
    booking_id: str


class Flight(BaseModel):
    ticket_id: str
    seat: int = 1
    note: str = ""


def landed(call: Call[Trip], of_key: str | None = None) -> None:
    """What the outside has seen, one line each."""
    entry: dict[str, Any] = {
        "key": call.key,
        "run_id": call.run_id,
        "step": call.step,
        "of_key": of_key,
        "at": time.time(),
    }
    with Path("ledger.jsonl").open("a") as ledger:
        ledger.write(json.dumps(entry) + "\n")


def held() -> bool:
    return not Path("go").exists()


async def book_hotel(call: Call[Trip]) -> Hotel:
    while call.args.city == "Slow" and held():  # noqa: ASYNC110  another process lets go
        await asyncio.sleep(0.01)
    landed(call)
    return Hotel(booking_id=f"H-{call.run_id}")


async def drop_hotel(call: Undo[Trip, Hotel]) -> None:
    if call.args.city == "Keep":
        raise Refused("the hotel keeps the money")
    landed(call, call.of_key)


async def book_flight(call: Call[Trip]) -> Flight:
    match call.args.city:
        case "Full" | "Keep":
            raise Refused("no seats")
        case "Hostile":
            raise Refused(call.args.note)
        case "Typo":
            raise NameError("name 'ticket' is not defined")
        case "Down":
            raise NotSent("the airline does not answer")
        case _:
            landed(call)
    return Flight(ticket_id=f"F-{call.run_id}", note=call.args.note)


async def drop_flight(call: Undo[Trip, Flight | None]) -> None:
    landed(call, call.of_key)


trip = input_of(Trip)
hotel = Step(
    "hotel",
    Effect("hotel.book", book_hotel, provider=IDEMPOTENT),
    args=trip,
    compensation=Compensation("hotel.drop", drop_hotel, provider=IDEMPOTENT),
)
flight = Step(
    "flight",
    Effect(
        "flight.book",
        book_flight,
        timeout=timedelta(seconds=0.5),
        retry=Retry(first=3600.0, longest=3600.0, jitter=0.0),
    ),
    args=trip,
    compensation=Compensation("flight.drop", drop_flight),
)
trips = Saga("trip", trip, [hotel, flight])
app = App(trips)
