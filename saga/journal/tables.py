"""The tables. Their constraints repeat what the machine promises; Alembic owns their history.

Column types are those that SQLite's STRICT tables know; times are REAL unix seconds, UTC. JSON is
stored as the exact text that was written, never as a database's own JSON type, which would change
it.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

__all__ = [
    "SCHEMA",
    "actions",
    "cases",
    "definitions",
    "instance",
    "journal",
    "metadata",
    "orchestrators",
    "pauses",
    "runs",
    "sealing_keys",
    "turns",
]

SCHEMA = "0002"  # the Alembic revision that these tables are

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# On PostgreSQL: ids in the order of their bytes, whatever the locale, and integers of any size.
_text: sa.types.TypeEngine[str] = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_whole: sa.types.TypeEngine[int] = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_real: sa.types.TypeEngine[float] = sa.REAL().with_variant(sa.Double(), "postgresql")


def _table(name: str, *items: sa.schema.SchemaItem, rowid: bool = True, **more: Any) -> sa.Table:
    return sa.Table(name, metadata, *items, sqlite_strict=True, sqlite_with_rowid=rowid, **more)


def _one_of(column: str, *values: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=column)


instance = _table(
    "instance",
    sa.Column("singleton", _whole, primary_key=True, autoincrement=False),
    sa.Column("instance", _text, nullable=False),
    sa.Column("created_at", _real, nullable=False),
    sa.Column("key_id", _text, nullable=False),
    sa.Column("seal", _text, nullable=False),
    sa.CheckConstraint("singleton = 1", name="singleton"),
)

# Every key that has ever sealed something here. Who lacks one of them cannot tell damage from what
# others have written, and must not open the database.
sealing_keys = _table(
    "sealing_keys",
    sa.Column("key_id", _text, primary_key=True),
    sa.Column("added_at", _real, nullable=False),
    sa.Column("seal", _text, nullable=False),
)

definitions = _table(
    "definitions",
    sa.Column("digest", _text, primary_key=True),
    sa.Column("saga", _text, nullable=False),
    sa.Column("version", _whole, nullable=False),
    sa.Column("spec", _text, nullable=False),
    sa.Column("stored_at", _real, nullable=False),
    sa.Column("key_id", _text, nullable=False),
    sa.Column("seal", _text, nullable=False),
    sa.UniqueConstraint("saga", "version"),
    sa.CheckConstraint("version >= 1", name="version"),
)

runs = _table(
    "runs",
    sa.Column("run_id", _text, primary_key=True),
    sa.Column("tenant", _text, nullable=False),
    sa.Column("saga", _text, nullable=False),
    sa.Column("saga_version", _whole, nullable=False),
    sa.Column("definition", _text, sa.ForeignKey("definitions.digest"), nullable=False),
    sa.Column("phase", _text, nullable=False),
    sa.Column("outcome", _text),
    sa.Column("cause", _text),
    sa.Column("version", _whole, nullable=False),
    sa.Column("fence", _whole, nullable=False),
    sa.Column("owner", _text),
    sa.Column("due_at", _real),
    sa.Column("watch_until", _real),
    sa.Column("quarantined_at", _real),
    sa.Column("started_at", _real, nullable=False),
    sa.Column("ended_at", _real),
    sa.Column("key_id", _text, nullable=False),
    sa.Column("seal", _text, nullable=False),
    _one_of("phase", "running", "compensating", "ended"),
    _one_of("outcome", "completed", "compensated", "settled"),
    _one_of("cause", "refused", "attempts", "cancelled", "deadline", "person"),
    sa.CheckConstraint("version >= 1", name="version"),
    sa.CheckConstraint("fence >= 1", name="fence"),
    sa.CheckConstraint("length(run_id) BETWEEN 1 AND 128", name="run_id"),
    sa.CheckConstraint("(phase = 'ended') = (outcome IS NOT NULL)", name="ended_has_outcome"),
    sa.CheckConstraint("(phase = 'ended') = (ended_at IS NOT NULL)", name="ended_has_time"),
    sa.CheckConstraint("phase <> 'compensating' OR cause IS NOT NULL", name="undone_for_a_cause"),
    sa.CheckConstraint("phase <> 'running' OR cause IS NULL", name="running_without_cause"),
    sa.CheckConstraint("outcome <> 'compensated' OR cause IS NOT NULL", name="compensated_cause"),
    sa.CheckConstraint("quarantined_at IS NULL OR owner IS NULL", name="aside_without_owner"),
)

# What may be claimed. Owned and ended runs are in neither index, so that both stay small.
sa.Index(
    "ix_runs_claim",
    runs.c.due_at,
    sqlite_where=sa.and_(runs.c.owner.is_(None), runs.c.due_at.is_not(None)),
    postgresql_where=sa.and_(runs.c.owner.is_(None), runs.c.due_at.is_not(None)),
)
sa.Index(
    "ix_runs_owner",
    runs.c.owner,
    sqlite_where=runs.c.owner.is_not(None),
    postgresql_where=runs.c.owner.is_not(None),
)
sa.Index(
    "ix_runs_quarantined",
    runs.c.quarantined_at,
    sqlite_where=runs.c.quarantined_at.is_not(None),
    postgresql_where=runs.c.quarantined_at.is_not(None),
)

journal = _table(
    "journal",
    sa.Column("run_id", _text, primary_key=True),
    sa.Column("seq", _whole, primary_key=True),
    sa.Column("command", _text, nullable=False),
    sa.Column("at", _real, nullable=False),
    sa.Column("body", _text, nullable=False),
    sa.Column("key_id", _text, nullable=False),
    sa.Column("seal", _text, nullable=False),
    sa.CheckConstraint("seq >= 1", name="seq"),
)

actions = _table(
    "actions",
    sa.Column("key", _text, primary_key=True),
    sa.Column("run_id", _text, nullable=False),
    sa.Column("step", _text, nullable=False),
    sa.Column("item", _text),
    sa.Column("direction", _text, nullable=False),
    sa.Column("generation", _whole, nullable=False),
    sa.Column("effect", _text, nullable=False),
    sa.Column("effect_version", _whole, nullable=False),
    sa.Column("target", _text, nullable=False),
    sa.Column("digest", _text, nullable=False),
    sa.Column("state", _text, nullable=False),
    sa.Column("attempts", _whole, nullable=False),
    sa.Column("intent", _text, nullable=False),
    sa.Column("receipt", _text),
    _one_of("direction", "forward", "undo"),
    _one_of(
        "state",
        "intended",
        "sending",
        "landed",
        "refused",
        "not_sent",
        "unknown",
        "absent",
        "skipped",
        "accepted",
    ),
    sa.CheckConstraint("generation >= 1", name="generation"),
    sa.CheckConstraint("length(key) BETWEEN 1 AND 255", name="key"),
    sa.CheckConstraint("state <> 'landed' OR receipt IS NOT NULL", name="landed_has_receipt"),
    sa.CheckConstraint("attempts >= 0", name="attempts"),
    sa.CheckConstraint("state <> 'intended' OR attempts = 0", name="intended_is_unsent"),
    sa.CheckConstraint("state NOT IN ('sending', 'unknown') OR attempts >= 1", name="sent_once"),
    rowid=False,
    postgresql_with={"fillfactor": 70},  # room for a row to grow old in its own page
)
sa.Index("ix_actions_run_id", actions.c.run_id)

cases = _table(
    "cases",
    sa.Column("case_id", _text, primary_key=True),
    sa.Column("run_id", _text, nullable=False),
    sa.Column("key", _text),
    sa.Column("step", _text),
    sa.Column("item", _text),
    sa.Column("direction", _text),
    sa.Column("kind", _text, nullable=False),
    sa.Column("state", _text, nullable=False),
    sa.Column("version", _whole, nullable=False),
    sa.Column("opened_at", _real, nullable=False),
    sa.Column("closed_at", _real),
    sa.Column("verdict", _text),
    sa.Column("actor", _text),
    sa.Column("reason", _text),
    sa.Column("evidence", _text),
    sa.Column("key_id", _text),
    sa.Column("seal", _text),
    _one_of("state", "open", "closed"),
    _one_of("direction", "forward", "undo"),
    sa.CheckConstraint("version >= 1", name="version"),
    sa.CheckConstraint("(state = 'closed') = (closed_at IS NOT NULL)", name="closed_has_time"),
    sa.CheckConstraint("verdict IS NULL OR actor IS NOT NULL", name="verdict_has_actor"),
    # All other cases follow from the journal; this one has nothing but its own seal.
    sa.CheckConstraint("(kind = 'damaged') = (seal IS NOT NULL)", name="damaged_is_sealed"),
)
sa.Index("ix_cases_run_id", cases.c.run_id)
sa.Index(
    "ix_cases_open",
    cases.c.opened_at,
    cases.c.case_id,
    sqlite_where=cases.c.state == "open",
    postgresql_where=cases.c.state == "open",
)
# At most one open case per action, or per run and kind where no action is meant (law 10).
sa.Index(
    "uq_cases_one_open_per_action",
    cases.c.key,
    unique=True,
    sqlite_where=sa.and_(cases.c.state == "open", cases.c.key.is_not(None)),
    postgresql_where=sa.and_(cases.c.state == "open", cases.c.key.is_not(None)),
)
sa.Index(
    "uq_cases_one_open_per_run",
    cases.c.run_id,
    cases.c.kind,
    unique=True,
    sqlite_where=sa.and_(cases.c.state == "open", cases.c.key.is_(None)),
    postgresql_where=sa.and_(cases.c.state == "open", cases.c.key.is_(None)),
)

orchestrators = _table(
    "orchestrators",
    sa.Column("id", _text, primary_key=True),
    sa.Column("host", _text, nullable=False),
    sa.Column("pid", _whole, nullable=False),
    sa.Column("sagas", _text, nullable=False),
    sa.Column("state", _text, nullable=False),
    sa.Column("beat", _whole, nullable=False),
    sa.Column("beat_at", _real, nullable=False),
    sa.Column("lease", _real, nullable=False),
    sa.Column("stuck", _whole, nullable=False),
    sa.Column("refused", _text),
    _one_of("state", "alive", "leaving", "dead"),
)

pauses = _table(
    "pauses",
    sa.Column("kind", _text, primary_key=True),
    sa.Column("name", _text, primary_key=True),
    sa.Column("reason", _text, nullable=False),
    sa.Column("actor", _text),
    sa.Column("at", _real, nullable=False),
    _one_of("kind", "saga", "effect", "provider"),
)

# Of runs that are exclusive about something and have not ended: who has the turn, who waits for it.
turns = _table(
    "turns",
    sa.Column("run_id", _text, primary_key=True),
    sa.Column("tenant", _text, nullable=False),
    sa.Column("resource", _text, nullable=False),
    sa.Column("state", _text, nullable=False),
    sa.Column("started_at", _real, nullable=False),
    sa.Column("since", _real, nullable=False),
    _one_of("state", "waits", "holds", "parked"),
    rowid=False,
)
sa.Index(
    "uq_turns_one_holds",
    turns.c.tenant,
    turns.c.resource,
    unique=True,
    sqlite_where=turns.c.state == "holds",
    postgresql_where=turns.c.state == "holds",
)
sa.Index(
    "ix_turns_waits",
    turns.c.tenant,
    turns.c.resource,
    turns.c.started_at,
    turns.c.run_id,
    sqlite_where=turns.c.state == "waits",
    postgresql_where=turns.c.state == "waits",
)
