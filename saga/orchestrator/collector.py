"""The garbage collector of a process that does nothing but orchestrate.

Thousands of runs in memory are objects that live long, and hardly any of them is ever in a cycle.
By its defaults the collector looks through them again and again.
"""

from __future__ import annotations

import gc

__all__ = ["tune_collector"]

_THRESHOLDS = (10_000, 20, 20)


def tune_collector() -> None:
    """For the whole process, so it is for its owner to say: `saga orchestrator` does."""
    gc.freeze()  # what is loaded by now stays; it need not be looked through again and again
    gc.set_threshold(*_THRESHOLDS)
