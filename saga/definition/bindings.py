"""Bindings: what a step's arguments are made of, as plain JSON, and putting them together.

A binding is `{"ref": [...]}`, `{"value": json}`, `{"model": name, "fields": {...}}`,
`{"list": [...]}` or `{"dict": {...}}`. It is part of the specification, so whoever has the stored
JSON can see what a step would be given, and compute it, without the code.

Rules:

* A field that is left out and has a fixed default is bound to that default: what is sent is written
  down. A `default_factory` is left to the model and runs once, when the intent is frozen.
* What is handed to a model is never shared with the journal's JSON: user code may change it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, cast, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from saga.definition.annotations import bare, fits
from saga.definition.literals import UNDEFINED, fixed_default, literal, type_text
from saga.definition.models import check_model, is_model
from saga.definition.references import ReferenceParts, parts_of
from saga.errors import DefinitionError

__all__ = ["Bound", "Build", "bind", "bound", "compile_binding"]

P = ParamSpec("P")
A = TypeVar("A", bound=BaseModel)

Build = Callable[[Any, Mapping[str, Any]], Any]
"""From the input's JSON and the receipts' JSON by step name to the JSON of the arguments.

The item of an `Each` stands among the receipts as "item", which no step is called.
"""


class Bound:
    """A model whose fields are bound. Typed as the model itself, so that it can be nested."""

    __slots__ = ("binding", "model", "references")

    def __init__(
        self,
        model: type[BaseModel],
        binding: dict[str, Any],
        references: tuple[ReferenceParts, ...],
    ) -> None:
        self.model = model
        self.binding = binding
        self.references = references

    def __repr__(self) -> str:
        return f"<bind({self.model.__qualname__})(…)>"


def bind(model: Callable[P, A]) -> Callable[P, A]:
    """Bind the fields of a model: `bind(Charge)(order_id=order.id, amount=order.total)`.

    Takes the fields by keyword, as the model does. Each is a reference, a literal of the field's
    type, a list or dict of them, or another `bind(...)(...)`. The result goes into `Step(args=)`.
    Raises `DefinitionError` for fields that are unknown, missing, or of another type.
    """
    kind = check_model(model, "bind")

    def fields(*positional: P.args, **named: P.kwargs) -> A:
        if positional:
            raise DefinitionError(
                "bad-binding",
                f"bind({kind.__qualname__}) was given values without names",
                remedy="Name each field: order_id=order.id",
            )
        return cast("A", _bind_model(kind, named))

    return fields


def bound(args: object, what: str) -> Bound:
    """The arguments of a step as a `Bound`: it may also be given whole, or as a literal model."""
    if isinstance(args, Bound):
        return args
    if (parts := parts_of(args)) is not None:
        if not is_model(parts.type):
            raise DefinitionError(
                "bad-binding",
                f"{what}: {parts.place} is no model",
                remedy="Write bind(Model)(field=…), or pass an input or a receipt whole",
            )
        return Bound(parts.type, {"ref": list(parts.path)}, (parts,))
    if isinstance(args, BaseModel):
        model = check_model(type(args), what)
        return Bound(model, {"value": literal(args, model, None, what)}, ())
    raise DefinitionError(
        "bad-binding",
        f"{what}: the arguments are {type(args).__name__}",
        remedy="Write args=bind(Model)(field=…), or pass an input or a receipt whole",
    )


def compile_binding(binding: Mapping[str, Any]) -> Build:
    """A function that puts the JSON of a binding together; built once, called for every run."""
    match binding:
        case {"ref": path}:
            return _compile_reference(tuple(path))
        case {"value": dict() | list() as value}:
            return lambda _, __: _copied(value)
        case {"value": value}:
            return lambda _, __: value
        case {"fields": fields} | {"dict": fields}:
            parts = [(name, compile_binding(part)) for name, part in fields.items()]
            return lambda given, receipts: {name: part(given, receipts) for name, part in parts}
        case {"list": items}:
            builds = [compile_binding(item) for item in items]
            return lambda given, receipts: [build(given, receipts) for build in builds]
        case _:
            raise ValueError(f"no binding has the keys {sorted(binding)}")


def _compile_reference(path: tuple[str, ...]) -> Build:
    if path[0] == "input":
        rest = path[1:]
        if len(rest) == 1:
            (only,) = rest
            return lambda given, _: _copied(given[only])
        return lambda given, _: _copied(_walk(given, rest))
    step, rest = path[0], path[1 if path[0] == "item" else 2 :]
    if len(rest) == 1:
        (only,) = rest
        return lambda _, receipts: _copied(receipts[step][only])
    return lambda _, receipts: _copied(_walk(receipts[step], rest))


def _walk(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if value is None:  # below something optional that is not there
            return None
        value = value[name]
    return value


def _copied(value: Any) -> Any:
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    if type(value) is list:
        return [_copied(item) for item in value]
    return value


def _bind_model(model: type[BaseModel], given: Mapping[str, Any]) -> Bound:
    named = _by_field_name(model, given)
    bindings: dict[str, Any] = {}
    references: list[ReferenceParts] = []
    for name, field in model.model_fields.items():
        place = f"{model.__qualname__}.{name}"
        if name in named:
            bindings[name] = _bind_value(named[name], field.annotation, field, place, references)
        elif (default := fixed_default(field)) is not UNDEFINED:
            bindings[name] = {"value": default}
    return Bound(model, {"model": model.__qualname__, "fields": bindings}, tuple(references))


def _by_field_name(model: type[BaseModel], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, under the names of the fields: a type checker asks for their aliases."""
    names = {name: name for name in model.model_fields}
    names |= {
        field.alias: name for name, field in model.model_fields.items() if field.alias is not None
    }
    if unknown := [name for name in given if name not in names]:
        raise DefinitionError(
            "unknown-field",
            f"{model.__qualname__} has no field {', '.join(unknown)}",
            remedy=f"It has: {', '.join(model.model_fields)}",
        )
    named = {names[name]: value for name, value in given.items()}
    missing = [
        n for n, field in model.model_fields.items() if field.is_required() and n not in named
    ]
    if missing:
        raise DefinitionError(
            "missing-field",
            f"bind({model.__qualname__}) lacks {', '.join(missing)}",
            remedy="Give a reference or a literal for each",
        )
    return named


