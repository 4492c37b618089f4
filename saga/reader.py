"""What may be asked of a database: runs, cases, health, verification. Nothing here changes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from saga.clock import Clock
from saga.definition.tuning import Duration
from saga.errors import BadInput, SagaError
from saga.ids import Ids
from saga.inquiries.approvals import ApprovalView, list_approvals
from saga.inquiries.health import Health, health
from saga.inquiries.records import RecordView, record_views
from saga.inquiries.runs import duration, known_id, list_runs, shown, until_rest
from saga.inquiries.source import Source
from saga.inquiries.verification import Verification, verify
from saga.inquiries.why import Why, why
from saga.journal.verify import Progress
from saga.reconciliation.cases import Case
from saga.reconciliation.queue import list_cases, read_case
from saga.settings import Settings
from saga.views import Run

__all__ = ["Reader"]

T = TypeVar("T")


class Reader:
    """The questions of a `Client`. Constructing it reads the environment and touches no file."""

    def __init__(
        self, url: str | None = None, *, clock: Clock | None = None, ids: Ids | None = None
    ) -> None:
        settings = Settings()
        self._source = Source(
            url or settings.database_url, settings.keyring(), clock or Clock(), ids or Ids()
        )
        self._read_cases: dict[str, tuple[int, float]] = {}  # case: its version here, and when

    def close(self) -> None:
        """Give back the connections; the client can be used again."""
        self._source.close()

    def show(self, run_id: str) -> Run:
        """A run as it stands. Raises `UnknownRun`. One that does not verify is shown as damaged."""
        return shown(self._source, known_id(run_id))

    def runs(
        self,
        phase: str | None = None,
        saga: str | None = None,
        limit: int = 100,
        after: str | None = None,
    ) -> list[Run]:
        """Runs in the order of their ids; `after` is the last id of the page before."""
        return self._read(
            lambda connection: list_runs(
                connection, self._source, phase=phase, saga=saga, limit=limit, after=after
            )
        )

    def why(self, run_id: str) -> Why:
        """Why a run stands where it stands, and what would free it. Raises `UnknownRun`."""
        return self._read(lambda connection: why(connection, self._source, known_id(run_id)))

    def journal(self, run_id: str) -> list[RecordView]:
        """All that happened to a run, record by record. Raises `UnknownRun`."""
        keys = self._source.keys
        return self._read(lambda connection: record_views(connection, keys, known_id(run_id)))

    def wait(self, run_id: str, timeout: Duration | None = None) -> Run:
        """Wait until a run has ended, has an open case or is damaged.

        Raises `TimeoutError` and `UnknownRun`.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return until_rest(self._source, known_id(run_id), duration("timeout", timeout))
        raise SagaError(
            "wait() would block this event loop",
            remedy="use await asyncio.to_thread(client.wait, run_id)",
        )

    def cases(self, state: str | None = "open") -> list[Case]:
        """The reconciliation queue, oldest first: `open`, `closed`, or all with `None`."""
        if state not in (None, "open", "closed"):
            raise BadInput(
                f"there is no case state {state!a}", remedy="say open or closed, or ask for all"
            )
        return self._noted(self._read(lambda c: list_cases(c, *self._reading(), state)))

    def case(self, case_id: str) -> Case:
        """One case, with the verdicts that are possible. Raises `UnknownCase`."""
        (case,) = self._noted([self._read(lambda c: read_case(c, *self._reading(), case_id))])
        return case

    def approvals(self) -> list[ApprovalView]:
        """What waits for people's approval, what expires first first."""
        return self._read(lambda c: list_approvals(c, *self._reading()))

    def health(self) -> Health:
        """Who is alive, what is late, damaged, stuck, paused or waits for a person."""
        return health(self._source)

    def verify(
        self, run_id: str | None = None, *, progress: Progress | None = None
    ) -> Verification:
        """Verify every stored byte of one run, or of everything. Raises `UnknownRun`.

        `progress(done, total)` is called now and then with numbers of runs.
        """
        return verify(self._source, None if run_id is None else known_id(run_id), progress)

    def _read(self, work: Callable[[Any], T]) -> T:
        return self._source.read(work)

    def _reading(self) -> tuple[Any, Any, float]:
        return self._source.keys, self._source.specs(), self._source.now()

    def _noted(self, cases: Sequence[Case]) -> list[Case]:
        for case in cases:
            self._read_cases[case.id] = (case.version, case.read_at.timestamp())
        return list(cases)
