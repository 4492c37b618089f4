"""Pausing: no new forward calls of a saga, an effect or a provider; probes and undos go on."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from saga.definition.names import NAME_MAX, check_id
from saga.definition.strict_json import strict_loads
from saga.errors import BadInput, NotAllowed
from saga.inquiries.source import Source
from saga.journal.figures import stored_definitions
from saga.journal.pauses import Pause, list_pauses, pause, resume
from saga.views import since

__all__ = ["PauseView", "one_name", "pause_view", "pause_views", "paused", "resumed"]

_log = logging.getLogger("saga")


@dataclass(frozen=True, slots=True)
class PauseView:
    """A pause. `sagas` are the stored definitions that it holds, as name@version; with none, its
    name may be a slip. `ended_by` is the command that ends it.
    """

    kind: str
    name: str
    reason: str
    actor: str | None
    at: datetime
    sagas: tuple[str, ...]
    ended_by: str


def one_name(saga: str | None, effect: str | None, provider: str | None) -> tuple[str, str]:
    """Which one of the three is meant. Raises `BadInput`."""
    given = [
        (kind, name)
        for kind, name in (("saga", saga), ("effect", effect), ("provider", provider))
        if name is not None
    ]
    if len(given) != 1:
        raise BadInput(
            f"{len(given)} of saga, effect and provider are named",
            remedy="name exactly one, as --provider shop",
        )
    kind, name = given[0]
    if "@" in name:
        remedy = f"leave the version off: --{kind} {name.partition('@')[0]}"
        raise BadInput(f"a pause holds every version, not {name!a}", remedy=remedy)
    return kind, check_id(f"{kind} name", name, NAME_MAX)


def pause_view(connection: Any, row: Pause) -> PauseView:
    """A pause with the sagas that it holds."""
    return PauseView(
        kind=row.kind,
        name=row.name,
        reason=row.reason,
        actor=row.actor,
        at=since(row.at),
        sagas=tuple(
            f"{saga}@{version}"
            for saga, version, spec in stored_definitions(connection)
            if (row.kind, row.name) in _names(spec)
        ),
        ended_by=f"saga resume --{row.kind} {row.name}",
    )


def pause_views(connection: Any) -> list[PauseView]:
    """All pauses, oldest first."""
    return [pause_view(connection, row) for row in list_pauses(connection)]


def paused(source: Source, kind: str, name: str, reason: str, actor: str) -> PauseView:
    """Pause; the first reason stands if it was paused already."""

    def work(connection: Any) -> PauseView:
        pause(connection, Pause(kind, name, reason, actor, source.now()))
        rows = list_pauses(connection)
        (row,) = [row for row in rows if (row.kind, row.name) == (kind, name)]
        return pause_view(connection, row)

    return source.database().write(work)


def resumed(source: Source, kind: str, name: str, reason: str, actor: str) -> PauseView:
    """End a pause and give it as it was. Raises `NotAllowed` if there is none of that name.

    A pause is no part of any run, so who ended it and why is in the log only.
    """

    def work(connection: Any) -> PauseView:
        rows = list_pauses(connection)
        for row in rows:
            if (row.kind, row.name) == (kind, name):
                resume(connection, kind, name)
                return pause_view(connection, row)
        there = ", ".join(f"{row.kind} {row.name}" for row in rows)
        raise NotAllowed(
            "not_paused", f"{kind} {name} is not paused", remedy=f"paused: {there or 'nothing'}"
        )

    ended = source.database().write(work)
    _log.info("%s %s resumed by %s: %s", kind, name, actor, reason or "no reason given")
    return ended


def _names(text: str) -> set[tuple[str, str]]:
    """What a pause may name of a stored definition; nothing, where that is damaged."""
    try:
        spec = strict_loads(text)
        names = {("saga", spec["saga"])}
        for step in spec["steps"]:
            names.add(("effect", step["effect"]["name"]))
            names.add(("provider", step["effect"]["provider"]["name"]))
    except (ValueError, LookupError, TypeError):
        return set()
    return names
