"""Faults about alternatives and savepoints, as in `tests.machine.mutations`."""

from __future__ import annotations

from tests.machine.mutations import Mutation

__all__ = ["PATH_MUTATIONS"]

LOST = "a lost answer, a refusal"
TWICE = "a lost answer, two refusals"
EITHER = "keys query first > keys query first, or keys query other"

PATH_MUTATIONS = {
    "the other path is taken over what stands": Mutation(
        "savepoints",
        "not state.standing[name] and not _is_busy(state, name)",
        "not _is_busy(state, name)",
        "law 8",
        f"{EITHER} / {LOST}",
    ),
    "the other path is taken while an undo is under way": Mutation(
        "savepoints",
        "not state.standing[name] and not _is_busy(state, name)",
        "True",
        "law 8",
        f"{EITHER} / {LOST}",
    ),
    "nothing behind a savepoint is undone": Mutation(
        "steps",
        "begin_way_back(state, event.savepoint, region)",
        "begin_way_back(state, event.savepoint, [])",
        "law 14",
        f"{EITHER} / {LOST}",
    ),
    "back to a savepoint from behind its pivot": Mutation(
        "ways",
        "name not in state.savepoints and not passed:",
        "name not in state.savepoints:",
        "law 8",
        "keys query first irreversible > keys query first, or keys query other / " + LOST,
    ),
    "back to a savepoint while its pivot may land": Mutation(
        "savepoints",
        "if name is None or _may_land_for_good(state, name):",
        "if name is None:",
        "law 8",
        "query first irreversible beside query first, or query other / " + LOST,
    ),
    "what lands late behind a savepoint counts for the run": Mutation(
        "results",
        'return state.phase != "ended" and is_on_path(state, state.steps[action.step])',
        'return state.phase != "ended"',
        "law 8",
        "keys query first late > keys query first, or naps other / one that lands late, a refusal",
    ),
    "what lands while it is turned back counts for the run": Mutation(
        "steps",
        "if not _counts(state, step):",
        "if False:",
        "law 14",
        "keys query first > keys query first late, or naps other / one that lands late, a refusal",
    ),
    "the other path begins with the run": Mutation(
        "evolve",
        "if not step.after and is_on_path(state, step)",
        "if not step.after",
        "law 14",
        f"{EITHER} / {LOST}",
    ),
    "an alternative beside what may have happened": Mutation(
        "ways",
        'return Move(Next.GIVE_UP, now, "crashed" if _kills(action, contract) else "unknown")',
        "return Move(Next.INSTEAD if step.instead[action.choice :] else Next.GIVE_UP, now, "
        '"unknown")',
        "law 8",
        f"nothing else / {TWICE}",
    ),
    "what people declined is done in another way": Mutation(
        "ways",
        "return action.approval is not None and not action.attempts",
        "return False",
        "law 12",
        "keys approved else / decisions, a refusal, a slow owner",
    ),
}
