"""Verbs of operation: orchestrator, health, verify, purge, pause, resume, db."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from saga.cli import codes, streams
from saga.cli.apps import load_app
from saga.cli.definitions import OptionalApp
from saga.cli.options import By, Db, Json, Reason, age, duration, span
from saga.cli.surface import Surface
from saga.errors import DatabaseError

__all__ = ["db_verbs", "verbs"]

verbs = typer.Typer()
db_verbs = typer.Typer(no_args_is_help=True)
_PANEL = "Operation"


def _time(text: str, seconds: int, *, zero: bool = False) -> Any:
    return typer.Option(
        metavar="DURATION",
        parser=span if zero else duration,
        help=f"{text} As 90s, 5m or 2h; a bare number is seconds.",
        show_default=f"{seconds}s",
    )


_SagaOption = Annotated[str | None, typer.Option("--saga", metavar="NAME", help="All of a saga.")]
_EffectOption = Annotated[
    str | None, typer.Option("--effect", metavar="NAME", help="One effect, wherever it is used.")
]
_ProviderOption = Annotated[
    str | None, typer.Option("--provider", metavar="NAME", help="All effects at a provider.")
]


@verbs.command("orchestrator", rich_help_panel=_PANEL)
def _orchestrator(
    context: typer.Context,
    *,
    app: OptionalApp = None,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when nothing is due within a minute.")
    ] = False,
    lease: Annotated[
        float, _time("Without a sign of life for so long, others take over.", 15)
    ] = 15.0,
    grace: Annotated[float, _time("What calls in flight get at the end.", 30, zero=True)] = 30.0,
    poll: Annotated[float, _time("The longest time between two looks.", 1)] = 1.0,
    threads: Annotated[
        int, typer.Option(min=1, metavar="N", help="Plain functions that run at once.")
    ] = 32,
    runs_at_once: Annotated[
        int, typer.Option(min=1, metavar="N", help="Runs in memory at once; others wait.")
    ] = 1000,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Run the sagas of an app: one process, until SIGTERM or Ctrl-C.

    It makes the database if there is none. Several of them may share one.
    At the first signal it starts nothing new and lets calls in flight finish
    within the grace time; at the second it ends at once, which is safe, too.
    Logs go to stderr, one line each.

    Examples:

      saga orchestrator order_flow.py:app
      saga orchestrator trips:app --db sqlite:////var/lib/trips.db --grace 10s
      saga orchestrator trips:app --until-idle
    """
    surface = Surface.of(context, db, as_json, app)
    loaded = load_app(surface.app_name(app))
    from saga.cli.working import work  # noqa: PLC0415  half a second

    return work(
        loaded,
        surface.db,
        lease=lease,
        grace=grace,
        poll=poll,
        threads=threads,
        runs_at_once=runs_at_once,
        until_idle=until_idle,
    )


@verbs.command("health", rich_help_panel=_PANEL)
def _health(context: typer.Context, *, db: Db = None, as_json: Json = False) -> int:
    """Say whether all can go on by itself: who is alive, what is late, damaged or stuck.

    Examples:

      saga health
      saga health --json | jq .findings

    Exit code 7: something needs somebody. Open cases and pauses alone are
    0: they have their own readers.
    """
    surface = Surface.of(context, db, as_json)
    with surface.progress("looking at everything"):
        found = surface.client().health()
    surface.answer(found, "health")
    return codes.DONE if found.ok else codes.FOUND


