"""Types as they stand in annotations: taking them apart, and whether one fits another.

`fits` refuses only what is plainly wrong, and what a type checker refuses too: whoever runs none
learns it at construction, not at the third step of a run.
"""

from __future__ import annotations

import types
import typing
from typing import (
    Annotated,
    Any,
    ForwardRef,
    Literal,
    NewType,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from pydantic import BaseModel

__all__ = ["bare", "fits", "is_union", "members_of", "without_none"]


def bare(annotation: Any) -> Any:
    """The type itself: without `Annotated`, and behind a `NewType` or a named alias."""
    while True:
        if get_origin(annotation) in (Annotated, typing.Required, typing.NotRequired):
            annotation = get_args(annotation)[0]
        elif isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif hasattr(annotation, "__value__"):  # `type X = …`, of typing or typing_extensions
            annotation = annotation.__value__
        else:
            return types.NoneType if annotation is None else annotation


def is_union(annotation: object) -> bool:
    """`A | B`, `Union[A, B]` or `Optional[A]`."""
    return get_origin(annotation) in (Union, types.UnionType)


def members_of(annotation: object) -> tuple[Any, ...]:
    """The types an alias is made of (`list[int]`: `int`); none for literals and plain classes."""
    if get_origin(annotation) is Literal:
        return ()
    return tuple(one for one in get_args(annotation) if one is not Ellipsis)


def without_none(annotation: object) -> tuple[Any, bool]:
    """The type without `None`, and whether `None` was one of its members."""
    annotation = bare(annotation)
    if not is_union(annotation):
        return annotation, False
    members = get_args(annotation)
    rest = [one for one in members if one is not types.NoneType]
    if len(rest) == len(members):
        return annotation, False
    return Union[tuple(rest)], True  # noqa: UP007 - as many as there are


def fits(source: object, target: object) -> bool:
    """Whether a value of type `source` may stand in a field of type `target`. In doubt, yes."""
    source, target = bare(source), bare(target)
    if source is target or source == target or _anything(source) or _anything(target):
        return True
    if is_union(source):
        return all(fits(one, target) for one in get_args(source))
    if is_union(target):
        return any(fits(source, one) for one in get_args(target))
    if get_origin(source) is Literal:
        return any(fits(type(value), target) for value in get_args(source))
    if get_origin(target) is Literal:
        return any(fits(source, type(value)) for value in get_args(target))
    return _class_fits(source, target)


def _class_fits(source: object, target: object) -> bool:
    inner, outer = get_origin(source) or source, get_origin(target) or target
    if not isinstance(inner, type) or not isinstance(outer, type):
        return True
    if inner is int and outer is float:  # as type checkers have it
        return True
    try:
        if not issubclass(inner, outer):
            return False
    except TypeError:  # a protocol or a typed dict
        return True
    ours, theirs = members_of(source), members_of(target)
    if inner is tuple or len(ours) != len(theirs):
        return True
    return all(map(fits, ours, theirs))


def _anything(annotation: object) -> bool:
    """Types that say nothing here: Any, type variables, names that are not resolved.

    Pydantic's own ones too: `EmailStr` is a class when it runs and a `str` for the type checker.
    """
    if annotation is Any or annotation is object:
        return True
    if not isinstance(annotation, type):
        return isinstance(annotation, TypeVar | ForwardRef | str)
    is_pydantic = annotation.__module__.partition(".")[0] == "pydantic"
    return is_pydantic and not issubclass(annotation, BaseModel)
