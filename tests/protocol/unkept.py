"""What no rule can keep, each with the words of the design that name it.

A promise is worth what it does not promise. These settings must break a law: if one holds one day,
either the model has become blind or the design may promise more.
"""

from __future__ import annotations

from dataclasses import replace

from tests.protocol.setting import Budget, Setting
from tests.protocol.trial import Trial

__all__ = ["UNKEPT"]

_NO_KEYS = Setting(keys=False)
_NEITHER = Setting(keys=False, probe="none")
_ONE_STEP = Setting(steps=1, refusable=())


def _unkept(
    name: str,
    why: str,
    breaks: tuple[str, ...],
    setting: Setting,
    **budget: int,
) -> Trial:
    return Trial(
        name=name,
        setting=replace(setting, budget=Budget(**budget)),
        breaks=breaks,
        why=why,
    )


UNKEPT = (
    _unkept(
        "a sender sleeps without bound, then dies before it can report",
        "A request sent by a process that slept past `late_until` and died before it could report, "
        "is not seen.",
        ("law 3",),
        replace(_ONE_STEP, keys=False, sleeps=None),
        pause=1,
        crash=1,
    ),
    _unkept(
        "a sender sleeps without bound, and a person says absent",
        "A lease cannot stop a byte already on its way. Against a provider that neither honours "
        "keys nor can be asked, a crash around the call goes to a person.",
        ("law 3",),
        replace(_NEITHER, sleeps=None),
        pause=1,
        crash=1,
        verdict=1,
    ),
    _unkept(
        "a request is doubled on the way to a provider that ignores keys",
        "At a provider that ignores keys, a request doubled on the way (so transport retries are "
        "forbidden there) is not seen.",
        ("law 2: two effects under one key", "law 3"),
        _NO_KEYS,
        doubled=1,
    ),
    _unkept(
        "undone without a receipt while the sender sleeps; it dies before it can report",
        "`in_flight` must cover a pause between that check and the first byte.",
        ("law 3",),
        replace(_NEITHER, undo_needs_receipt=False, sleeps=2),
        pause=1,
        crash=1,
        stop=1,
    ),
    _unkept(
        "nothing is declared, and a person says absent too early",
        "Where no bound is declared the text says so, and `retry` names the risk that is accepted.",
        ("law 2: two generations of one action landed", "law 3"),
        replace(_NEITHER, declared=False),
        lost=1,
        verdict=1,
    ),
    _unkept(
        "the law says less: two generations landed, one of them late",
        "At most one landed generation per action, except one that landed after it was proven "
        "absent: that one has an undo under its own key, or a case.",
        ("law 2: two generations of one action landed",),
        replace(_ONE_STEP, keys=False, stricter=True),
        stalled=1,
        lost=1,
    ),
    _unkept(
        "the law says less: compensated, and something lands after the end",
        "... and every effect *then* known to have landed has a landed undo; what is found later "
        "is law 3's.",
        ("stricter than law 8",),
        replace(_NO_KEYS, stricter=True),
        stalled=1,
        lost=1,
        stop=1,
    ),
    _unkept(
        "the law says less: a byte leaves after the lease has ended and after send_by",
        "An owner that lost its fence passes no check before a call: version and `send_by` carry "
        "the safety. No *call* is started after `send_by`; a lease cannot stop a byte.",
        ("stricter than law 6", "stricter than section 4"),
        replace(_NO_KEYS, stricter=True, sleeps=2),
        pause=1,
    ),
)
