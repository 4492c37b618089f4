"""The text of a case: what nobody can settle, why the machine stopped, which line would help.

A person reads it at three in the morning. It names the exception and the line to add, never an
argument's value.
"""

from __future__ import annotations

from saga.definition.keys import place_of
from saga.definition.spec import ContractSpec, StepSpec
from saga.machine.facts import Error
from saga.machine.state import FORWARD, Action

__all__ = ["dead_end", "spent"]


def dead_end(kind: str, step: StepSpec, action: Action, contract: ContractSpec) -> str:
    """Why `action` needs a person, in sentences."""
    what = f"{place_of(step.name, action.item)} ({contract.label})"
    if action.direction != FORWARD:
        what = f"the undo of {what}"
    match kind:
        case "unknown":
            return _unknown(what, action, contract)
        case "conflict":
            return (
                f"The provider has the key of {what} with another body{_last(action.error)}. "
                "It was not sent again. Look up the key at the provider: what stands there was "
                "asked for by somebody else or with other arguments."
            )
        case "crashed":
            return (
                f"{_capital(what)} killed its worker {action.crashes} times, or was under way each "
                "time that it died: it is not sent again by itself. Find out why the process dies; "
                "then look up the key at the provider and decide."
            )
        case "undo_refused":
            return (
                f"The provider refused {what}{_last(action.error)}. What it should take back is "
                "still there, and the undos of the steps before it wait."
            )
        case "undo_exhausted":
            why = spent(action, contract)
            return (
                f"{_capital(what)} did not happen: {why}{_last(action.error)}. "
                "What it should take back is still there, and the undos before it wait."
            )
        case "exhausted":
            return _exhausted(what, action, contract)
        case _:
            return _late(what, step, action)


def _exhausted(what: str, action: Action, contract: ContractSpec) -> str:
    if action.state != "absent":
        return (
            f"{_capital(what)} did not happen{_last(action.error)}, and the run cannot wind down: "
            "a pivot has landed, and from there on it only goes forward."
        )
    why = (
        "the provider may forget the key before that arrives"
        if contract.provider.honours_keys
        else "it takes a new key, and should the first request still land, there are two"
    )
    return f"{_capital(what)} was proven absent, but sending it again is not safe: {why}."


def _late(what: str, step: StepSpec, action: Action) -> str:
    if step.irreversible and not action.others:
        return (
            f"{_capital(what)} has happened and cannot be taken back ({step.undo_reason}), but the "
            "run is being undone. Make up for it, or accept it."
        )
    if action.watch is not None and not action.others:
        return (
            f"{_capital(what)} was settled as not having happened, and the provider was asked "
            f"{action.unseen} times whether a straggler has landed since: it does not say. Look it "
            "up by key; take back what you find, or accept it."
        )
    return (
        f"{_capital(what)} has an effect that the run does not count on: a receipt came that is "
        "not the recorded one, or came after the action was settled or undone. Take that effect "
        "back at the provider, or accept it."
    )


def _unknown(what: str, action: Action, contract: ContractSpec) -> str:
    provider = contract.provider
    lines = [f"Nobody can say whether {what} happened{_last(action.error)}."]
    if not contract.probe:
        lines.append(f'The provider cannot be asked: add probe=... to "{contract.name}".')
    elif provider.in_flight is None or provider.visible_after is None:
        lines.append(
            f"The provider was asked {action.probes} times; an absence proves nothing while "
            f'in_flight and visible_after are undeclared: add them to Provider("{provider.name}").'
        )
    else:
        lines.append(f"The provider was asked {action.probes} times and did not say.")
    if not provider.honours_keys:
        lines.append(
            "It was not sent again: no key life is declared. If repeating under the same key is "
            "harmless, say provider=IDEMPOTENT or key_life=... ."
        )
    elif action.resends:
        lines.append(f"It was sent again {action.resends} times under its key.")
    else:
        lines.append("It was not sent again: its key may be forgotten by now.")
    if provider.in_flight is None:
        lines.append(
            "No bound is declared for how long a request can be under way, so a retry risks a "
            "second effect for an unknown time."
        )
    return " ".join(lines)


def spent(action: Action, contract: ContractSpec) -> str:
    """Why an action that has not happened is not tried again, as the end of a sentence."""
    retry = contract.retry
    if action.state == "refused":
        return "it was refused"
    if action.state == "absent":
        if action.resends >= retry.most_resends:
            return f"it was sent again {action.resends} times and proven absent"
        return "it was proven absent, and no more keys may be used for it"
    if action.not_sent >= retry.attempts:
        return f"{retry.attempts} attempts are used up"
    return "its deadline has passed"


def _last(error: Error | None) -> str:
    return f" ({error['type']}: {error['text']})" if error else ""


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
