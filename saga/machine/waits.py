"""How long to wait before the next attempt or probe. Stored as a due time, never slept.

The exponential is tenacity's `wait_exponential`; the jitter is a hash of key and attempt, so that
replay and every other process come to the same time without a random number.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, cast

from tenacity import wait_exponential

from saga.definition.spec import RetrySpec

__all__ = ["wait_before"]


def wait_before(retry: RetrySpec, key: str, count: int) -> float:
    """Seconds to wait after the `count`-th failure (from 1 on) of what `key` names."""
    spread = int.from_bytes(sha256(f"{key}#{count}".encode()).digest()[:8], "big") / 2**64
    return _exponential(retry, count) + spread * retry.jitter


@lru_cache(maxsize=4096)
def _exponential(retry: RetrySpec, count: int) -> float:
    wait = wait_exponential(multiplier=retry.first, exp_base=retry.factor, min=0, max=retry.longest)
    return wait(cast(Any, SimpleNamespace(attempt_number=count)))
