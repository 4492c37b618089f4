"""A wait: a step that calls nothing and lasts until a time, or until somebody signals."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar, cast, overload

from pydantic import BaseModel

from saga.definition.annotations import without_none
from saga.definition.bindings import bind
from saga.definition.calls import Call
from saga.definition.contracts import Effect, NothingToUndo
from saga.definition.keys import target_hash
from saga.definition.models import check_model, fields_of
from saga.definition.names import NAME_MAX
from saga.definition.references import parts_of
from saga.definition.step import Followed, Step
from saga.definition.tuning import Duration, seconds
from saga.errors import DefinitionError

__all__ = ["Wait", "Waited", "Waiting"]

S = TypeVar("S", bound=BaseModel)


class Waiting(BaseModel):
    """What a wait is given: the moment until which it lasts, where the input names one."""

    until: datetime | None = None


class Waited(BaseModel):
    """What a wait for a time leaves as its receipt."""

    at: datetime


class Wait(Step[Waiting, S]):
    """A step that waits. While it does, its run costs no memory and belongs to no orchestrator.

    One of these says what it waits for: `time` (a `timedelta` or seconds from when it begins),
    `until` (a reference to a `datetime` of the input or a receipt), or `signal` (a model: what
    `client.signal` brings is its receipt). A wait for a signal has a `limit`, or its saga has a
    deadline; when the limit passes the step has failed, and the run is undone for the cause
    "deadline". With `optional=True` the run goes on without it: that is a wait for a signal or a
    time, whichever comes first. `after` and `title` are as in `Step`.

    Raises `DefinitionError`.
    """

    def __new__(cls, *_: object, **__: object) -> Wait[S]:
        return object.__new__(cls)

    @overload
    def __init__(
        self: Wait[Waited],
        name: str,
        *,
        time: Duration,
        after: Sequence[Step[Any, Any] | Followed] | None = None,
        title: str = "",
        optional: bool = False,
    ) -> None: ...

    @overload
    def __init__(
        self: Wait[Waited],
        name: str,
        *,
        until: datetime,
        after: Sequence[Step[Any, Any] | Followed] | None = None,
        title: str = "",
        optional: bool = False,
    ) -> None: ...

    @overload
    def __init__(
        self,
        name: str,
        *,
        signal: type[S],
        limit: Duration | None = None,
        after: Sequence[Step[Any, Any] | Followed] | None = None,
        title: str = "",
        optional: bool = False,
    ) -> None: ...

    def __init__(
        self,
        name: str,
        *,
        time: Duration | None = None,
        until: datetime | None = None,
        signal: type[S] | None = None,
        limit: Duration | None = None,
        after: Sequence[Step[Any, Any] | Followed] | None = None,
        title: str = "",
        optional: bool = False,
    ) -> None:
        what = f"wait {name!r}"
        self.signal = None if signal is None else check_model(signal, f"{what}, signal")
        if sum(one is not None for one in (time, until, signal)) != 1:
            raise DefinitionError(
                "bad-wait",
                f"{what} does not say what it waits for, or says it twice",
                remedy="Give one of time=, until= and signal=",
            )
        if limit is not None and signal is None:
            raise DefinitionError(
                "bad-wait",
                f"{what} has a limit, and ends by itself",
                remedy="Leave out limit=, or wait for a signal",
            )
        parts = None if until is None else parts_of(until)
        if until is not None and (parts is None or without_none(parts.type)[1]):
            raise DefinitionError(
                "bad-wait",
                f"{what}: until is no reference to a time that is always there",
                remedy="Give a datetime of the input or of a receipt, or time= for a duration",
            )
        self.time = None if time is None else seconds(time, f"{what}: time")
        self.limit = None if limit is None else seconds(limit, f"{what}: limit")
        super().__init__(
            name,
            Effect(
                _contract_name(name),
                _never_called,
                receipt=cast("type[S]", self.signal or Waited),
            ),
            args=Waiting() if until is None else bind(Waiting)(until=until),
            compensation=NothingToUndo("it only waits"),
            after=after,
            title=title,
            optional=optional,
        )
        self.until = None if until is None else self.args.binding["fields"]["until"]["ref"]

    def wait_spec(self) -> dict[str, Any]:
        """What it waits for, in the specification: seconds, a path, or the fields of a signal."""
        return {
            "time": self.time,
            "until": self.until,
            "signal": None if self.signal is None else fields_of(self.signal),
            "needs": [] if self.signal is None else _needed(self.signal),
            "limit": self.limit,
        }


def _needed(model: type[BaseModel]) -> list[str]:
    """The fields of a signal that have no default, by the names that its JSON has."""
    names = fields_of(model)
    fields = model.model_fields.values()
    return [name for name, field in zip(names, fields, strict=True) if field.is_required()]


def _contract_name(name: str) -> str:
    """Names may be as long as this one, and two waits must not share it."""
    full = f"wait.{name}"
    return full if len(full) <= NAME_MAX else f"wait.{target_hash([name])}"


def _never_called(call: Call[Waiting]) -> Any:
    raise AssertionError(f"{call.step} only waits")
