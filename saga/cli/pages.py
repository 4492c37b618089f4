"""The pages of runs and cases, and where every other page is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from saga.cli import reports
from saga.cli.journal_page import journal_page
from saga.cli.paper import Command, Paper, clock, compact
from saga.cli.run_page import run_page
from saga.definition.keys import place_of
from saga.inquiries.approvals import ApprovalView
from saga.machine.verdicts import NEEDS_A_LOOK
from saga.reconciliation.cases import Case
from saga.views import Run

__all__ = ["printed"]

_PROOF = {"landed": ("--receipt", "@receipt.json"), "undone": ("--evidence", "@evidence.txt")}


def printed(page: str, value: Any, command: Command) -> str:
    """The text of a page."""
    paper = Paper()
    _PAGES[page](paper, value, command)
    return paper.text()


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
        (case.id, case.kind, _place(case), case.direction, _standing(case), case.opened_at)
        for case in cases
    ]
    paper.table(("case", "kind", "step", "direction", "state", "opened"), rows)
    first = next((case for case in cases if case.state == "open"), None)
    if first is not None:
        paper.blank()
        paper.say("What may be decided, and what follows:")
        paper.command(command("case", first.id))


def _place(case: Case) -> str | None:
    return case.step and place_of(case.step, case.item)


def _standing(case: Case) -> str:
    return case.state if case.state == "open" else (case.verdict or "settled")


def _case(paper: Paper, case: Case, command: Command) -> None:
    place = _place(case)
    side = f"{place} ({case.direction})" if place else None
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
            ("sends", None if case.key is None else compact(case.args)),
            ("takes back", None if case.reverses is None else compact(case.reverses)),
            *(("receipt", compact(receipt)) for receipt in case.receipts),
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
    too_early = _too_early(paper, case, command)
    paper.blank()
    look = "" if case.key is None else "Look at the provider, by the key. "
    paper.say(f"{look}What may be decided, and what follows:")
    for verdict, consequence in case.verdicts.items():
        paper.blank()
        paper.facts([(verdict, consequence)], indent=2)
        if not (too_early and verdict in NEEDS_A_LOOK):
            _resolve(paper, case, verdict, command)


def _too_early(paper: Paper, case: Case, command: Command) -> bool:
    """Say why nobody can know yet that nothing happened, if that is so."""
    bound = case.not_before
    if case.running:
        until, then = "its call returns or its process ends", "Which process that is:"
    elif bound is not None and bound > case.read_at:
        until = f"{clock(bound)} it could still arrive"
        then = "Look at the provider after that, then read this case again:"
    else:
        return False
    paper.blank()
    early = f"Too early for {', '.join(NEEDS_A_LOOK[:-1])} and {NEEDS_A_LOOK[-1]}"
    paper.say(f"{early}: until {until}. {then}", style="yellow")
    paper.command(command("health") if case.running else command("case", case.id))
    return True


def _resolve(paper: Paper, case: Case, verdict: str, command: Command) -> None:
    if verdict == "landed":
        shape = f" ({', '.join(case.receipt_fields)})" if case.receipt_fields else ""
        if case.direction == "undo" and not shape:
            shape = " ({} if it gives none)"
        paper.facts([("", f"Write the provider's receipt{shape} to receipt.json first.")], indent=8)
    if verdict == "undone":
        paper.facts([("", "Write what shows it to evidence.txt first.")], indent=8)
    words = [
        *("--reason", "decided as shown"),
        *(("--evidence", case.least) if verdict == "raise" else _PROOF.get(verdict, ())),
        *("--case-version", str(case.version)),
        *("--looked-at", case.read_at.isoformat()),
    ]
    # An id may begin with a dash; then it has to stand after a `--`.
    named = [case.id, verdict]
    dashed = [*words, "--", *named] if case.id.startswith("-") else [*named, *words]
    paper.command(command("resolve", *dashed), indent=4)


_PAGES: dict[str, Callable[[Paper, Any, Command], None]] = {
    "run": run_page,
    "runs": _runs,
    "case": _case,
    "cases": _cases,
    "approvals": _approvals,
    "journal": journal_page,
    **reports.PAGES,
}
