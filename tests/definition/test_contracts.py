"""Contracts: names, versions, targets, declared exceptions, and what the models may hold."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, Field, RootModel, Secret, SecretBytes, SecretStr

from saga import (
    Call,
    Compensation,
    Effect,
    Irreversible,
    NothingToUndo,
    NotSent,
    Provider,
    Refused,
    Retry,
    Undo,
    Unknown,
    input_of,
)
from saga.definition.tuning import UNDECLARED
from saga.errors import DefinitionError
from tests.definition.refusals import code_of


class Args(BaseModel):
    order_id: str
    number: int = 0
    weight: float = 0.0
    maybe: float | None = None


class Receipt(BaseModel):
    receipt_id: str


def do(call: Call[Args]) -> Receipt:
    raise NotImplementedError


def effect(name: Any = "e", **given: Any) -> Effect[Any, Any]:
    return Effect(name, do, **given)


def compensation(name: Any = "u", **given: Any) -> Compensation[Any, Any]:
    return Compensation(name, lambda call: None, args=Args, receipt=Receipt, **given)


BOTH = pytest.mark.parametrize("make", [effect, compensation])


def test_the_defaults_are_those_of_the_design() -> None:
    one, undo = effect(), compensation()
    assert (one.version, one.target, one.probe, one.timeout) == (1, (), None, 30)
    assert (one.refused, one.not_sent) == ((), ())
    assert (undo.version, undo.probe, undo.timeout, undo.deadline) == (1, None, 30, None)
    assert one.provider is undo.provider is UNDECLARED
    assert one.retry.attempts == 5
    assert undo.retry.attempts == 10


def test_a_label_is_name_and_version() -> None:
    assert effect("payments.charge", version=3).label == "payments.charge@3"
    assert repr(effect()) == "<Effect e@1>"
    assert repr(compensation()) == "<Compensation u@1>"


@BOTH
@pytest.mark.parametrize("name", ["", " ", "a b", "a/b", "a@1", "..", "\u00e9", "x" * 65, None, 7])
def test_a_name_is_64_letters_digits_and_four_signs(make: Any, name: Any) -> None:
    assert code_of(make, name) == "bad-name"
    assert make("A-b_c.d:9").name == "A-b_c.d:9"


@BOTH
@pytest.mark.parametrize("version", [0, -1, 1.0, "1", None, True, 10**7, 10**5000], ids=range(8))
def test_a_version_counts_from_one(make: Any, version: Any) -> None:
    assert code_of(make, version=version) == "bad-version"


@BOTH
@pytest.mark.parametrize(
    "timeout",
    [0, -1, float("inf"), float("nan"), 86_401, timedelta(0), timedelta(days=2), "30", None],
    ids=range(9),
)
def test_a_timeout_is_between_a_moment_and_a_day(make: Any, timeout: Any) -> None:
    assert code_of(make, timeout=timeout) == "bad-duration"
    assert make(timeout=0.5).timeout == 0.5
    assert make(timeout=timedelta(minutes=2)).timeout == 120


class Refund(BaseModel):
    refund_id: str
    fee: Decimal | None = None


async def refund(call: Undo[Args, Receipt]) -> Refund | None: ...


def test_an_undo_says_what_it_cannot_give_back() -> None:
    assert Compensation("pay.refund", refund, residual="fee").spec()["residual"] == "fee"
    assert "residual" not in Compensation("pay.refund", refund).spec()
    for name in ("charge", ""):
        with pytest.raises(DefinitionError) as raised:
            Compensation("pay.refund", refund, residual=name)
        assert raised.value.code == "bad-residual"


def test_an_undo_may_have_a_deadline() -> None:
    assert compensation(deadline=timedelta(days=7)).deadline == 604_800
    assert code_of(compensation, deadline=0) == "bad-duration"


@BOTH
def test_tuning_is_given_as_what_it_is(make: Any) -> None:
    assert code_of(make, provider="shop") == "bad-provider"
    assert code_of(make, retry=5) == "bad-retry"
    assert make(provider=Provider("shop"), retry=Retry(attempts=1)).provider.name == "shop"


class Declined(Exception):
    pass


class VeryDeclined(Declined):
    pass


@BOTH
@pytest.mark.parametrize(
    "declared",
    [
        {"refused": Declined},
        {"refused": ["Declined"]},
        {"refused": [Declined()]},
        {"refused": [Exception]},
        {"not_sent": [BaseException]},
        {"not_sent": [KeyboardInterrupt]},
        {"not_sent": [TimeoutError]},
        {"refused": [Refused]},
        {"refused": [Unknown]},
        {"not_sent": [NotSent]},
        {"refused": [Declined], "not_sent": [Declined]},
        {"refused": [VeryDeclined], "not_sent": [Declined]},
        {"refused": [Declined], "not_sent": [VeryDeclined]},
    ],
    ids=range(13),
)
def test_a_declared_exception_is_a_narrow_class_and_means_one_thing(
    make: Any, declared: dict[str, Any]
) -> None:
    assert code_of(make, **declared) == "bad-exceptions"


@BOTH
def test_exceptions_are_declared_in_any_sequence(make: Any) -> None:
    one = make(refused=(Declined, VeryDeclined), not_sent=[ConnectionRefusedError])
    assert one.refused == (Declined, VeryDeclined)
    assert one.not_sent == (ConnectionRefusedError,)


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("order_id", "bad-target"),
        (["order_id", "order_id"], "bad-target"),
        (["order"], "unknown-target"),
        (["weight"], "float-target"),
        (["maybe"], "float-target"),
    ],
)
def test_a_target_is_exact_fields_of_the_arguments(target: Any, code: str) -> None:
    assert code_of(effect, target=target) == code


def test_the_target_of_arguments_is_read_in_its_own_order() -> None:
    one = effect(target=["number", "order_id"])
    assert one.target == ("number", "order_id")
    assert one.target_of({"order_id": "o1", "number": 7, "weight": 0.5}) == [7, "o1"]


def model(**fields: Any) -> type[BaseModel]:
    return type("Made", (BaseModel,), {"__annotations__": fields, "__module__": __name__})


@pytest.mark.parametrize("name", ["amount", "total", "price", "Amount"])
@pytest.mark.parametrize("kind", [float, float | None, list[float]], ids=range(3))
def test_an_amount_of_money_in_arguments_is_no_float(name: str, kind: Any) -> None:
    made = model(**{name: kind})
    assert code_of(effect_of, made) == "float-amount"
    assert effect_of(model(**{name: Decimal})).args is not None
    # What a provider answers is not ours to choose.
    assert Effect("e", lambda call: None, args=Args, receipt=made).receipt is made  # type: ignore[arg-type, return-value]


def test_nor_below_another_model() -> None:
    assert code_of(effect_of, model(line=model(price=float))) == "float-amount"


def test_other_floats_are_numbers_like_any() -> None:
    assert effect_of(model(weight=float, ratio=float)).args is not None


def effect_of(args: type[BaseModel]) -> Effect[Any, Any]:
    return Effect("e", lambda call: None, args=args, receipt=Receipt)


class Token(RootModel[SecretStr]):
    pass


REFUSED_FIELDS: list[tuple[Any, str]] = [
    (SecretStr, "secret-field"),
    (SecretBytes, "secret-field"),
    (Secret[int], "secret-field"),
    (SecretStr | None, "secret-field"),
    (list[SecretStr], "secret-field"),
    (dict[str, list[SecretStr]], "secret-field"),
    (Token, "secret-field"),
    (model(deep=model(deeper=SecretStr)), "secret-field"),
    (set[str], "unordered-field"),
    (frozenset[int], "unordered-field"),
    (AbstractSet[int], "unordered-field"),
    (set, "unordered-field"),
    (list[set[str]] | None, "unordered-field"),
]


@pytest.mark.parametrize(("kind", "code"), REFUSED_FIELDS, ids=range(len(REFUSED_FIELDS)))
def test_a_field_that_cannot_be_stored_is_refused_in_arguments_receipts_and_inputs(
    kind: Any, code: str
) -> None:
    made = model(token=kind)
    assert code_of(effect_of, made) == code
    assert code_of(Effect, "e", lambda call: None, args=Args, receipt=made) == code
    assert code_of(Compensation, "u", lambda call: None, args=Args, receipt=made) == code
    assert code_of(input_of, made) == code


def test_a_field_left_out_of_its_json_is_refused() -> None:
    class Hidden(BaseModel):
        card: str = Field(exclude=True)

    assert code_of(effect_of, Hidden) == "excluded-field"
    assert code_of(effect_of, model(inner=Hidden)) == "excluded-field"


@pytest.mark.parametrize(
    "kind", [RootModel[str], BaseModel, dict, int, "Args", Args(order_id="a")], ids=range(6)
)
def test_a_model_is_a_class_with_named_fields(kind: Any) -> None:
    assert code_of(effect_of, kind) == "no-model"
    assert code_of(input_of, kind) == "no-model"


def test_a_model_whose_types_are_not_defined_says_so() -> None:
    made = model(later="NeverDefined")
    assert code_of(effect_of, made) == "model-not-ready"
    assert code_of(input_of, made) == "model-not-ready"


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


def test_a_model_that_contains_itself_is_fine() -> None:
    assert effect_of(Tree).args is Tree


@pytest.mark.parametrize("kind", [NothingToUndo, Irreversible])
def test_having_no_compensation_needs_a_reason(kind: Any) -> None:
    for reason in ("", "  ", None, "x" * 201, "a\nb"):
        assert code_of(kind, reason) == "bad-text"
    assert kind("reads only").spec()["reason"] == "reads only"


def test_every_contract_has_its_place_in_the_specification() -> None:
    assert effect(target=["order_id"]).spec()["target"] == ["order_id"]
    assert compensation(deadline=60).spec()["deadline"] == 60
    assert compensation().spec()["kind"] == "compensation"