def _bind_value(
    value: object,
    annotation: Any,
    field: FieldInfo | None,
    place: str,
    references: list[ReferenceParts],
) -> dict[str, Any]:
    """The binding of one value of the type `annotation`; its references are added to the list."""
    if (parts := parts_of(value)) is not None:
        _ensure_fits(parts.type, annotation, parts.place, place)
        references.append(parts)
        return {"ref": list(parts.path)}
    if isinstance(value, Bound):
        _ensure_fits(value.model, annotation, repr(value), place)
        references.extend(value.references)
        return value.binding
    if isinstance(value, list | tuple) and _holds_references(value):
        inner = _element(annotation, 0)
        items = [
            _bind_value(item, inner, None, f"{place}[{index}]", references)
            for index, item in enumerate(value)
        ]
        return {"list": items}
    if isinstance(value, dict) and _holds_references(value):
        inner = _element(annotation, 1)
        return {
            "dict": {
                _key(key, place): _bind_value(item, inner, None, f"{place}[{key!r}]", references)
                for key, item in value.items()
            }
        }
    return {"value": literal(value, annotation, field, place)}


def _ensure_fits(source: object, target: object, given: str, place: str) -> None:
    if fits(source, target):
        return
    raise DefinitionError(
        "types-differ",
        f"{given} is {type_text(source)}, {place} takes {type_text(target)}",
        remedy="Bind a field of the same type; what has to be computed is a field of the input, or "
        "computed in the effect's function",
    )


def _holds_references(value: object, depth: int = 32) -> bool:
    if depth == 0:
        return False
    if isinstance(value, list | tuple):
        return any(_holds_references(item, depth - 1) for item in value)
    if isinstance(value, dict):
        return any(_holds_references(item, depth - 1) for item in value.values())
    return isinstance(value, Bound) or parts_of(value) is not None


def _element(annotation: Any, position: int) -> Any:
    """The type of the items of a list (0) or of the values of a dict (1), where it is said."""
    arguments = get_args(bare(annotation))
    return arguments[position] if len(arguments) > position else Any


def _key(key: object, place: str) -> str:
    if isinstance(key, str):
        return key
    raise DefinitionError(
        "bad-binding", f"{place} has a key that is no text", remedy="Use str keys"
    )
