"""Faults about what lands late and about new keys, as in `tests.machine.mutations`."""

from __future__ import annotations

from tests.machine.mutations import Mutation

__all__ = ["LATE_MUTATIONS"]

LATE_MUTATIONS = {
    "an absence is not watched": Mutation(
        "settling",
        "    if until is not None:\n        action.watch = until",
        "    if False:\n        action.watch = until",
        "law 3",
        "query late / a straggler, a cancel",
    ),
    "the watch ends before a straggler shows": Mutation(
        "watching",
        "return action.last_until + late_until + visible_after",
        "return action.last_until + late_until",
        "law 3",
        "query late / a straggler, a cancel",
    ),
    "the watch ends with an answer that says nothing": Mutation(
        "results",
        'if probe.answer == "absent" and action.ends_watch(probe.started):',
        "if action.ends_watch(probe.started):",
        "table",
    ),
    "what was undone while unknown is not watched": Mutation(
        "follow",
        'read_at=now, again="no", watch=watch)',
        'read_at=now, again="no", watch=None)',
        "law 3",
        "query late blind / a straggler, a probe that cannot say, a cancel",
    ),
    "what lands late is undone twice": Mutation(
        "results",
        "not (settled or action.undone or action.undoing)",
        "not (settled or action.undoing)",
        "law 2",
        "query late / a straggler, a probe that cannot say, a person",
    ),
    "what lands late waits for nobody's undo": Mutation(
        "unwinding",
        "    strays = list(state.strays.values())\n",
        "    strays: list[Action] = []\n",
        "law 4",
        "query late / a straggler, a cancel",
    ),
    "compensated before what landed late is undone": Mutation(
        "unwinding",
        'if state.strays or state.standing[""]:',
        "if False:",
        "law 8",
        "query late > query late / a straggler, a cancel",
    ),
    "new keys without end": Mutation(
        "ways", "return action.generation < most", "return True", "table"
    ),
    "a refused action gets a new key unasked": Mutation(
        "ways",
        'if action.state == "absent" and not contract.provider.honours_keys:',
        "if not contract.provider.honours_keys:",
        "table",
    ),
    "in progress is waited for without end": Mutation(
        "results",
        "probe.started < under_way_until(action, contract)",
        "True",
        "table",
    ),
}
