"""The tables. Their constraints repeat what the machine promises; Alembic owns their history."""

from __future__ import annotations

import sqlalchemy as sa

from saga.journal.columns import ROOM, one_of, real, table, text, whole

__all__ = [
    "SCHEMA",
    "actions",
    "cases",
    "definitions",
    "instance",
    "journal",
    "orchestrators",
    "pauses",
    "runs",
    "sealing_keys",
    "tombstones",
    "turns",
]

SCHEMA = "0005"  # the Alembic revision that these tables are

instance = table(
    "instance",
    sa.Column("singleton", whole, primary_key=True, autoincrement=False),
    sa.Column("instance", text, nullable=False),
    sa.Column("created_at", real, nullable=False),
    sa.Column("key_id", text, nullable=False),
    sa.Column("seal", text, nullable=False),
    sa.CheckConstraint("singleton = 1", name="singleton"),
)

# Every key that has ever sealed something here. Who lacks one of them cannot tell damage from what
# others have written, and must not open the database.
sealing_keys = table(
    "sealing_keys",
    sa.Column("key_id", text, primary_key=True),
    sa.Column("added_at", real, nullable=False),
    sa.Column("seal", text, nullable=False),
)

definitions = table(
    "definitions",
    sa.Column("digest", text, primary_key=True),
    sa.Column("saga", text, nullable=False),
    sa.Column("version", whole, nullable=False),
    sa.Column("spec", text, nullable=False),
    sa.Column("stored_at", real, nullable=False),
    sa.Column("key_id", text, nullable=False),
    sa.Column("seal", text, nullable=False),
    sa.UniqueConstraint("saga", "version"),
    sa.CheckConstraint("version >= 1", name="version"),
)

runs = table(
    "runs",
    sa.Column("run_id", text, primary_key=True),
    sa.Column("tenant", text, nullable=False),
    sa.Column("saga", text, nullable=False),
    sa.Column("saga_version", whole, nullable=False),
    sa.Column("definition", text, sa.ForeignKey("definitions.digest"), nullable=False),
    sa.Column("phase", text, nullable=False),
    sa.Column("outcome", text),
    sa.Column("cause", text),
    sa.Column("version", whole, nullable=False),
    sa.Column("fence", whole, nullable=False),
    sa.Column("owner", text),
    sa.Column("due_at", real),
    sa.Column("watch_until", real),
    sa.Column("quarantined_at", real),
    sa.Column("started_at", real, nullable=False),
    sa.Column("ended_at", real),
    sa.Column("key_id", text, nullable=False),
    sa.Column("seal", text, nullable=False),
    one_of("phase", "running", "compensating", "ended"),
    one_of("outcome", "completed", "compensated", "settled"),
    one_of("cause", "refused", "attempts", "cancelled", "deadline", "person"),
    sa.CheckConstraint("version >= 1", name="version"),
    sa.CheckConstraint("fence >= 1", name="fence"),
    sa.CheckConstraint("length(run_id) BETWEEN 1 AND 128", name="run_id"),
    sa.CheckConstraint("(phase = 'ended') = (outcome IS NOT NULL)", name="ended_has_outcome"),
    sa.CheckConstraint("(phase = 'ended') = (ended_at IS NOT NULL)", name="ended_has_time"),
    sa.CheckConstraint("phase <> 'compensating' OR cause IS NOT NULL", name="undone_for_a_cause"),
    sa.CheckConstraint("phase <> 'running' OR cause IS NULL", name="running_without_cause"),
    sa.CheckConstraint("outcome <> 'compensated' OR cause IS NOT NULL", name="compensated_cause"),
    sa.CheckConstraint("quarantined_at IS NULL OR owner IS NULL", name="aside_without_owner"),
    # Each record leaves a dead head in the index of claims. By default they would be cleared away
    # once they are a fifth of all heads, and almost all of those have ended.
    postgresql_with={"autovacuum_vacuum_scale_factor": 0.01, **ROOM},
)

