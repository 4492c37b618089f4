"""Who has a run: orchestrators, their beats, claims and take-overs.

One row a process start. A process that nobody has seen beat for its own lease counts as dead, and
its runs are claimed by the survivors; where the backend can tell at once that a process is gone,
they need not wait. A claim gives a higher fence and no right to act: the history is verified first.
Once more is due than there is room for, those who wait share the room (`sharing`).
Runs that somebody else is about to claim or to write to are passed over, not waited for.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

import sqlalchemy as sa

from saga.journal.backend import backend_of
from saga.journal.pauses import PAUSED
from saga.journal.sharing import Circle, sharing
from saga.journal.statements import Nameable, Question, ask_all, listed
from saga.journal.tables import actions, orchestrators, runs

__all__ = [
    "Claimed",
    "Outlook",
    "Peer",
    "beat",
    "claim",
    "declare_dead",
    "leave",
    "outlook",
    "peers",
    "register",
    "release_all",
]

_DEAD_SECONDS = 86_400.0  # how long the row of a dead process can still be looked at

_SOUND = sa.and_(
    # Not by IS NULL, or the index of parties might be taken for it, and all that waits be sorted.
    sa.func.coalesce(runs.c.quarantined_at, sa.literal_column("-1")) < sa.literal_column("0"),
    # An altered id may be such that no statement can name it. It waits for `verify`, alone.
    Nameable(runs.c.run_id),
    runs.c.run_id.not_in(listed("skip")),
)
# Which heads may be claimed by one who has these definitions.
_CAPABLE = sa.and_(runs.c.definition.in_(listed("digests")), _SOUND)
_OWNERS = sa.select(runs.c.owner).where(runs.c.owner.is_not(None)).distinct()
_ALIVE = sa.select(orchestrators.c.id).where(orchestrators.c.state != "dead")
_GONE = _OWNERS.except_(_ALIVE)  # the dead, and names that nobody has: no record vouches for them
_DUE = runs.c.due_at <= sa.bindparam("now")
_OURS = runs.c.owner == sa.bindparam("own")
_LIMIT: sa.BindParameter[int] = sa.bindparam("limit")

_LOCKED = sa.select(runs.c.run_id, runs.c.owner).with_for_update(of=runs, skip_locked=True)
_HEADS = _LOCKED.where(_CAPABLE)
_MINE = Question(_HEADS.where(_OURS, _DUE))
_MOVING = sa.or_(runs.c.phase != "ended", runs.c.due_at.is_not(None))  # or watched to its end
_OPEN = actions.c.state.in_(["sending", "unknown"])
_SETTLING = sa.or_(
    runs.c.phase != "running", sa.exists().where(actions.c.run_id == runs.c.run_id, _OPEN)
)
_LEFT_OVER = _HEADS.where(runs.c.owner.in_(_GONE), _MOVING).limit(_LIMIT)
_LEFT, _LEFT_SETTLING = Question(_LEFT_OVER), Question(_LEFT_OVER.where(_SETTLING))
_UNOWNED = _HEADS.where(runs.c.owner.is_(None))
_OLDEST = _UNOWNED.where(_DUE).order_by(runs.c.due_at).limit(_LIMIT)
_FREE, _FREE_SETTLING = Question(_OLDEST), Question(_OLDEST.where(_SETTLING))
_SHARES = sharing(_LOCKED.where(_SOUND))
_IN_TURN = Question(_UNOWNED.where(runs.c.run_id.in_(listed("names"))))
_TAKE = Question(
    runs.update()
    .values(owner=sa.bindparam("own"), fence=runs.c.fence + 1)
    .where(runs.c.run_id.in_(listed("names")))
    .returning(runs.c.run_id, runs.c.fence)
)
_MOVED = Question(sa.select(runs.c.run_id, runs.c.version).where(_OURS, _DUE))
_NEXT = Question(
    sa.select(sa.func.min(runs.c.due_at)).where(
        _CAPABLE, runs.c.owner.is_(None), runs.c.due_at.is_not(None)
    )
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A run that is ours from now on, with the fence that says so; 0: its row takes no owner."""

    run_id: str
    fence: int
    taken_over: bool


@dataclass(frozen=True, slots=True)
class Peer:
    """Another orchestrator that has not left, as its row says."""

    id: str
    pid: int
    beat: int
    lease: float


_PEERS = Question(
    sa.select(*(orchestrators.c[field.name] for field in fields(Peer))).where(
        orchestrators.c.state != "dead", orchestrators.c.id != sa.bindparam("own")
    )
)


def register(
    connection: sa.Connection, id_: str, sagas: Sequence[tuple[str, int]], lease: float, now: float
) -> None:
    """Make our row; until it is durable nothing may be claimed.

    The rows of those that are long dead go: each look would read them.
    """
    gone = orchestrators.c.state == "dead", orchestrators.c.beat_at < now - _DEAD_SECONDS
    connection.execute(orchestrators.delete().where(*gone))
    connection.execute(
        orchestrators.insert().values(
            id=id_,
            host=socket.gethostname(),
            pid=os.getpid(),
            sagas=json.dumps([f"{name}@{version}" for name, version in sagas]),
            state="alive",
            beat=1,
            beat_at=now,
            lease=lease,
            stuck=0,
        )
    )


