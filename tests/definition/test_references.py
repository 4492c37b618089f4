"""References: paths in the guise of values, and a remedy for whatever needs a value."""

from __future__ import annotations

import copy
import doctest
import inspect
import math
import operator
import sys
import types
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, RootModel

from saga import Saga, Step, input_of
from saga.definition.references import Reference, parts_of
from saga.errors import DefinitionError
from tests.definition import order_flow


class Street(BaseModel):
    name: str
    number: int | None = None


class Tags(RootModel[list[str]]):
    pass


class Address(BaseModel):
    street: Street
    second: Street | None = None
    either: Street | Tags


class Plain(BaseModel):
    id: str
    total: Decimal
    address: Annotated[Address, "shown"]
    lines: list[Street]
    meta: dict[str, str]
    tags: Tags
    path: str


with warnings.catch_warnings():
    warnings.simplefilter("ignore")

    class Order(Plain):
        model_config = ConfigDict(protected_namespaces=())
        # Names of methods of a model are fields like any other; pydantic warns of them.
        copy: str  # type: ignore[assignment]
        json: str  # type: ignore[assignment]
        model_dump: str  # type: ignore[assignment]


# At module level on purpose: pytest, inspect and doctest look at it there.
order = input_of(Order)


def parts(value: object) -> Any:
    found = parts_of(value)
    assert found is not None
    return found


def test_a_reference_records_its_path_and_type() -> None:
    assert parts(order).path == ("input",)
    assert parts(order.address.street.name).path == ("input", "address", "street", "name")
    assert parts(order.address.street).type is Street
    assert parts(order_flow.reserved.receipt.hold_id).path == ("reserve", "receipt", "hold_id")
    assert parts(order_flow.reserved.receipt.hold_id).origin is order_flow.reserved


def test_its_repr_says_what_to_do() -> None:
    assert repr(order.id) == "<input.id: use bind(Model)(…)>"
    assert f"{order.address.street!r}" == "<input.address.street: use bind(Model)(…)>"
    assert repr([order.id]) == "[<input.id: use bind(Model)(…)>]"


@pytest.mark.parametrize("name", ["copy", "json", "model_dump", "path"])
def test_a_field_named_like_a_method_is_reachable(name: str) -> None:
    assert parts(getattr(order, name)).path == ("input", name)


def test_what_hangs_below_something_optional_is_optional() -> None:
    assert parts(order.address.second.name).type == str | None  # type: ignore[union-attr]
    assert parts(order.address.street.number).type == int | None


REFUSED: dict[str, Callable[[Any], object]] = {
    "str": str,
    "format": lambda r: f"order {r}",
    "format spec": lambda r: f"{r:>10}",
    "percent": lambda r: "%s" % r,  # noqa: UP031
    "bytes": bytes,
    "open": open,
    "bool": bool,
    "if": lambda r: 1 if r else 2,
    "not": operator.not_,
    "and": lambda r: r and 1,
    "==": lambda r: r == "x",
    "== from the right": lambda r: "x" == r,  # noqa: SIM300
    "!=": lambda r: r != "x",
    "<": lambda r: r < 1,
    ">= from the right": lambda r: 1 <= r,  # noqa: SIM300
    "hash": hash,
    "in a set": lambda r: {r},
    "as a key": lambda r: {r: 1},
    "in": lambda r: "x" in r,
    "in a list": lambda r: r in [1, 2],
    "iteration": list,
    "unpacking": lambda r: [*r],
    "len": len,
    "reversed": reversed,
    "index": lambda r: r[0],
    "slice": lambda r: r[1:2],
    "setting an index": lambda r: operator.setitem(r, 0, 1),
    "deleting an index": lambda r: operator.delitem(r, 0),
    "call": lambda r: r(),
    "method": lambda r: r.upper(),
    "int": int,
    "float": float,
    "complex": complex,
    "as an index": lambda r: [1][r],
    "range": range,
    "round": round,
    "trunc": math.trunc,
    "floor": math.floor,
    "ceil": math.ceil,
    "abs": abs,
    "-r": operator.neg,
    "+r": operator.pos,
    "~r": operator.invert,
    "setting a field": lambda r: setattr(r, "id", 1),
    "deleting a field": lambda r: delattr(r, "id"),
    "join": "".join,
    "sum": sum,
    "min": min,
    "sorted": sorted,
    "divmod": lambda r: divmod(r, 2),
    "divmod from the right": lambda r: divmod(2, r),
    "pow": lambda r: pow(r, 2, 3),
}
for _name in [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and_",
    "or_",
    "xor",
    "lshift",
    "rshift",
]:
    _operator = getattr(operator, _name)
    REFUSED[_name] = lambda r, o=_operator: o(r, 2)  # type: ignore[misc]
    REFUSED[f"{_name} from the right"] = lambda r, o=_operator: o(2, r)  # type: ignore[misc]
    _in_place = getattr(operator, "i" + _name.rstrip("_"))
    REFUSED[f"{_name} in place"] = lambda r, o=_in_place: o(r, 2)  # type: ignore[misc]


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("path", [["input"], ["input", "id"], ["input", "lines"]])
def test_everything_else_is_refused_with_a_remedy(what: str, path: list[str]) -> None:
    reference: Any = order
    for name in path[1:]:
        reference = getattr(reference, name)
    with pytest.raises(DefinitionError) as caught:
        REFUSED[what](reference)
    assert caught.value.code in {"reference-as-value", "unknown-field"}
    assert caught.value.remedy
    assert ".".join(path) in str(caught.value)


