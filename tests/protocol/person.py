"""A person looks at a case, and decides some time later: the model of `saga.machine.resolve`.

The person is honest: what the look showed is true, and the verdict fits it. It may be any time
until the verdict, and the case may have changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tests.protocol import laws
from tests.protocol.moves import Move, Record
from tests.protocol.states import Action, Look
from tests.protocol.world import World

__all__ = ["person_moves"]

_NEEDS_A_LOOK = ("absent", "retry", "undone")


def person_moves(w: World) -> Iterator[Move]:
    if not w.budget.verdict:
        return
    if w.look is None:
        for key, action in w.actions.items():
            if action.case:
                look = Look(key, len(w.kept(key).landings), w.machine.is_late_enough(action))
                yield Move(
                    f"a person looks at the case of {key}: {action.case}",
                    partial(_look, look=look),
                    "outside",
                )
        return
    look, action = w.look, w.actions[w.look.key]
    if not w.machine.binds(look):
        yield Move(
            f"a person decides too late on {look.key}: refused as stale",
            partial(_look, look=None),
            "outside",
            record=Record("resolve", look.key, result="accept"),
        )
        return
    for verdict in _verdicts(w, look, action):
        yield Move(
            f"a person decides {verdict} for {look.key}",
            partial(_decide, look=look, verdict=verdict),
            "outside",
            record=Record("resolve", look.key, result=verdict),
        )


def _look(w: World, look: Look | None) -> None:
    w.look = look


def _verdicts(w: World, look: Look, action: Action) -> Iterator[str]:
    """What is possible, and what an honest person who saw this would say."""
    for verdict in _possible(w, look, action):
        unknown = action.status == "open" and verdict in _NEEDS_A_LOOK
        if unknown and not w.machine.has_looked(look, action):
            continue
        if _fits(look, verdict, action):
            yield verdict


def _possible(w: World, look: Look, action: Action) -> list[str]:
    """ "Verdicts: `probe`, `retry`, `landed` + receipt, `absent`, `undone` + evidence, `accept`."
    A second effect is past sending: take it back, or accept it."""
    undo = bool(look.key.undo)
    if action.case == "late":
        return ["undone", "accept"]
    possible = ["landed", "accept"]
    if w.setting.asks:
        possible.append("probe")
    if undo or not w.machine.is_stopped(w):
        renewed = w.machine.after_retry(look.key, action)
        if renewed == look.key or renewed.lives <= w.setting.generations:
            possible.append("retry")
    if action.status == "open":
        possible.append("absent")
    if action.status == "open" or undo:
        possible.append("undone")
    return possible


def _fits(look: Look, verdict: str, action: Action) -> bool:
    match verdict:
        case "landed":
            return look.seen > 0
        case "retry" | "absent":
            return look.seen == 0
        case "undone":
            return not look.key.undo or action.case == "late" or look.seen == 0
        case _:
            return True


def _decide(w: World, look: Look, verdict: str) -> None:
    laws.verdict_counts(w, look)
    key, action = look.key, w.actions[look.key]
    w.spend(verdict=1)
    w.look = None
    if verdict == "probe":
        w.set_action(key, again="probe")
        return
    w.set_action(key, case="")
    seen = tuple(range(look.seen))
    if action.case == "late":
        extra = tuple(index for index in seen if not _counts_on(w, look, index))
        w.mark(key, "undone" if verdict == "undone" else "accepted", extra)
        w.set_action(key, answered_for=True, watched=False)
        w.set_run(accepted=w.run.accepted or verdict == "accept")
    else:
        w.set_action(key, again="")
        _MEANINGS[verdict](w, look, seen)
    w.machine.follow(w)


def _counts_on(w: World, look: Look, index: int) -> bool:
    """The effect that the run counts on, and that is not what this case is about."""
    action = w.actions[look.key]
    recorded = action.status == "landed" and action.receipt == index
    return recorded and not w.machine.is_irreversible(look.key)


def _landed(w: World, look: Look, seen: tuple[int, ...]) -> None:
    """ "`landed` + receipt: as replied." Are there more, the person takes the others back."""
    w.mark(look.key, "undone", seen[1:])
    w.machine.landed(w, look.key, 0)


def _absent(w: World, look: Look, seen: tuple[int, ...]) -> None:
    """ "`absent`: as absent by protocol"; the look is the reading. Where keys are ignored, the
    person who says so asks for a new generation at once."""
    action = w.actions[look.key]
    w.machine.absent(w, look.key)
    w.set_action(look.key, since_earliest=w.machine.earliest_after_look(look, action))
    if w.actions[look.key].status == "absent" and w.machine.after_absence(look.key) is None:
        _renew(w, look)


def _renew(w: World, look: Look) -> None:
    if look.key.renewed.lives <= w.setting.generations:
        w.set_action(look.key, again="new")


def _retry(w: World, look: Look, seen: tuple[int, ...]) -> None:
    """ "`retry`: send again, attempts from 0." Where that takes a new key, the old one is left
    behind: on this person's word it did not happen."""
    key, action = look.key, w.actions[look.key]
    earliest = w.machine.earliest_after_retry(look, action)
    w.set_action(key, not_sent=0, resends=0)
    if w.machine.after_retry(key, action) == key:
        w.set_action(key, again="same", refused=False, since_earliest=earliest)
        return
    if action.status == "open":
        w.machine.absent(w, key)
    w.set_action(key, refused=False)
    _renew(w, look)


def _undone(w: World, look: Look, seen: tuple[int, ...]) -> None:
    """ "`undone` + evidence: counts as a landed undo." "On a forward action of a running run it
    makes it wind down." """
    if look.key.undo:
        w.mark(look.key.forward, "undone")
        w.set_action(look.key, status="landed", unsettled=())
        w.machine.undo_is_settled(w, look.key, "absent")
        return
    w.mark(look.key, "undone", seen)
    w.set_action(look.key, status="absent", undone=True, unsettled=(), watched=w.machine.watches())
    _wind_down(w)


def _accept(w: World, look: Look, seen: tuple[int, ...]) -> None:
    """ "`accept`: stays as it is, the rest is undone, the run ends `settled`." """
    w.set_action(look.key, status="accepted", unsettled=(), watched=False)
    w.set_run(accepted=True)
    if look.key.undo:
        w.machine.undo_is_settled(w, look.key, "accepted")
    else:
        _wind_down(w)


def _wind_down(w: World) -> None:
    if w.run.phase == "running":
        w.set_run(phase="compensating")


_MEANINGS = {
    "landed": _landed,
    "absent": _absent,
    "retry": _retry,
    "undone": _undone,
    "accept": _accept,
}
