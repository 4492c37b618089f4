"""The program: all verbs together, and what becomes of an error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from saga.cli import (
    approvals,
    cases,
    codes,
    definitions,
    failures,
    operation,
    runs,
    signals,
    streams,
)
from saga.cli.options import Db, Json
from saga.cli.pasting import Pasting
from saga.version import VERSION

__all__ = ["run"]

_HELP = """Sagas: outside actions that share no transaction, and their undos.

First steps:

  saga check order_flow.py:app
  saga orchestrator order_flow.py:app
  saga start order_flow.py:app order-flow order-1 @order.json --wait
  saga why order-1
  saga cases

The database is --db URL, else SAGA_DATABASE_URL, else sqlite:///saga.db.
SAGA_KEYS=id:base64,... seals what is stored; SAGA_APP stands for APP where
that is the only argument.

Exit codes: 0 done, 1 bug, 2 usage or bad input, 3 not found, 4 conflict,
5 not allowed now, 6 database or keys, 7 check, verify or health found
something, 8 ended other than completed, 9 waits for a person, 10 timed out,
130 Ctrl-C.
"""

_program = typer.Typer(
    name="saga",
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _room in (runs, signals, approvals, cases, operation, definitions):
    _program.add_typer(_room.verbs)
_program.add_typer(
    operation.db_verbs, name="db", help="Check or upgrade its schema.", rich_help_panel="Database"
)


def _version(wanted: bool) -> None:
    if wanted:
        streams.write_out(f"saga {VERSION}\n")
        raise typer.Exit


@_program.callback()
def _common(
    context: typer.Context,
    db: Db = None,
    as_json: Json = False,
    _: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    context.obj |= {"db": db, "json": as_json}


def run(argv: Sequence[str] | None) -> int:
    """Run a command line; every error becomes its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    as_json, given = "--json" in words, dict[str, Any]()
    try:
        code = _program(words, prog_name="saga", standalone_mode=False, obj=given)
    except typer.TyperException as error:
        if said := error.format_message():  # a bare `saga` has printed its help instead
            context = getattr(error, "ctx", None)
            verb = context.command_path if context is not None else "saga"
            failures.tell("UsageError", said, f"see: {verb} --help", as_json=as_json)
        return codes.USAGE
    except typer.Abort:
        return codes.INTERRUPTED
    except Exception as error:  # noqa: BLE001  the last line of defence
        return failures.told(error, Pasting(given.get("db"), None), as_json=as_json)
    return code if isinstance(code, int) else codes.DONE
