"""Whether the whole can go on by itself: who is alive, what is late, damaged or stuck.

A finding either needs somebody (`problem`) or is worth knowing (`notice`). Open cases and approvals
are notices: they have their own readers, and a process that is well does not become ill by a
question to a person. Heads are read for everything; runs that have not ended are verified, up to a
limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from saga.errors import SagaError, Tampered
from saga.inquiries.alive import START_ONE, OrchestratorView, alive, of_saga
from saga.inquiries.approvals import ApprovalView, list_approvals
from saga.inquiries.hold import clock_time
from saga.inquiries.pausing import PauseView, pause_views
from saga.inquiries.source import Source
from saga.journal import figures
from saga.journal.figures import DueRun, OpenCases, TimedRuns
from saga.journal.history import load
from saga.journal.records import NewerFormat
from saga.views import since

__all__ = ["VERIFIED_MOST", "Due", "Finding", "Health", "health"]

VERIFIED_MOST = 1000  # runs; `verify` looks at all of them
_VERIFIED_AT_ONCE = 50  # runs of one read transaction: a long one would hold up the writers
_LATE_SECONDS = 60.0  # a live orchestrator takes up what is due far sooner


@dataclass(frozen=True, slots=True)
class Finding:
    """`kind`: problem or notice; `code` is stable; `remedy` is what to do, or a command."""

    kind: str
    code: str
    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Due:
    """The run that is due for longest, of one saga and version, and how many are due with it."""

    saga: str
    version: int
    runs: int
    run_id: str
    due_at: datetime
    late: float  # seconds


@dataclass(frozen=True, slots=True)
class Health:
    """`ok` if no finding is a problem. `phases` counts the runs; `due` is the oldest due first.

    `sealed`: records are sealed with a key, so that tampering shows; without one only accidents do.
    """

    ok: bool
    findings: tuple[Finding, ...]
    phases: dict[str, int]
    orchestrators: tuple[OrchestratorView, ...]
    due: tuple[Due, ...]
    open_cases: int
    oldest_case_at: datetime | None
    approvals: int
    damaged: tuple[str, ...]
    stuck: int
    pauses: tuple[PauseView, ...]
    sealed: bool


def health(source: Source) -> Health:
    """Look at everything once."""
    damaged = _damaged(source)
    return source.read(lambda connection: _health(connection, source, damaged))


def _health(connection: Any, source: Source, damaged: Sequence[str]) -> Health:
    now = source.now()
    live = alive(connection, source)
    due = figures.due_runs(connection, now, [one.id for one in live])
    pauses = pause_views(connection)
    queue = figures.open_cases(connection)
    approvals = list_approvals(connection, source.keys, source.specs(), now)
    set_aside = sorted({*damaged, *figures.damaged_runs(connection)})
    findings = [
        *_about_due(due, live, pauses, now),
        *_about_timed(figures.timed_runs(connection), due, live),
        *_about_runs(set_aside, live),
        *_notices(queue, approvals, pauses, sealed=bool(source.keys)),
    ]
    return Health(
        ok=all(finding.kind != "problem" for finding in findings),
        findings=tuple(findings),
        phases=figures.count_runs(connection),
        orchestrators=tuple(live),
        due=tuple(_due(row, now) for row in due),
        open_cases=queue.count,
        oldest_case_at=None if queue.oldest_at is None else since(queue.oldest_at),
        approvals=len(approvals),
        damaged=tuple(set_aside),
        stuck=sum(one.stuck for one in live),
        pauses=tuple(pauses),
        sealed=bool(source.keys),
    )


def _damaged(source: Source) -> list[str]:
    run_ids = source.read(lambda connection: figures.open_run_ids(connection, VERIFIED_MOST))
    specs = source.specs()

    def verify(connection: Any, names: Sequence[str]) -> list[str]:
        found: list[str] = []
        for run_id in names:
            try:
                load(connection, source.keys, specs, run_id)
            except Tampered:
                found.append(run_id)
            except (NewerFormat, SagaError):
                continue  # not ours to judge, or gone meanwhile
        return found

    damaged: list[str] = []
    for start in range(0, len(run_ids), _VERIFIED_AT_ONCE):
        names = run_ids[start : start + _VERIFIED_AT_ONCE]
        damaged += source.read(partial(verify, names=names))
    return damaged


def _due(row: DueRun, now: float) -> Due:
    late = max(now - row.due_at, 0.0)
    return Due(row.saga, row.version, row.runs, row.run_id, since(row.due_at), late)


def _about_due(
    due: Sequence[DueRun],
    live: Sequence[OrchestratorView],
    pauses: Sequence[PauseView],
    now: float,
) -> Iterator[Finding]:
    held = {name for pause in pauses for name in pause.sagas}
    for row in due:
        name = f"{row.saga}@{row.version}"
        runs = "1 run" if row.runs == 1 else f"{row.runs} runs"
        oldest = f"the oldest is {row.run_id}, due since {clock_time(row.due_at)}"
        if row.due_at > now:
            oldest = f"the first is {row.run_id}, and its process is gone"
        if not of_saga(live, row.saga, row.version):
            text = f"no live orchestrator runs {name}: {runs} to be moved, {oldest}"
            yield Finding("problem", "no_orchestrator", text, START_ONE)
        elif now - row.due_at > _LATE_SECONDS and name not in held:
            text = f"{runs} of {name} late although an orchestrator lives; {oldest}"
            yield Finding("problem", "late", text, f"saga why {row.run_id}")


def _about_timed(
    timed: Sequence[TimedRuns], due: Sequence[DueRun], live: Sequence[OrchestratorView]
) -> Iterator[Finding]:
    """Nobody is there to move them when their time comes."""
    told = {(row.saga, row.version) for row in due}
    for row in timed:
        if (row.saga, row.version) in told or of_saga(live, row.saga, row.version):
            continue
        runs = "1 run has a due time" if row.runs == 1 else f"{row.runs} runs have a due time"
        text = f"no live orchestrator runs {row.saga}@{row.version}: {runs}"
        text += f", the first is {clock_time(row.due_at)}"
        yield Finding("problem", "no_orchestrator", text, START_ONE)


def _about_runs(damaged: Sequence[str], live: Sequence[OrchestratorView]) -> Iterator[Finding]:
    for run_id in damaged:
        text = f"run {run_id} does not verify: what is stored of it was altered"
        yield Finding("problem", "damaged", text, f"saga verify {run_id}")
    for one in live:
        if one.stuck:
            calls = "1 sync call" if one.stuck == 1 else f"{one.stuck} sync calls"
            text = f"orchestrator {one.id} (pid {one.pid} on {one.host}) has {calls} without an end"
            yield Finding(
                "problem",
                "stuck",
                text,
                "restart that process; give the call a time-out of its own",
            )


def _notices(
    queue: OpenCases,
    approvals: Sequence[ApprovalView],
    pauses: Sequence[PauseView],
    *,
    sealed: bool,
) -> Iterator[Finding]:
    if queue.count and queue.oldest_at is not None:
        waits = "1 case waits" if queue.count == 1 else f"{queue.count} cases wait"
        text = f"{waits} for a person, the oldest since {clock_time(queue.oldest_at)}"
        yield Finding("notice", "open_cases", text, "saga cases")
    if approvals:
        wait = "1 approval is" if len(approvals) == 1 else f"{len(approvals)} approvals are"
        first = clock_time(approvals[0].expires_at.timestamp())
        text = f"{wait} asked for, the first expires at {first}"
        yield Finding("notice", "approvals", text, "saga approvals")
    for pause in pauses:
        text = f"{pause.kind} {pause.name} is paused since {pause.at.isoformat()}: {pause.reason}"
        yield Finding("notice", "paused", text, pause.ended_by)
    if not sealed:
        text = "seals have no key: they show accidents, not somebody who recomputes them"
        yield Finding(
            "notice", "no_key", text, "make a database with SAGA_KEYS=id:base64 set from the start"
        )
