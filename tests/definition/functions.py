"""Functions of every kind, for the tests that read their annotations."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from saga import Call, Effect
from saga.errors import DefinitionError


class Args(BaseModel):
    id: str


class Narrow(Args):
    more: str


class Receipt(BaseModel):
    receipt_id: str


class Other(BaseModel):
    other: str


async def coroutine(call: Call[Args]) -> Receipt:
    return Receipt(receipt_id=call.key)


def plain(call: Call[Args]) -> Receipt:
    return Receipt(receipt_id=call.key)


def returns_awaitable(call: Call[Args]) -> Awaitable[Receipt]:
    return coroutine(call)


def returns_coroutine(call: Call[Args]) -> Coroutine[Any, Any, Receipt]:
    return coroutine(call)


def annotated(call: Annotated[Call[Args], "shown"]) -> Annotated[Receipt, "shown"]:
    return plain(call)


async def with_client(client: str, call: Call[Args]) -> Receipt:
    return await coroutine(call)


async def with_keyword(call: Call[Args], *, client: str) -> Receipt:
    return await coroutine(call)


async def with_default(call: Call[Args], client: str = "") -> Receipt:
    return await coroutine(call)


def kept(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*arguments: Any) -> Any:
        return function(*arguments)

    return wrapper


class Bank:
    async def charge(self, call: Call[Args]) -> Receipt:
        return await coroutine(call)

    @classmethod
    def pay(cls, call: Call[Args]) -> Receipt:
        return plain(call)

    @staticmethod
    def give(call: Call[Args]) -> Receipt:
        return plain(call)


class Charger:
    async def __call__(self, call: Call[Args]) -> Receipt:
        return await coroutine(call)


class Blocking:
    def __call__(self, call: Call[Args]) -> Receipt:
        return plain(call)


def bad(function: Any, code: str, **given: Any) -> DefinitionError:
    with pytest.raises(DefinitionError) as caught:
        Effect("e", function, **given)
    assert caught.value.code == code
    assert caught.value.remedy
    return caught.value


def generator(call: Call[Args]) -> Iterator[Receipt]:
    yield Receipt(receipt_id="")


def takes_model(call: Args) -> Receipt:
    raise NotImplementedError
