"""What a signal must bring: the fields and types of its model, as they are stored."""

from __future__ import annotations

from typing import Any

from saga.definition.forms import misfit
from saga.errors import BadInput, SagaError, Tampered
from saga.journal.definitions import Specs, stored_spec
from saga.journal.history import load
from saga.journal.records import NewerFormat
from saga.journal.sealing import Keyring

__all__ = ["ensure_payload"]


def ensure_payload(
    connection: Any, keys: Keyring, specs: Specs, run_id: str, wait: str, payload: Any
) -> None:
    """Raise `BadInput` for a payload that its wait cannot take, where the wait is known."""
    try:
        history = load(connection, keys, specs, run_id)
        spec = stored_spec(connection, keys, history.state.definition)
    except (NewerFormat, Tampered, SagaError, LookupError):
        return  # whoever records it says what is wrong
    for row in spec["steps"]:
        fields = row.get("wait", {}).get("signal") if row["name"] == wait else None
        # Which fields there must be is decided with the run.
        known = {name: one for name, one in payload.items() if name in (fields or ())}
        if fields and (fault := misfit(fields, known)) is not None:
            raise BadInput(f"the payload for {wait} {fault}", remedy="send what its model takes")
