"""Seeded bugs about lists: what somebody could take an item for."""

from __future__ import annotations

from tests.crash.explore_bug import Bug, bug
from tests.crash.explore_shapes import SHAPES

__all__ = ["LIST_BUGS"]

LIST_BUGS: tuple[Bug, ...] = (
    bug(
        "an item is undone with the receipt of another",
        {
            "orchestrator.compiled": """
-    of = state.actions[action.of_key or ""]
+    of = next(iter(state.progress[action.step].newest.values()))
"""
        },
        SHAPES["letters, keys and probes, stamp is refused"],
        1,
    ),
    bug(
        "items that were in flight are begun again after a restart",
        {
            "machine.results": """
-        Unknown(
+        (NotSent(key=action.key, attempt=attempt.number, error=error, due=now)) if action.item
+        else Unknown(
             key=action.key,
             attempt=attempt.number,
             error=error,
"""
        },
        SHAPES["letters, nothing, all goes well"],
        2,
        12,
    ),
    bug(
        "an unknown item that may be left out is left out",
        {
            "machine.follow": """
-        and move.next is Next.SKIP
+        and move.next in (Next.SKIP, Next.GIVE_UP)
"""
        },
        SHAPES["crowd, nothing, all goes well"],
        3,
    ),
    bug(
        "a list is done when all but one are",
        {
            "machine.steps": """
-    if progress.done == progress.size:
+    if progress.done == max(progress.size - 1, 1):
         _step_done(state, index)
"""
        },
        SHAPES["letters, keys and probes, all goes well"],
        8,
        12,
        13,
    ),
    bug(
        "one undo stands for all items of a list",
        {
            "machine.wayback": """
-        del back.to_undo[of.item]
+        back.to_undo.clear()
"""
        },
        SHAPES["letters, keys and probes, stamp is refused"],
        3,
        4,
    ),
    bug(
        "an item that landed while others are undone is kept",
        {
            "machine.wayback": """
-    if of.state == "landed" and undo is None and reversible and not of.late:
+    if of.state == "landed" and undo is None and reversible and not (of.late or back.undoing):
""",
            "machine.wayback ": """
-        stands = of.state == "landed" and step.compensation is not None
+        stands = of.state == "landed" and step.compensation is not None and not of.item
""",
        },
        SHAPES["letters, keys and probes, all goes well"],
        3,
        8,
    ),
)
