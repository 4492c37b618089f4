"""The laws, checked against the ledger at the end of every test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saga.testing import check_laws

__all__ = ["violations"]


def violations(url: str, ledger: Sequence[dict[str, Any]]) -> list[Any]:
    """What is wrong, by law; nothing if all of them hold."""
    return list(check_laws(url, ledger))
