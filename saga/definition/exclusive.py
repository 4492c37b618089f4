"""What a saga is exclusive about: the field of its input that names the resource of a run."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from saga.definition.annotations import bare, without_none
from saga.definition.keys import item_name
from saga.definition.references import ReferenceParts, parts_of
from saga.errors import BadInput, DefinitionError

__all__ = ["exclusive_path", "resource_of"]


def exclusive_path(given: object, model: type[BaseModel], what: str) -> tuple[str, ...]:
    """The path that `exclusive=` names. Raises `DefinitionError`."""
    parts = parts_of(given)
    if parts is None or parts.origin is not model or not _is_named(parts, model):
        shown = type(given).__name__ if parts is None else parts.place
        raise DefinitionError(
            "bad-exclusive",
            f"{what}: exclusive is {shown}",
            remedy="Name a required field of its input that is text or a whole number",
        )
    return parts.path


def _is_named(parts: ReferenceParts, model: type[BaseModel]) -> bool:
    """Whether it is there in every input, and is text or a whole number."""
    inner: Any = model
    for name in parts.path[1:]:
        field = inner.model_fields[name]
        if not field.is_required():
            return False
        inner, _ = without_none(field.annotation)
    return bare(parts.type) in (str, int)


def resource_of(path: Sequence[str], plain: Mapping[str, Any]) -> str:
    """The resource of a run with this input. Raises `BadInput` where it names none.

    Ids stand for themselves, other text becomes a hash, whatever its Unicode form.
    """
    value: Any = plain
    for name in path[1:]:
        value = value[name]
    if isinstance(value, str):
        value = unicodedata.normalize("NFC", value)
    try:
        return item_name(value)
    except ValueError as error:
        raise BadInput(
            f"{'.'.join(path)} is empty, and the saga is exclusive about it",
            remedy="give it a value",
        ) from error
