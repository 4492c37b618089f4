"""The settlement: what became of every effect of a run, and on whose word.

An ended run can be accounted for line by line: it never happened, it landed and stays, it was
undone (with which receipt, and what the undo could not give back), or a named person accepted it.
`compensated` says that no line is left to anybody; `tests.machine.laws` holds it to that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from saga.definition.spec import SagaSpec
from saga.machine.facts import Json
from saga.machine.forward import is_on_path
from saga.machine.state import Action, Case, RunState, step_of

__all__ = ["Line", "settlement"]


@dataclass(frozen=True, slots=True)
class Line:
    """One effect. `fate`: never (it did not happen), landed (it stays), undone, accepted, satisfied
    (it was so already, by the evidence in `receipt`), or open.

    `receipt` is its own, `undo_receipt` that of its undo, or the evidence of the person who took it
    back. `residual` is what the undo could not give back, as its compensation declares. `by` and
    `reason` are those of the person on whose word the line rests.
    """

    step: str
    item: str | None = None
    generation: int = 1
    key: str | None = None
    fate: str = "never"
    receipt: Json = None
    undo_key: str | None = None
    undo_receipt: Json = None
    residual: Json = None
    by: str | None = None
    reason: str = ""


def settlement(spec: SagaSpec, state: RunState) -> tuple[Line, ...]:
    """A line for each step or item that never began, each generation of the others, each second
    effect.
    """
    verdicts = {case.key: case for case in state.cases.values() if case.verdict is not None}
    of_step: dict[int, list[Action]] = {}
    undos: dict[str, list[Action]] = {}
    for action in state.actions.values():
        if action.of_key is None:
            of_step.setdefault(action.step, []).append(action)
        else:
            undos.setdefault(action.of_key, []).append(action)
    lines: list[Line] = []
    for step in spec.steps:
        for action in of_step.get(step.index, ()):
            if step.wait is not None and action.state != "accepted":
                continue  # nothing outside
            lines.append(_line(spec, state, action, verdicts))
            for one in (action, *undos.get(action.key, ())):
                lines += _others(lines[-1], one, verdicts)
        if step.wait is None and is_on_path(state, step):
            lines += [Line(step.name, item) for item in _untouched(state, step.index)]
    return tuple(lines)


def _untouched(state: RunState, index: int) -> Iterator[str | None]:
    """The items of a step that were never begun; `None` for a step that was not."""
    progress = state.progress[index]
    order = (None,) if progress.items is None else progress.items.order
    return (item for item in order if item not in progress.newest)


def _line(spec: SagaSpec, state: RunState, action: Action, verdicts: dict[str, Case]) -> Line:
    step, undo = step_of(spec.steps, action), state.undo_of(action)
    landed = action.state == "landed"
    line = Line(
        step.name,
        action.item,
        action.generation,
        action.key,
        receipt=action.receipt if landed else None,
        undo_key=undo.key if undo is not None else None,
    )
    if undo is not None and undo.state == "landed":
        field = step.compensation.residual if step.compensation is not None else None
        left = undo.receipt.get(field) if field and isinstance(undo.receipt, dict) else None
        undone = replace(line, fate="undone", undo_receipt=undo.receipt, residual=left)
        return _vouched(undone, verdicts.get(undo.key) or verdicts.get(action.key))
    if undo is not None and undo.state == "accepted":
        return _on_word(replace(line, fate="accepted"), verdicts.get(undo.key))
    verdict = verdicts.get(action.key)
    if action.undone or _by_hand(action, verdict):
        evidence = None if verdict is None else {"evidence": verdict.evidence}
        return _on_word(replace(line, fate="undone", undo_receipt=evidence), verdict)
    if action.state == "accepted" or (landed and step.irreversible and action.answered_for):
        return _on_word(replace(line, fate="accepted"), verdict)
    if undo is not None or action.key in state.strays or action.state in ("sending", "unknown"):
        return replace(line, fate="open")
    if landed:
        return _vouched(replace(line, fate="landed"), verdict)
    if action.evidence is not None:
        return replace(line, fate="satisfied", receipt=action.evidence)
    said = verdict is not None and verdict.verdict == "absent"
    return _on_word(line, verdict) if said else line


def _by_hand(action: Action, verdict: Case | None) -> bool:
    """It landed late, and a person has taken it back."""
    if verdict is None or not action.answered_for or action.others:
        return False
    return action.state == "landed" and verdict.verdict == "undone"


def _on_word(line: Line, verdict: Case | None) -> Line:
    return line if verdict is None else replace(line, by=verdict.actor, reason=verdict.reason)


def _vouched(line: Line, verdict: Case | None) -> Line:
    """It rests on a person's word where that brought the proof, not where it was only retried."""
    said = verdict is not None and verdict.verdict in ("landed", "undone")
    return _on_word(line, verdict) if said else line


def _others(line: Line, action: Action, verdicts: dict[str, Case]) -> Iterator[Line]:
    """Effects that the run does not count on: a person answers for each."""
    verdict = verdicts.get(action.key) if action.answered_for else None
    fate = "open"
    if verdict is not None:
        fate = "undone" if verdict.verdict == "undone" else "accepted"
    for receipt in action.others:
        other = replace(line, key=action.key, fate=fate, receipt=receipt, undo_key=None)
        bare = replace(other, undo_receipt=None, residual=None, by=None, reason="")
        yield _on_word(bare, verdict)
