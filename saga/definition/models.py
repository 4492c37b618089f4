"""Models as we store them: the normal form of their field names and types.

The normal form is our own, so that neither a new version of pydantic nor a renamed class changes a
digest. A scalar is its name (`"str"`, `"decimal"`); everything else has one key: `{"list": T}`,
`{"dict": [K, V]}`, `{"tuple": [T, …]}`, `{"union": [T, …]}` (sorted, an optional field has
`"null"`), `{"literal": [v, …]}`, `{"enum": [v, …]}`, `{"fields": {name: T}}` for a model, and
`{"again": n}` for the model n levels up. Constraints, defaults and docstrings are not in it.

Rules for the models of inputs, arguments and receipts, since what they hold is stored, compared and
shown:

* no secrets (`SecretStr`), no sets (their order differs between processes), no excluded fields
  (they would be lost on the way to the journal);
* no float where an argument becomes a target or an amount of money.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import types
import typing
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, TypeGuard
from uuid import UUID

from pydantic import BaseModel, RootModel, SecretBytes, SecretStr
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from pydantic.types import Secret

from saga.definition.annotations import bare, is_union, members_of
from saga.definition.canonical import canonical
from saga.errors import DefinitionError

__all__ = ["check_amounts", "check_model", "check_target", "fields_of", "is_model"]

_SCALARS: tuple[tuple[Any, str], ...] = (
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
    (types.NoneType, "null"),
    (Any, "any"),
    (object, "any"),
    (list, "list"),
    (dict, "dict"),
    (tuple, "tuple"),
)
_MONEY = frozenset({"amount", "total", "price"})
_SECRETS = (SecretStr, SecretBytes, Secret)


def is_model(annotation: object) -> TypeGuard[type[BaseModel]]:
    """A class of a pydantic model, not an instance and not `list[Model]`."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def fields_of(model: type[BaseModel]) -> dict[str, Any]:
    """The normal form of a model: its field names and types, ready for the specification."""
    fields: dict[str, Any] = _form(model, ())["fields"]
    return fields


def check_model(model: object, what: str) -> type[BaseModel]:
    """`model`, if inputs, arguments or receipts can be one. Raises `DefinitionError`.

    `what` says in the message which model of which contract this is.
    """
    if not is_model(model):
        raise DefinitionError(
            "no-model",
            f"{what}: {_name(model)} is no pydantic model",
            remedy="Use a class derived from pydantic.BaseModel",
        )
    if issubclass(model, RootModel) or model is BaseModel:
        raise DefinitionError(
            "no-model",
            f"{what}: {model.__qualname__} has no named fields",
            remedy="Use a class derived from pydantic.BaseModel with the value in a field",
        )
    _ensure_ready(model, what)
    for path, annotation in _parts(model, "", ()):
        _check_part(annotation, f"{what}: field {path!r} of {model.__qualname__}")
    _check_excluded(model, what)
    return model


def check_amounts(model: type[BaseModel], what: str) -> None:
    """Refuse floats under the names of money in arguments. Raises `DefinitionError`."""
    for path, annotation in _parts(model, "", ()):
        if annotation is float and path.rpartition(".")[2].lower() in _MONEY:
            raise DefinitionError(
                "float-amount",
                f"{what}: field {path!r} of {model.__qualname__} is an amount and a float",
                remedy="Use Decimal, or int in the smallest unit",
            )


def check_target(model: type[BaseModel], target: tuple[str, ...], what: str) -> None:
    """Refuse a target that is not made of fields of the arguments, or is not exact."""
    for name in target:
        if name not in model.model_fields:
            there = ", ".join(model.model_fields)
            raise DefinitionError(
                "unknown-target",
                f"{what}: target {name!r} is no field of {model.__qualname__}",
                remedy=f"Name some of: {there}",
            )
        for _, annotation in _members(model.model_fields[name].annotation, name, ()):
            if annotation is float:
                raise DefinitionError(
                    "float-target",
                    f"{what}: target {name!r} of {model.__qualname__} is a float",
                    remedy="A target is part of the key and must be exact: use str, int or Decimal",
                )


def _ensure_ready(model: type[BaseModel], what: str) -> None:
    try:
        model.model_rebuild()
    except (PydanticUndefinedAnnotation, PydanticUserError, NameError) as error:
        raise DefinitionError(
            "model-not-ready",
            f"{what}: the types of {model.__qualname__} are not all defined "
            f"({str(error).splitlines()[0]})",
            remedy="Define the model at the top of a module, after the types it uses",
        ) from error


