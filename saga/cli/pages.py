"""The pages of runs and cases, and where every other page is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from saga.cli import reports
from saga.cli.paper import Command, Paper, clock, compact
from saga.definition.keys import place_of
from saga.inquiries.approvals import ApprovalView
from saga.machine.facts import Error
from saga.machine.settlement import Line
from saga.reconciliation.cases import Case
from saga.views import ActionView, ItemCounts, Run, StepView

__all__ = ["printed"]

_FATES = {"never": "never happened"}
_STATES = {"waiting": "never tried"}
_MOST_LINES = 10  # of items that are alike
_PROOF = {"landed": ("--receipt", "@receipt.json"), "undone": ("--evidence", "@evidence.txt")}


def printed(page: str, value: Any, command: Command) -> str:
    """The text of a page."""
    paper = Paper()
    _PAGES[page](paper, value, command)
    return paper.text()


def _run(paper: Paper, run: Run, command: Command) -> None:
    error = _said(run.cause_error)
    where = f" at {run.cause_step}" if run.cause_step else ""
    paper.facts(
        [
            ("run", run.id),
            ("saga", f"{run.saga}@{run.version}"),
            ("tenant", run.tenant),
            ("phase", run.phase),
            ("outcome", run.outcome),
            ("cause", f"{run.cause}{where}{error}" if run.cause else None),
            ("since", run.cause_reason or None),
            ("started", run.started_at),
            ("ended", run.ended_at),
            ("due", run.due_at),
            ("turn", f"{run.turn} ({run.resource})" if run.turn else None),
        ]
    )
    if run.steps:
        paper.blank()
        paper.table(
            ("step", "state", "tries", "undo", "tries"), [_step_row(step) for step in run.steps]
        )
    others = [failure for failure in run.failures if failure.step != run.cause_step]
    if others:
        paper.blank()
        shown = [
            f"{place_of(one.step, one.item)} {one.state}{_said(one.error)}"
            for one in others[:_MOST_LINES]
        ]
        more = len(others) - len(shown)
        paper.facts([("also", text) for text in shown + [f"{more} more"] * bool(more)])
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
        for what, action in ((step.name, step), (f"undo of {step.name}", step.undo)):
            if action is not None and action.key is not None:
                paper.blank()
                paper.say(what, style="bold")
                paper.facts(_action_facts(action), indent=2)
    _needs(paper, run, command)
    if run.damaged:
        paper.blank()
        paper.say("What is stored of it does not verify; this is what its head says:")
        paper.command(command("verify", run.id))
    if run.notice:
        reports.notice(paper, run.notice, command)


def _needs(paper: Paper, run: Run, command: Command) -> None:
    """What a person has the word on, with the command that shows it."""
    for case in run.cases:
        paper.blank()
        paper.say(f"Case {case} waits for a person:")
        paper.command(command("case", case))
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
        step.name,
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


def _runs(paper: Paper, runs: Sequence[Run], command: Command) -> None:
    if not runs:
        paper.say("No runs.")
        return
    rows = [
        (
            run.id,
            f"{run.saga}@{run.version}",
            run.outcome or ("damaged" if run.damaged else run.phase),
            run.cause,
            len(run.cases) or "",
            run.started_at,
        )
        for run in runs
    ]
    paper.table(("run", "saga", "state", "cause", "cases", "started"), rows)
    for notice in sorted({run.notice for run in runs if run.notice}):
        reports.notice(paper, notice, command)


def _approvals(paper: Paper, approvals: Sequence[ApprovalView], command: Command) -> None:
    if not approvals:
        paper.say("Nothing waits for an approval.")
    for number, one in enumerate(approvals):
        if number:
            paper.blank()
        paper.say(f"{one.run_id}: {one.scope}", style="bold")
        paper.facts(
            [
                ("step", f"{one.step} of {one.saga}, generation {one.generation}"),
                ("sends", f"{one.effect} {compact(one.args)}"),
                ("key", one.key),
                ("because", f"{one.source}, {one.reference}, {one.observation}"),
                ("needs", f"{one.people} of {', '.join(one.by)}"),
                ("given", ", ".join(one.given) or None),
                ("policy", one.policy),
                ("asked", one.asked_at),
                ("expires", one.expires_at),
            ],
            indent=2,
        )
        shown = ("--version", str(one.version), "--digest", one.digest)
        paper.command(command("approve", one.run_id, one.step, *shown))
        paper.command(command("refuse", one.run_id, one.step, *shown, "--reason", "TEXT"))


def _cases(paper: Paper, cases: Sequence[Case], command: Command) -> None:
    if not cases:
        paper.say("No cases.")
        return
    rows = [
        (case.id, case.kind, case.step, case.direction, _standing(case), case.opened_at)
        for case in cases
    ]
    paper.table(("case", "kind", "step", "direction", "state", "opened"), rows)
    first = next((case for case in cases if case.state == "open"), None)
    if first is not None:
        paper.blank()
        paper.say("What may be decided, and what follows:")
        paper.command(command("case", first.id))


def _standing(case: Case) -> str:
    return case.state if case.state == "open" else (case.verdict or "settled")


def _case(paper: Paper, case: Case, command: Command) -> None:
    side = f"{case.step} ({case.direction})" if case.step else None
    error = f"{case.error['type']}: {case.error['text']}" if case.error else None
    paper.facts(
        [
            ("case", f"{case.id}, version {case.version}"),
            ("kind", case.kind),
            ("state", _standing(case)),
            ("run", case.run_id),
            ("step", side),
            ("key", case.key),
            ("error", error),
            ("opened", case.opened_at),
            ("read", case.read_at),
            ("closed", case.closed_at),
            ("by", case.actor),
            ("reason", case.reason),
            ("evidence", case.evidence),
        ]
    )
    paper.blank()
    paper.say(case.text)
    if not case.verdicts:
        return
    if case.not_before is not None and case.not_before > case.read_at:
        paper.blank()
        paper.say(
            f"Too early for retry, absent and undone: until {clock(case.not_before)} it could "
            "still arrive. Look at the provider after that, then read this case again:",
            style="yellow",
        )
        paper.command(command("case", case.id))
    paper.blank()
    paper.say("Look at the provider, by the key. What may be decided, and what follows:")
    for verdict, consequence in case.verdicts.items():
        _verdict(paper, case, verdict, consequence, command)


def _verdict(paper: Paper, case: Case, verdict: str, consequence: str, command: Command) -> None:
    paper.blank()
    paper.facts([(verdict, consequence)], indent=2)
    if verdict == "landed":
        shape = f" ({', '.join(case.receipt_fields)})" if case.receipt_fields else ""
        paper.facts([("", f"Write the provider's receipt{shape} to receipt.json first.")], indent=8)
    if verdict == "undone":
        paper.facts([("", "Write what shows it to evidence.txt first.")], indent=8)
    words = [
        *("--reason", "decided as shown"),
        *_PROOF.get(verdict, ()),
        *("--case-version", str(case.version)),
        *("--looked-at", case.read_at.isoformat()),
    ]
    # An id may begin with a dash; then it has to stand after a `--`.
    named = [case.id, verdict]
    dashed = [*words, "--", *named] if case.id.startswith("-") else [*named, *words]
    paper.command(command("resolve", *dashed), indent=4)


_PAGES: dict[str, Callable[[Paper, Any, Command], None]] = {
    "run": _run,
    "runs": _runs,
    "case": _case,
    "cases": _cases,
    "approvals": _approvals,
    **reports.PAGES,
}
