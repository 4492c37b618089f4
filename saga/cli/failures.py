"""Errors on stderr: a sentence and what to do, or one JSON object."""

from __future__ import annotations

import json
import traceback

from saga.cli import codes, streams
from saga.cli.pasting import Pasting
from saga.errors import DefinitionError, SagaError

__all__ = ["tell", "told"]

_TEXT_MOST = 4000


def told(error: BaseException, pasting: Pasting, *, as_json: bool) -> int:
    """Report an error and give its exit code."""
    code = codes.code_of(error)
    name = type(error).__name__
    if isinstance(error, SagaError):
        what = f" [{error.code}]" if isinstance(error, DefinitionError) else ""
        remedy = pasting.pasteable(error.remedy)
        tell(name, f"{error.message}{what}", remedy, as_json=as_json)
    elif code != codes.BUG or isinstance(error, streams.CannotWrite):
        tell(name, str(error), "", as_json=as_json)
    else:
        remedy = "this is a bug of saga or of your app; the traceback says where"
        tell(name, str(error), remedy, as_json=as_json)
        if not as_json:
            streams.write_error(streams.visible("".join(traceback.format_exception(error)), "\n"))
    return code


def tell(name: str, message: str, remedy: str, *, as_json: bool) -> None:
    """`{error, message, remedy}`, or the same as text."""
    message = message if len(message) <= _TEXT_MOST else message[:_TEXT_MOST] + "..."
    if as_json:
        clean = {"error": name, "message": message, "remedy": remedy}
        text = json.dumps({key: streams.encodable(value) for key, value in clean.items()})
        streams.write_error(f"{text}\n")
        return
    streams.write_error(f"error: {streams.visible(message)}\n")
    if remedy:
        streams.write_error(f"  {streams.visible(remedy)}\n")
