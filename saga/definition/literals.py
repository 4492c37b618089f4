"""Literals in a definition: checked against the type of their field, kept as JSON.

A literal is checked as a type checker would (`1` is no text, a float is no Decimal), a default as
pydantic would.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from saga.definition.canonical import ensure_plain
from saga.definition.exact import ensure_exact
from saga.definition.faults import describe
from saga.errors import DefinitionError

__all__ = ["UNDEFINED", "fixed_default", "literal", "type_text"]

UNDEFINED = PydanticUndefined
"""What `fixed_default` answers where there is none; `None` is a default like any other."""


def literal(value: object, annotation: Any, field: FieldInfo | None, place: str) -> Any:
    """The JSON of a literal, after checking it against the type of its field."""
    try:
        adapter = TypeAdapter(_constrained(annotation, field))
        return _plain(adapter, adapter.validate_python(value, strict=True))
    except ValidationError as error:
        raise DefinitionError(
            "bad-literal",
            f"{place} cannot be this literal ({describe(error)})",
            remedy=f"Give a reference, or a literal of type {type_text(annotation)}",
        ) from None
    except (ValueError, PydanticUserError) as error:
        raise DefinitionError(
            "bad-literal",
            f"the literal for {place} is no JSON ({error})",
            remedy="Give text, numbers, lists, dicts or models of them",
        ) from None


def _plain(adapter: TypeAdapter[Any], value: Any) -> Any:
    plain = adapter.dump_python(value, mode="json", round_trip=True, warnings="error")
    ensure_plain(plain)
    ensure_exact(value)
    return plain


def _constrained(annotation: Any, field: FieldInfo | None) -> Any:
    if field is None or not field.metadata:
        return annotation
    return Annotated[(annotation, *field.metadata)]


def fixed_default(field: FieldInfo) -> Any:
    """The default as JSON; `UNDEFINED` if there is none, or it is no literal."""
    if field.is_required() or field.default_factory is not None:
        return UNDEFINED
    try:
        adapter = TypeAdapter(_constrained(field.annotation, field))
        return _plain(adapter, adapter.validate_python(field.default))
    except (ValueError, PydanticUserError):
        return UNDEFINED  # pydantic does not check defaults; neither do we


def type_text(annotation: Any) -> str:
    """A type for a message: `str`, `list[int]`, `Order`."""
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)
