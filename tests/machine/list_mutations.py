"""Faults about lists, as in `tests.machine.mutations`."""

from __future__ import annotations

from tests.machine.mutations import Mutation

__all__ = ["LIST_MUTATIONS"]

CANCEL = "a lost answer, a cancel"
REFUSAL = "a lost answer, a refusal"
PERSON = "a lost answer, a refusal, a person"

LIST_MUTATIONS = {
    "hold_all holds nothing that has not begun": Mutation(
        "items",
        'if items is None or (each.on_unknown == "hold_all" and items.unknown):',
        "if items is None:",
        "law each",
        f"query each serial / {CANCEL}",
    ),
    "what has begun is sent while another item is unknown": Mutation(
        "ways",
        'item = state.spreads and action.state != "unknown"',
        "item = False",
        "law 1",
        f"keys each lives / {PERSON}",
    ),
    "a target is not held": Mutation(
        "decide",
        "if command.of_key is None and holds(state, step, intended.target):",
        "if command.of_key is None and step.each is None:",
        "law each",
        f"query each targeted serial / {CANCEL}",
    ),
    "a batch begins one item early": Mutation(
        "items",
        "end = min(end, (progress.done // each.batch + 1) * each.batch)",
        "end = min(end, (progress.done // each.batch + 1) * each.batch + 1)",
        "law each",
        f"keys query each batched / {CANCEL}",
    ),
    "a batch counts what has begun as done": Mutation(
        "items",
        "end = min(end, (progress.done // each.batch + 1) * each.batch)",
        "end = min(end, (begun // each.batch + 1) * each.batch)",
        "law each",
        f"keys query each batched / {CANCEL}",
    ),
    "one item too many at once": Mutation(
        "items",
        "end = begun + each.parallel - (begun - progress.done - len(items.aside))",
        "end = begun + each.parallel - (begun - progress.done - len(items.aside) - 1)",
        "law each",
        f"keys query each serial / {CANCEL}",
    ),
    "one undo too many at once": Mutation(
        "unwinding",
        "max(each.parallel - len(state.way_back[index].undoing), 0)",
        "max(each.parallel - len(state.way_back[index].undoing), 1)",
        "law each",
        f"keys query each serial / {CANCEL}",
    ),
    "two items share a key": Mutation(
        "intended",
        "        item,\n        target,\n",
        "        None,\n        target,\n",
        "law 2",
        f"keys query each / {CANCEL}",
    ),
    "one item that is settled frees all": Mutation(
        "items",
        "items.unknown[action.target].discard(action.key)",
        "items.unknown[action.target].clear()",
        "law 14",
        f"keys query each / {REFUSAL}",
    ),
    "an unknown item that may be left out is left out": Mutation(
        "follow",
        "and move.next is Next.SKIP",
        "and move.next in (Next.SKIP, Next.GIVE_UP)",
        "law 3",
        f"nothing each optional lone / {PERSON}",
    ),
    "a list is done when its first item is": Mutation(
        "steps",
        "    progress.done += 1\n    if progress.done == progress.size:",
        "    progress.done += 1\n    if progress.done == 1:",
        "law 14",
        "keys query each > keys query / a lost answer",
    ),
    "a pivot whose last item is left out is none": Mutation(
        "settling",
        '    settle(state, action, "skipped")\n    item_done(state, action.step)\n'
        "    whole_pivot(state, action.step)\n",
        '    settle(state, action, "skipped")\n    item_done(state, action.step)\n',
        "unit",
    ),
    "the undo of one item is taken for that of all": Mutation(
        "wayback",
        "        del back.to_undo[of.item]\n",
        "        back.to_undo.clear()\n",
        "law 14",
        f"keys query each / {CANCEL}",
    ),
    "two items may have one name": Mutation("items", "if first != position:", "if False:", "unit"),
    "any list is short enough": Mutation("items", "len(values) > ITEMS_MAX", "False", "unit"),
    "a list that cannot be gone over is sent as a whole": Mutation(
        "verdicts", "again = not whole and (not", "again = (not", "unit"
    ),
    "the first items are undone first": Mutation(
        "unwinding",
        "islice(reversed(state.way_back[index].to_undo.values()),",
        "islice(state.way_back[index].to_undo.values(),",
        "unit",
    ),
}
