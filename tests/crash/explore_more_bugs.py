"""More seeded bugs, of our own: what somebody could come to think of as a simplification."""

from __future__ import annotations

from saga.testing import Fate
from tests.crash.explore_bug import Bug, bug, shape
from tests.crash.explore_shapes import SHAPES

__all__ = ["MORE_BUGS"]

_WELL = SHAPES["order flow, keys and probes, all goes well"]
_SHIP_REFUSED = SHAPES["order flow, keys and probes, ship is refused"]

MORE_BUGS: tuple[Bug, ...] = (
    bug(
        "what a dead owner had in flight stays in flight",
        {
            "orchestrator.runner": """
-        run.mailbox += lost(run.left_behind)
+        run.mailbox += lost(run.left_behind) if self.brake.stopping else []
"""
        },
        _WELL,
        4,
    ),
    bug(
        "a refusal speaks for attempts that are still unknown",
        {
            "machine.results": """
-        for_all = provider.honours_keys and provider.replays_refusals
+        for_all = provider.honours_keys
"""
        },
        shape("keys", payments__charge=(Fate.LATE, Fate.REFUSE)),
        3,
    ),
    bug(
        "a run ends while an action is unknown",
        {
            "machine.wayback": """
-        return 2 if stands or of.state in ("sending", "unknown") else 0
+        return 2 if stands or of.state == "sending" else 0
"""
        },
        _WELL,
        8,
        9,
    ),
    bug(
        "a key lives for ever",
        {
            "machine.ways": """
-    return send_by + margin < action.first_at + provider.key_life
+    return send_by + margin > action.first_at
"""
        },
        SHAPES["order flow, keys, all goes well"],
        2,
    ),
    bug(
        "what follows from a result is left for later",
        {
            "machine.decide": """
-    for _ in range(_FOLLOW_LIMIT + 8 * len(spec.steps)):
+    for _ in range(_FOLLOW_LIMIT if not events else 1):
         more = consequences(spec, state, command.at)[:room]
-        if not more:
+        if not more or events:
"""
        },
        _SHIP_REFUSED,
        13,
    ),
    bug(
        "undone in the order in which it was done",
        {
            "machine.wayback": """
-        behind = sum(later in state.way_back for later in step.before)  # others have not begun
+        behind = sum(later in state.way_back for later in step.after)
""",
            "machine.wayback ": """
-        for before in state.steps[one].after:
+        for before in state.steps[one].before:
""",
        },
        _SHIP_REFUSED,
        9,
    ),
    bug(
        "a call begins however late its commit came",
        {
            "orchestrator.caller": """
-        if remaining <= 0 or self._clock.local(self._clock.now()) >= outgoing.deadline:
+        if remaining <= 0 and self._clock.local(self._clock.now()) < outgoing.deadline:
"""
        },
        _WELL,
        1,
        rival=True,
        cancel=False,
    ),
    bug(
        "a probe that fails counts as absent",
        {
            "orchestrator.outcome": """
-        return Answer("cannot_say", reason=f"{described['type']}: {described['text']}"[:500])
+        return Answer("absent", reason=f"{described['type']}: {described['text']}"[:500])
     if isinstance(value, Absent):
"""
        },
        _WELL,
        12,
    ),
    bug(
        "absence counts while a request may still be under way",
        {
            "machine.bounds": """
-    return action.last_until + provider.in_flight + provider.visible_after
+    return action.last_until + provider.visible_after
"""
        },
        SHAPES["order flow, probes, all goes well"],
        3,
        12,
    ),
    bug(
        "one reading of absence is enough",
        {
            "machine.results": """
-    if counted and first is not None and probe.started >= first + visible_after:
+    if counted and (first is None or probe.started >= first + visible_after):
"""
        },
        _WELL,
        12,
    ),
    bug(
        "completed when the last step has been sent",
        {
            "machine.follow": """
-    if state.done == state.needed:
+    if state.done + len(state.active) == state.needed and not state.ready:
"""
        },
        _WELL,
        12,
    ),
    bug(
        "the first step is not undone",
        {
            "machine.wayback": """
-    state.standing[back.region] += (of.weight > 0) - (before > 0)
+    state.standing[back.region] += ((of.weight > 0) - (before > 0)) * (of.step > 0)
"""
        },
        _SHIP_REFUSED,
        8,
        3,
    ),
    bug(
        "a resend is the first attempt again",
        {
            "machine.decide": """
-            attempt=action.attempts + 1,
+            attempt=max(action.attempts, 1),
"""
        },
        SHAPES["order flow, keys, all goes well"],
        1,
    ),
    bug(
        "a call that fails is repeated on the spot",
        {
            "orchestrator.threads": """
         except BaseException as error:  # noqa: BLE001  whatever user code raises becomes a result
-            return Ended(error=error)
+            return Ended(value=None if error.args else self._function(self._call), error=error)
"""
        },
        SHAPES["order flow, nothing, all goes well"],
        1,
        2,
    ),
    bug(
        "the due time is forgotten when a run is given back",
        {
            "orchestrator.runner": """
-            due=step.due,
-            hold=Hold(self._owner, run.fence, run.leaving),
+            due=None if run.leaving else step.due,
+            hold=Hold(self._owner, run.fence, run.leaving),
"""
        },
        _WELL,
        4,
    ),
    bug(
        "a lost race loses the results, too",
        {
            "orchestrator.runner": """
-        run.mailbox = [*letters, *run.mailbox, *(not_made(*attempt) for attempt in run.unmade())]
+        run.mailbox = [*letters[1:], *run.mailbox]
"""
        },
        _WELL,
        3,
        4,
        doubt=True,
    ),
    bug(
        "after a lost race what a dead owner had in flight counts as never sent",
        {
            "orchestrator.held": """
-            (one.key, one.attempt)
-            for one in self.outgoing
-            if (action := self.state.actions.get(one.key)) is not None
-            and (attempt := action.open.get(one.attempt)) is not None
-            and attempt.in_flight
+            (action.key, attempt.number)
+            for action in self.state.active.values()
+            for attempt in action.open.values()
+            if attempt.in_flight and not (self.outgoing and self.calls)
"""
        },
        _WELL,
        3,
        12,
    ),
    bug(
        "an undo is called with the receipt of another step",
        {
            "orchestrator.compiled": """
-    of = state.actions[action.of_key or ""]
+    of = next(one for one in state.actions.values() if one.key != action.of_key)
"""
        },
        _SHIP_REFUSED,
        1,
    ),
    bug(
        "unknown is sent again where keys mean nothing",
        {
            "machine.ways": """
     provider = contract.provider
     if provider.key_life is None:
-        return False
+        return action.resends == 0
"""
        },
        SHAPES["order flow, nothing, all goes well"],
        2,
    ),
    bug(
        "what was refused is undone",
        {
            "machine.wayback": """
-    if of.state == "landed" and undo is None and reversible and not of.late:
+    if of.state in ("landed", "refused") and undo is None and reversible and not of.late:
""",
            "machine.wayback ": """
-        stands = of.state == "landed" and step.compensation is not None
+        stands = of.state in ("landed", "refused") and step.compensation is not None
""",
        },
        SHAPES["order flow, keys and probes, reserve is refused"],
        8,
    ),
    bug(
        "a person is believed too early",
        {
            "machine.resolve": """
-    if command.at < bound:
+    if command.at < bound - 86_400:
""",
            "machine.resolve ": """
-    if command.looked_at < bound:
+    if command.looked_at < bound - 86_400:
""",
        },
        SHAPES["order flow, keys, all goes well"],
        11,
        person=True,
    ),
    bug(
        "an owner trusts its lease for longer than others do",
        {
            "orchestrator.membership": """
-        self._ends = self._sent + self.lease
+        self._ends = self._sent + self.lease * 3
"""
        },
        shape("keys and probes", timeout=3 * 3600),
        6,
        rival=True,
        cancel=False,
    ),
)
