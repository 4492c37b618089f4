"""Records of earlier formats, as the present one has them.

Their text and their seals stay what they were; only what is read from them is completed. A field
that an event has got since is given the value that says what was true then, never a permission.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

__all__ = ["FORMAT", "completed"]

FORMAT = 4

_Added: TypeAlias = Mapping[str, Callable[[Mapping[str, Any], float], Any]]

# What an event that was recorded at a time says about each field that is new in the next format.
_SINCE_1: Mapping[str, _Added] = {
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
_SINCE_2: Mapping[str, _Added] = {"started": {"resource": lambda _, __: None}}
_SINCE_3: Mapping[str, _Added] = {"winding_down": {"actor": lambda _, __: None}}
_SINCE = {1: _SINCE_1, 2: _SINCE_2, 3: _SINCE_3}


def _is_lost(event: Mapping[str, Any]) -> bool:
    error = event.get("error")
    return isinstance(error, dict) and error.get("type") == "OwnerLost"


def completed(
    event: dict[str, Any], names: tuple[str, ...], written: int, at: float
) -> dict[str, Any]:
    """An event of format `written`, with the fields `names` of today in their order.

    What has other fields than it had then is given back as it is: it is damage.
    """
    if written >= FORMAT:
        return event
    added: dict[str, Callable[[Mapping[str, Any], float], Any]] = {}
    for number in range(written, FORMAT):
        added |= _SINCE[number].get(event["kind"], {})
    then = tuple(name for name in names if name not in added)
    if not added or tuple(event) != then:
        return event
    return {name: added[name](event, at) if name in added else event[name] for name in names}
