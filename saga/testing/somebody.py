"""What others do to a run that is explored: commands of a client, at a time that is given later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from saga.machine.commands import Cancel, Command, Signal

__all__ = ["cancel", "signals"]


def cancel(at: float) -> Command:
    """A client cancels."""
    return Cancel(at=at, reason="explored", actor="explorer")


def signals(payloads: Mapping[str, Any]) -> list[Callable[[float], Command]]:
    """Every wait is brought what it waits for, or will wait for."""
    return [partial(_signal, wait, payload) for wait, payload in payloads.items()]


def _signal(wait: str, payload: Any, at: float) -> Command:
    return Signal(at=at, wait=wait, message="explored", payload=payload, actor="explorer")
