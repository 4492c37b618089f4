"""Verbs about runs: start, runs, show, why, wait, cancel."""

from __future__ import annotations

from shlex import join
from typing import TYPE_CHECKING, Annotated

import typer

from saga.cli import codes, failures
from saga.cli.apps import load_app, named_saga
from saga.cli.options import AppName, By, Db, Json, Reason, RunId, SagaName, read_json, span
from saga.cli.surface import Surface
from saga.errors import BadInput

if TYPE_CHECKING:
    from saga.views import Run

__all__ = ["verbs"]

verbs = typer.Typer()
_PANEL = "Runs"

_Wait = Annotated[bool, typer.Option("--wait", help="Wait until it has ended or needs a person.")]
_Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="DURATION",
        parser=span,
        help="Wait at most this long: 2, 0.2, 90s, 5m, 2h.",
        show_default=False,
    ),
]
_Input = Annotated[
    str, typer.Argument(metavar="INPUT|@FILE|-", help="The input: JSON, a file of it, or stdin.")
]


@verbs.command("start", rich_help_panel=_PANEL)
def _start(
    context: typer.Context,
    *,
    app: AppName,
    saga: SagaName,
    run_id: Annotated[
        str, typer.Argument(metavar="RUN_ID", help="An id of your choice, once for each purpose.")
    ],
    input_: _Input,
    by: By = None,
    wait_: _Wait = False,
    timeout: _Timeout = None,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Start a run; an orchestrator moves it.

    The same id, saga and input again gives the run that is there, so a
    script that does not know whether it came through simply asks again.

    Examples:

      saga start order_flow.py:app order-flow order-1 @order.json
      saga start trips:app trip t1 '{"city": "Rome"}' --wait --timeout 90s
      jq .order big.json | saga start order_flow.py:app order-flow order-2 -

    With --wait: exit code 0 completed, 8 ended otherwise, 9 waits for a
    person, 10 timed out.
    """
    surface = Surface.of(context, db, as_json, app)
    if timeout is not None and not wait_:
        raise BadInput("--timeout is given without --wait", remedy="add --wait")
    definition = named_saga(load_app(app), saga)
    value = read_json("input", input_)
    if not isinstance(value, dict):
        raise BadInput("the input is no JSON object", remedy='write it like {"id": "order-1"}')
    client = surface.client()
    run = client.start(definition, value, run_id=run_id, actor=by)
    if not wait_:
        surface.answer(run, "run")
        return codes.DONE
    surface.note(run.notice)
    return _waited(surface, run_id, timeout)


@verbs.command("runs", rich_help_panel=_PANEL)
def _list(
    context: typer.Context,
    *,
    phase: Annotated[
        str | None,
        typer.Option(metavar="PHASE", help="Only running, compensating or ended ones."),
    ] = None,
    saga: Annotated[str | None, typer.Option(metavar="SAGA", help="Only those of a saga.")] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="At most this many.")] = 100,
    after: Annotated[
        str | None, typer.Option(metavar="RUN", help="From the id after this one on.")
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """List runs in the order of their ids.

    Examples:

      saga runs
      saga runs --phase compensating --json
      saga runs --limit 50 --after order-0050
    """
    surface = Surface.of(context, db, as_json)
    with surface.progress("reading runs"):
        found = surface.client().runs(phase=phase, saga=saga, limit=limit, after=after)
    surface.answer(found, "runs")
    if len(found) == limit:
        words = [f"--{name}={value}" for name, value in (("phase", phase), ("saga", saga)) if value]
        more = ["saga", "runs", *words, "--limit", str(limit), "--after", found[-1].id]
        surface.note(f"There may be more: {join(more)}")
    return codes.DONE


@verbs.command("show", rich_help_panel=_PANEL)
def _show(context: typer.Context, *, run: RunId, db: Db = None, as_json: Json = False) -> int:
    """Show a run: its steps, their undos, keys, receipts and errors.

    Examples:

      saga show order-1
      saga show order-1 --json | jq .outcome
    """
    surface = Surface.of(context, db, as_json)
    surface.answer(surface.client().show(run), "run")
    return codes.DONE


@verbs.command("why", rich_help_panel=_PANEL)
def _why(context: typer.Context, *, run: RunId, db: Db = None, as_json: Json = False) -> int:
    """Say why a run stands where it stands, and what would free it.

    The rule, its evidence, the next wake-up; also whether a live
    orchestrator runs its saga.

    Examples:

      saga why order-1
      saga why order-1 --json | jq -r .freed_by
    """
    surface = Surface.of(context, db, as_json)
    surface.answer(surface.client().why(run), "why")
    return codes.DONE


@verbs.command("journal", rich_help_panel=_PANEL)
def _journal(context: typer.Context, *, run: RunId, db: Db = None, as_json: Json = False) -> int:
    """Show all that happened to a run, record by record.

    Examples:

      saga journal order-1
      saga journal order-1 --json | jq '.[].events[].kind'
    """
    surface = Surface.of(context, db, as_json)
    surface.answer(surface.client().journal(run), "journal")
    return codes.DONE


@verbs.command("wait", rich_help_panel=_PANEL)
def _wait(
    context: typer.Context,
    *,
    run: RunId,
    timeout: _Timeout = None,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Wait until a run has ended or needs a person.

    Examples:

      saga wait order-1
      saga wait order-1 --timeout 5m && ship-the-mail

    Exit code 0 completed, 8 ended otherwise, 9 waits for a person, 10 timed
    out.
    """
    surface = Surface.of(context, db, as_json)
    surface.note(surface.client().show(run).notice)
    return _waited(surface, run, timeout)


@verbs.command("cancel", rich_help_panel=_PANEL)
def _cancel(
    context: typer.Context,
    *,
    run: RunId,
    reason: Reason,
    by: By = None,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Have a run undone: what has landed is taken back in reverse order.

    It is recorded when this returns, whether or not an orchestrator is
    alive. A run that is being undone already is left as it is.

    Examples:

      saga cancel order-1 --reason 'the customer called'
      saga cancel order-1 --reason 'fraud' --by ada
    """
    surface = Surface.of(context, db, as_json)
    surface.answer(surface.client().cancel(run, reason=reason, actor=by), "run")
    return codes.DONE


@verbs.command("park", rich_help_panel=_PANEL)
def _park(
    context: typer.Context,
    *,
    run: RunId,
    reason: Reason,
    by: By = None,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Let others have the turn of an exclusive run while it waits for a person.

    Only a run with the turn, an open case and nothing in flight. Once its
    last case is closed it stands in line again, by when it was started.
    Probes and all undos go on.

    Examples:

      saga park order-1 --reason 'the bank answers on Monday'
    """
    surface = Surface.of(context, db, as_json)
    surface.answer(surface.client().park(run, reason=reason, actor=by), "run")
    return codes.DONE


def _waited(surface: Surface, run_id: str, timeout: float | None) -> int:
    client = surface.client()
    try:
        with surface.progress(f"waiting for {run_id}"):
            run = client.wait(run_id, timeout)
    except TimeoutError as error:
        surface.answer(client.show(run_id), "run")
        failures.tell(
            "TimeoutError",
            str(error),
            f"see: {surface.command('why', run_id)}",
            as_json=surface.as_json,
        )
        return codes.TIMED_OUT
    surface.answer(run, "run")
    return _ending(run)


def _ending(run: Run) -> int:
    if run.phase == "ended" and not run.damaged:  # whatever its head says of how it ended
        return codes.DONE if run.outcome == "completed" else codes.OTHERWISE
    return codes.PERSON
