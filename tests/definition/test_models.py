"""The normal form of models: our own, so that no library's version changes a digest."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from typing import (  # noqa: UP035 - the old spellings are read too
    Annotated,
    Any,
    Generic,
    List,
    Literal,
    NamedTuple,
    NewType,
    Optional,
    Protocol,
    TypeVar,
    Union,
)
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, JsonValue, PositiveInt, RootModel
from pydantic.fields import FieldInfo
from typing_extensions import TypeAliasType, TypedDict

from saga.definition.annotations import fits
from saga.definition.models import fields_of
from saga.errors import DefinitionError

T = TypeVar("T")
OrderId = NewType("OrderId", str)
Named = TypeAliasType("Named", dict[str, int])


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Number(IntEnum):
    ONE = 1
    TWO = 2


class Street(BaseModel):
    name: str


class Tags(RootModel[list[str]]):
    pass


class Page(BaseModel, Generic[T]):
    items: list[T]


@dataclass
class Point:
    x: int
    y: Decimal


class Pair(NamedTuple):
    left: int
    right: str


class Typed(TypedDict, total=False):
    name: str


class Tree(BaseModel):
    name: str
    children: list[Tree]


class Custom:
    pass


class Other(TypedDict):
    other: str


class Sized(Protocol):
    size: int


FORMS: list[tuple[Any, Any]] = [
    (str, "str"),
    (int, "int"),
    (float, "float"),
    (bool, "bool"),
    (bytes, "bytes"),
    (Decimal, "decimal"),
    (datetime, "datetime"),
    (date, "date"),
    (time, "time"),
    (timedelta, "timedelta"),
    (UUID, "uuid"),
    (None, "null"),
    (Any, "any"),
    (object, "any"),
    (Annotated[str, Field(max_length=3)], "str"),
    (PositiveInt, "int"),
    (OrderId, "str"),
    (Named, {"dict": ["str", "int"]}),
    (list[str], {"list": "str"}),
    (List[str], {"list": "str"}),  # noqa: UP006
    (list, "list"),
    (List, "list"),  # noqa: UP006
    (Sequence[int], {"list": "int"}),
    (deque[int], {"list": "int"}),
    (dict[str, int], {"dict": ["str", "int"]}),
    (Mapping[str, int], {"dict": ["str", "int"]}),
    (OrderedDict[str, int], {"dict": ["str", "int"]}),
    (dict, "dict"),
    (tuple[int, str], {"tuple": ["int", "str"]}),
    (tuple[int, ...], {"list": "int"}),
    (str | None, {"union": ["null", "str"]}),
    (Optional[str], {"union": ["null", "str"]}),  # noqa: UP045
    (Union[str, int, None], {"union": ["int", "null", "str"]}),  # noqa: UP007
    (None | int | str, {"union": ["int", "null", "str"]}),
    (Literal["b", "a", 1], {"literal": ["a", "b", 1]}),
    (Colour, {"enum": ["blue", "red"]}),
    (Number, {"enum": [1, 2]}),
    (Street, {"fields": {"name": "str"}}),
    (list[Street | None], {"list": {"union": ["null", {"fields": {"name": "str"}}]}}),
    (Tags, {"list": "str"}),
    (Page[int], {"fields": {"items": {"list": "int"}}}),
    (Point, {"fields": {"x": "int", "y": "decimal"}}),
    (Pair, {"fields": {"left": "int", "right": "str"}}),
    (Typed, {"fields": {"name": "str"}}),
]


@pytest.mark.parametrize(("kind", "form"), FORMS, ids=range(len(FORMS)))
def test_a_type_has_its_normal_form(kind: Any, form: Any) -> None:
    made = type("Made", (BaseModel,), {"__annotations__": {"it": kind}, "__module__": __name__})
    assert fields_of(made) == {"it": form}


def test_a_model_that_contains_itself_points_back() -> None:
    assert fields_of(Tree) == {"name": "str", "children": {"list": {"again": 2}}}


def test_a_type_of_its_own_is_its_name() -> None:
    class Made(BaseModel, arbitrary_types_allowed=True):
        it: Custom
        json_value: JsonValue

    form = fields_of(Made)
    assert form["it"] == "Custom"
    assert "JsonValue" in str(form["json_value"])


def test_a_type_whose_own_types_are_not_defined_says_so() -> None:
    @dataclass
    class Later:
        it: NeverDefined  # type: ignore[name-defined]  # noqa: F821

    class Made(BaseModel, arbitrary_types_allowed=True):
        model_config = {"defer_build": True}

    Made.model_fields["it"] = FieldInfo(annotation=Later)
    with pytest.raises(DefinitionError) as caught:
        fields_of(Made)
    assert caught.value.code == "model-not-ready"


def test_constraints_defaults_docstrings_and_class_names_are_not_in_it() -> None:
    class One(BaseModel):
        """One."""

        amount: Annotated[Decimal, Field(gt=0, description="what it costs")] = Decimal(1)

    class Two(BaseModel):
        amount: Decimal

    assert fields_of(One) == fields_of(Two) == {"amount": "decimal"}


class Base(BaseModel):
    pass


class Derived(Base):
    pass


FIT: list[tuple[Any, Any]] = [
    (str, str),
    (str, Annotated[str, Field(max_length=3)]),
    (Annotated[str, Field(max_length=3)], str),
    (str, str | None),
    (str, OrderId),
    (OrderId, str),
    (str, Any),
    (Any, str),
    (int, float),
    (bool, int),
    (int | None, float | None),
    (Derived, Base),
    (Derived | None, Base | None),
    (list[Derived], list[Base]),
    (list[str], Sequence[str]),
    (list, list[str]),
    (tuple[int, str], tuple[int, str]),
    (dict[str, int], Mapping[str, float]),
    (Literal["a"], str),
    (Literal["a"], Literal["a", "b"]),
    (str, Literal["a"]),
    (list[Any], list[str]),
    (Callable[[int], str], Callable[..., Any]),
    (Typed, Other),
    (Custom, Sized),
    (Named, dict[str, int]),
    (str, T),
    (Typed, Typed),
    (datetime, date),
]
NO_FIT: list[tuple[Any, Any]] = [
    (str, int),
    (int, str),
    (int, Decimal),
    (float, Decimal),
    (float, int),
    (str, Decimal),
    (str, datetime),
    (str, UUID),
    (str, Colour),
    (str | None, str),
    (None, str),
    (int | str, int),
    (Base, Derived),
    (Base, Street),
    (list[str], str),
    (str, list[str]),
    (list[str], list[int]),
    (list[str | None], list[str]),
    (dict[str, str], dict[str, int]),
    (Literal[1], str),
    (str, Literal[1]),
    (dict[str, Any], Base),
]


@pytest.mark.parametrize(("source", "target"), FIT, ids=range(len(FIT)))
def test_one_type_fits_another(source: Any, target: Any) -> None:
    assert fits(source, target)


@pytest.mark.parametrize(("source", "target"), NO_FIT, ids=range(len(NO_FIT)))
def test_one_type_does_not_fit_another(source: Any, target: Any) -> None:
    assert not fits(source, target)
