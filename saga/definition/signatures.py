"""What the function of a contract takes and returns, read once from its annotations.

Functions, methods, partials and objects with `__call__` are read alike. An annotation is resolved
only where it is needed, so `args=` or `receipt=` helps with the one that cannot be. Generators are
refused: nobody could say what became of one.
"""

from __future__ import annotations

import collections.abc
import functools
import inspect
import operator
import typing
from dataclasses import dataclass
from types import NoneType
from typing import Any, NoReturn, get_args, get_origin

from pydantic import BaseModel

from saga.definition.annotations import bare, is_union, without_none
from saga.definition.answers import Satisfied
from saga.definition.calls import Call, Undo
from saga.definition.models import check_model, is_model
from saga.errors import DefinitionError

__all__ = [
    "Signature",
    "blocks",
    "check_probe",
    "check_residual",
    "compensation_models",
    "effect_models",
    "may_be_satisfied",
    "read_signature",
]

_OF_COROUTINE = (collections.abc.Awaitable, collections.abc.Coroutine)


@dataclass(frozen=True, slots=True)
class Signature:
    """The two annotations of a function, as written. `what` names the function in messages."""

    what: str
    inner: Any
    call: Any
    answer: Any

    def call_arguments(self, kind: type) -> tuple[Any, ...]:
        """`(A,)` of `Call[A]` or `(A, R)` of `Undo[A, R]`; empty if the annotation says none."""
        if self.call is inspect.Parameter.empty:
            return ()
        annotation = bare(self._resolved(self.call, "args="))
        origin = get_origin(annotation) or annotation
        if origin is Any:
            return ()
        if isinstance(origin, type) and issubclass(kind, origin):  # an undo is a call, too
            return get_args(annotation)
        form = "Undo[Arguments, Receipt]" if kind is Undo else "Call[Arguments]"
        raise DefinitionError(
            "bad-function",
            f"{self.what}: its parameter is annotated {_shown(annotation)}",
            remedy=f"Write (call: {form})",
        )

    def answer_type(self) -> Any:
        """The return annotation, of a coroutine what it returns; `empty` if there is none."""
        if self.answer is inspect.Parameter.empty:
            return self.answer
        annotation = bare(self._resolved(self.answer, "receipt="))
        while get_origin(annotation) in _OF_COROUTINE:
            annotation = bare(get_args(annotation)[-1])
        return annotation

    def _resolved(self, annotation: Any, parameter: str) -> Any:
        def holder() -> None: ...

        holder.__annotations__ = {"it": annotation}
        names = getattr(self.inner, "__globals__", {})
        try:
            return typing.get_type_hints(holder, names, include_extras=True)["it"]
        except (NameError, AttributeError, TypeError, SyntaxError) as error:
            raise DefinitionError(
                "no-annotations",
                f"{self.what}: the annotation {_shown(annotation)} cannot be resolved ({error})",
                remedy=f"Pass {parameter} with the model, or define it at the top of a module",
            ) from error


def read_signature(function: object, what: str) -> Signature:
    """The signature of a contract's function. Raises `DefinitionError` ("bad-function").

    The function must be callable with exactly one positional argument, and be no generator.
    """
    what = f"{what} ({_function_name(function)})"
    if not callable(function) or isinstance(function, type):
        raise _bad_function(f"{what} is no function", "Give a function of one argument, the call")
    inner = _inner(function)
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise _bad_function(f"{what} is a generator", "Return the receipt instead of yielding")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError, NameError):  # a builtin, or names that are not there (3.14)
        return Signature(what, inner, inspect.Parameter.empty, inspect.Parameter.empty)
    try:
        given = signature.bind(object()).arguments
    except TypeError as error:
        raise _bad_function(
            f"{what} cannot be called with one argument ({error})",
            "It is given the call and nothing else; use functools.partial for the rest",
        ) from None
    parameter = signature.parameters[next(iter(given))]
    return Signature(what, inner, parameter.annotation, signature.return_annotation)


def blocks(function: Any) -> bool:
    """Whether calling it occupies the thread: everything but a coroutine function."""
    while isinstance(function, functools.partial):
        function = function.func
    return not (
        inspect.iscoroutinefunction(function)
        or inspect.iscoroutinefunction(type(function).__call__)
    )