def test_pydantic_refuses_a_reference_in_a_real_model_and_shows_the_remedy() -> None:
    with pytest.raises(ValueError, match="use bind"):
        order_flow.Hold(hold_id=order.id)


def test_an_unknown_field_names_those_there_are() -> None:
    with pytest.raises(
        DefinitionError, match=r"input\.address\.street \(Street\) has no field 'zip'"
    ) as caught:
        order.address.street.zip  # type: ignore[attr-defined]  # noqa: B018
    assert caught.value.code == "unknown-field"
    assert "name, number" in caught.value.remedy


@pytest.mark.parametrize("name", ["meta", "lines", "tags", "total"])
def test_a_reference_goes_through_models_only(name: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        getattr(order, name).root  # noqa: B018
    assert caught.value.code == "unknown-field"


def test_a_reference_does_not_go_through_one_of_several_models() -> None:
    with pytest.raises(DefinitionError, match="pass it whole"):
        order.address.either.name  # type: ignore[union-attr]  # noqa: B018


def test_hasattr_and_getattr_work() -> None:
    assert hasattr(order, "id")
    assert not hasattr(order, "nothing")
    assert getattr(order, "nothing", 7) == 7
    assert not hasattr(order.id, "_repr_html_")
    assert dir(order.address.street) == ["name", "number"]


def test_copies_are_the_same_reference() -> None:
    assert copy.copy(order.id) is not None
    one = order.address
    assert copy.copy(one) is one
    assert copy.deepcopy([one])[0] is one
    assert isinstance(parts(copy.deepcopy(order_flow.reserved).receipt).origin, Step)


def test_a_reference_can_be_taken_apart_and_put_together_as_copies_and_pickles_do() -> None:
    reference: Any = order_flow.order.id
    make, given = reference.__reduce_ex__(4)
    back = make(*given)
    assert parts(back).path == ("input", "id")
    assert parts(back).origin is order_flow.Order


def test_inspect_and_doctest_pass_over_references() -> None:
    """They ask every name of a module for `__wrapped__`, `__doc__` and the like."""
    module = sys.modules[__name__]
    assert not inspect.isroutine(order)
    assert not inspect.isclass(order.id)
    assert inspect.unwrap(order) is order  # type: ignore[arg-type]
    assert ("order", order) in [(n, v) for n, v in inspect.getmembers(module) if v is order]
    assert inspect.getdoc(order) is not None
    assert doctest.DocTestFinder().find(module) is not None


@pytest.mark.parametrize("kind", [str, int, list, dict, BaseModel, type, types.FunctionType, Saga])
def test_isinstance_tells_the_truth(kind: type) -> None:
    assert not isinstance(order, kind)
    assert isinstance(order, Reference)
