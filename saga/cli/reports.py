"""The pages about the whole, and about why a run stands where it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from shlex import split
from typing import Any

from saga.cli.paper import Command, Paper, clock
from saga.inquiries.health import Due, Health
from saga.inquiries.hold import Hold
from saga.inquiries.pausing import PauseView
from saga.inquiries.purging import Purge
from saga.inquiries.verification import Verification
from saga.inquiries.why import Why

__all__ = ["PAGES", "notice", "way_out"]

_SHOWN = 3  # holds that differ in nothing but the item that they are about


def notice(paper: Paper, text: str, command: Command) -> None:
    """What its caller should know of a run, and the command that mends it."""
    sentence, _, remedy = text.partition("; start one: ")
    paper.blank()
    paper.say(sentence[0].upper() + sentence[1:] + (":" if remedy else "."), style="yellow")
    if remedy:
        way_out(paper, remedy, command)


def way_out(paper: Paper, text: str, command: Command) -> None:
    """What to do: a command to paste if it is one, else a sentence."""
    if text.startswith("saga "):
        paper.command(command(*split(text)[1:]))
    else:
        paper.say(text)


def _why(paper: Paper, why: Why, command: Command) -> None:
    movers = ", ".join(f"{one.id} (pid {one.pid})" for one in why.orchestrators)
    never = None if why.phase == "ended" else "none: only somebody's doing moves it"
    paper.facts(
        [
            ("run", why.run_id),
            ("saga", f"{why.saga}@{why.version}"),
            ("phase", why.phase),
            ("outcome", why.outcome),
            ("cause", why.cause),
            ("next wake-up", why.next_wake_up or never),
            ("moved by", movers if why.next_wake_up or never else None),
        ]
    )
    for alike in _alike(why.holds):
        for hold in alike[:_SHOWN]:
            _hold(paper, hold, command)
        if len(alike) > _SHOWN:
            paper.blank()
            paper.say(f"And {len(alike) - _SHOWN} more that wait for the same; all of them:")
            paper.command(command("why", why.run_id, "--json"))
    paper.blank()
    paper.facts([("also", text) for text in why.evidence[len(why.holds[0].evidence) :]])
    if why.notice and all(hold.rule != "no_orchestrator" for hold in why.holds):
        notice(paper, why.notice, command)


def _alike(holds: Sequence[Hold]) -> list[list[Hold]]:
    """The holds by rule, step and direction, in the order of the first of each."""
    found: dict[tuple[str, str | None, str | None], list[Hold]] = {}
    for hold in holds:
        found.setdefault((hold.rule, hold.step, hold.direction), []).append(hold)
    return list(found.values())


def _hold(paper: Paper, hold: Hold, command: Command) -> None:
    paper.blank()
    paper.facts(
        [
            ("rule", hold.rule),
            ("", hold.text),
            *(("evidence", text) for text in hold.evidence),
            ("next", hold.next_at),
            ("freed by", None if hold.freed_by.startswith("saga ") else hold.freed_by),
        ]
    )
    if hold.freed_by.startswith("saga "):
        paper.say("freed by", style="dim")
        way_out(paper, hold.freed_by, command)


def _health(paper: Paper, health: Health, command: Command) -> None:
    phases = ", ".join(f"{count} {phase}" for phase, count in sorted(health.phases.items()))
    paper.facts(
        [
            ("health", "well" if health.ok else "needs somebody"),
            ("runs", phases or "none"),
            ("open cases", health.open_cases),
            ("approvals", health.approvals),
            ("damaged", ", ".join(health.damaged) or "none"),
            ("stuck calls", health.stuck),
            ("sealed", "with a key" if health.sealed else "without a key"),
        ]
    )
    paper.blank()
    if health.orchestrators:
        rows = [
            (one.id, f"{one.host} {one.pid}", ", ".join(one.sagas), one.beat_at)
            for one in health.orchestrators
        ]
        paper.table(("orchestrator", "process", "sagas", "last beat"), rows)
    else:
        paper.say("No live orchestrator.")
    if health.due:
        paper.blank()
        paper.table(("due", "runs", "oldest", "late"), [_due(row) for row in health.due])
    for finding in health.findings:
        paper.blank()
        style = "bold red" if finding.kind == "problem" else ""
        paper.say(f"{finding.kind}: {finding.text}", style=style)
        way_out(paper, finding.remedy, command)


def _due(due: Due) -> tuple[Any, ...]:
    late = timedelta(seconds=round(due.late))
    return (f"{due.saga}@{due.version}", due.runs, due.run_id, late)


def _verify(paper: Paper, found: Verification, _: Command) -> None:
    runs = "1 run" if found.runs == 1 else f"{found.runs} runs"
    if found.tombstones:
        runs += (
            " and 1 tombstone" if found.tombstones == 1 else f" and {found.tombstones} tombstones"
        )
    if found.ok:
        how = "" if found.sealed else "; without a key, which shows accidents only"
        paper.say(f"{runs} verified, nothing is damaged{how}.")
        return
    paper.say(f"{runs} verified; damaged:")
    paper.blank()
    paper.table(("run", "what is wrong"), [(one.run_id or "", one.text) for one in found.damages])


# Why a run is kept, in the order in which it is asked.
_KEPT = {
    "running": "has not ended",
    "young": "ended later than that",
    "case": "has an open case: see saga cases",
    "watch": "is watched, for what may still land late",
    "key": "a provider may still honour a key of it, or something land under one",
    "owned": "an orchestrator has it, or somebody wrote to it",
    "damaged": "does not verify or is set aside: see saga verify",
    "newer": "only a newer version of saga can read it",
}


def _purge(paper: Paper, found: Purge, _: Command) -> None:
    runs = "1 run that ended" if found.runs == 1 else f"{found.runs} runs that ended"
    did = "Would purge" if found.dry_run else "Purged"
    paper.say(f"{did} {runs} before {clock(found.before)}.")
    if found.kept:
        paper.blank()
        rows = [(found.kept[why], text) for why, text in _KEPT.items() if why in found.kept]
        paper.table(("kept", "why"), rows)


def _pause(paper: Paper, pause: PauseView, command: Command) -> None:
    paper.say(f"{pause.kind} {pause.name} is paused: {pause.reason}")
    _paused_facts(paper, pause)
    paper.blank()
    paper.say("No new forward call is made; probes and undos go on. To end it:")
    way_out(paper, pause.ended_by, command)


def _resume(paper: Paper, pause: PauseView, _: Command) -> None:
    paper.say(f"{pause.kind} {pause.name} is not paused any more.")
    _paused_facts(paper, pause)


def _paused_facts(paper: Paper, pause: PauseView) -> None:
    nobody = "no stored definition has it: is the name right?"
    paper.facts(
        [
            ("since", pause.at),
            ("by", pause.actor),
            ("reason", pause.reason),
            ("holds", ", ".join(pause.sagas) or nobody),
        ]
    )


def _check(paper: Paper, found: dict[str, Any], _: Command) -> None:
    rows = [
        (f"{saga['name']}@{saga['version']}", ", ".join(saga["steps"]), len(saga["warnings"]))
        for saga in found["sagas"]
    ]
    paper.table(("saga", "steps", "warnings"), rows)
    for saga in found["sagas"]:
        for warning in saga["warnings"]:
            paper.blank()
            paper.say(
                f"{saga['name']}@{saga['version']}, step {warning['step']}: {warning['text']}"
            )
            paper.say(f"{warning['remedy']}  ({warning['code']})")


def _draw(paper: Paper, found: dict[str, Any], _: Command) -> None:
    for line in found["mermaid"].splitlines():
        paper.command(line, indent=0)


def _schema(paper: Paper, found: Any, command: Command) -> None:
    facts = [
        ("database", found.path),
        ("schema", found.found or "none"),
        ("needed", found.needed),
        ("mode", found.journal_mode),
        ("sqlite", found.sqlite),
        ("server", found.server),
    ]
    paper.facts([(name, fact) for name, fact in facts if fact is not None])
    for problem in found.problems:
        paper.blank()
        paper.say(problem, style="bold red")
    if found.remedy:
        way_out(paper, found.remedy.removeprefix("run: "), command)


def _upgrade(paper: Paper, found: dict[str, Any], _: Command) -> None:
    what = "nothing to do"
    if found["changed"]:
        what = f"upgraded from schema {found['before']}" if found["before"] else "made"
    paper.say(f"Schema {found['after']}: {what}.")


PAGES: dict[str, Callable[[Paper, Any, Command], None]] = {
    "why": _why,
    "health": _health,
    "verify": _verify,
    "purge": _purge,
    "pause": _pause,
    "resume": _resume,
    "check": _check,
    "draw": _draw,
    "schema": _schema,
    "upgrade": _upgrade,
}
