"""The one source of fresh names. Keys of actions are never fresh: they are derived."""

from __future__ import annotations

import secrets

__all__ = ["Ids"]


class Ids:
    """Random names, unique across machines. Tests pass a subclass that counts."""

    def instance(self) -> str:
        """A name for a new database: 12 characters of `[0-9a-f]`."""
        return secrets.token_hex(6)

    def orchestrator(self) -> str:
        """A name for one start of an orchestrator process."""
        return secrets.token_hex(8)
