"""References: where a value will come from, said while there is no value.

`input_of(Order)` is typed as an `Order` and records paths instead: `order.address.street` is "the
street of the address of the input". Everything else that one could do with a value (text,
comparison, arithmetic, iteration, a call) is refused with the remedy, so that no definition depends
on a value that is not there.

A reference has no public attribute of its own: a field may be called `copy` or `model_dump`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeVar, cast, get_origin

from pydantic import BaseModel, RootModel

from saga.definition.annotations import bare, is_union, members_of, without_none
from saga.definition.models import check_model, is_model
from saga.errors import DefinitionError

__all__ = [
    "Reference",
    "ReferenceParts",
    "UnknownField",
    "input_of",
    "item_of",
    "parts_of",
    "refer",
]

T = TypeVar("T")
I = TypeVar("I", bound=BaseModel)  # noqa: E741 - I for input, as A and R for arguments and receipt


class UnknownField(DefinitionError, AttributeError):
    """A reference to a field that is not there. Also an `AttributeError`, so `hasattr` works."""


class Reference:
    """A place in the input of a run, in the receipt of a step or in an item. Without a value."""

    __slots__ = ("_origin", "_path", "_type")

    _origin: object
    _path: tuple[str, ...]
    _type: Any

    def __init__(self, path: tuple[str, ...], type_: Any, origin: object) -> None:
        object.__setattr__(self, "_path", path)
        object.__setattr__(self, "_type", type_)
        object.__setattr__(self, "_origin", origin)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            # Questions of Python itself: copy, pickle, inspect and doctest go by the answer.
            raise AttributeError(name)
        model, optional = without_none(self._type)
        place = ".".join(self._path)
        if not is_model(model) or issubclass(model, RootModel):
            raise UnknownField(
                "unknown-field",
                f"{place} is {_type_name(model)}, and {name!r} is not for a definition to ask",
                remedy=_several(model) if is_union(model) else _COMPUTE,
            )
        if name not in model.model_fields:
            raise UnknownField(
                "unknown-field",
                f"{place} ({model.__qualname__}) has no field {name!r}",
                remedy=f"It has: {', '.join(model.model_fields)}",
            )
        found = bare(model.model_fields[name].annotation)
        # What hangs below something optional may be missing as a whole.
        return Reference((*self._path, name), found | None if optional else found, self._origin)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        _refuse(self, f"setting {name!r}", "A definition reads values, it does not set any")

    def __delattr__(self, name: str) -> NoReturn:
        _refuse(self, f"deleting {name!r}", "A definition reads values, it does not set any")

    def __repr__(self) -> str:
        return f"<{'.'.join(self._path)}: use bind(Model)(…)>"

    def __dir__(self) -> Iterable[str]:
        model, _ = without_none(self._type)
        return list(model.model_fields) if is_model(model) else []

    def __copy__(self) -> Reference:
        return self

    def __deepcopy__(self, memo: object) -> Reference:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Reference, (self._path, self._type, self._origin)


class ReferenceParts:
    """What a reference records: `path`, the annotated `type`, and the `origin` of the value.

    The origin is the input model for an input, the step itself for a receipt, the path of its list
    for an item.
    """

    __slots__ = ("origin", "path", "type")

    def __init__(self, reference: Reference) -> None:
        self.path: tuple[str, ...] = object.__getattribute__(reference, "_path")
        self.type: Any = object.__getattribute__(reference, "_type")
        self.origin: object = object.__getattribute__(reference, "_origin")

    @property
    def place(self) -> str:
        """The path with dots, for messages."""
        return ".".join(self.path)


def input_of(model: type[I]) -> I:
    """The input of a saga, typed as the model, for use in `bind` and as a saga's `input`.

    Raises `DefinitionError` if the model cannot be stored (secrets, sets, no named fields).
    """
    check_model(model, "input")
    return cast("I", Reference(("input",), model, model))


def item_of(items: Sequence[T]) -> T:
    """One item of a list of the input or of a receipt, typed as what is in the list.

    For the `key` and the `args` of the `Each` that goes over this list. Raises `DefinitionError`.
    """
    parts = parts_of(items)
    kind, optional = without_none(parts.type) if parts is not None else (None, False)
    inner = members_of(kind)
    listed = get_origin(kind) in _LISTS and len(inner) == 1
    if parts is None or optional or not listed:
        what = type(items).__name__ if parts is None else parts.place
        raise DefinitionError(
            "bad-each",
            f"{what} is no list that is always there",
            remedy="Give a field of the input or of a receipt that is a list[…]",
        )
    return cast("T", Reference(("item",), bare(inner[0]), parts.path))


def refer(step: object, name: str, receipt: type[BaseModel]) -> Any:
    """The receipt of a step: what `Step.receipt` returns."""
    return Reference((name, "receipt"), receipt, step)


def parts_of(value: object) -> ReferenceParts | None:
    """What a reference records, `None` if the value is no reference."""
    return ReferenceParts(value) if type(value) is Reference else None


_LISTS = (list, tuple, Sequence)
_COMPUTE = "Compute it in the effect's function, or make it a field of the input"
_BRANCH = "A definition does not branch: decide before the start, or in the effect's function"
_TEXT = "Build the text in the effect's function, or make it a field of the input"
_WHOLE = "Pass the whole list or mapping, or make the part a field of the input"
_KEY = "Use the name of the field as the key"

_ARITHMETIC = "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift"

_REFUSED: dict[str, tuple[str, str]] = {
    "text": ("__str__ __format__ __bytes__ __fspath__", _TEXT),
    "truth": ("__bool__", _BRANCH),
    "comparison": ("__eq__ __ne__ __lt__ __le__ __gt__ __ge__", _BRANCH),
    "hash": ("__hash__", _KEY),
    "iteration": ("__iter__ __reversed__", _WHOLE),
    "length": ("__len__ __length_hint__", _WHOLE),
    "indexing": ("__getitem__ __setitem__ __delitem__ __contains__", _WHOLE),
    "call": ("__call__", _COMPUTE),
    "conversion": ("__int__ __float__ __complex__ __index__", _COMPUTE),
    "rounding": ("__round__ __trunc__ __floor__ __ceil__", _COMPUTE),
    "sign": ("__neg__ __pos__ __abs__ __invert__", _COMPUTE),
    "arithmetic": (
        " ".join(
            f"__{prefix}{name}__" for prefix in ("", "r", "i") for name in _ARITHMETIC.split()
        ),
        _COMPUTE,
    ),
}


def _refusal(what: str, remedy: str) -> Callable[..., NoReturn]:
    def refuse(self: Reference, *_: object, **__: object) -> NoReturn:
        _refuse(self, what, remedy)

    return refuse


def _refuse(reference: Reference, what: str, remedy: str) -> NoReturn:
    raise DefinitionError(
        "reference-as-value",
        f"{ReferenceParts(reference).place} has no value yet, so there is no {what} of it",
        remedy=remedy,
    )


def _type_name(annotation: Any) -> str:
    return getattr(annotation, "__name__", None) or str(annotation)


def _several(annotation: object) -> str:
    return f"A reference goes through one model, not through {annotation}: pass it whole"


for _what, (_names, _remedy) in _REFUSED.items():
    for _name in _names.split():
        setattr(Reference, _name, _refusal(_what, _remedy))
