"""The world outside: requests on their way, the provider, time, clients and webhooks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

from tests.protocol import laws
from tests.protocol.moves import Move, Record
from tests.protocol.names import Key
from tests.protocol.setting import Stop
from tests.protocol.states import NONE, Call, Landing, Message, Result
from tests.protocol.world import World

__all__ = ["client_moves", "message_moves", "tick"]

FAR_PAST = -3


def message_moves(w: World) -> Iterator[Move]:
    """What may become of each request that is on its way."""
    for message in sorted(set(w.messages)):
        refusals = (False, True) if message.key in w.setting.refusable else (False,)
        copies = (False, True) if w.budget.doubled else (False,)
        losses = (False, True) if w.budget.lost else (False,)
        for refuse, copy, lost in product(refusals, copies, losses):
            yield _arrives(message, refuse=refuse, copy=copy, lost=lost)
        name = f"{message.key}#{message.attempt}"
        if w.budget.lost:
            yield Move(f"{name} is lost on the way", partial(_lose, message=message), "fault")
        if w.budget.stalled and not message.stalled:
            yield Move(
                f"{name} stalls: it is under way longer than in_flight",
                partial(_stall, message=message),
                "fault",
            )


def _arrives(message: Message, *, refuse: bool, copy: bool, lost: bool) -> Move:
    def arrive(w: World) -> None:
        if copy:
            w.spend(doubled=1)
        else:
            w.messages.remove(message)
        result, receipt = _provider_answers(w, message, refuse=refuse)
        if lost:
            w.spend(lost=1)
            return
        for call in w.processes[message.process].calls:
            if (call.key, call.attempt, call.stage) == (message.key, message.attempt, "waiting"):
                w.set_call(message.process, call, stage="answered", result=result, receipt=receipt)

    label = f"{message.key}#{message.attempt} of P{message.process} reaches the provider"
    label += ", is refused" if refuse else ""
    label += ", a copy stays under way" if copy else ""
    label += ", the reply is lost" if lost else ""
    return Move(label, arrive)


def _lose(w: World, message: Message) -> None:
    w.spend(lost=1)
    w.messages.remove(message)


def _stall(w: World, message: Message) -> None:
    """It left by `send_by`, so it lands by `send_by` + `late_until` or never."""
    w.spend(stalled=1)
    w.messages.remove(message)
    left = message.left + w.setting.late_until - w.setting.in_flight
    w.messages.append(message._replace(left=left, broken=True, stalled=True))


def _provider_answers(w: World, message: Message, *, refuse: bool) -> tuple[Result, int]:
    """ "What the other side guarantees: whether it honours keys and for how long" """
    key, kept = message.key, w.kept(message.key)
    recognises = w.setting.keys and w.machine.repeats_the_key(message.attempt)
    if recognises and kept.landings and kept.remembered:
        return "landed", len(kept.landings) - 1
    if recognises and kept.refused and w.setting.replays_refusals:
        return "refused", NONE
    if refuse:
        w.ledger[key] = kept._replace(refused=True)
        return "refused", NONE
    landing = Landing(w.setting.shows_after, broken=message.broken)
    w.ledger[key] = kept._replace(
        landings=(*kept.landings, landing), remembered=w.setting.key_life if w.setting.keys else 0
    )
    if key.undo:
        _take_back(w, key)
    laws.effect_lands(w, key)
    return "landed", len(kept.landings)


def _take_back(w: World, undo: Key) -> None:
    """An undo reverses what its frozen receipt names; without one, whatever is there by now."""
    action = w.actions.get(undo)
    if action is None or action.reverses == NONE:
        w.mark(undo.forward, "undone")
    else:
        w.mark(undo.forward, "undone", (action.reverses,))


# Time


def tick(w: World) -> bool:
    """One tick for every clock; `False` where something must happen before."""
    if any(message.left == 0 for message in w.messages):
        return False
    until = w.machine.leaves_until()
    for process in w.processes:
        for call in process.calls:
            if call.stage == "cleared" and until is not None and call.left <= -until:
                return False
    _actions_age(w)
    for key, kept in w.ledger.items():
        if kept.remembered or any(landing.hidden for landing in kept.landings):
            shown = tuple(
                landing._replace(hidden=max(0, landing.hidden - 1)) for landing in kept.landings
            )
            w.ledger[key] = kept._replace(landings=shown, remembered=max(0, kept.remembered - 1))
    w.messages = [message._replace(left=message.left - 1) for message in w.messages]
    for p, process in enumerate(w.processes):
        if process.calls:
            w.set_calls(p, tuple(_nearer(call) for call in process.calls))
    if w.look is not None and w.setting.keys:
        w.look = w.look._replace(age=min(w.look.age + 1, w.setting.key_life))
    return True


def _actions_age(w: World) -> None:
    s = w.setting
    for key, action in w.actions.items():
        by, earliest, reading = action.since_send_by, action.since_earliest, action.since_absent
        w.actions[key] = action._replace(
            since_send_by=by if by == s.oldest else by + 1,
            since_earliest=earliest if earliest == s.key_life else earliest + 1,
            since_absent=reading if reading in (NONE, s.visible_after) else reading + 1,
        )


def _nearer(call: Call) -> Call:
    """To its `send_by`; how far past it does not matter beyond a few ticks."""
    if call.stage not in ("ready", "cleared") or call.left == FAR_PAST:
        return call
    return call._replace(left=call.left - 1)


# Clients and webhooks


def client_moves(w: World) -> Iterator[Move]:
    """ "Anyone may append": a cancel or a deadline, and reports of what landed."""
    running = w.run.phase == "running" and not w.past_pivot  # past it, both are refused
    if w.budget.stop and running and w.run.stop is None:
        for stop in w.setting.stops:
            record = Record("cancel") if stop == "cancel" else None
            change = partial(_stop, stop=stop)
            yield Move(f"{stop} is recorded", change, "outside", record=record)
    for key, kept in w.ledger.items():
        for index, landing in enumerate(kept.landings):
            if landing.reported or not (w.budget.report or w.setting.every_effect_is_reported):
                continue
            yield Move(
                f"a webhook reports that {key} landed (receipt {index + 1})",
                partial(_report, key=key, index=index),
                "own" if w.setting.every_effect_is_reported else "outside",
                record=Record("report", key, 0, "landed", index),
            )


def _stop(w: World, stop: Stop) -> None:
    w.spend(stop=1)
    w.set_run(stop=stop)
    w.machine.follow(w)


def _report(w: World, key: Key, index: int) -> None:
    if w.setting.every_effect_is_reported:
        kept = w.kept(key)
        landings = list(kept.landings)
        landings[index] = landings[index]._replace(reported=True)
        w.ledger[key] = kept._replace(landings=tuple(landings))
    else:
        w.spend(report=1)
    w.machine.reply(w, key, 0, "landed", index)
