"""Arguments and options that several verbs share, and how their texts are read."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from saga.definition.canonical import BadJson
from saga.definition.strict_json import strict_loads
from saga.errors import BadInput

__all__ = [
    "AppName",
    "By",
    "CaseId",
    "Db",
    "Json",
    "Reason",
    "RunId",
    "SagaName",
    "age",
    "duration",
    "read_json",
    "read_text",
    "span",
]

_DURATION = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(s|m|h)?", re.ASCII)
_DAYS = re.compile(r"([0-9]{1,5})d", re.ASCII)
_UNITS = {None: 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_READ_MOST = 1024 * 1024  # bytes; far more than a record takes, spaces included


def span(text: str | float) -> float:
    """A duration that may be 0, in seconds: `2`, `0.2`, `90s`, `5m`, `2h`."""
    if isinstance(text, float):
        return text  # a default of ours
    found = _DURATION.fullmatch(text)
    if found is None:
        raise typer.BadParameter("write a duration like 2, 0.2, 90s, 5m or 2h")
    return float(found[1]) * _UNITS[found[2]]


def duration(text: str | float) -> float:
    """A duration of more than 0, in seconds."""
    if (seconds := span(text)) <= 0:
        raise typer.BadParameter("it must be more than 0")
    return seconds


def age(text: str) -> float:
    """How long ago, in seconds. With its unit: nobody who writes 30 means seconds."""
    if (days := _DAYS.fullmatch(text)) is not None:
        return float(days[1]) * 86_400
    found = _DURATION.fullmatch(text)
    if found is None or found[2] is None:
        raise typer.BadParameter("write an age with its unit, like 30d, 12h or 90m")
    return span(text)


AppName = Annotated[
    str,
    typer.Argument(
        metavar="APP",
        help="module:name or file.py:name; the current folder is importable.",
        show_default=False,
    ),
]
SagaName = Annotated[
    str, typer.Argument(metavar="SAGA", help="The name of a saga of the app, or name@version.")
]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The id of the run.")]
CaseId = Annotated[str, typer.Argument(metavar="CASE", help="The id of the case, as order-1/1.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is recorded.")]
By = Annotated[
    str | None,
    typer.Option("--by", metavar="NAME", help="Who decides.", show_default="the OS user"),
]
Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        help="The database; wins over SAGA_DATABASE_URL.",
        show_default="sqlite:///saga.db",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, alone on stdout.")]


def read_json(what: str, text: str) -> Any:
    """The value of `JSON|@FILE|-`, read strictly. Raises `BadInput`."""
    try:
        return strict_loads(_bytes(what, text))
    except BadJson as error:
        raise BadInput(
            f"the {what} is no strict JSON: {error}",
            remedy="give JSON text, @FILE, or - for stdin",
        ) from None


def read_text(what: str, text: str) -> str:
    """The text of `TEXT|@FILE|-`. Raises `BadInput`."""
    try:
        return _bytes(what, text).decode()
    except UnicodeDecodeError:
        raise BadInput(f"the {what} is not UTF-8", remedy="write it as UTF-8 text") from None


def _bytes(what: str, text: str) -> bytes:
    if text == "-":
        found = sys.stdin.buffer.read(_READ_MOST + 1)
    elif text.startswith("@"):
        found = _file(what, text[1:])
    else:
        found = os.fsencode(text)
    if len(found) > _READ_MOST:
        raise BadInput(f"the {what} has more than {_READ_MOST} bytes")
    return found


def _file(what: str, name: str) -> bytes:
    try:
        with Path(name).open("rb") as file:
            return file.read(_READ_MOST + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no path"
        raise BadInput(
            f"the {what} cannot be read from {name!a}: {why}",
            remedy=f"write the {what} to that file, or give another @FILE",
        ) from None
