"""`explore`: what becomes of a saga when everything fails, everywhere, any number of times."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import BaseModel

from saga.clock import Clock
from saga.definition.saga import App, Lifespan, Saga
from saga.errors import BadInput
from saga.testing.closure import Closure, Options
from saga.testing.report import Report
from saga.testing.stage import Stage
from saga.testing.world import World, worlds_of

__all__ = ["explore"]

I = TypeVar("I", bound=BaseModel)  # noqa: E741  the input, as in Saga[I]


def explore(
    saga: Saga[I],
    inputs: I | Mapping[str, Any] | Sequence[I | Mapping[str, Any]],
    *,
    crashes: int | None = None,
    runs: int | None = None,
    cancel: bool = False,
    signals: Mapping[str, Any] | None = None,
    rival: bool = False,
    person: bool = False,
    doubt: bool = False,
    enough: int = 10,
    lifespan: Lifespan | None = None,
    own: Sequence[object] = (),
) -> Report:
    """Run a saga on the real orchestrator and database, with every single fault at every place.

    Each input is started as a run of its own. A fresh orchestrator takes it up and meets one
    fault: it dies before, in or after a transaction, or around a call or probe; a request or a
    reply is lost; a request is late. A crash leaves the database and the world; from every such
    durable state that is new it begins again, until there is none (the fix point), so that any
    number of crashes is covered. The laws are checked at every call, every commit and every end.

    `crashes` bounds the number of crashes in a row, `runs` the number of orchestrators started,
    `enough` the violations after which to stop. `cancel`: somebody cancels, at every moment;
    `signals`: or brings these payloads to the waits of these names.
    `rival`: another orchestrator takes over while this one sleeps, at every transaction.
    `person`: a person decides a case, in every way that is possible, once. `doubt`: a commit
    returns an error, whether or not it happened.

    Effects of a `World` are best: it is put back together with the database. Other effects run for
    real, again and again; what they return counts as landed. `own`: the objects in which they keep
    their state, which are copied and put back. `lifespan` as in `App`. Nobody waits: time moves.
    """
    options = Options(crashes, runs, cancel, bool(signals), rival, person, doubt, enough)
    report = Report(saga.name)
    worlds = worlds_of([saga])
    if len(worlds) > 1:
        raise BadInput(f"the effects of {saga.name!r} are made in {len(worlds)} worlds, not one")
    world = worlds[0] if worlds else World()
    began = Clock().monotonic()
    with _untouched(world), _quiet():
        for one in [inputs] if isinstance(inputs, BaseModel | Mapping) else inputs:
            stage = Stage(App(saga, lifespan=lifespan), world, own, signals or {})
            try:
                Closure(stage, options, report).explore(stage.begin(one))
            finally:
                stage.close()
    report.seconds = Clock().monotonic() - began
    return report


@contextmanager
def _untouched(world: World) -> Iterator[None]:
    """Whatever happens to it meanwhile, the world is as before."""
    before, clock, gate = world.outside.now.copied(), world.outside.clock, world.gate
    try:
        yield
    finally:
        world.outside.now, world.outside.clock, world.gate = before, clock, gate


@contextmanager
def _quiet() -> Iterator[None]:
    """An orchestrator that is killed a thousand times has much to say."""
    log = logging.getLogger("saga")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)
