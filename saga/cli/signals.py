"""The verb that brings what a run waits for."""

from __future__ import annotations

from typing import Annotated

import typer

from saga.cli import codes
from saga.cli.options import By, Db, Json, RunId, read_json
from saga.cli.surface import Surface

__all__ = ["verbs"]

verbs = typer.Typer()


@verbs.command("signal", rich_help_panel="Runs")
def _signal(
    context: typer.Context,
    *,
    run: RunId,
    wait: Annotated[str, typer.Argument(metavar="WAIT", help="The name of the wait.")],
    payload: Annotated[
        str,
        typer.Argument(metavar="[JSON|@FILE|-]", help="What it brings: JSON, a file of it, stdin."),
    ] = "{}",
    message_id: Annotated[
        str,
        typer.Option(
            "--message-id", metavar="ID", help="The sender's id: the same one is taken once."
        ),
    ],
    by: By = None,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Bring what a run waits for. It is recorded when this returns.

    A signal that comes before its wait begins is kept. The same message
    again changes nothing, so a sender that is not sure sends it again.

    Examples:

      saga signal order-1 paid '{"amount": "9.50"}' --message-id evt-4711
      saga signal order-1 paid @event.json --message-id evt-4711 --by bank

    Exit code 4: the message has brought another payload before; 5: nothing
    waits for it, or the run does not go on any more.
    """
    surface = Surface.of(context, db, as_json)
    given = read_json("payload", payload)
    client = surface.client()
    surface.answer(client.signal(run, wait, given, message_id=message_id, actor=by), "run")
    return codes.DONE
