"""Verbs about approvals: what waits for people, and their decisions."""

from __future__ import annotations

from typing import Annotated

import typer

from saga.cli import codes
from saga.cli.options import By, Db, Json, Reason, RunId
from saga.cli.surface import Surface

__all__ = ["verbs"]

verbs = typer.Typer()
_PANEL = "Approvals"

_Step = Annotated[str, typer.Argument(metavar="STEP", help="The step that asks for it.")]
_Version = Annotated[
    int, typer.Option("--version", metavar="N", help="The record that froze it, as shown.")
]
_Digest = Annotated[
    str, typer.Option("--digest", metavar="SHA256", help="The digest of it, as shown.")
]


@verbs.command("approvals", rich_help_panel=_PANEL)
def _approvals(context: typer.Context, *, db: Db = None, as_json: Json = False) -> int:
    """List what waits for an approval: what is to be sent, why, until when, and the commands.

    Examples:

      saga approvals
      saga approvals --json | jq '.[].args'
    """
    surface = Surface.of(context, db, as_json)
    with surface.progress("reading approvals"):
        found = surface.client().approvals()
    surface.answer(found, "approvals")
    return codes.DONE


@verbs.command("approve", rich_help_panel=_PANEL)
def _approve(
    context: typer.Context,
    *,
    run: RunId,
    step: _Step,
    version: _Version,
    digest: _Digest,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; optional.")] = "",
    by: By = None,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Approve exactly the action that was shown; paste a command of `saga approvals`.

    Examples:

      saga approve ticket-7 close --version 3 --digest sha256:... --by ada

    Exit code 4: something else was shown; 5: it has expired, is used up or
    decided, or you may not.
    """
    surface = Surface.of(context, db, as_json)
    decided = surface.client().approve(
        run, step, version=version, digest=digest, reason=reason, actor=by
    )
    surface.answer(decided, "run")
    return codes.DONE


@verbs.command("refuse", rich_help_panel=_PANEL)
def _refuse(
    context: typer.Context,
    *,
    run: RunId,
    step: _Step,
    version: _Version,
    digest: _Digest,
    reason: Reason,
    by: By = None,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Refuse the action that was shown: its step counts as refused, the run is undone.

    Examples:

      saga refuse ticket-7 close --version 3 --digest sha256:... \\
          --reason 'the customer still waits' --by ada
    """
    surface = Surface.of(context, db, as_json)
    decided = surface.client().refuse(
        run, step, version=version, digest=digest, reason=reason, actor=by
    )
    surface.answer(decided, "run")
    return codes.DONE
