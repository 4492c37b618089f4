"""Verbs about definitions: check, draw. They open no database."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from saga.cli import codes
from saga.cli.apps import load_app, named_saga
from saga.cli.options import AppName, Db, Json, SagaName
from saga.cli.surface import Surface, plain
from saga.definition.advice import warnings

__all__ = ["OptionalApp", "verbs"]

verbs = typer.Typer()
_PANEL = "Definitions"

OptionalApp = Annotated[
    str | None,
    typer.Argument(
        metavar="APP",
        help="module:name or file.py:name; else SAGA_APP.",
        show_default=False,
    ),
]


@verbs.command("check", rich_help_panel=_PANEL)
def _check(
    context: typer.Context, *, app: OptionalApp = None, db: Db = None, as_json: Json = False
) -> int:
    """Check an app: errors of its definition, and warnings of what will cost a person's time.

    Examples:

      saga check order_flow.py:app
      SAGA_APP=order_flow.py:app saga check --json

    Exit code 7: the definition is wrong. Warnings alone are 0.
    """
    surface = Surface.of(context, db, as_json, app)
    name = surface.app_name(app)
    found: dict[str, Any] = {
        "app": name,
        "sagas": [
            {
                "name": saga.name,
                "version": saga.version,
                "digest": saga.digest(),
                "steps": [step.name for step in saga.steps],
                "warnings": plain(warnings(saga)),
            }
            for saga in load_app(name).sagas
        ],
    }
    surface.answer(found, "check")
    return codes.DONE


@verbs.command("draw", rich_help_panel=_PANEL)
def _draw(
    context: typer.Context, *, app: AppName, saga: SagaName, db: Db = None, as_json: Json = False
) -> int:
    """Draw a saga as Mermaid text: the way forward solid, the way back dotted.

    Examples:

      saga draw order_flow.py:app order-flow > order_flow.mmd
    """
    surface = Surface.of(context, db, as_json, app)
    definition = named_saga(load_app(app), saga)
    found = {
        "saga": definition.name,
        "version": definition.version,
        "mermaid": definition.draw(),
    }
    surface.answer(found, "draw")
    return codes.DONE