def beat(connection: sa.Connection, id_: str, now: float, stuck: int, refused: str | None) -> bool:
    """Say that we live; False if somebody has declared us dead.

    `refused` is JSON that says which runs' records the database does not take (`None`: none).
    """
    table = orchestrators
    changed = connection.execute(
        table.update()
        .where(table.c.id == id_, table.c.state != "dead")
        .values(beat=table.c.beat + 1, beat_at=now, stuck=stuck, refused=refused)
    )
    return changed.rowcount == 1


def leave(connection: sa.Connection, id_: str) -> None:
    """Start nothing new from here on: visible to whoever asks who is alive."""
    table = orchestrators
    connection.execute(
        table.update().where(table.c.id == id_, table.c.state == "alive").values(state="leaving")
    )


def release_all(connection: sa.Connection, id_: str, now: float) -> None:
    """Give back all runs and be dead: the end of a clean shutdown."""
    table = orchestrators
    connection.execute(runs.update().where(runs.c.owner == id_).values(owner=None))
    connection.execute(table.update().where(table.c.id == id_).values(state="dead", beat_at=now))


def peers(connection: sa.Connection, own: str) -> list[Peer]:
    """The others that are not dead."""
    return [Peer(*row) for row in _PEERS.ask(connection, own=own)]


def declare_dead(connection: sa.Connection, peer: Peer) -> bool:
    """Mark a peer dead, if it has not beaten since we looked; whether it is dead now."""
    table = orchestrators
    changed = connection.execute(
        table.update()
        .where(table.c.id == peer.id, table.c.beat == peer.beat, table.c.state != "dead")
        .values(state="dead")
    )
    return changed.rowcount == 1


def claim(
    connection: sa.Connection,
    own: str,
    digests: Collection[str],
    *,
    now: float,
    limit: int,
    held: Collection[str],
    circle: Circle,
    skip: Collection[str] = (),
    turns: Collection[str] = (),
    settling: bool = False,
) -> list[Claimed]:
    """Take runs that are ours and forgotten, left over by the dead, or due.

    `digests`: the definitions that we can run; `held`: runs that we have in memory; `circle`: how
    those that nobody has share the room; `skip`: runs that we cannot run all the same; `turns`:
    runs whose turn it is, whether or not they are due; `settling`: only runs that wind down or have
    something unknown, oldest due first.
    """
    if limit <= 0:
        return []
    can = {"digests": list(digests), "skip": list(skip)}
    given = {"own": own, "now": now, "limit": limit, **can}
    asked = [
        (_MINE, given),
        (_LEFT_SETTLING if settling else _LEFT, given),
        (_FREE_SETTLING if settling else _FREE, given),
    ]
    if circle.crowded and not settling:
        asked.append((_SHARES, given | circle.place))
    mine, left, free, *shares = ask_all(connection, *asked)
    in_turn = _IN_TURN.ask(connection, names=list(turns), **can) if turns else []
    rows = [row for row in mine if row[0] not in held] + left
    rows += circle.served(in_turn, *shares, due=free, room=max(limit - len(rows), 0))
    if not settling:
        circle.crowded = len(rows) >= limit
    rows = rows[:limit]
    if not rows:
        return []
    fences = _take(connection, own, [run_id for run_id, _ in rows])
    return [Claimed(run_id, fences.get(run_id, 0), owner is not None) for run_id, owner in rows]


def _take(connection: sa.Connection, own: str, names: list[str]) -> dict[str, int]:
    """Become the owner of these; the new fences of those that we own now."""
    backend = backend_of(connection)
    try:
        with backend.attempt(connection):
            return dict(_TAKE.ask(connection, own=own, names=names))
    except backend.error as error:
        if not backend.is_violation(error):
            raise
        # A row that was altered may not even take an owner. It must not stop the others.
        if len(names) == 1:
            return {}
        one_by_one = [_take(connection, own, [name]) for name in names]
        return {name: fence for taken in one_by_one for name, fence in taken.items()}


@dataclass(frozen=True, slots=True)
class Outlook:
    """What an orchestrator needs to know besides its claims.

    `moved`: its runs that are due by the database, with their versions: others may have appended.
    `paused`: `(kind, name)` of each pause. `next_due`: the earliest due time of an unowned run that
    it can run.
    """

    moved: dict[str, int]
    paused: frozenset[tuple[str, str]]
    next_due: float | None


def outlook(
    connection: sa.Connection,
    own: str,
    digests: Collection[str],
    *,
    now: float,
    skip: Collection[str],
) -> Outlook:
    """Look at all of that in one go."""
    moved, paused, [(due,)] = ask_all(
        connection,
        (_MOVED, {"own": own, "now": now}),
        (PAUSED, {}),
        (_NEXT, {"digests": list(digests), "skip": list(skip)}),
    )
    return Outlook(
        dict(moved),
        frozenset((kind, name) for kind, name in paused),
        None if due is None else float(due),
    )
