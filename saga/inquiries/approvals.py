"""Approvals as a person reads them: exactly what is to be sent, why, and until when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from saga.errors import Tampered, UnknownRun
from saga.journal import inquiry
from saga.journal.definitions import Specs
from saga.journal.history import History, load
from saga.journal.records import NewerFormat
from saga.journal.sealing import Keyring
from saga.machine.approving import open_approvals
from saga.machine.facts import Json
from saga.machine.state import step_of
from saga.views import since

__all__ = ["ApprovalView", "list_approvals"]


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """An action that waits for people. A decision names `version` and `digest` as shown here.

    `version` is the record that froze the intent, `target` the hash of its business object, `args`
    what is sent. `source`, `reference` and `observation` (a hash) name what justified it. `given`
    are those who have approved already, of `people` that are needed. Times are UTC.
    """

    run_id: str
    saga: str
    step: str
    scope: str
    effect: str
    key: str
    generation: int
    target: str
    args: Json
    version: int
    digest: str
    policy: str
    source: str
    reference: str
    observation: str
    by: tuple[str, ...]
    people: int
    given: tuple[str, ...]
    asked_at: datetime
    expires_at: datetime


def list_approvals(connection: Any, keys: Keyring, specs: Specs, now: float) -> list[ApprovalView]:
    """The approvals that are open, what expires first first."""
    found: list[ApprovalView] = []
    for run_id in inquiry.approval_runs(connection):
        try:
            history = load(connection, keys, specs, run_id)
        except (Tampered, UnknownRun, NewerFormat):
            continue  # set aside, or not ours: nothing of it can be decided here
        found += _of_run(history, now)
    return sorted(found, key=lambda one: (one.expires_at, one.run_id, one.step))


def _of_run(history: History, now: float) -> Iterator[ApprovalView]:
    state = history.state
    for action, asked in open_approvals(state):
        if asked.expires_at <= now:
            continue
        yield ApprovalView(
            run_id=state.run_id,
            saga=f"{state.saga}@{state.saga_version}",
            step=step_of(state.steps, action).name,
            scope=asked.scope,
            effect=f"{action.effect}@{action.effect_version}",
            key=action.key,
            generation=action.generation,
            target=action.target,
            args=action.args,
            version=asked.version,
            digest=action.digest,
            policy=asked.policy,
            source=asked.source,
            reference=asked.reference,
            observation=asked.observation,
            by=asked.by,
            people=asked.people,
            given=tuple(asked.given),
            asked_at=since(action.intended_at),
            expires_at=since(asked.expires_at),
        )
