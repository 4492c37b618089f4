"""A trip with one hotel, and how to ask for the code of a refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from saga import (
    Call,
    Compensation,
    DefinitionError,
    Effect,
    Step,
    Undo,
    input_of,
)


class Trip(BaseModel):
    traveller: str
    city: str


class Hotel(BaseModel):
    booking_id: str


class Suite(Hotel):
    floor: int


class BusinessTrip(Trip):
    company: str


async def book(call: Call[Trip]) -> Hotel:
    return Hotel(booking_id=call.key)


async def drop(call: Undo[Trip, Hotel]) -> None:
    pass


book_hotel = Effect("hotel.book", book)
drop_hotel = Compensation("hotel.drop", drop)
trip = input_of(Trip)


def step(name: Any = "hotel", **given: Any) -> Step[Any, Any]:
    named: dict[str, Any] = {"args": trip, "compensation": drop_hotel} | given
    return Step(name, named.pop("effect", book_hotel), **named)


def error_of(make: Callable[[], object]) -> DefinitionError:
    with pytest.raises(DefinitionError) as caught:
        make()
    assert caught.value.remedy
    assert caught.value.message in str(caught.value)
    return caught.value


def code_of(make: Callable[[], object]) -> str:
    return error_of(make).code
