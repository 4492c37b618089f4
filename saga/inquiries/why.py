"""Why a run stands where it stands: rule, evidence, next wake-up, and what would free it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from saga.errors import Tampered
from saga.inquiries.alive import START_ONE, OrchestratorView, alive, nobody_runs, of_saga
from saga.inquiries.exclusion import turn_facts, turn_holds
from saga.inquiries.hold import Hold, clock_time
from saga.inquiries.holds import action_holds, case_holds, late_holds, step_holds
from saga.inquiries.pausing import PauseView, pause_view
from saga.inquiries.source import Source
from saga.journal import figures, inquiry
from saga.journal.history import History, load
from saga.journal.pauses import list_pauses
from saga.journal.quarantine import DAMAGED
from saga.journal.records import NewerFormat
from saga.journal.turns import line_of
from saga.views import moment

__all__ = ["Why", "why"]


@dataclass(frozen=True, slots=True)
class Why:
    """What a run waits for. `rule`, `text`, `evidence`, `freed_by` are those of the first hold;
    to the evidence belongs what is true of the whole run, and its last record.

    `holds`: everything that it waits for, what needs somebody first. `next_wake_up`: when an
    orchestrator looks at it next (`None`: only somebody's doing moves it). `orchestrators`: the
    live ones that run its saga. `pauses`: those that keep a step of it from going forward.
    `notice` says that nobody runs its saga, with the command.
    """

    run_id: str
    saga: str
    version: int
    phase: str
    outcome: str | None
    cause: str | None
    rule: str
    text: str
    evidence: tuple[str, ...]
    next_wake_up: datetime | None
    freed_by: str
    holds: tuple[Hold, ...]
    orchestrators: tuple[OrchestratorView, ...]
    pauses: tuple[PauseView, ...]
    damaged: bool
    notice: str


def why(connection: Any, source: Source, run_id: str) -> Why:
    """Explain a run. Raises `UnknownRun`."""
    try:
        history = load(connection, source.keys, source.specs(), run_id)
    except (Tampered, NewerFormat) as damage:
        head = inquiry.head_of(connection, run_id)
        if head is None:
            raise
        return _unreadable(connection, source, head, damage)
    state = history.state
    live = of_saga(alive(connection, source), state.saga, state.saga_version)
    paused = {(pause.kind, pause.name): pause for pause in list_pauses(connection)}
    line = line_of(connection, run_id) if state.turn == "waits" else None
    if state.rests:
        holds = [_ended(history), *case_holds(history)]
    else:
        now = source.now()
        refused = _refused(live, history)
        moving = [
            *action_holds(history, now, paused),
            *late_holds(history, now),
            *step_holds(history, now, paused),
        ]
        moving.sort(key=lambda hold: (hold.rule != "paused", hold.next_at is None, hold.next_at))
        nobody = [] if live else [_nobody(connection, history)]
        ended = [_ended(history)] if state.phase == "ended" else []
        turn = turn_holds(history, line)
        holds = [*ended, *case_holds(history), *turn, *refused, *nobody, *moving] or [_at_rest()]
    held_by = {hold.freed_by for hold in holds if hold.rule == "paused"}
    pauses = [pause_view(connection, pause) for pause in paused.values()]
    return _why(
        head=inquiry.head_of(connection, run_id),
        holds=holds,
        live=live,
        pauses=[pause for pause in pauses if pause.ended_by in held_by],
        facts=_facts(history),
    )


def _why(
    head: Any,
    holds: Sequence[Hold],
    live: Sequence[OrchestratorView],
    pauses: Sequence[PauseView] = (),
    facts: Sequence[str] = (),
    *,
    damaged: bool = False,
) -> Why:
    first, ended = holds[0], head["phase"] == "ended"
    return Why(
        run_id=head["run_id"],
        saga=head["saga"],
        version=head["saga_version"],
        phase=head["phase"],
        outcome=head["outcome"],
        cause=head["cause"],
        rule=first.rule,
        text=first.text,
        evidence=(*first.evidence, *facts),
        next_wake_up=None if damaged else moment(head["due_at"]),
        freed_by=first.freed_by,
        holds=tuple(holds),
        orchestrators=tuple(live),
        pauses=tuple(pauses),
        damaged=damaged,
        notice="" if live or ended else nobody_runs(head["saga"], head["saga_version"]),
    )


def _unreadable(connection: Any, source: Source, head: Any, damage: Exception) -> Why:
    live = of_saga(alive(connection, source), head["saga"], head["saga_version"])
    if isinstance(damage, NewerFormat):
        hold = Hold(
            rule="newer_version",
            text=f"it was written by a newer version of saga ({damage}), which alone may move it",
            freed_by="an orchestrator of that version",
        )
        return _why(head, [hold], live)
    cases = inquiry.open_case_ids(connection, head["run_id"])
    own = [case for case in cases if f"/{DAMAGED}" in case]  # others cannot be decided before it
    hold = Hold(
        rule="damaged",
        text="what is stored of it does not verify, so nothing acts on it",
        evidence=(str(damage), *(f"case {case} is open" for case in cases)),
        freed_by="restore its rows from a backup, then decide its case: "
        + (f"saga case {own[0]}" if own else "an orchestrator opens it"),
    )
    return _why(head, [hold], live, damaged=True)


def _facts(history: History) -> list[str]:
    """What is true of the whole run, whatever it waits for."""
    state, last = history.state, history.records[-1]
    facts: list[str] = []
    if state.phase == "running" and state.cancel is not None:
        facts.append("a cancel is recorded; a step that cannot be taken back is settled first")
    if state.phase == "running" and state.deadline_at is not None:
        passed = "passed at" if state.deadline_passed else "is"
        facts.append(f"its deadline {passed} {clock_time(state.deadline_at)}")
    facts += turn_facts(state)
    facts.append(f"record {last.seq} of {clock_time(last.at)}: {'+'.join(last.commands)}")
    return facts


def _ended(history: History) -> Hold:
    state = history.state
    at = clock_time(state.ended_at or 0.0)
    then = "nothing more happens"
    if not state.rests:
        then = "what lands late is looked for and undone, and does not change that"
    return Hold(
        rule="ended",
        text=f"it has ended as {state.outcome} at {at}; {then}",
        freed_by="nothing: to do it again, start another run",
    )


def _at_rest() -> Hold:
    return Hold(rule="due", text="it is due now", freed_by="an orchestrator takes it up by itself")


def _nobody(connection: Any, history: History) -> Hold:
    state = history.state
    evidence: tuple[str, ...] = ()
    row = figures.orchestrator_of(connection, history.owner) if history.owner else None
    if row is not None:
        last = f"the last one, {row.id} (pid {row.pid} on {row.host})"
        evidence = (f"{last}, was seen at {clock_time(row.beat_at)}",)
    return Hold(
        rule="no_orchestrator",
        text=f"no live orchestrator runs {state.saga}@{state.saga_version}",
        evidence=evidence,
        freed_by=START_ONE,
    )


def _refused(live: Sequence[OrchestratorView], history: History) -> list[Hold]:
    """The database does not take the run's next record; its owner tries again, ever later."""
    for one in live:
        refused = one.refused.get(history.state.run_id)
        if one.id == history.owner and refused is not None:
            return [
                Hold(
                    rule="record_refused",
                    text=f"the database has refused its next record {refused.times} times; "
                    f"it is tried again at {refused.again_at.isoformat(timespec='seconds')}",
                    evidence=(refused.text, f"orchestrator {one.id} (pid {one.pid}) has it"),
                    next_at=refused.again_at,
                    freed_by="whatever makes the database take it: see what it said",
                )
            ]
    return []
