"""One search and what is expected of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.protocol.machine import Machine
from tests.protocol.search import Search, search
from tests.protocol.setting import Setting

__all__ = ["Trial", "complaints", "run_trial"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """`breaks`: laws of which each must be found broken; without any, all laws must hold.

    `named`: laws that the design says nobody can keep in this setting; they may be broken. A law is
    named by the start of its text.
    """

    name: str
    setting: Setting
    machine: type[Machine] = Machine
    breaks: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    why: str = ""

    def without_mistake(self) -> Trial:
        """The same setting, in which all laws must hold but for the mistake of `machine`."""
        return replace(self, machine=Machine, breaks=())


def run_trial(trial: Trial) -> Search:
    """Up to the end, or until every expected violation has been found."""
    return search(trial.setting, trial.machine, until=trial.breaks)


def complaints(trial: Trial, found: Search) -> list[str]:
    """What is not as expected, each with its shortest history; empty if all is."""
    wrong = (
        []
        if found.complete or trial.breaks
        else [f"the search ended early, at {found.states} states"]
    )
    wrong += [
        f"not found: {law}"
        for law in trial.breaks
        if not any(broken.startswith(law) for broken in found.broken)
    ]
    if not trial.breaks:
        wrong += [
            "\n    ".join((law, *history))
            for law, history in found.broken.items()
            if not law.startswith(trial.named or ("-",))
        ]
    return wrong
