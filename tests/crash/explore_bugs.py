"""Seeded bugs: a few lines in the product each, which lint, types and the happy path let pass.

None is to be found by an exception. The exploration names the law that is broken, at a call, at a
commit, or when the ledger of the outside is compared with the journal. These twelve are those that
were asked for; `explore_more_bugs` has others.
"""

from __future__ import annotations

from saga.testing import Fate
from tests.crash.explore_bug import Bug, bug, shape
from tests.crash.explore_list_bugs import LIST_BUGS
from tests.crash.explore_more_bugs import MORE_BUGS
from tests.crash.explore_shapes import SHAPES

__all__ = ["BUGS", "WELL"]

WELL = SHAPES["order flow, keys and probes, all goes well"]

_ASKED_FOR = (
    bug(
        "no intent before the call",
        {
            "orchestrator.runner": """
         self.brake.lanes.seat(run)
+        for outgoing in run.outgoing:
+            self.caller.send(run, outgoing)
+        run.outgoing = []
         return append
"""
        },
        WELL,
        1,
    ),
    bug(
        "fresh key on retry",
        {
            "orchestrator.compiled": """
-        "key": action.key,
+        "key": action.key if attempt == 1 else f"{action.key}~{attempt}",
"""
        },
        SHAPES["order flow, keys, all goes well"],
        1,
    ),
    bug(
        "unknown taken as failed",
        {
            "orchestrator.outcome": """
         "leaves": [],
     }
-    return Result("unknown", error=error)
+    return Result("refused", error=error)
"""
        },
        WELL,
        3,
    ),
    bug(
        "a probe's absent is believed at once",
        {
            "machine.results": """
-    if counted and first is not None and probe.started >= first + visible_after:
+    if unsettled and probe.answer == "absent" and (first is None or probe.started >= first):
"""
        },
        WELL,
        3,
        12,
    ),
    bug(
        "the key of an undo is made at call time",
        {
            "machine.intents": """
-    key, before = of.undo_key, state.undo_of(of)  # written ahead
+    key, before = undo_key(of.key, contract.version, len(state.actions)), state.undo_of(of)
"""
        },
        SHAPES["order flow, keys and probes, ship is refused"],
        1,
    ),
    bug(
        "no version condition",
        {
            "journal.statements": """
-            runs.c.version == head.c.expected,
+            head.c.expected.is_not(None),
""",
            "journal.statements ": """
-        self.record = _insert(backend, journal)
+        replacing = sa.insert(journal).prefix_with("OR REPLACE")
+        self.record = backend.statement(replacing, [*journal.c])
""",
        },
        WELL,
        5,
        14,
    ),
    bug(
        "no fence",
        {
            "journal.statements": """
-            runs.c.owner.is_not_distinct_from(head.c.the_owner),
-            runs.c.fence == head.c.the_fence,
+            head.c.the_owner.is_not(None),
+            head.c.the_fence.is_not(None),
"""
        },
        WELL,
        6,
        rival=True,
        cancel=False,
    ),
    bug(
        "an undo while a later step is unknown",
        {
            "machine.wayback": """
-    if back.behind == 0 and back.to_undo:
+    if back.to_undo:
"""
        },
        WELL,
        9,
    ),
    bug(
        "the failure of an undo is lost",
        {
            "machine.wayback": """
-    if undo.state in ("landed", "accepted"):
+    if undo.state in ("landed", "accepted", "refused"):
         return 0
""",
            "machine.follow": """
-        if action.state == "sending":
+        if action.state == "sending" or action.direction != FORWARD:
             continue  # most of the time this is all there is
""",
        },
        SHAPES["order flow, keys and probes, refund is refused"],
        4,
        9,
    ),
    bug(
        "an undo twice after a restart",
        {
            "machine.ways": """
     provider = contract.provider
     if provider.key_life is None:
-        return False
+        return action.direction != FORWARD
"""
        },
        SHAPES["order flow, nothing, ship is refused"],
        2,
    ),
    bug(
        "not-sent of attempt 2 settles attempt 1",
        {
            "machine.settling": """
-    action.open.pop(event.attempt, None)
+    action.open.clear()
     action.not_sent += 1
"""
        },
        shape("keys", payments__charge=(Fate.LOSE_REPLY, Fate.NOT_SENT)),
        3,
    ),
    bug(
        "the receipt of another key is accepted",
        {
            "orchestrator.outcome": """
-            if field in receipt and receipt[field] != getattr(call, name):
+            if field in receipt and not (receipt[field] and getattr(call, name)):
"""
        },
        shape("keys and probes", payments__charge=(Fate.MISDIRECT, Fate.ACT)),
        12,
    ),
)

BUGS: dict[str, Bug] = {one.name: one for one in (*_ASKED_FOR, *MORE_BUGS, *LIST_BUGS)}
