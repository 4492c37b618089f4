"""The decision table: every situation of one small saga, every command, every answer, in words.

    python -m tests.machine.table      writes tests/machine/decisions.txt anew

A person reads each change of that file. A row is `situation | commands | answer`; commands that get
the same answer share a row, and `plan` says what an owner does next. The saga: `hold` at a provider
that honours keys and can be asked, then `charge` at one that can be asked, ignores keys and may
let stragglers through; two attempts each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from saga.definition.spec import SagaSpec
from saga.machine.commands import Rejected, Rejection
from saga.machine.decide import transition
from tests.machine.edges import Budget
from tests.machine.fork import fork
from tests.machine.questions import questions
from tests.machine.sagas import line
from tests.machine.walk import Node, Walk
from tests.machine.wording import planned, situation, told

__all__ = ["DECISIONS", "NOTHING", "rows", "rows_of"]

DECISIONS = Path(__file__).with_name("decisions.txt")

# Where the walks go that collect the situations: a few things go wrong, not all of them at once.
NOTHING = Budget(unknown=0, refused=0, not_sent=0, unsure=0)
BUDGETS = (
    NOTHING._replace(unknown=1, cancel=1),
    NOTHING._replace(not_sent=3, refused=1, verdict=1),
    NOTHING._replace(unknown=1, refused=1, verdict=1),
    NOTHING._replace(unknown=1, unsure=1),
    NOTHING._replace(unknown=1, straggler=1),
    NOTHING._replace(refused=1, cancel=1),
)


@dataclass(slots=True)
class _Situations(Walk):
    """A walk that keeps the places it looks at."""

    places: list[Node] = field(default_factory=list)

    def look(self, node: Node) -> None:
        self.places.append(node)


def _saga() -> SagaSpec:
    spec = line("keys query", "query late")
    return replace(
        spec,
        steps=tuple(
            replace(step, name=name)
            for step, name in zip(spec.steps, ("hold", "charge"), strict=True)
        ),
    )


def rows() -> list[str]:
    """The table."""
    return rows_of(_saga(), BUDGETS)


def rows_of(spec: SagaSpec, budgets: Sequence[Budget]) -> list[str]:
    """A table. `AssertionError` if two places of one name are answered differently."""
    answers: dict[str, dict[str, str]] = {}
    for budget in budgets:
        walk = _Situations(spec, budget)
        walk.run()
        for node in walk.places:
            name = situation(spec, node.state, node.now)
            answered = dict(_answers(spec, node))
            known = answers.setdefault(name, answered)
            for asked, answer in answered.items():
                assert known.get(asked) == answer, (
                    f"{name} | {asked} | {answer}, or {known.get(asked)}"
                )
    return sorted(_together(answers))


def _answers(spec: SagaSpec, node: Node) -> Iterator[tuple[str, str]]:
    yield "plan", planned(spec, node.state, node.plan)
    for words, command in questions(spec, node.state, node.now):
        state = fork(node.state)
        decision = transition(spec, state, command)
        if isinstance(decision, Rejected):
            assert state == node.state, f"{words} is turned down and changes the state"
            if decision.reason in (Rejection.NOT_DUE, Rejection.NOTHING_DUE):
                continue  # `plan` says what is due
        answer = told(spec, state, decision)
        if words == "owner lost":  # what was in flight, in whatever order it began
            answer = "; ".join(sorted(answer.split("; ")))
        yield words, answer


def _together(answers: dict[str, dict[str, str]]) -> Iterator[str]:
    for name, answered in answers.items():
        asking: dict[str, list[str]] = {}
        for words, answer in answered.items():
            asking.setdefault(answer, []).append(words)
        for answer, alike in asking.items():
            yield f"{name} | {' / '.join(alike)} | {answer}"


if __name__ == "__main__":
    DECISIONS.write_text("\n".join(rows()) + "\n", encoding="utf-8")
