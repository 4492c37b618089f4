"""Sagas and apps: the definition as a whole, data only."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar, cast

from pydantic import BaseModel

from saga.definition.budget import Budget, check_used, cost_spec
from saga.definition.canonical import canonical
from saga.definition.checks import check_steps
from saga.definition.draw import draw
from saga.definition.each import Each
from saga.definition.exclusive import exclusive_path
from saga.definition.flat import flattened
from saga.definition.meaning import spec_digest
from saga.definition.models import fields_of
from saga.definition.names import check_name, check_text, check_version
from saga.definition.read import read_spec
from saga.definition.references import parts_of
from saga.definition.spec import (
    FORMAT,
    SagaSpec,
)
from saga.definition.step import Followed, Step
from saga.definition.tuning import Duration, seconds
from saga.definition.wait import Wait
from saga.errors import BadInput, DefinitionError

__all__ = ["App", "Lifespan", "Saga"]

I = TypeVar("I", bound=BaseModel)  # noqa: E741 - I for input, as A and R for arguments and receipt

Lifespan: TypeAlias = Callable[[], AbstractAsyncContextManager[Sequence[object]]]


class Saga(Generic[I]):
    """A row of steps, each with what takes it back. Data only, versioned, digested.

    `input` is `input_of(Model)`. `deadline` (a `timedelta` or seconds, from the start of a run) is
    when no new step is begun any more; `None`: never. `budget` is what a run may use up before a
    person is asked. `title` is for people. A new meaning needs a new `version`.

    `exclusive` is a required field of the input, text or a whole number: runs with the same value,
    of whatever sagas, go one after the other within a tenant. A run has its turn until it has ended
    or `Client.park` gives it away.

    Raises `DefinitionError` for steps that do not fit together; see its `code` and `remedy`.
    """

    def __init__(
        self,
        name: str,
        input: I,  # noqa: A002 - the word of the surface
        steps: Sequence[Step[Any, Any] | Followed],
        *,
        version: int = 1,
        deadline: Duration | None = None,
        budget: Budget | None = None,
        title: str = "",
        exclusive: str | int | None = None,
    ) -> None:
        self.name = check_name("saga", name)
        what = f"saga {name!r}"
        self.version = check_version(what, version)
        self.title = check_text(f"title of {what}", title)
        self.deadline = None if deadline is None else seconds(deadline, f"{what}: deadline")
        self.input_model: type[I] = _input_model(input, what)
        self.exclusive: tuple[str, ...] | None = None
        if exclusive is not None:
            self.exclusive = exclusive_path(exclusive, self.input_model, what)
        _check_entries(what, steps)
        flat = flattened(steps)
        self.steps = tuple(flat.steps)
        self._paths = flat.paths
        _check_waits(self.steps, self.deadline)
        choices = [one for step in self.steps for one in (step, *step.instead)]
        check_used(name, budget, [one.effect.cost for one in choices])
        self.budget = budget
        self._text = canonical(self._specification(check_steps(name, self.input_model, flat)))
        self._digest = spec_digest(self.spec())

    def spec(self) -> dict[str, Any]:
        """The specification as plain JSON, a fresh copy: what is stored, shown and decided on."""
        return cast("dict[str, Any]", json.loads(self._text))

    def digest(self) -> str:
        """`sha256:` and 64 hex digits over the meaning: not tuning, titles or docstrings."""
        return self._digest

    @cached_property
    def stored_text(self) -> str:
        """The specification as the text that is stored and sealed, byte for byte.

        Kept, since every start compares it with what is stored.
        """
        return json.dumps(self.spec(), ensure_ascii=False, separators=(",", ":"), sort_keys=True)

    @cached_property
    def machine_spec(self) -> SagaSpec:
        """The specification in the form that the machine reads."""
        return read_spec(self.spec(), self._digest)

    def step(self, name: str) -> Step[Any, Any]:
        """The step called `name`; `KeyError` if there is none."""
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(name)

    def draw(self) -> str:
        """A Mermaid flowchart of the steps and the way back."""
        return draw(self.spec())

    def _path_spec(self, step: Step[Any, Any]) -> list[list[Any]]:
        return [list(part) for part in self._paths[id(step)]]

    def __repr__(self) -> str:
        return f"<Saga {self.name} {self.version}>"

    def _specification(self, edges: Sequence[tuple[int, ...]]) -> dict[str, Any]:
        groups = dict.fromkeys(group for step in self.steps for group in step.groups)
        return {
            "format": FORMAT,
            "saga": self.name,
            "version": self.version,
            "title": self.title,
            "deadline": self.deadline,
            "input": fields_of(self.input_model),
            **({} if self.budget is None else {"budget": self.budget.spec()}),
            **({} if self.exclusive is None else {"exclusive": list(self.exclusive)}),
            **({"groups": [asdict(group) for group in groups]} if groups else {}),
            "steps": [
                {
                    "name": step.name,
                    "title": step.title,
                    "after": [self.steps[before].name for before in edges[index]],
                    "hold": step.hold,
                    # What is not declared is not stored: digests stay what they were.
                    **{part: True for part in ("optional", "pivot") if getattr(step, part)},
                    **({"groups": [one.name for one in step.groups]} if step.groups else {}),
                    **({"path": path} if (path := self._path_spec(step)) else {}),
                    **(
                        {"approval": step.approval.spec(step.effect.label)}
                        if step.approval is not None
                        else {}
                    ),
                    **({"wait": step.wait_spec()} if isinstance(step, Wait) else {}),
                    **({"each": step.each_spec()} if isinstance(step, Each) else {}),
                    **_contracts(step, self.budget),
                    **(
                        {"instead": [_alternative(one, self.budget) for one in step.instead]}
                        if step.instead
                        else {}
                    ),
                }
                for index, step in enumerate(self.steps)
            ],
        }


def _contracts(step: Step[Any, Any], budget: Budget | None) -> dict[str, Any]:
    return {
        "args": step.args.binding,
        "effect": {**step.effect.spec(), **cost_spec(step.effect.cost, budget)},
        "undo": step.compensation.spec(),
    }


def _alternative(step: Step[Any, Any], budget: Budget | None) -> dict[str, Any]:
    return {"name": step.name, "title": step.title, **_contracts(step, budget)}


class App:
    """Sagas, and the lifespan that opens what their effects need: what an orchestrator runs.

    `lifespan` is called without arguments and gives an async context manager that yields the
    resources, `[http_client, …]`; a call gets one by its type. Raises `DefinitionError`.
    """

    def __init__(self, *sagas: Saga[Any], lifespan: Lifespan | None = None) -> None:
        self.sagas = sagas
        self.lifespan = lifespan
        known: set[tuple[str, int]] = set()
        for saga in sagas:
            if not isinstance(saga, Saga):
                raise DefinitionError(
                    "bad-app", f"the app was given {saga!r}", remedy="Write App(saga, …)"
                )
            if (saga.name, saga.version) in known:
                raise DefinitionError(
                    "duplicate-saga",
                    f"the app has two sagas {saga.name!r} of version {saga.version}",
                    remedy="Give a changed saga its own version=",
                )
            known.add((saga.name, saga.version))
        if lifespan is not None and (
            inspect.isasyncgenfunction(lifespan) or not callable(lifespan)
        ):
            raise DefinitionError(
                "bad-app",
                "lifespan is no function that gives an async context manager",
                remedy="Decorate it with contextlib.asynccontextmanager",
            )

    def saga(self, name: str, version: int | None = None) -> Saga[Any]:
        """The saga of this name, in this version or the newest. Raises `BadInput` if none."""
        found = [
            saga for saga in self.sagas if saga.name == name and version in (None, saga.version)
        ]
        if not found:
            there = ", ".join(f"{saga.name} {saga.version}" for saga in self.sagas) or "none"
            asked = f"{name!r}" if version is None else f"{name!r} of version {version}"
            raise BadInput(f"this app has no saga {asked}", remedy=f"It has: {there}")
        return max(found, key=lambda saga: saga.version)

    def __repr__(self) -> str:
        return f"<App of {', '.join(saga.name for saga in self.sagas)}>"


def _check_entries(what: str, entries: Sequence[object]) -> None:
    for entry in entries:
        if not isinstance(entry, Step | Followed):
            raise DefinitionError("bad-step", f"{what}: {entry!r} is no Step", remedy="Give Steps")


def _check_waits(steps: Sequence[Step[Any, Any]], deadline: float | None) -> None:
    """Nothing waits for ever."""
    for step in steps:
        if isinstance(step, Wait) and step.signal and step.limit is None and deadline is None:
            raise DefinitionError(
                "endless-wait",
                f"wait {step.name!r} may wait for ever",
                remedy="Give it a limit=, or the saga a deadline=",
            )


def _input_model(given: object, what: str) -> type[Any]:
    parts = parts_of(given)
    if parts is None or parts.path != ("input",):
        raise DefinitionError(
            "bad-input",
            f"{what}: its input is {type(given).__name__ if parts is None else parts.place}",
            remedy="Give what input_of(Model) returned",
        )
    return cast("type[Any]", parts.type)