@verbs.command("verify", rich_help_panel=_PANEL)
def _verify(
    context: typer.Context,
    *,
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="Only this run; else all.", show_default=False),
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Verify every stored byte: seals, sequences, and each column against its journal.

    Examples:

      saga verify
      saga verify order-1 --json

    Exit code 7: something was altered. Nothing is repaired.
    """
    surface = Surface.of(context, db, as_json)
    with surface.progress("verifying") as say:
        found = surface.client().verify(
            run, progress=lambda done, total: say(f"verifying: {done} of {total} runs")
        )
    surface.answer(found, "verify")
    return codes.DONE if found.ok else codes.FOUND


@verbs.command("purge", rich_help_panel=_PANEL)
def _purge(
    context: typer.Context,
    *,
    older_than: Annotated[
        float,
        typer.Option(metavar="AGE", parser=age, help="How long ago it ended: 30d, 12h, 90m."),
    ],
    saga: Annotated[
        str | None, typer.Option("--saga", metavar="NAME", help="Only runs of this saga.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go; change nothing.")
    ] = False,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Remove runs that ended long ago; of each a tombstone stays for good.

    Kept is what is still needed: runs with an open case, runs that are
    watched for a straggler, runs whose key a provider may still honour, and
    what is damaged. A tombstone holds the id of the run, how it ended and its
    idempotency keys: nobody can start that id again, and `saga show` says
    that it was purged. It cannot be taken back: make a backup first.

    A few runs at a time, beside everything else. Ctrl-C ends it at once: what
    is gone is gone as a whole, and the same command goes on.

    Examples:

      saga purge --older-than 30d --dry-run
      saga purge --older-than 30d
      saga purge --older-than 90d --saga order-flow --json
    """
    surface, gone = Surface.of(context, db, as_json), 0
    client = surface.client()
    try:
        with surface.progress("purging") as say:

            def at(done: int, total: int, went: int) -> None:
                nonlocal gone
                gone = went
                say(f"purging: {done} of {total} runs looked at, {went} went")

            found = client.purge(older_than, saga=saga, dry_run=dry_run, progress=at)
    except KeyboardInterrupt:
        if not dry_run:
            streams.write_error(f"interrupted; {gone} runs or more went, each as a whole\n")
        raise
    surface.answer(found, "purge")
    return codes.DONE


@verbs.command("pause", rich_help_panel=_PANEL)
def _pause(
    context: typer.Context,
    *,
    reason: Reason,
    saga: _SagaOption = None,
    effect: _EffectOption = None,
    provider: _ProviderOption = None,
    by: By = None,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Make no new forward call of a saga, an effect or a provider; probes and undos go on.

    Examples:

      saga pause --provider shop --reason 'they move house tonight'
      saga pause --effect payments.charge --reason 'double charges?'
    """
    surface = Surface.of(context, db, as_json)
    client = surface.client()
    surface.answer(client.pause(saga, effect, provider, reason=reason, actor=by), "pause")
    return codes.DONE


@verbs.command("resume", rich_help_panel=_PANEL)
def _resume(
    context: typer.Context,
    *,
    saga: _SagaOption = None,
    effect: _EffectOption = None,
    provider: _ProviderOption = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why.", show_default=False)] = "",
    by: By = None,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """End a pause.

    Examples:

      saga resume --provider shop --reason 'they are back'
    """
    surface = Surface.of(context, db, as_json)
    client = surface.client()
    surface.answer(client.resume(saga, effect, provider, reason=reason, actor=by), "resume")
    return codes.DONE


@db_verbs.command("check")
def _check_schema(context: typer.Context, *, db: Db = None, as_json: Json = False) -> int:
    """Compare the schema of the database with what this version of saga needs.

    Examples:

      saga db check
      saga db check --db sqlite:////var/lib/trips.db

    Exit code 6: there is none, or it cannot be read; 7: it needs something.
    """
    from saga.journal.schema import check  # noqa: PLC0415  half a second
    from saga.settings import Settings  # noqa: PLC0415

    surface, settings = Surface.of(context, db, as_json), Settings()
    found = check(surface.db or settings.database_url, settings.keyring())
    nothing = found.found is None and not found.ok  # none is there, or none that can be read
    if surface.as_json or not nothing:
        surface.answer(found, "schema")
    if nothing:
        raise DatabaseError(found.problems[0], remedy=found.remedy)
    return codes.DONE if found.ok else codes.FOUND


@db_verbs.command("upgrade")
def _upgrade_schema(context: typer.Context, *, db: Db = None, as_json: Json = False) -> int:
    """Bring the schema of the database to what this version of saga needs.

    Stop the orchestrators and make a copy of the database first. A killed
    upgrade has changed nothing. In PostgreSQL it also makes the schema.

    Examples:

      saga db upgrade
      saga db upgrade --db postgresql://saga@db.internal/sagas
    """
    from saga.journal.schema import upgrade  # noqa: PLC0415  half a second
    from saga.settings import Settings  # noqa: PLC0415

    surface, settings = Surface.of(context, db, as_json), Settings()
    with surface.progress("upgrading"):
        before, after = upgrade(surface.db or settings.database_url, settings.keyring())
    surface.answer({"before": before, "after": after, "changed": before != after}, "upgrade")
    return codes.DONE
