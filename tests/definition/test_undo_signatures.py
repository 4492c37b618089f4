"""The same for compensations and probes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from saga import Absent, Call, Compensation, Effect, Undo
from saga.errors import DefinitionError
from tests.definition.functions import (
    Args,
    Other,
    Receipt,
    bad,
    generator,
    plain,
    takes_model,
)


async def undo_coroutine(call: Undo[Args, Receipt]) -> Other:
    raise NotImplementedError


def undo_without_receipt(call: Undo[Args, Receipt | None]) -> None:
    raise NotImplementedError


def undo_anything(call: Undo[Any, Any]) -> None:
    raise NotImplementedError


def undo_any_model(call: Undo[BaseModel, BaseModel | None]) -> None:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("do", "models"),
    [
        (undo_coroutine, (Args, Receipt, True)),
        (undo_without_receipt, (Args, Receipt, False)),
        (undo_anything, (BaseModel, BaseModel, True)),
        (undo_any_model, (BaseModel, BaseModel, False)),
    ],
)
def test_a_compensation_says_whether_it_needs_the_receipt(do: Any, models: Any) -> None:
    undo: Compensation[Any, Any] = Compensation("u", do)
    assert (undo.args, undo.receipt, undo.needs_receipt) == models


def test_a_lambda_undoes_with_and_without_a_receipt() -> None:
    undo = Compensation("u", lambda call: None, args=Args, receipt=Receipt)
    assert undo.needs_receipt
    optional: Compensation[Args, Receipt | None] = Compensation(
        "u", lambda call: None, args=Args, receipt=Receipt | None
    )
    assert optional.receipt is Receipt
    assert not optional.needs_receipt


@pytest.mark.parametrize("given", [{}, {"args": Args}, {"receipt": Receipt}])
def test_a_lambda_of_a_compensation_needs_both_models(given: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError) as caught:
        Compensation("u", lambda call: None, **given)
    assert caught.value.code == "no-annotations"


def test_a_compensation_takes_an_undo() -> None:
    with pytest.raises(DefinitionError) as caught:
        Compensation("u", takes_model)  # type: ignore[arg-type]
    assert caught.value.code == "bad-function"
    assert "Undo[" in caught.value.remedy


async def find(call: Call[Args]) -> Receipt | Absent:
    return Absent()


def find_other(call: Call[Other]) -> Absent:
    return Absent()


def find_base(call: Call[BaseModel]) -> Absent:
    return Absent()


def find_refund(call: Undo[Args, Receipt]) -> Absent:
    return Absent()


def find_other_refund(call: Undo[Args, Other]) -> Absent:
    return Absent()


def test_a_probe_takes_the_call_of_its_function() -> None:
    assert not Effect("e", plain, probe=find).probe_threaded
    assert Effect("e", plain, probe=find_base).probe_threaded
    assert Effect("e", plain, probe=lambda call: Absent()).probe is not None
    assert Compensation("u", undo_coroutine, probe=find_refund).probe is not None
    assert bad(plain, "models-differ", probe=find_other).code == "models-differ"
    bad(plain, "bad-function", probe=find_refund)
    bad(plain, "bad-function", probe=generator)
    with pytest.raises(DefinitionError) as caught:
        Compensation("u", undo_coroutine, probe=find_other_refund)
    assert caught.value.code == "models-differ"


def find_anything(call: Call[Any]) -> Absent:
    return Absent()


def undo_as_a_call(call: Call[Args]) -> None:
    raise NotImplementedError


def test_an_undo_is_a_call_too() -> None:
    """So one probe by key serves both directions, and an undo need not look at the receipt."""
    assert Effect("e", plain, probe=find_anything).probe is find_anything
    assert Compensation("u", undo_coroutine, probe=find_anything).probe is find_anything
    with pytest.raises(DefinitionError) as caught:
        Compensation("u", undo_as_a_call)
    assert "receipt=" in caught.value.remedy
    undo: Compensation[Args, Receipt | None] = Compensation(
        "u", undo_as_a_call, receipt=Receipt | None
    )
    assert (undo.args, undo.receipt, undo.needs_receipt) == (Args, Receipt, False)


def test_a_probe_whose_model_cannot_be_resolved_is_taken_as_it_is() -> None:
    class Local(Args):
        pass

    def local(call: Call[Local]) -> Absent:
        return Absent()

    assert Effect("e", plain, probe=local).probe is local


def test_nothing_is_called_when_a_contract_is_made() -> None:
    def never(call: Call[Args]) -> Receipt:
        raise AssertionError

    Effect("e", never, probe=lambda call: asyncio.run(None))  # type: ignore[arg-type]
