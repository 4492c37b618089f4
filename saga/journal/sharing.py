"""How a claim shares its room, once more runs are due than it has room for.

By due order alone a backlog would be served to its end before anything that is due later. So runs
that nobody has are looked at by *party*: those of one definition for one tenant. The parties are a
circle, and a process remembers where in it it is. Each claim goes on from there and gives every
party that has something due the same share of its room, oldest first. What is then left of the room
goes by due order.

A claim looks at so many parties and no more, however many there are, how much they have waiting
and how many of their runs sleep: each is found by one step down an index. Where there is room for
all that is due nothing of this is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from saga.journal.projection import Row
from saga.journal.statements import Nameable, OneOf, Question, listed
from saga.journal.tables import definitions, runs

__all__ = ["Circle", "sharing"]

# In the text of the statement, so that a plan which is kept knows them.
_NONE, _ONE, _LOOKED = (sa.literal_column(f"{number}", sa.Integer) for number in (0, 1, 100))
_NOW: sa.BindParameter[float] = sa.bindparam("now")
_LIMIT: sa.BindParameter[int] = sa.bindparam("limit", type_=sa.Integer)
_AFTER: tuple[sa.BindParameter[str], ...] = (
    sa.bindparam("after_definition"),
    sa.bindparam("after_tenant"),
)


@dataclass(slots=True)
class Circle:
    """Where in the circle a process is: behind the party that it has looked at last.

    `crowded`: its last claim was full, so there may be more than it has room for.
    """

    crowded: bool = False
    definition: str = ""
    tenant: str = ""
    turns_first: bool = False

    @property
    def place(self) -> dict[str, str]:
        """Where the next claim begins, as the question is given it."""
        return {"after_definition": self.definition, "after_tenant": self.tenant}

    def served(
        self, in_turn: Sequence[Row], shares: Sequence[Row] = (), *, due: Sequence[Row], room: int
    ) -> list[Row]:
        """The runs that nobody has, those first that there is room for.

        Runs whose turn it is leave half of the room to the others. `shares`: the rows of
        `sharing`; the next claim goes on behind those that there is room for, or nothing to take.
        """
        self.turns_first = not self.turns_first  # or of a single place the others had no half
        most = (room + self.turns_first) // 2 if shares else room
        rows = {row[0]: row for row in in_turn[:most]}
        for definition, tenant, run_id in shares:
            if run_id is not None:
                if len(rows) >= room:
                    break
                rows[run_id] = (run_id, None)
            self.definition, self.tenant = definition, tenant
        for row in (*in_turn, *due):
            rows.setdefault(row[0], row)
        return list(rows.values())


def sharing(heads: sa.Select[Any]) -> Question:
    """The shares of the next parties; `heads` are those that may be claimed, whoever has them.

    A row has a party and one of its runs; a party of which there is nothing to take has one row.
    """
    party, run = _parties(), runs.alias("run")
    due_parties = sa.select(sa.func.max(party.c.due_parties)).scalar_subquery()
    share = sa.func.coalesce(_LIMIT // sa.func.nullif(due_parties, _NONE, type_=sa.Integer), _ONE)
    # Some rows of the index from where the party begins. What is not of it or not due is left out
    # afterwards: asked for a party by name, PostgreSQL may take the index of due times for as good,
    # and go through all that waits of others.
    some = (
        heads.with_only_columns(runs.c.run_id, runs.c.tenant, runs.c.due_at)
        .where(_waits(runs))
        .where(runs.c.definition == party.c.definition, runs.c.tenant >= party.c.tenant)
        .where(party.c.due_at <= _NOW)
        .order_by(runs.c.tenant, runs.c.due_at)
        .limit(share)
        .correlate(party)
        .subquery("some")
    )
    theirs = (
        sa.select(some.c.run_id)
        .where(some.c.tenant == party.c.tenant, some.c.due_at <= _NOW)
        .correlate(party)
    )
    return Question(
        sa.select(party.c.definition, party.c.tenant, run.c.run_id)
        .select_from(party.outerjoin(run, OneOf(run.c.run_id, theirs)))
        .order_by(party.c.looked, run.c.due_at)
    )


def _parties() -> sa.CTE:
    """The next of the circle, until as many have something due as there is room for."""
    first = runs.alias("first")
    due = sa.case((first.c.due_at <= _NOW, _ONE), else_=_NONE)
    ours = (first.c.definition, first.c.tenant, first.c.due_at)
    party = (
        sa.select(
            *ours,
            _ONE.label("looked"),
            due.label("due_parties"),
            first.c.definition.label("began_definition"),
            first.c.tenant.label("began_tenant"),
        )
        .where(first.c.run_id == _next(*_AFTER))
        .cte("party", recursive=True)
    )
    began = (party.c.began_definition, party.c.began_tenant)
    return party.union_all(
        sa.select(*ours, party.c.looked + _ONE, party.c.due_parties + due, *began)
        .select_from(party.join(first, first.c.run_id == _next(party.c.definition, party.c.tenant)))
        .where(
            party.c.looked < _LOOKED,
            party.c.due_parties < _LIMIT,
            sa.or_(first.c.definition != began[0], first.c.tenant != began[1]),  # all the way round
        )
    )


def _next(definition: Any, tenant: Any) -> sa.ColumnElement[str]:
    """The oldest run of the party behind this one, by definition and tenant, and round again."""
    behind = runs.alias("behind")
    same = _oldest(behind, behind.c.definition == definition, behind.c.tenant > tenant)
    digest = definitions.c.digest
    return sa.func.coalesce(same, _begin(digest > definition), _begin(digest <= definition))


def _begin(which: sa.ColumnElement[bool]) -> sa.ScalarSelect[str]:
    """The oldest run of the first party of the first definition of ours that has one."""
    waiting, digest = runs.alias("waiting"), definitions.c.digest
    oldest = _oldest(waiting, waiting.c.definition == digest)
    # Not by EXISTS: PostgreSQL would join it, and go through all that waits.
    ours = sa.select(oldest).where(digest.in_(listed("digests")), which, oldest.is_not(None))
    return ours.order_by(digest).limit(_ONE).scalar_subquery()


def _oldest(run: sa.FromClause, *which: sa.ColumnElement[bool]) -> sa.ScalarSelect[str]:
    """The first of these by tenant and due time."""
    # An altered tenant may be such that no statement can name it; then it has no share.
    found = sa.select(run.c.run_id).where(_waits(run), Nameable(run.c.tenant), *which)
    return found.order_by(run.c.tenant, run.c.due_at).limit(_ONE).scalar_subquery()


def _waits(run: sa.FromClause) -> sa.ColumnElement[bool]:
    """What the index of parties has."""
    return sa.and_(run.c.owner.is_(None), run.c.due_at.is_not(None), run.c.quarantined_at.is_(None))