def _check_part(annotation: object, where: str) -> None:
    origin = typing.get_origin(annotation) or annotation
    if not isinstance(origin, type):
        return
    if issubclass(origin, _SECRETS):
        raise DefinitionError(
            "secret-field",
            f"{where} is a secret, and what is stored here is shown and kept",
            remedy="Pass a reference to it (a token id), and let the function fetch the secret",
        )
    if issubclass(origin, collections.abc.Set):
        raise DefinitionError(
            "unordered-field",
            f"{where} is a set, whose order differs from process to process",
            remedy="Use a list",
        )


def _check_excluded(model: type[BaseModel], what: str) -> None:
    for nested in {model, *(one for _, one in _parts(model, "", ()) if is_model(one))}:
        for name, field in nested.model_fields.items():
            if field.exclude or field.exclude_if:
                raise DefinitionError(
                    "excluded-field",
                    f"{what}: field {name!r} of {nested.__qualname__} is excluded from its JSON",
                    remedy="Remove exclude=: what is not stored is lost at the next restart",
                )


def _parts(
    model: type[BaseModel], path: str, stack: tuple[object, ...]
) -> Iterator[tuple[str, object]]:
    """Every type that occurs below a model, with the path of the field it occurs at."""
    for name, annotation in _named_types(model):
        yield from _members(annotation, f"{path}.{name}" if path else name, (*stack, model))


def _members(
    annotation: object, path: str, stack: tuple[object, ...]
) -> Iterator[tuple[str, object]]:
    annotation = bare(annotation)
    if any(annotation is one for one in stack):
        return
    yield path, annotation
    if _named_types(annotation):
        yield from _parts(annotation, path, stack)  # type: ignore[arg-type]
        return
    # An alias may name itself (JsonValue does): the stack ends that too.
    for argument in members_of(annotation):
        yield from _members(argument, path, (*stack, annotation))


def _named_types(annotation: object) -> list[tuple[str, Any]]:
    """Names and types of the fields of a model, dataclass, named tuple or typed dict."""
    if is_model(annotation):
        return [(name, field.annotation) for name, field in annotation.model_fields.items()]
    if isinstance(annotation, type) and (
        dataclasses.is_dataclass(annotation)
        or hasattr(annotation, "__required_keys__")  # a typed dict, also of typing_extensions
        or (issubclass(annotation, tuple) and hasattr(annotation, "_fields"))
    ):
        try:
            return list(typing.get_type_hints(annotation).items())
        except NameError as error:
            raise DefinitionError(
                "model-not-ready",
                f"the types of {annotation.__qualname__} are not all defined ({error})",
                remedy="Define it at the top of a module, after the types it uses",
            ) from error
    return []


def _form(annotation: object, stack: tuple[object, ...]) -> Any:
    annotation = bare(annotation)
    for levels, one in enumerate(reversed(stack), start=1):
        if one is annotation:
            return {"again": levels}
    for scalar, name in _SCALARS:
        if annotation is scalar:
            return name
    if is_model(annotation) and issubclass(annotation, RootModel):
        return _form(annotation.model_fields["root"].annotation, (*stack, annotation))
    if is_model(annotation) or _named_types(annotation):
        below = (*stack, annotation)
        return {"fields": {name: _form(one, below) for name, one in _named_types(annotation)}}
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {"enum": _sorted([_plain(member.value) for member in annotation])}
    return _composite(annotation, (*stack, annotation))


def _composite(annotation: object, stack: tuple[object, ...]) -> Any:
    origin = typing.get_origin(annotation)
    if origin is None:
        return _name(annotation)
    if not typing.get_args(annotation):
        return _form(origin, stack)  # a bare `typing.List`
    if origin is typing.Literal:
        return {"literal": _sorted([_plain(value) for value in typing.get_args(annotation)])}
    forms = [_form(one, stack) for one in members_of(annotation)]
    if is_union(annotation):
        return {"union": _sorted(forms)}
    return {_container(annotation, origin): forms[0] if len(forms) == 1 else forms}


def _container(annotation: object, origin: Any) -> str:
    if origin is tuple:
        return "list" if typing.get_args(annotation)[-1] is Ellipsis else "tuple"
    if isinstance(origin, type) and issubclass(origin, collections.abc.Mapping):
        return "dict"
    if isinstance(origin, type) and issubclass(origin, collections.abc.Collection):
        return "list"
    return _name(origin)


def _sorted(forms: list[Any]) -> list[Any]:
    unique = {canonical(form): form for form in forms}
    return [unique[text] for text in sorted(unique)]


def _plain(value: object) -> Any:
    """The value of a literal or an enum; one that is not JSON is named by its text."""
    value = value.value if isinstance(value, Enum) else value
    return value if isinstance(value, str | int | float | None) else str(value)


def _name(annotation: object) -> str:
    if isinstance(annotation, typing.ForwardRef):
        return annotation.__forward_arg__
    return getattr(annotation, "__name__", None) or str(annotation)
