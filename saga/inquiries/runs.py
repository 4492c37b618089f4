"""Runs as a client sees them: one, a page of them, and whether one has come to rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from saga.definition.names import RUN_ID_MAX, check_id
from saga.definition.tuning import Duration, seconds
from saga.errors import BadInput, DefinitionError, Tampered, UnknownRun
from saga.inquiries.alive import OrchestratorView, alive, nobody_runs, of_saga
from saga.inquiries.source import Source
from saga.journal import inquiry
from saga.journal.definitions import Specs
from saga.journal.history import load
from saga.journal.records import NewerFormat
from saga.journal.tombstones import missing_run
from saga.views import Run, damaged_view, run_view

__all__ = ["duration", "known_id", "list_runs", "noticed", "shown", "unknown_run", "until_rest"]

_PHASES = ("running", "compensating", "ended")
_MOST = 10_000
_VERIFY_SECONDS = 1.0  # how often a run that is waited for is read as a whole
_PAUSE_SHORTEST, _PAUSE_LONGEST = 0.001, 0.1  # seconds between two looks at it
_PAUSE_SHARE = 0.1  # of the time that it has taken: nobody waits for long in vain


def shown(source: Source, run_id: str) -> Run:
    """A run as it stands; one that does not verify as damaged. Raises `UnknownRun`."""
    keys, specs = source.keys, source.specs()
    try:  # without a transaction: rows of two moments would not verify together
        run = source.glance(lambda connection: run_view(load(connection, keys, specs, run_id)))
    except (NewerFormat, Tampered, UnknownRun):
        run = source.read(lambda connection: _read(connection, source, specs, run_id))
    return _noticed(run, lambda: source.read(lambda connection: alive(connection, source)))


def list_runs(
    connection: Any,
    source: Source,
    *,
    phase: str | None,
    saga: str | None,
    limit: int,
    after: str | None,
) -> list[Run]:
    """A page of runs in the order of their ids. Raises `BadInput` for what cannot be meant."""
    if phase is not None and phase not in _PHASES:
        raise BadInput(f"there is no phase {phase!a}", remedy=f"say one of {', '.join(_PHASES)}")
    if type(limit) is not int or not 1 <= limit <= _MOST:
        raise BadInput("limit is not within bounds", remedy=f"ask for 1 to {_MOST} runs")
    if saga is not None:
        check_id("saga name", saga, RUN_ID_MAX)
    if after is not None:
        check_id("run id", after, RUN_ID_MAX)
    names = inquiry.run_ids(connection, phase=phase, saga=saga, limit=limit, after=after)
    live, specs = alive(connection, source), source.specs()
    return [_noticed(_read(connection, source, specs, name), lambda: live) for name in names]


def noticed(source: Source, run: Run) -> Run:
    """The run as it was just written, with the notice that nobody moves it where that is so."""
    # What time it is to a database is said where a transaction begins: here one has just begun.
    return _noticed(run, lambda: source.glance(lambda connection: alive(connection, source)))


def _noticed(run: Run, live: Callable[[], Sequence[OrchestratorView]]) -> Run:
    if run.phase == "ended" or of_saga(live(), run.saga, run.version):
        return run
    nobody = nobody_runs(run.saga, run.version)
    return replace(run, notice=f"{run.notice}. {nobody}" if run.notice else nobody)


def known_id(run_id: str) -> str:
    """An id that could be one: anything else names no run, and no database is asked for it."""
    try:
        return check_id("run id", run_id, RUN_ID_MAX)
    except BadInput:
        raise unknown_run(run_id) from None


def unknown_run(run_id: object) -> UnknownRun:
    """The answer for an id that names no run; `ascii`, since it may be anything."""
    return UnknownRun(f"no run {run_id!a} in this database", remedy="see: saga runs")


def until_rest(source: Source, run_id: str, timeout: float | None) -> Run:
    """Wait until a run has ended or a person has the word. Raises `TimeoutError`, `UnknownRun`.

    A damaged run has nobody to move it either; therefore it is read as a whole now and then, and
    before anybody is told that it has taken too long.
    """
    clock = source.clock
    began = clock.monotonic()
    read_at = began + _PAUSE_LONGEST  # many have come to rest by then
    while True:
        found = source.glance(lambda connection: inquiry.resting(connection, run_id))
        if found is None:
            raise source.read(lambda connection: missing_run(connection, source.keys, run_id))
        rests, frozen = found
        now = clock.monotonic()
        over = timeout is not None and now - began >= timeout
        if rests or frozen or over or now >= read_at:
            run = shown(source, run_id)
            read_at = clock.monotonic() + _VERIFY_SECONDS
            if rests or run.approvals or run.damaged:
                return run
        if over:
            text = f"run {run_id!a} has neither ended nor does it need a person"
            raise TimeoutError(f"{text} after {timeout:g} s")
        pause = min(max(_PAUSE_SHORTEST, _PAUSE_SHARE * (now - began)), _PAUSE_LONGEST)
        clock.sleep(pause if timeout is None else min(pause, timeout - (now - began)))


def duration(what: str, value: Duration | None) -> float | None:
    """A duration in seconds, 0 included. Raises `BadInput`."""
    try:
        return None if value is None else seconds(value, what, zero=True)
    except DefinitionError as error:
        raise BadInput(error.message, remedy=error.remedy) from None


def _read(connection: Any, source: Source, specs: Specs, run_id: str) -> Run:
    try:
        return run_view(load(connection, source.keys, specs, run_id))
    except (Tampered, NewerFormat) as fault:
        head = inquiry.head_of(connection, run_id)
        if head is None:
            raise
        run = damaged_view(head, inquiry.open_case_ids(connection, run_id))
        if isinstance(fault, Tampered):
            return run
        newer = "it was written by a newer version of saga, which alone can read its steps"
        return replace(run, damaged=False, notice=newer)