def effect_models(
    signature: Signature, args: object, receipt: object
) -> tuple[type[BaseModel], type[BaseModel]]:
    """The argument and receipt models of an effect. What is given by hand wins."""
    what = signature.what
    if args is None:
        found = signature.call_arguments(Call)
        args = found[0] if found else _missing(what, "args=", "(call: Call[Arguments])")
    if receipt is None:
        receipt = _without_satisfied(signature.answer_type())
        if receipt is inspect.Parameter.empty:
            _missing(what, "receipt=", "-> Receipt")
        if receipt is NoneType or (is_union(receipt) and NoneType in get_args(receipt)):
            raise DefinitionError(
                "no-receipt",
                f"{what} may return None",
                remedy="Return a receipt, a model of what the provider gave back as proof",
            )
    return check_model(args, f"{what}, arguments"), check_model(receipt, f"{what}, receipt")


def may_be_satisfied(signature: Signature) -> bool:
    """Whether the return annotation of an effect has `Satisfied` in it."""
    try:
        answer = signature.answer_type()
    except DefinitionError:  # receipt= stands in for it
        return False
    return is_union(answer) and Satisfied in get_args(answer)


def _without_satisfied(answer: Any) -> Any:
    """`R` of `R | Satisfied`."""
    if not is_union(answer) or Satisfied not in get_args(answer):
        return answer
    return functools.reduce(operator.or_, [one for one in get_args(answer) if one is not Satisfied])


def compensation_models(
    signature: Signature, args: object, receipt: object
) -> tuple[type[BaseModel], type[BaseModel], bool]:
    """Arguments, receipt, and whether the receipt is needed, of a compensation.

    A model may be `BaseModel` itself (or `Any` in the annotation): such an undo fits every effect.
    """
    what = signature.what
    if args is None or receipt is None:
        found = signature.call_arguments(Undo)
        if args is None:
            args = found[0] if found else _missing(what, "args=", "(call: Undo[Arguments, …])")
        if receipt is None:
            form = "(call: Undo[…, Receipt])"
            receipt = found[1] if found[1:] else _missing(what, "receipt=", form)
    receipt, optional = without_none(receipt)
    return (
        _reversed_model(bare(args), f"{what}, arguments"),
        _reversed_model(receipt, f"{what}, receipt"),
        not optional,
    )


def check_probe(probe: object, kind: type, models: tuple[type[BaseModel], ...], what: str) -> None:
    """A probe takes the call of the function it asks about. Raises `DefinitionError`.

    Only what its annotation says is compared; a probe without one is taken as it is.
    """
    signature = read_signature(probe, f"{what}: probe")
    try:
        annotations = signature.call_arguments(kind)
    except DefinitionError as error:
        if error.code == "no-annotations":
            return
        raise
    for annotation, model in zip(annotations, models, strict=False):
        wanted, _ = without_none(annotation)
        if is_model(wanted) and not issubclass(model, wanted):
            raise DefinitionError(
                "models-differ",
                f"{signature.what} takes {wanted.__qualname__}, {what} has {model.__qualname__}",
                remedy="Give the probe that belongs to this function",
            )


def check_residual(signature: Signature, name: str) -> None:
    """`name` is a field of the model that an undo returns. Raises `DefinitionError`."""
    answer, _ = without_none(signature.answer_type())
    if not is_model(answer) or name not in answer.model_fields:
        raise DefinitionError(
            "bad-residual",
            f"{signature.what}: residual={name!r} is no field of what it returns",
            remedy="Name a field of the model in its return annotation",
        )


def _reversed_model(model: object, what: str) -> type[BaseModel]:
    return BaseModel if model is Any or model is BaseModel else check_model(model, what)


def _missing(what: str, parameter: str, annotation: str) -> NoReturn:
    raise DefinitionError(
        "no-annotations",
        f"{what} does not say its model",
        remedy=f"Annotate it {annotation}, or pass {parameter} with the model",
    )


def _bad_function(message: str, remedy: str) -> DefinitionError:
    return DefinitionError("bad-function", message, remedy=remedy)


def _inner(function: Any) -> Any:
    """The plain function inside partials, methods, wrappers and callable objects."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif not inspect.isroutine(function) and callable(function):
            function = type(function).__call__
        else:
            return function


def _function_name(function: object) -> str:
    return getattr(_inner(function), "__qualname__", type(function).__qualname__)


def _shown(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
