"""`python -m tests.protocol [NAME ...] [-v]`: search everything, or what has NAME in its name.

With `-v` the shortest history of each broken law is shown.

To learn the protocol, read in this order: `names` and `setting` (what there is), `states` and
`world` (what a history consists of), `rules` (what is allowed, with the sentences of the design),
`results`, `unwinding` and `machine` (the rules at work), `processes`, `outside` and `person` (who
acts), `laws` (what must hold), `search`. Then `bugs`, `taken_out` and `unkept`, with `-v`: a
protocol is understood by what happens without it. `alongside` compares all this with the product.

Modelled: one run of one to three steps, in a row or parallel, each with an undo; two processes that
claim, die, sleep and wake; appends on version and fence; a check before each call, a pause, the
first byte; requests that land late, are lost or doubled; replies that are lost or come too late;
providers that honour keys for a time or not, can be asked (with a lag) or not; refusals, probes,
resends, generations; cancel and deadline, reports, cases, and a person who looks and decides later.

Left out, since no rule here depends on it: back-off (a way that is open may be taken at any time),
an undo's own deadline (it only ends its attempts sooner), `InProgress` (it only delays), another
body under the same key, sync calls that go on after their time, seals, SQL, batches, several runs.
A probe is atomic. A lease is exact: it has ended when somebody else has claimed.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Sequence

from tests.protocol.configurations import HOLD
from tests.protocol.planted import BUGS
from tests.protocol.rare_paths import never_taken
from tests.protocol.search import Search
from tests.protocol.taken_out import TAKEN_OUT
from tests.protocol.trial import Trial, complaints, run_trial
from tests.protocol.unkept import UNKEPT

__all__ = ["main"]

_SECTIONS: tuple[tuple[str, Sequence[Trial]], ...] = (
    ("all laws hold", HOLD),
    ("seeded bugs", BUGS),
    ("... without the bug", [trial.without_mistake() for trial in BUGS]),
    ("rules taken out", TAKEN_OUT),
    ("... with the rule", [trial.without_mistake() for trial in TAKEN_OUT]),
    ("what cannot be kept", UNKEPT),
)


def main(arguments: Sequence[str]) -> int:
    """Exit code 0 if everything is as expected, else 1."""
    if {"-h", "--help"} & set(arguments):
        _say(__doc__ or "")
        return 0
    names = [argument for argument in arguments if not argument.startswith("-")]
    shows_histories = "-v" in arguments
    wrong, labels, states, moves = 0, set[str](), 0, 0
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        for title, trials in _SECTIONS:
            chosen = [
                trial for trial in trials if not names or any(name in trial.name for name in names)
            ]
            if chosen:
                _say(f"\n{title}")
            for trial, found in zip(chosen, pool.imap(run_trial, chosen), strict=True):
                complained = complaints(trial, found)
                _say(_line(trial, found, complained))
                if shows_histories:
                    _show(trial, found)
                wrong += bool(complained)
                states, moves = states + found.states, moves + found.transitions
                if trials is HOLD:
                    labels |= found.labels
    _say(f"\n{states} states, {moves} transitions, {wrong} not as expected")
    if not names:
        never = never_taken(labels)
        _say(f"rare paths never taken where all laws hold: {', '.join(never) or 'none'}")
        wrong += len(never)
    return 1 if wrong else 0


def _line(trial: Trial, found: Search, complained: list[str]) -> str:
    result = "all laws hold"
    if found.broken:
        result = "; ".join(f"{law} [{len(history)}]" for law, history in found.broken.items())
    verdict = "NOT AS EXPECTED: " if complained else ""
    counts = f"{found.states:7} {found.transitions:8} {found.seconds:6.1f} s"
    return f"  {trial.name:88} {counts}  {verdict}{result}"


def _show(trial: Trial, found: Search) -> None:
    if trial.why:
        _say(f'      "{trial.why}"')
    for law, history in found.broken.items():
        _say(f"      {law}")
        for label in history:
            _say(f"          {label}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