# What may be claimed, by due time and by party (`sharing`). Owned and ended runs are in none of
# these indexes, so that all stay small.
_FREE = sa.and_(runs.c.owner.is_(None), runs.c.due_at.is_not(None))
_PARTY = sa.and_(_FREE, runs.c.quarantined_at.is_(None))
sa.Index("ix_runs_claim", runs.c.due_at, sqlite_where=_FREE, postgresql_where=_FREE)
sa.Index(
    "ix_runs_party",
    runs.c.definition,
    runs.c.tenant,
    runs.c.due_at,
    sqlite_where=_PARTY,
    postgresql_where=_PARTY,
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

journal = table(
    "journal",
    sa.Column("run_id", text, primary_key=True),
    sa.Column("seq", whole, primary_key=True),
    sa.Column("command", text, nullable=False),
    sa.Column("at", real, nullable=False),
    sa.Column("body", text, nullable=False),
    sa.Column("key_id", text, nullable=False),
    sa.Column("seal", text, nullable=False),
    sa.CheckConstraint("seq >= 1", name="seq"),
)

actions = table(
    "actions",
    sa.Column("key", text, primary_key=True),
    sa.Column("run_id", text, nullable=False),
    sa.Column("step", text, nullable=False),
    sa.Column("item", text),
    sa.Column("direction", text, nullable=False),
    sa.Column("generation", whole, nullable=False),
    sa.Column("effect", text, nullable=False),
    sa.Column("effect_version", whole, nullable=False),
    sa.Column("target", text, nullable=False),
    sa.Column("digest", text, nullable=False),
    sa.Column("state", text, nullable=False),
    sa.Column("attempts", whole, nullable=False),
    sa.Column("intent", text, nullable=False),
    sa.Column("receipt", text),
    one_of("direction", "forward", "undo"),
    one_of(
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
    postgresql_with=ROOM,
)
sa.Index("ix_actions_run_id", actions.c.run_id)

cases = table(
    "cases",
    sa.Column("case_id", text, primary_key=True),
    sa.Column("run_id", text, nullable=False),
    sa.Column("key", text),
    sa.Column("step", text),
    sa.Column("item", text),
    sa.Column("direction", text),
    sa.Column("kind", text, nullable=False),
    sa.Column("state", text, nullable=False),
    sa.Column("version", whole, nullable=False),
    sa.Column("opened_at", real, nullable=False),
    sa.Column("closed_at", real),
    sa.Column("verdict", text),
    sa.Column("actor", text),
    sa.Column("reason", text),
    sa.Column("evidence", text),
    sa.Column("key_id", text),
    sa.Column("seal", text),
    one_of("state", "open", "closed"),
    one_of("direction", "forward", "undo"),
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

orchestrators = table(
    "orchestrators",
    sa.Column("id", text, primary_key=True),
    sa.Column("host", text, nullable=False),
    sa.Column("pid", whole, nullable=False),
    sa.Column("sagas", text, nullable=False),
    sa.Column("state", text, nullable=False),
    sa.Column("beat", whole, nullable=False),
    sa.Column("beat_at", real, nullable=False),
    sa.Column("lease", real, nullable=False),
    sa.Column("stuck", whole, nullable=False),
    sa.Column("refused", text),
    one_of("state", "alive", "leaving", "dead"),
)

pauses = table(
    "pauses",
    sa.Column("kind", text, primary_key=True),
    sa.Column("name", text, primary_key=True),
    sa.Column("reason", text, nullable=False),
    sa.Column("actor", text),
    sa.Column("at", real, nullable=False),
    one_of("kind", "saga", "effect", "provider"),
)

# Of runs that are exclusive about something and have not ended: who has the turn, who waits for it.
turns = table(
    "turns",
    sa.Column("run_id", text, primary_key=True),
    sa.Column("tenant", text, nullable=False),
    sa.Column("resource", text, nullable=False),
    sa.Column("state", text, nullable=False),
    sa.Column("started_at", real, nullable=False),
    sa.Column("since", real, nullable=False),
    one_of("state", "waits", "holds", "parked"),
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

# What stays of a run that was purged: that it has been, how it ended, and the keys that nobody may
# use again. Each is sealed with the seal of the one before it, so that none can be taken out.
tombstones = table(
    "tombstones",
    sa.Column("number", whole, primary_key=True, autoincrement=False),
    sa.Column("run_id", text, nullable=False),
    sa.Column("tenant", text, nullable=False),
    sa.Column("saga", text, nullable=False),
    sa.Column("saga_version", whole, nullable=False),
    sa.Column("definition", text, sa.ForeignKey("definitions.digest"), nullable=False),
    sa.Column("input_digest", text, nullable=False),
    sa.Column("outcome", text, nullable=False),
    sa.Column("ended_at", real, nullable=False),
    sa.Column("purged_at", real, nullable=False),
    sa.Column("action_keys", text, nullable=False),
    sa.Column("key_id", text, nullable=False),
    sa.Column("seal", text, nullable=False),
    sa.UniqueConstraint("run_id"),
    sa.CheckConstraint("number >= 1", name="number"),
    one_of("outcome", "completed", "compensated", "settled"),
)
