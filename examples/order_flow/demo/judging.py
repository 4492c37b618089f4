"""Runs and ledger beside each other: every sentence that this finds is a disagreement.

Three questions to both books. Do the laws hold (`saga.testing.check_laws`)? Is each order what its
tale demands, effect by effect? Does each receipt in a journal name what the shop really has?
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from examples.order_flow.demo.stage import DATABASE, LEDGER, client_of
from examples.order_flow.demo.tales import BY_HAND, TALES, Tale
from examples.order_flow.shop import read_effects
from saga import Case, Client, Run, UnknownRun
from saga.testing import check_laws

__all__ = ["Effect", "effects_by_order", "judge"]

Effect: TypeAlias = Mapping[str, Any]
_LAW = ("key", "run_id", "step", "of_key", "at")


def judge(folder: Path) -> list[str]:
    """Compare the database with the shop's ledger; one sentence for each disagreement."""
    effects = read_effects(folder / LEDGER)
    of_runs = [{name: row[name] for name in _LAW} for row in effects if row["run_id"]]
    url = f"sqlite:///{folder / DATABASE}"
    found = [str(violation) for violation in check_laws(url, of_runs)]
    orders = effects_by_order(effects)
    client = client_of(folder)
    try:
        cases = client.cases(None)
        for tale in TALES:
            found += _tale(tale, client, orders.pop(tale.id, []), cases)
    finally:
        client.close()
    for name, rows in orders.items():
        found += [f"{row['kind']} {_id(row)} belongs to no order ({name})" for row in rows]
    return found


def effects_by_order(effects: Sequence[Effect]) -> dict[str, list[Effect]]:
    """By the shop's own books: what an effect is for, not for whom somebody said that it was."""
    made = {_id(row): row["receipt"]["order_id"] for row in effects if "order_id" in row["receipt"]}
    orders: dict[str, list[Effect]] = {}
    for row in effects:
        of = (row["receipt"].get(f"{kind}_id") for kind in ("hold", "charge", "shipment"))
        orders.setdefault(next((made[one] for one in of if one in made), "?"), []).append(row)
    return orders


def _id(row: Effect) -> str:
    return str(row["receipt"].get(f"{row['kind']}_id"))


def _tale(
    tale: Tale, client: Client, rows: Sequence[Effect], cases: Sequence[Case]
) -> Iterator[str]:
    try:
        run = client.show(tale.id)
    except UnknownRun:
        yield f"{tale.id}: there is no such run"
        return
    if run.damaged:
        yield f"{tale.id}: what is stored of the run does not verify"
    ended = (run.phase, run.outcome, run.cause)
    if ended != (wanted := ("ended", tale.outcome, tale.cause)):
        yield f"{tale.id}: the run is {_words(ended)}; it must be {_words(wanted)}"
    verdicts = tuple(case.verdict or case.state for case in cases if case.run_id == tale.id)
    if verdicts != tale.cases:
        yield f"{tale.id}: its cases are {_words(verdicts)}; they must be {_words(tale.cases)}"
    kinds = tuple(row["kind"] for row in rows)
    if kinds != tale.lands:
        yield f"{tale.id}: the ledger has {_words(kinds)}; it must have {_words(tale.lands)}"
    for row in rows:
        by = BY_HAND if not row["run_id"] else row["run_id"]
        wanted_by = BY_HAND if row["kind"] in tale.by_hand else tale.id
        if by != wanted_by:
            yield f"{tale.id}: {_id(row)} was made by {by}; it must be {wanted_by}"
    if not run.damaged:
        yield from _receipts(run, rows)


def _receipts(run: Run, rows: Sequence[Effect]) -> Iterator[str]:
    """Each receipt in the run names something that the shop has, once, and nothing is left over."""
    there = [_id(row) for row in rows]
    named: list[str] = []
    for step in run.steps:
        for what, action in ((step.name, step), (f"the undo of {step.name}", step.undo)):
            if action is None or action.state != "landed":
                continue
            proof = _proof(action.receipt)
            named.append(proof)
            if there.count(proof) != 1:
                yield f"{run.id}: {what} has the receipt {proof}, which the ledger has " + (
                    f"{there.count(proof)} times" if proof in there else "not"
                )
    yield from (
        f"{run.id}: the ledger has {one}, for which the run has no receipt"
        for one in there
        if one not in named
    )


def _proof(receipt: Any) -> str:
    """What a receipt names first, after its echo of the key."""
    names = receipt if isinstance(receipt, dict) else {}
    return next((str(names[name]) for name in names if name != "idempotency_key"), "none")


def _words(words: Sequence[str | None]) -> str:
    return ", ".join(str(word) for word in words if word is not None) or "none"
