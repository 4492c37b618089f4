"""Faults that somebody could put into the machine in good faith, each of a few characters.

None of them fails on the happy path, most not in any simple test. `by` is what must find it: the
decision table, or a law on the walk that is named.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MUTATIONS", "Mutation"]

CRASH = "lost answers and a crash"
PERSON = "refusals, a cancel, a person"


class Mutation(NamedTuple):
    """In `module`, `old` is replaced by `new`; `by` finds it, on `walk` if it is a law."""

    module: str
    old: str
    new: str
    by: str
    walk: str = ""


BOUND = "return action.last_until + provider.in_flight + provider.visible_after"

MUTATIONS = {
    "a cancel leaves verdicts as they were shown": Mutation(
        "decide",
        "if state.open_cases and course not in (None, _course(state)):",
        "if False:",
        "table",
    ),
    "of a pivot it is said that it would be undone": Mutation(
        "verdicts",
        'if state.phase == "running" and leads_on(state, step):',
        "if False:",
        "law 11",
        "nothing beside an irreversible one / refusals, a cancel, a person",
    ),
    "a pivot leaves verdicts as they were shown": Mutation(
        "decide",
        "return state.phase, state.past_pivot, stopped(state),",
        "return state.phase, stopped(state),",
        "law 11",
        "nothing beside keys irreversible / two lost answers, a person",
    ),
    "a refusal of one attempt settles all": Mutation(
        "results",
        "for_all = provider.honours_keys and provider.replays_refusals",
        "for_all = True",
        "table",
    ),
    "not sent of attempt 2 settles attempt 1": Mutation(
        "settling",
        "    action.open.pop(event.attempt, None)\n    action.not_sent += 1",
        "    action.open.clear()\n    action.not_sent += 1",
        "table",
    ),
    "one absence is believed": Mutation(
        "results",
        "if counted and first is not None and probe.started >= first + visible_after:",
        "if counted:",
        "table",
    ),
    "the second reading may come at once": Mutation(
        "results",
        "first is not None and probe.started >= first + visible_after:",
        "first is not None:",
        "table",
    ),
    "absence counts before requests have arrived": Mutation(
        "bounds", BOUND, BOUND.replace(" + provider.in_flight", ""), "table"
    ),
    "absence counts before effects show": Mutation(
        "bounds", BOUND, BOUND.replace(" + provider.visible_after", ""), "table"
    ),
    "in progress leaves an earlier absence standing": Mutation(
        "settling",
        '    if event.answer == "in_progress":\n        action.first_absent = None\n',
        "",
        "table",
    ),
    "whatever a probe answers is absence": Mutation(
        "results", 'unsettled and probe.answer == "absent" and', "unsettled and", "table"
    ),
    "a call still in its thread is forgotten": Mutation(
        "bounds",
        "    if action.running:\n        return inf\n    return action.last_until +",
        "    return action.last_until +",
        "law 3",
        f"keys query, in threads / {CRASH}",
    ),
    "a thread that died with its process is dated back": Mutation(
        "results",
        "if attempt.threaded or attempt.running",
        "if False",
        "law 3",
        "query thrice, in threads / a lost answer, a crash, a cancel",
    ),
    "resent however old the key is": Mutation(
        "ways",
        "return send_by + margin < action.first_at + provider.key_life",
        "return True",
        "law 2",
        "keys query late forgetful / a straggler, a person",
    ),
    "resent when it may arrive too late": Mutation(
        "ways",
        "return send_by + margin < action.first_at",
        "return send_by < action.first_at",
        "law 2",
        f"keys forgetful / {CRASH}",
    ),
    "the key lives from the last sending on": Mutation(
        "settling",
        "    if action.attempts == 0:\n        action.first_at = at",
        "    action.first_at = at",
        "law 2",
        f"keys forgetful thrice / {CRASH}",
    ),
    "resent where keys mean nothing": Mutation(
        "ways",
        "if provider.key_life is None:\n        return False",
        "if provider.key_life is None:\n        return True",
        "law 2",
        f"query / {CRASH}",
    ),
    "resent while the provider is at it": Mutation(
        "ways", 'if resend and action.last_answer != "in_progress":', "if resend:", "table"
    ),
    "unknown is rounded to refused": Mutation(
        "settling",
        'action.state = "sending" if flying else "unknown"',
        'action.state = "sending" if flying else "refused"',
        "law 3",
        f"keys query / {CRASH}",
    ),
    "undo while a later step is unknown": Mutation(
        "wayback",
        "if back.behind == 0 and back.to_undo:",
        "if back.to_undo:",
        "law 14",
        "keys query > keys query blind / a lost answer, a cancel",
    ),
    "a stuck undo holds nobody": Mutation(
        "wayback", "passed = not step.hold and undo.case", "passed = undo.case", "table"
    ),
    "undone blindly while the request is under way": Mutation(
        "ways",
        "return Move(Next.BLIND, action.last_until + bound)",
        "return Move(Next.BLIND, now)",
        "law 9",
        f"keys blind / {PERSON}",
    ),
    "undone blindly in a run that goes forward": Mutation(
        "ways",
        "        and winds_down(state, step)\n",
        "",
        "law 4",
        "keys query blind / a probe that cannot say, a cancel",
    ),
    "an undo that needs a receipt goes without": Mutation(
        "ways", "        and not step.compensation.needs_receipt\n", "", "table"
    ),
    "what was undone while unknown stays unknown": Mutation(
        "follow",
        "events = _taken_back(spec, state, now) + _beyond_undo(spec, state) + ",
        "events = ",
        "law 8",
        "keys query blind / a probe that cannot say, a cancel",
    ),
    "a cancel does not wait for what is irreversible": Mutation(
        "follow",
        "return None  # first it must be known whether there is a way back",
        "pass",
        "law 8",
        f"keys query irreversible / {PERSON}",
    ),
    "an irreversible step is sent again while winding down": Mutation(
        "ways",
        "and winds_down(state, step) and step.irreversible:",
        "and False:",
        "law 8",
        "nothing beside keys irreversible / two lost answers, a person",
    ),
    "the deadline does not wait for a call": Mutation(
        "follow",
        "if state.deadline_passed and not busy:",
        "if state.deadline_passed:",
        "law 8",
        "keys query, deadline / a person twice",
    ),
    "the deadline stops nobody": Mutation(
        "forward",
        "return state.past_pivot or state.deadline_at is None or now < state.deadline_at",
        "return True",
        "law 12",
        "keys query, deadline / many not sent, a slow owner",
    ),
    "ended over an undo that is not settled": Mutation(
        "wayback",
        'if undo.state in ("landed", "accepted"):',
        "if True:",
        "table",
    ),
    "an irreversible effect in an undone run is nobody's": Mutation(
        "follow",
        " + _beyond_undo(spec, state)",
        "",
        "law 8",
        "nothing beside keys irreversible / two lost answers, a person",
    ),
    "a second effect is dropped": Mutation(
        "results",
        "    second: list[Event] = [SecondEffect",
        "    return Rejected(Rejection.NOTHING_NEW, action.key)\n"
        "    second: list[Event] = [SecondEffect",
        "table",
    ),
    "a report of another intent counts": Mutation(
        "decide",
        "elif command.digest != action.digest:",
        "elif False:",
        "law 12",
        f"keys query / {CRASH}",
    ),
    "a verdict on an old version counts": Mutation(
        "resolve", "if command.case_version != case.version:", "if False:", "table"
    ),
    "a person need not look": Mutation(
        "resolve",
        "return _look(not_before(spec, state, case, command.verdict), command)",
        "return None",
        "law 3",
        f"keys / {PERSON}",
    ),
    "a person may look too early": Mutation(
        "bounds",
        "return action.last_until + (under_way(contract) or 0.0)",
        "return action.last_until",
        "law 3",
        f"keys / {PERSON}",
    ),
    "a retry does not start from zero": Mutation(
        "settling",
        "    action.not_sent = action.resends = action.probes = action.crashes = 0\n",
        "",
        "table",
    ),
    "a new generation has the old key": Mutation(
        "intents",
        "key = undo_key(of.key, contract.version, generation",
        "key = undo_key(of.key, contract.version, 1",
        "law 2",
        f"keys query / {PERSON}",
    ),
    "evidence leaves the case open": Mutation(
        "results",
        '    if action.case is None or state.cases[action.case].kind == "late":\n        return []',
        "    return []",
        "table",
    ),
    "what was accepted is forgotten": Mutation(
        "evolve",
        "            state.accepted = True\n            settling.settle(state",
        "            settling.settle(state",
        "table",
    ),
}
