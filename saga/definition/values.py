"""Values crossing over: models of user code to the JSON that is stored, and back.

Rules:

* What is stored is plain JSON and exact: whole integers of any size, decimals as text, times with
  their offset. It is read back before it is accepted, so what is stored can be read.
* The stored JSON is under the names of the fields, never their aliases.
* Nothing that leaves here in an error holds a value: any of them may be a secret.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from saga.definition.canonical import BadJson, ensure_plain
from saga.definition.contracts import Compensation, Effect
from saga.definition.exact import ensure_exact
from saga.definition.faults import describe
from saga.definition.saga import Saga
from saga.definition.step import Step
from saga.errors import BadInput

__all__ = [
    "any_json",
    "arguments",
    "arguments_json",
    "read_arguments",
    "read_input",
    "read_receipt",
    "receipt_json",
]

# Every decimal of so many digits is a float's own shortest text.
_DIGITS_OF_A_FLOAT = 15


def read_input(saga: Saga[Any], value: BaseModel | Mapping[str, Any]) -> dict[str, Any]:
    """The input of a run as the JSON to store, from the saga's input model or a dict.

    Stricter than the model: unknown fields are refused, a dict is read as JSON (`"1"` is no int),
    times need an offset. Raises `BadInput`, which names fields and never values.
    """
    what = f"the input of {saga.name!r}"
    model = saga.input_model
    try:
        if isinstance(value, model):
            valid: BaseModel = value
            # By its own class: what a derived one has more is refused, not dropped.
            plain = _dump(type(value), value)
            _load(model, plain, extra="forbid")
        elif isinstance(value, Mapping):
            given = to_jsonable_python(dict(value))
            ensure_plain(given)
            valid = model.model_validate_json(
                json.dumps(given), strict=True, extra="forbid", by_alias=True, by_name=True
            )
            plain = _dump(model, valid)
            _ensure_not_rounded(given, plain)
        else:
            raise BadJson(f"it is {type(value).__name__}")
        ensure_exact(valid, zoned=True)
    except ValidationError as error:
        raise BadInput(f"{what} does not fit ({describe(error)})", remedy=_one_of(model)) from None
    except ValueError as error:
        raise BadInput(f"{what} cannot be stored ({_said(error)})", remedy=_one_of(model)) from None
    return plain


def arguments(
    step: Step[Any, Any],
    input: Mapping[str, Any],  # noqa: A002 - the word of the surface
    receipts: Mapping[str, Mapping[str, Any]],
) -> BaseModel:
    """The arguments of a step, freshly made from the stored input and the receipts by step name.

    A `default_factory` of the model runs here, so call this once, when the intent is frozen. Raises
    `BadInput` if they do not fit the model; whatever else a validator of the model raises passes.
    """
    try:
        plain = step.build(input, receipts)
    except (KeyError, TypeError) as error:  # stored JSON of another shape
        raise BadInput(f"the arguments of step {step.name!r} cannot be found ({error})") from None
    try:
        return _load(step.args.model, plain)
    except ValidationError as error:
        raise BadInput(
            f"the arguments of step {step.name!r} do not fit ({describe(error)})",
            remedy="Check this when the input is made, or loosen the model",
        ) from None


def arguments_json(step: Step[Any, Any], args: BaseModel) -> dict[str, Any]:
    """Arguments as the JSON to store. Raises `BadInput` if they are no exact JSON."""
    try:
        return _stored(step.args.model, args)
    except ValueError as error:
        raise BadInput(
            f"the arguments of step {step.name!r} cannot be stored ({_said(error)})"
        ) from None


def read_arguments(step: Step[Any, Any], stored: Mapping[str, Any]) -> BaseModel:
    """The arguments back from their stored JSON. Raises `BadInput` if the model has changed."""
    return _read(step.args.model, stored, f"the arguments of step {step.name!r}")


def receipt_json(
    contract: Effect[Any, Any] | Compensation[Any, Any], value: object
) -> dict[str, Any] | None:
    """What a function, a probe or a person gave as receipt, as the JSON to store.

    An effect's is an instance of its receipt model, or a dict that fits it. An undo's is any model,
    a dict of JSON, or `None`. Raises `BadJson` (a `ValueError`), which names fields, never values.
    """
    try:
        if isinstance(contract, Effect):
            return _stored(contract.receipt, value)
        if value is None:
            return None
        if isinstance(value, BaseModel):
            return _stored(type(value), value)
        if isinstance(value, dict):
            ensure_plain(value)
            return value
    except ValueError as error:
        raise BadJson(
            f"the receipt of {contract.label} cannot be stored ({_said(error)})"
        ) from None
    raise BadJson(f"the receipt of {contract.label} is {type(value).__name__}, no model")


def any_json(what: str, value: object) -> Any:
    """A model, or what is JSON already, as the JSON to store. Raises `BadInput` naming `what`."""
    try:
        plain = _stored(type(value), value) if isinstance(value, BaseModel) else value
        ensure_plain(plain)
    except ValueError as error:
        raise BadInput(f"the {what} cannot be stored ({_said(error)})") from None
    return plain


def read_receipt(effect: Effect[Any, Any], stored: Mapping[str, Any]) -> BaseModel:
    """A receipt back from its stored JSON. Raises `BadInput` if the model has changed."""
    return _read(effect.receipt, stored, f"the receipt of {effect.label}")


def _read(model: type[BaseModel], stored: Mapping[str, Any], what: str) -> BaseModel:
    try:
        return _load(model, stored)
    except ValidationError as error:
        raise BadInput(f"{what} cannot be read back ({describe(error)})") from None


def _stored(model: type[BaseModel], value: object) -> dict[str, Any]:
    if isinstance(value, dict):
        ensure_plain(value)
        value = model.model_validate(value)
    elif not isinstance(value, model):
        raise BadJson(f"{type(value).__name__} is no {model.__name__}")
    plain = _dump(model, value)
    ensure_exact(value)
    _load(model, plain)
    return plain


def _load(model: type[BaseModel], plain: Mapping[str, Any], **how: Any) -> BaseModel:
    # Not strict, whatever the model says: JSON holds a Decimal or a time as text.
    valid: BaseModel = model.__pydantic_validator__.validate_python(
        plain, strict=False, by_name=True, by_alias=False, **how
    )
    return valid


def _dump(model: type[BaseModel], value: BaseModel) -> dict[str, Any]:
    # By the declared model: an instance of a class derived from it may carry more.
    plain = model.__pydantic_serializer__.to_python(
        value, mode="json", by_alias=False, round_trip=True, warnings="error"
    )
    ensure_plain(plain)
    return cast("dict[str, Any]", plain)


def _ensure_not_rounded(given: Any, plain: Any) -> None:
    """A decimal may be given as a JSON number, which is a float by now, if none of it was lost."""
    if type(given) is float and type(plain) is str:
        if len(Decimal(repr(given)).as_tuple().digits) > _DIGITS_OF_A_FLOAT:
            raise BadJson("more digits than a float holds: give the decimal as text")
        return
    if isinstance(given, dict) and isinstance(plain, dict):
        pairs: list[tuple[str | int, Any, Any]] = [
            (name, given[name], plain[name]) for name in given if name in plain
        ]
    elif isinstance(given, list) and isinstance(plain, list):
        pairs = [(index, *pair) for index, pair in enumerate(zip(given, plain, strict=False))]
    else:
        return
    for place, one, other in pairs:
        try:
            _ensure_not_rounded(one, other)
        except BadJson as error:
            raise error.under(place) from None


def _said(error: Exception) -> str:
    """An error without values: ours say none, those of pydantic and of Python may."""
    if isinstance(error, ValidationError):
        return describe(error)
    if isinstance(error, BadJson):
        return str(error)
    return "a value that has no JSON form"


def _one_of(model: type[BaseModel]) -> str:
    return f"Give the fields of {model.__name__}: {', '.join(model.model_fields)}"
