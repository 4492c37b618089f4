"""Models are read once from the annotations, whatever kind of function it is."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from saga import Call, Effect, Undo
from tests.definition.functions import (
    Args,
    Bank,
    Blocking,
    Charger,
    Narrow,
    Other,
    Receipt,
    annotated,
    bad,
    coroutine,
    generator,
    kept,
    plain,
    returns_awaitable,
    returns_coroutine,
    takes_model,
    with_client,
    with_default,
    with_keyword,
)

KINDS: dict[str, tuple[Any, bool]] = {
    "coroutine": (coroutine, False),
    "plain": (plain, True),
    "returns awaitable": (returns_awaitable, True),
    "returns coroutine": (returns_coroutine, True),
    "annotated": (annotated, True),
    "partial": (functools.partial(with_client, "client"), False),
    "partial by keyword": (functools.partial(with_keyword, client="c"), False),
    "partial of a partial": (functools.partial(functools.partial(with_client, "c")), False),
    "default": (with_default, False),
    "wrapper": (kept(plain), True),
    "method": (Bank().charge, False),
    "class method": (Bank.pay, True),
    "static method": (Bank.give, True),
    "callable object": (Charger(), False),
    "plain callable object": (Blocking(), True),
    "partial of a callable object": (functools.partial(Charger()), False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_function_is_read_alike(kind: str) -> None:
    do, threaded = KINDS[kind]
    effect = Effect("e", do)
    assert (effect.args, effect.receipt) == (Args, Receipt)
    assert effect.threaded is threaded


def test_a_lambda_says_its_models_by_hand() -> None:
    effect = Effect("e", lambda call: Receipt(receipt_id=call.key), args=Args, receipt=Receipt)
    assert (effect.args, effect.receipt) == (Args, Receipt)
    assert effect.threaded


def test_what_is_given_by_hand_wins() -> None:
    effect = Effect("e", plain, args=Narrow)
    assert (effect.args, effect.receipt) == (Narrow, Receipt)


def test_a_lambda_without_models_is_told_both_ways() -> None:
    error = bad(lambda call: None, "no-annotations")
    assert "args=" in error.remedy
    assert "Call[" in error.remedy
    assert "receipt=" in bad(lambda call: None, "no-annotations", args=Args).remedy


def test_a_model_defined_in_a_function_cannot_be_resolved_and_says_what_to_pass() -> None:
    """This file defers its annotations, so only their text is there."""

    class Local(BaseModel):
        id: str

    def takes(call: Call[Local]) -> Receipt:
        raise NotImplementedError

    def gives(call: Call[Args]) -> Local:
        raise NotImplementedError

    assert "args=" in bad(takes, "no-annotations").remedy
    assert "Local" in bad(takes, "no-annotations").message
    assert "receipt=" in bad(gives, "no-annotations").remedy
    assert Effect("e", takes, args=Local).args is Local
    assert Effect("e", gives, receipt=Local).receipt is Local


def test_an_annotation_that_makes_no_sense_is_not_resolved_either() -> None:
    def broken(call: Call[Args][0][0]) -> Receipt:  # type: ignore[valid-type]
        raise NotImplementedError

    bad(broken, "no-annotations")


async def async_generator(call: Call[Args]) -> AsyncIterator[Receipt]:
    yield Receipt(receipt_id="")


class Generating:
    def __call__(self, call: Call[Args]) -> Iterator[Receipt]:
        yield Receipt(receipt_id="")


@pytest.mark.parametrize(
    "function",
    [generator, async_generator, Generating(), functools.partial(generator), kept(generator)],
    ids=range(5),
)
def test_a_generator_is_refused_even_with_its_models_given(function: Any) -> None:
    assert "generator" in bad(function, "bad-function", args=Args, receipt=Receipt).message


@pytest.mark.parametrize(
    "function",
    [
        None,
        7,
        "charge",
        Receipt,
        lambda: None,
        lambda a, b: None,
        lambda *, call: None,
        with_client,
        with_keyword,
        Bank.charge,
    ],
    ids=range(10),
)
def test_what_cannot_be_called_with_the_call_alone_is_refused(function: Any) -> None:
    bad(function, "bad-function", args=Args, receipt=Receipt)


def test_a_coroutine_instead_of_its_function_is_refused() -> None:
    started = coroutine(None)  # type: ignore[arg-type]
    bad(started, "bad-function", args=Args, receipt=Receipt)
    started.close()


def takes_undo(call: Undo[Args, Receipt]) -> Receipt:
    raise NotImplementedError


def test_the_parameter_must_be_the_call() -> None:
    assert "Call[" in bad(takes_model, "bad-function").remedy
    bad(takes_undo, "bad-function")


def takes_bare_call(call: Call) -> Receipt:  # type: ignore[type-arg]
    raise NotImplementedError


def test_a_bare_call_says_no_model() -> None:
    bad(takes_bare_call, "no-annotations")


def gives_none(call: Call[Args]) -> None:
    raise NotImplementedError


def may_give_none(call: Call[Args]) -> Receipt | None:
    raise NotImplementedError


def gives_dict(call: Call[Args]) -> dict[str, str]:
    raise NotImplementedError


def gives_either(call: Call[Args]) -> Receipt | Other:
    raise NotImplementedError


def takes_base(call: Call[BaseModel]) -> Receipt:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (gives_none, "no-receipt"),
        (may_give_none, "no-receipt"),
        (gives_dict, "no-model"),
        (gives_either, "no-model"),
        (takes_base, "no-model"),
    ],
)
def test_an_effect_has_one_model_of_arguments_and_one_receipt(function: Any, code: str) -> None:
    bad(function, code)


def test_a_dict_may_be_returned_where_the_receipt_is_given_by_hand() -> None:
    assert Effect("e", gives_dict, receipt=Receipt).receipt is Receipt  # type: ignore[arg-type]


def test_a_builtin_that_tells_nothing_needs_both_models() -> None:
    bad(max, "no-annotations")
    assert Effect("e", max, args=Args, receipt=Receipt).args is Args  # type: ignore[arg-type]
