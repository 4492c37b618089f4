"""Records that the database refuses: told with each beat, so that `why` can say so from outside."""

from __future__ import annotations

from collections.abc import Iterable

from saga.journal.records import json_text
from saga.orchestrator.describe import bounded
from saga.orchestrator.held import Held

__all__ = ["refused_records"]

_MOST, _TEXT_LONGEST = 100, 300


def refused_records(runs: Iterable[Held]) -> str | None:
    """JSON of run id to times, text and the time of the next try; `None` if there are none."""
    refused = [run for run in runs if run.refusals and run.refusal]
    if not refused:
        return None
    return json_text(
        {
            run.run_id: {
                "times": run.refusals,
                "text": bounded(run.refusal, _TEXT_LONGEST),
                "again_at": run.again_at,
            }
            for run in refused[:_MOST]
        }
    )
