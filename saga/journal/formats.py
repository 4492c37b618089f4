"""Records of earlier formats, as the present one has them.

Their text and their seals stay what they were; only what is read from them is completed. A field
that an event has got since is given the value that says what was true then, never a permission.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

__all__ = ["FORMAT", "completed"]

FORMAT = 2

_Added: TypeAlias = Mapping[str, Callable[[Mapping[str, Any], float], Any]]

# Format 2: what an event of format 1, recorded at a time, says about each new field.
_SINCE_1: Mapping[str, _Added] = {
    "started": {"resource": lambda _, __: None},
    "intended": {"replaces": lambda _, __: None},
    "refused": {"due": lambda _, at: at},
    "unknown": {
        "interrupted": lambda event, _: "crash" if _is_lost(event) else "",
        "repeats": lambda _, __: False,
    },
    "probed": {"spent": lambda event, _: not event.get("counted")},
    "absent": {"watch": lambda _, __: None},
    "undone": {"watch": lambda _, __: None},
    "winding_down": {"reason": lambda _, __: ""},
}


def _is_lost(event: Mapping[str, Any]) -> bool:
    error = event.get("error")
    return isinstance(error, dict) and error.get("type") == "OwnerLost"


def completed(
    event: dict[str, Any], names: tuple[str, ...], written: int, at: float
) -> dict[str, Any]:
    """An event of format `written`, with the fields `names` of today in their order.

    What has other fields than it had then is given back as it is: it is damage.
    """
    added = _SINCE_1.get(event["kind"], {})
    then = tuple(name for name in names if name not in added)
    if written >= FORMAT or not added or tuple(event) != then:
        return event
    return {name: added[name](event, at) if name in added else event[name] for name in names}
