"""The client: start, show, wait, cancel, signal, report, decide, look after. For any thread.

Every answer is true when it is given: what was accepted is durable. There is no async twin; inside
a running loop only `wait` is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel

from saga.definition.names import RUN_ID_MAX, check_id
from saga.definition.saga import Saga
from saga.definition.values import read_input
from saga.errors import BadInput, NotAllowed
from saga.inquiries.payloads import ensure_payload
from saga.inquiries.runs import known_id, noticed
from saga.journal.records import PAYLOAD_LIMIT, json_size
from saga.journal.starting import start_run
from saga.machine.commands import Cancel, Decide, Park, Rejection, Report, Signal, Start
from saga.reconciliation.asking import asked
from saga.reconciliation.cases import Case
from saga.reconciliation.queue import Decision, read_case, resolve_case
from saga.reconciliation.words import checked_text, echoed, receipt_value, unix_time, who
from saga.upkeep import Upkeep
from saga.views import Run, run_view

__all__ = ["Client"]

I = TypeVar("I", bound=BaseModel)  # noqa: E741  the input, as in Saga[I]

_TENANT_LONGEST = 64


class Client(Upkeep):
    """A view of one database: `url`, else `SAGA_DATABASE_URL`, else `sqlite:///saga.db`.

    Constructing it reads the environment and touches no file. Only `start` makes a database; every
    other method raises `DatabaseError` where there is none. The questions are those of `Reader`.
    """

    def start(
        self,
        saga: Saga[I],
        input: I | Mapping[str, Any],  # noqa: A002  the word of the surface
        *,
        run_id: str,
        tenant: str = "",
        actor: str | None = None,
    ) -> Run:
        """Start a run of `saga` under an id of your own choice. `actor` (the user of this process
        by default) is on record, and approves none of its steps.

        The same id with the same saga, version and input gives the run that is there, so a caller
        that does not know whether it started one asks again. Raises `BadInput` (nothing is created)
        and `Conflict` (the id, or this version of the saga, means something else here).
        """
        if not isinstance(saga, Saga):
            remedy = "give the Saga itself; who has only its name finds it in App.sagas"
            raise BadInput(f"the saga is {type(saga).__name__}", remedy=remedy)
        check_id("run id", run_id, RUN_ID_MAX)
        if tenant:
            check_id("tenant", tenant, _TENANT_LONGEST)
        plain = read_input(saga, input)
        size = json_size(plain)
        if size > PAYLOAD_LIMIT:
            raise BadInput(
                f"the input of {saga.name!r} has {size} bytes; the limit is {PAYLOAD_LIMIT}",
                remedy="store it elsewhere and pass a reference to it",
            )
        by = who(actor)
        command = Start(at=0.0, run_id=run_id, instance="", tenant=tenant, input=plain, actor=by)
        database = self._source.database(create=True)
        history, already = start_run(database, saga.machine_spec, saga.stored_text, command)
        run = run_view(history)
        if already:
            how = run.outcome or run.phase
            at = run.started_at.isoformat(timespec="seconds")
            run = run_view(history, f"already started at {at}, {how}; use another run id")
        return noticed(self._source, run)

    def cancel(self, run_id: str, *, reason: str, actor: str | None = None) -> Run:
        """Have a run undone. Recorded when this returns; calls in flight are settled first.

        A run that is winding down is returned unchanged. Raises `NotAllowed` once it has ended, or
        once a pivot has happened.
        """
        checked_text("reason", reason)
        by = who(actor)
        return asked(
            self._source,
            known_id(run_id),
            lambda at: Cancel(at=at, reason=reason, actor=by),
            unchanged=Rejection.WINDING_DOWN,
        )

    def park(self, run_id: str, *, reason: str, actor: str | None = None) -> Run:
        """Let others have the turn of an exclusive run while it waits for a person.

        Once its last case is closed it stands in line again, by when it was started. Probes and
        all undos go on. A run that is parked is returned unchanged. Raises `NotAllowed` unless it
        has the turn, an open case and nothing in flight.
        """
        checked_text("reason", reason)
        by = who(actor)
        return asked(
            self._source,
            known_id(run_id),
            lambda at: Park(at=at, reason=reason, actor=by),
            unchanged=Rejection.NOTHING_NEW,
        )

    def signal(
        self,
        run_id: str,
        wait: str,
        payload: Any = None,
        *,
        message_id: str,
        actor: str | None = None,
    ) -> Run:
        """Bring what a `Wait` waits for: an instance of its model, or a dict that fits it.

        `message_id` is the sender's: the same message is taken once, however often it comes. One
        that comes before its wait begins is kept. Raises `NotAllowed` for a wait that the run does
        not have or that is over, and once the run has ended or is being undone; `Conflict` for a
        known message with another payload; `BadInput` for one that does not fit its model.
        """
        message = check_id("message id", message_id, RUN_ID_MAX)
        plain, by = receipt_value({} if payload is None else payload, "payload"), who(actor)
        run = known_id(run_id)
        keys, specs = self._source.keys, self._source.specs()
        self._source.read(lambda c: ensure_payload(c, keys, specs, run, wait, plain))
        return asked(
            self._source,
            run,
            lambda at: Signal(at=at, wait=wait, message=message, payload=plain, actor=by),
            unchanged=Rejection.NOTHING_NEW,
        )

    def approve(
        self,
        run_id: str,
        step: str,
        *,
        version: int,
        digest: str,
        reason: str = "",
        actor: str | None = None,
    ) -> Run:
        """Approve the action of a step, exactly as `approvals` has shown it.

        Raises `Conflict` if something else was shown, `NotAllowed` if it has expired, is used up
        or decided, or if this person may not approve it. What comes too late is on record.
        """
        return self._decide(run_id, step, (version, digest), reason, actor, approve=True)

    def refuse(
        self,
        run_id: str,
        step: str,
        *,
        version: int,
        digest: str,
        reason: str,
        actor: str | None = None,
    ) -> Run:
        """Refuse the action of a step: it counts as refused and is not asked for again."""
        checked_text("reason", reason)
        return self._decide(run_id, step, (version, digest), reason, actor, approve=False)

    def _decide(
        self,
        run_id: str,
        step: str,
        shown: tuple[int, str],
        reason: str,
        actor: str | None,
        *,
        approve: bool,
    ) -> Run:
        by, (version, digest) = who(actor), shown
        why = reason and checked_text("reason", reason)
        return asked(
            self._source,
            known_id(run_id),
            lambda at: Decide(
                at=at,
                step=step,
                approve=approve,
                version=version,
                digest=digest,
                actor=by,
                reason=why,
            ),
            unchanged=Rejection.NOTHING_NEW,
        )

    def report(self, run_id: str, key: str, *, digest: str, attempt: int, receipt: Any) -> Run:
        """Bring proof that an action happened: from a webhook, or a process that lost its run.

        `key` and `digest` are the call's. Raises `NotAllowed` for an action that the run does not
        have, `Conflict` if the digest, or what the receipt echoes, is not the intended one.
        """
        if type(attempt) is not int or attempt < 0:
            raise BadInput("the attempt is no whole number from 0 on", remedy="give call.attempt")
        plain = receipt_value(receipt)
        echoed(plain, key, digest)
        return asked(
            self._source,
            known_id(run_id),
            lambda at: Report(at=at, key=key, digest=digest, attempt=attempt, receipt=plain),
            unchanged=Rejection.NOTHING_NEW,
        )

    def resolve(
        self,
        case_id: str,
        verdict: str,
        *,
        reason: str,
        actor: str | None = None,
        case_version: int | None = None,
        receipt: Any = None,
        evidence: str | None = None,
        looked_at: datetime | float | str | None = None,
    ) -> Case:
        """Decide a case. `reason` says why, `actor` who (the user of this process by default).

        `case_version` is the version that was read, `looked_at` when you looked at the provider;
        both may be left out only if this client has read the case. `receipt` (a model or its dict)
        goes with `landed`, `evidence` with `undone`. Raises `UnknownCase`, `Conflict` (closed, or
        changed since), `NotAllowed` (too early, not looked, not possible here).
        """
        version, looked = self._read_cases.get(case_id, (None, None))
        version = version if case_version is None else case_version
        looked = looked if looked_at is None else unix_time("looked_at", looked_at)
        if version is None or looked is None:
            self._read(lambda c: read_case(c, *self._reading(), case_id))
            raise NotAllowed(
                "not_shown",
                f"case {case_id} has not been read by this client",
                remedy="read it first, or give case_version= and looked_at=",
            )
        decision = Decision(
            verdict=verdict,
            actor=who(actor),
            reason=checked_text("reason", reason),
            case_version=version,
            looked_at=looked,
            receipt=None if receipt is None else receipt_value(receipt),
            evidence=None if evidence is None else checked_text("evidence", evidence),
        )
        return self._noted([resolve_case(self._source.database(), case_id, decision)])[0]
