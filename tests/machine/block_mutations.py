"""Faults about waits, approvals, branches, budgets and more, as in `tests.machine.mutations`."""

from __future__ import annotations

from tests.machine.mutations import Mutation

__all__ = ["BLOCK_MUTATIONS"]

SIGNALS = "signals, a cancel, a crash"
DECISIONS = "decisions, a refusal, a slow owner"

BLOCK_MUTATIONS = {
    "sent before enough people have approved": Mutation(
        "state",
        "return len(self.given) >= self.people",
        "return len(self.given) >= 1",
        "law 12",
        f"keys twice / {DECISIONS}",
    ),
    "an approval does not expire": Mutation(
        "ways",
        "if not action.approval.complete or now >= action.approval.expires_at:",
        "if not action.approval.complete:",
        "law 12",
        f"keys approved / {DECISIONS}",
    ),
    "anybody may approve": Mutation(
        "approving",
        "if (ANYBODY not in asked.by and command.actor not in asked.by) or "
        "command.actor == state.actor:",
        "if command.actor == state.actor:",
        "oddities",
    ),
    "an approval that nobody gave is not missed": Mutation(
        "approving",
        'if asked is None or action.state != "intended" or asked.expires_at > now:',
        'if asked is None or action.state == "intended" or asked.expires_at > now:',
        "law 4",
        f"keys approved / {DECISIONS}",
    ),
    "the intent is sent with its question": Mutation(
        "decide",
        "        return intended, asked\n",
        "        asked_first = asked\n",
        "law 12",
        f"keys approved / {DECISIONS}",
    ),
    "a wait has no end": Mutation(
        "waiting",
        "elif action.due <= now:",
        "elif action.due < now:",
        "law 4",
        f"keys beside naps / {SIGNALS}",
    ),
    "a limit is forgotten": Mutation(
        "waiting",
        "elif action.deadline_at is not None and action.deadline_at <= now:",
        "elif False:",
        "law 4",
        f"keys beside signal / {SIGNALS}",
    ),
    "a signal is taken twice": Mutation(
        "waiting",
        "known is not None and known.message == command.message:",
        "known is not None and known.message != command.message:",
        "oddities",
    ),
    "what follows a join begins after one of its branches": Mutation(
        "steps",
        "if not progress.waits_for and _counts",
        "if later not in state.ready and _counts",
        "law 14",
        "join of query, one side optional / a lost answer, a refusal",
    ),
    "an unknown optional step is skipped": Mutation(
        "follow",
        "and move.next is Next.SKIP",
        "and move.next in (Next.SKIP, Next.GIVE_UP)",
        "law 3",
        "nothing optional / a webhook, a cancel, a person",
    ),
    "a required step is skipped": Mutation(
        "ways",
        "    if step.optional and not (step.each is not None and action.item is None):\n"
        "        return Move(Next.SKIP, now)",
        "    if not state.past_pivot:\n        return Move(Next.SKIP, now)",
        "law 4",
        "keys query / many not sent, a slow owner",
    ),
    "the pivot is forgotten": Mutation(
        "steps",
        'if step.declared_pivot and state.phase == "running" and is_final(state, step):',
        "if False:",
        "law 8",
        "keys query pivot > keys query reads / a lost answer, a cancel",
    ),
    "a sub-saga has no deadline": Mutation(
        "forward",
        "return not spec.limits or state.past_pivot or now < group_deadline(spec, state, step)",
        "return True",
        "law 12",
        "keys query grouped > keys query grouped / many not sent, a slow owner",
    ),
    "a call that died uses up nothing for ever": Mutation(
        "ways",
        "return action.crashes >= contract.retry.crashes",
        "return False",
        "unit",
    ),
    "a resend after a failure is not counted": Mutation(
        "settling",
        'action.wish != "same" and not action.interrupted:',
        "False:",
        "table",
    ),
    "satisfied whatever an earlier attempt did": Mutation(
        "results",
        'reply.result == "satisfied" and action.direction == FORWARD and len(action.open) == 1:',
        'reply.result == "satisfied" and action.direction == FORWARD:',
        "unit",
    ),
    "a probe counts nothing": Mutation(
        "spending",
        "        case ProbeBegun():\n            spending.use(CALLS)\n",
        "        case ProbeBegun():\n",
        "law budget",
        "keys query thrice priced, 3 calls / lost answers and a crash",
    ),
    "a probe is made before it is on record": Mutation(
        "plan",
        "    if counts_probes(state) and not is_asked(state, action):\n        return Begin",
        "    if False:\n        return Begin",
        "law budget",
        "keys query thrice priced, 3 calls / lost answers and a crash",
    ),
    "the budget holds up what settles a cancelled run": Mutation(
        "budgets",
        "action.direction != FORWARD or stopped(state):",
        "action.direction != FORWARD:",
        "law budget",
        "keys query irreversible priced, 2 calls / a lost answer, a cancel",
    ),
    "a straggler that may land is given back": Mutation(
        "spending",
        'if action.state == "landed" or action.watch is not None or action.undone:',
        'if action.state == "landed":',
        "law budget",
        "query late priced, 2 EUR, 3 calls / a straggler, a person",
    ),
    "a second effect is free": Mutation(
        "spending",
        "count = len(action.others) + _may_have_landed(action)",
        "count = int(_may_have_landed(action))",
        "law budget",
        "query late priced, 2 EUR, 3 calls / a straggler, a person",
    ),
    "the first sending is not looked at": Mutation(
        "decide",
        "too_much(spec, state, contract, command.args):",
        "False:",
        "law budget",
        "keys thrice priced, 1 EUR / many not sent, a slow owner",
    ),
    "a retry is not looked at": Mutation(
        "ways",
        "if not exceeded(spec, state, action, probe=asks):",
        "if not asks or not exceeded(spec, state, action, probe=asks):",
        "law budget",
        "keys thrice priced, 1 attempts / many not sent, a slow owner",
    ),
    "others begin while a person is asked": Mutation(
        "budgets",
        "return state.spending is not None and state.spending.case is not None",
        "return False",
        "law budget",
        "3 branches of keys mail, 1 mails / a cancel",
    ),
    "what was refused is not given back": Mutation(
        "spending",
        'action.state not in ("refused", "absent", "skipped")',
        'action.state not in ("absent", "skipped")',
        "law budget",
        "keys mail > keys mail, 1 mails / a lost answer, a refusal, a person",
    ),
    "a probe that died goes on counting as asked": Mutation(
        "decide",
        "[*lost(spec, state, command.at, keys), *lost_probes(state, keys)]",
        "[*lost(spec, state, command.at, keys)]",
        "unit",
    ),
}
