"""Verbs about cases: cases, case, resolve."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from saga.cli import codes
from saga.cli.options import By, CaseId, Db, Json, Reason, read_json, read_text
from saga.cli.surface import Surface
from saga.errors import BadInput, NotAllowed

__all__ = ["verbs"]

verbs = typer.Typer()
_PANEL = "Cases"

_Verdict = Annotated[
    str,
    typer.Argument(
        metavar="VERDICT",
        help="One of those that saga case offers.",
    ),
]
_Receipt = Annotated[
    str | None,
    typer.Option("--receipt", metavar="JSON|@FILE|-", help="With landed: the provider's receipt."),
]
_Evidence = Annotated[
    str | None,
    typer.Option(
        "--evidence",
        metavar="TEXT|@FILE|-",
        help="What shows it; of raise: NAME=LIMIT.",
    ),
]
_CaseVersion = Annotated[
    int | None,
    typer.Option(
        "--case-version", metavar="N", help="The version that was shown.", show_default=False
    ),
]
_LookedAt = Annotated[
    str | None,
    typer.Option(
        "--looked-at",
        metavar="TIME",
        help="When you looked at the provider, as 2026-11-29T03:00:00+00:00.",
        show_default=False,
    ),
]


@verbs.command("cases", rich_help_panel=_PANEL)
def _list(
    context: typer.Context,
    *,
    state: Annotated[
        str, typer.Option(metavar="STATE", help="Those that are open, closed, or all.")
    ] = "open",
    db: Db = None,
    as_json: Json = False,
) -> int:
    """List what waits for a person, the oldest first.

    Examples:

      saga cases
      saga cases --state all --json
    """
    surface = Surface.of(context, db, as_json)
    with surface.progress("reading cases"):
        found = surface.client().cases(None if state == "all" else state)
    surface.answer(found, "cases")
    return codes.DONE


@verbs.command("case", rich_help_panel=_PANEL)
def _show(context: typer.Context, *, case: CaseId, db: Db = None, as_json: Json = False) -> int:
    """Show a case: what is known, each possible verdict, what follows, and the command.

    Every command carries the version of the case that was shown and the
    time of this reading, so that nobody decides on what has changed since.

    Examples:

      saga case order-1/1
      saga case order-1/1 --json | jq .verdicts
    """
    surface = Surface.of(context, db, as_json)
    surface.answer(surface.client().case(case), "case")
    return codes.DONE


@verbs.command("resolve", rich_help_panel=_PANEL)
def _resolve(
    context: typer.Context,
    *,
    case: CaseId,
    verdict: _Verdict,
    reason: Reason,
    receipt: _Receipt = None,
    evidence: _Evidence = None,
    by: By = None,
    case_version: _CaseVersion = None,
    looked_at: _LookedAt = None,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Decide a case. First look at the provider, then paste a command of `saga case`.

    Examples:

      saga resolve order-1/1 probe --reason 'ask again' \\
          --case-version 1 --looked-at 2026-11-29T03:00:00+00:00
      saga resolve order-1/1 landed --reason 'seen in their ledger' \\
          --receipt @receipt.json \\
          --case-version 1 --looked-at 2026-11-29T03:00:00+00:00

    Exit code 4: the case is closed, or has changed since; 5: too early, or
    not possible.
    """
    surface = Surface.of(context, db, as_json)
    if receipt == evidence == "-":
        raise BadInput("receipt and evidence cannot both come from stdin", remedy="use an @FILE")
    proof = None if receipt is None else read_json("receipt", receipt)
    shown_by = None if evidence is None else read_text("evidence", evidence)
    with _for_a_process(case):
        decided = surface.client().resolve(
            case,
            verdict,
            reason=reason,
            actor=by,
            case_version=case_version,
            receipt=proof,
            evidence=shown_by,
            looked_at=looked_at,
        )
    surface.answer(decided, "case")
    return codes.DONE


@contextmanager
def _for_a_process(case: str) -> Iterator[None]:
    """A process of its own has read nothing: it is told what to paste."""
    try:
        yield
    except NotAllowed as refusal:
        if refusal.rejection != "not_shown":
            raise
        raise NotAllowed(
            refusal.rejection,
            f"case {case} needs --case-version and --looked-at: what you have seen of it",
            remedy=f"paste a command of: saga case {case}",
        ) from None
