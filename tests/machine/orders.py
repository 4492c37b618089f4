"""Commands as an owner gives them: what a plan says, as the command that does it."""

from __future__ import annotations

from saga.machine.commands import Command, Intend, Send, Start, Wake
from saga.machine.plan import BeginNow, Plan, SendNow, Todo
from saga.machine.state import FORWARD, UNDO, RunState

__all__ = ["START", "digest_of", "in_turn", "order_for"]

START = Start(
    at=0.0, run_id="r", instance="i", tenant="", input={"n": 1, "items": ["x", "y"]}, actor=None
)


def digest_of(step: int, of_key: str | None) -> str:
    """Equal arguments, equal digest: another generation of an action has the same."""
    return f"sha256:{FORWARD if of_key is None else UNDO}{step}"


def order_for(
    state: RunState, todo: Todo, at: float, *, threaded: bool = False, fence: int = 1
) -> Command:
    """The command for what is due; not for a question, which ends in an answer."""
    if isinstance(todo, BeginNow):
        return Intend(
            at=at,
            fence=fence,
            step=todo.step,
            of_key=todo.of_key,
            generation=todo.generation,
            target="-",
            digest=digest_of(todo.step, todo.of_key),
            args={"of": state.steps[todo.step].name},
            threaded=threaded,
            version=7,
            item=todo.item,
            choice=todo.choice,
        )
    if isinstance(todo, SendNow):
        return Send(at=at, fence=fence, key=todo.key, threaded=threaded)
    return Wake(at=at)


def in_turn(planned: Plan) -> list[Todo]:
    """What can be done first: of a list the first item, the others in order after it."""
    begun = set[int]()
    first: list[Todo] = []
    for todo in planned.todo:
        if isinstance(todo, BeginNow) and todo.of_key is None and todo.generation == 1:
            if todo.step in begun:
                continue
            begun.add(todo.step)
        first.append(todo)
    return first
