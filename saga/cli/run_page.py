"""The page of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from saga.cli import reports
from saga.cli.paper import Command, Paper, compact
from saga.definition.keys import place_of
from saga.machine.facts import Error
from saga.machine.settlement import Line
from saga.views import ActionView, ItemCounts, Run, StepView

__all__ = ["run_page"]

_FATES = {"never": "never happened"}
_STATES = {"waiting": "never tried"}
_MOST_LINES = 10  # of items that are alike


def run_page(paper: Paper, run: Run, command: Command) -> None:
    """A run: its head, its steps, what became of it, and what a person has the word on."""
    error = _said(run.cause_error)
    where = f" at {run.cause_step}" if run.cause_step else ""
    where += f" by {run.cause_actor}" if run.cause_actor else ""
    paper.facts(
        [
            ("run", run.id),
            ("saga", f"{run.saga}@{run.version}"),
            ("tenant", run.tenant),
            ("phase", run.phase),
            ("outcome", run.outcome),
            ("cause", f"{run.cause}{where}{error}" if run.cause else None),
            ("reason", run.cause_reason or None),
            ("started", run.started_at),
            ("ended", run.ended_at),
            ("due", run.due_at),
            ("turn", f"{run.turn} ({run.resource})" if run.turn else None),
            *((f"{name} used", f"{one.spent} of {one.limit}") for name, one in run.budget.items()),
        ]
    )
    _steps(paper, run)
    _needs(paper, run, command)
    if run.damaged:
        paper.blank()
        paper.say("What is stored of it does not verify; this is what its head says:")
        paper.command(command("verify", run.id))
    if run.notice:
        reports.notice(paper, run.notice, command)


def _steps(paper: Paper, run: Run) -> None:
    if run.steps:
        paper.blank()
        paper.table(
            ("step", "state", "tries", "undo", "tries"), [_step_row(step) for step in run.steps]
        )
    _failures(paper, run)
    if run.settlement:
        paper.blank()
        paper.say("Settlement", style="bold")
        paper.table(
            ("effect", "fate", "proof", "left over", "by"),
            list(_settlement(run.settlement)),
        )
    for step in run.steps:
        if step.items is not None:
            paper.blank()
            paper.say(step.name, style="bold")
            paper.facts(_item_facts(step.items), indent=2)
        name = step.instead or step.name
        for what, action in ((name, step), (f"undo of {name}", step.undo)):
            if action is not None and action.key is not None:
                paper.blank()
                paper.say(what, style="bold")
                paper.facts(_action_facts(action), indent=2)


def _failures(paper: Paper, run: Run) -> None:
    """What failed beside the first cause."""
    others = [failure for failure in run.failures if failure.step != run.cause_step]
    if others:
        paper.blank()
        shown = [
            f"{place_of(one.step, one.item)} {one.state}{_said(one.error)}"
            for one in others[:_MOST_LINES]
        ]
        more = len(others) - len(shown)
        paper.facts([("also", text) for text in shown + [f"{more} more"] * bool(more)])


def _needs(paper: Paper, run: Run, command: Command) -> None:
    """What a person has the word on, with the command that shows it."""
    for case in run.cases[:_MOST_LINES]:
        paper.blank()
        paper.say(f"Case {case} waits for a person:")
        paper.command(command("case", case))
    if len(run.cases) > _MOST_LINES:
        paper.blank()
        paper.say(f"And {len(run.cases) - _MOST_LINES} more cases; all of them:")
        paper.command(command("cases"))
    for step_name in run.approvals:
        paper.blank()
        paper.say(f"{step_name} waits for people to approve it:")
        paper.command(command("approvals"))


def _said(error: Error | None) -> str:
    return f" ({error['type']}: {error['text']})" if error else ""


def _settlement(lines: Sequence[Line]) -> Iterator[tuple[Any, ...]]:
    """A row for each effect; one for all items of a step that came to the same without anybody."""
    alike = Counter((line.step, line.fate) for line in lines if _is_plain(line))
    told: set[tuple[str, str]] = set()
    for line in lines:
        group = line.step, line.fate
        if not _is_plain(line) or alike[group] <= _MOST_LINES:
            yield _settled(line)
        elif group not in told:
            told.add(group)
            yield f"{line.step}, {alike[group]} items", _FATES.get(line.fate, line.fate), "", "", ""


def _is_plain(line: Line) -> bool:
    """An item that no person answered for, and nothing is left over of."""
    alone = line.by is None and line.residual is None and line.generation == 1
    return alone and line.item is not None


def _item_facts(items: ItemCounts) -> list[tuple[str, Any]]:
    return [
        ("items", items.total),
        *((_STATES.get(state, state), count) for state, count in items.states.items()),
        *((f"undo {state}", count) for state, count in items.undos.items()),
    ]


def _settled(line: Line) -> tuple[Any, ...]:
    name = place_of(line.step, line.item)
    proof = line.undo_receipt if line.fate == "undone" else line.receipt
    return (
        name if line.generation == 1 else f"{name}~{line.generation}",
        _FATES.get(line.fate, line.fate),
        "" if proof is None else compact(proof),
        "" if line.residual is None else compact(line.residual),
        f"{line.by}: {line.reason}" if line.by else "",
    )


def _step_row(step: StepView) -> tuple[Any, ...]:
    undo = step.undo
    return (
        f"{step.name}: {step.instead}" if step.instead else step.name,
        step.state,
        step.attempts or "",
        undo.state if undo else "",
        (undo.attempts or "") if undo else "",
    )


def _action_facts(action: StepView | ActionView) -> list[tuple[str, Any]]:
    error = action.error
    evidence = action.evidence if isinstance(action, StepView) else None
    return [
        ("key", action.key),
        ("receipt", None if action.receipt is None else compact(action.receipt)),
        ("evidence", None if evidence is None else compact(evidence)),
        ("error", f"{error['type']}: {error['text']}" if error else None),
        *(("", leaf) for leaf in (error["leaves"] if error else ())),
    ]
