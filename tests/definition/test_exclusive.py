"""`exclusive=` and `concurrency=`: what they may be, and what of them is meaning."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from saga import (
    Compensation,
    DefinitionError,
    Effect,
    NothingToUndo,
    Provider,
    Saga,
    Step,
    SubSaga,
    input_of,
)
from saga.definition.diff import difference
from tests.definition.trips import Trip


class Inner(BaseModel):
    number: int
    flag: bool
    ratio: float


class Whole(BaseModel):
    name: str
    inner: Inner
    may: str | None
    usual: str = "x"
    perhaps: Inner | None = None


whole = input_of(Whole)


async def nothing(call: Any) -> Any:
    raise NotImplementedError


def effect(**more: Any) -> Effect[Any, Any]:
    return Effect("e", nothing, args=Whole, receipt=Whole, **more)


def saga(exclusive: Any = None, **more: Any) -> Saga[Any]:
    step = Step("a", effect(**more), args=whole, compensation=NothingToUndo("a test"))
    return Saga("s", whole, [step], exclusive=exclusive)


def test_text_and_whole_numbers_name_a_resource() -> None:
    assert saga(whole.name).spec()["exclusive"] == ["input", "name"]
    assert saga(whole.inner.number).machine_spec.exclusive == ("input", "inner", "number")


@pytest.mark.parametrize(
    "given",
    [
        whole,
        whole.inner,
        whole.inner.flag,
        whole.inner.ratio,
        whole.may,
        whole.usual,
        whole.perhaps.number,  # type: ignore[union-attr]
        input_of(Trip),
        "name",
        3,
    ],
)
def test_nothing_else_does(given: object) -> None:
    with pytest.raises(DefinitionError) as raised:
        saga(given)
    assert raised.value.code == "bad-exclusive"


def test_it_is_meaning_and_absent_where_it_is_not_declared() -> None:
    plain, exclusive = saga(), saga(whole.name)
    assert "exclusive" not in plain.spec()
    assert plain.digest() != exclusive.digest() != saga(whole.inner.number).digest()
    (change,) = difference(plain.spec(), exclusive.spec())
    assert str(change) == "exclusive was empty, is input.name"
    assert change.meaning


def test_a_saga_within_another_is_not_exclusive_by_itself() -> None:
    with pytest.raises(DefinitionError) as raised:
        SubSaga("part", saga(whole.name), args=whole)
    assert raised.value.code == "exclusive-within"


def test_concurrency_is_tuning_and_absent_where_it_is_not_declared() -> None:
    there = Provider("p", key_life=timedelta(hours=1), concurrency=3)
    plain, limited = saga(provider=Provider("p")), saga(provider=there, concurrency=2)
    assert plain.digest() == limited.digest()
    assert "concurrency" not in str(plain.spec())
    spec = limited.spec()["steps"][0]["effect"]
    assert (spec["concurrency"], spec["provider"]["concurrency"]) == (2, 3)
    assert limited.machine_spec.steps[0].effect.provider.concurrency == 3
    told = [str(change) for change in difference(plain.spec(), limited.spec())]
    assert "step 'a': effect concurrency was null, is 2" in told


@pytest.mark.parametrize("given", [0, -1, 1001, 2.0, True, "3"])
def test_it_is_a_whole_number(given: Any) -> None:
    for make in (
        lambda: effect(concurrency=given),
        lambda: Compensation("u", nothing, args=Whole, receipt=Whole, concurrency=given),
        lambda: Provider("p", concurrency=given),
    ):
        with pytest.raises(DefinitionError) as raised:
            make()
        assert raised.value.code == "bad-concurrency"
