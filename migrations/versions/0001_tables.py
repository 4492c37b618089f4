"""The tables that a database begins with.

Forwards only: what a newer version has written, an older one does not read.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"  # numbered: a higher one is newer
down_revision = None

_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_whole = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_real = sa.REAL().with_variant(sa.Double(), "postgresql")


def upgrade() -> None:
    _instance()
    _definitions()
    _runs()
    _journal()
    _actions()
    _cases()
    _orchestrators()


def _table(name: str, *items: sa.schema.SchemaItem, rowid: bool = True, room: int = 100) -> None:
    given = {"fillfactor": room} if room < 100 else None
    op.create_table(
        name, *items, sqlite_strict=True, sqlite_with_rowid=rowid, postgresql_with=given
    )


def _check(name: str, text: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(text, name=op.f(f"ck_{name}"))


def _index(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    condition = sa.text(where)
    op.create_index(
        name,
        table,
        columns,
        unique=unique,
        sqlite_where=condition,
        postgresql_where=condition,
    )


def _instance() -> None:
    _table(
        "instance",
        sa.Column("singleton", _whole, nullable=False, autoincrement=False),
        sa.Column("instance", _text, nullable=False),
        sa.Column("created_at", _real, nullable=False),
        sa.Column("key_id", _text, nullable=False),
        sa.Column("seal", _text, nullable=False),
        sa.PrimaryKeyConstraint("singleton", name=op.f("pk_instance")),
        _check("instance_singleton", "singleton = 1"),
    )
    _table(
        "sealing_keys",
        sa.Column("key_id", _text, nullable=False),
        sa.Column("added_at", _real, nullable=False),
        sa.Column("seal", _text, nullable=False),
        sa.PrimaryKeyConstraint("key_id", name=op.f("pk_sealing_keys")),
    )


def _definitions() -> None:
    _table(
        "definitions",
        sa.Column("digest", _text, nullable=False),
        sa.Column("saga", _text, nullable=False),
        sa.Column("version", _whole, nullable=False),
        sa.Column("spec", _text, nullable=False),
        sa.Column("stored_at", _real, nullable=False),
        sa.Column("key_id", _text, nullable=False),
        sa.Column("seal", _text, nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_definitions")),
        sa.UniqueConstraint("saga", "version", name=op.f("uq_definitions_saga_version")),
        _check("definitions_version", "version >= 1"),
    )


def _runs() -> None:
    _table(
        "runs",
        sa.Column("run_id", _text, nullable=False),
        sa.Column("tenant", _text, nullable=False),
        sa.Column("saga", _text, nullable=False),
        sa.Column("saga_version", _whole, nullable=False),
        sa.Column("definition", _text, nullable=False),
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
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_runs")),
        _check("runs_phase", "phase IN ('running', 'compensating', 'ended')"),
        _check("runs_outcome", "outcome IN ('completed', 'compensated', 'settled')"),
        _check("runs_cause", "cause IN ('refused', 'attempts', 'cancelled', 'deadline', 'person')"),
        _check("runs_version", "version >= 1"),
        _check("runs_fence", "fence >= 1"),
        _check("runs_run_id", "length(run_id) BETWEEN 1 AND 128"),
        _check("runs_ended_has_outcome", "(phase = 'ended') = (outcome IS NOT NULL)"),
        _check("runs_ended_has_time", "(phase = 'ended') = (ended_at IS NOT NULL)"),
        _check("runs_undone_for_a_cause", "phase <> 'compensating' OR cause IS NOT NULL"),
        _check("runs_running_without_cause", "phase <> 'running' OR cause IS NULL"),
        _check("runs_compensated_cause", "outcome <> 'compensated' OR cause IS NOT NULL"),
        _check("runs_aside_without_owner", "quarantined_at IS NULL OR owner IS NULL"),
        sa.ForeignKeyConstraint(
            ["definition"], ["definitions.digest"], name=op.f("fk_runs_definition_definitions")
        ),
    )
    _index("ix_runs_claim", "runs", ["due_at"], "owner IS NULL AND due_at IS NOT NULL")
    _index("ix_runs_owner", "runs", ["owner"], "owner IS NOT NULL")
    _index("ix_runs_quarantined", "runs", ["quarantined_at"], "quarantined_at IS NOT NULL")


def _journal() -> None:
    _table(
        "journal",
        sa.Column("run_id", _text, nullable=False),
        sa.Column("seq", _whole, nullable=False),
        sa.Column("command", _text, nullable=False),
        sa.Column("at", _real, nullable=False),
        sa.Column("body", _text, nullable=False),
        sa.Column("key_id", _text, nullable=False),
        sa.Column("seal", _text, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "seq", name=op.f("pk_journal")),
        _check("journal_seq", "seq >= 1"),
    )


def _actions() -> None:
    _table(
        "actions",
        sa.Column("key", _text, nullable=False),
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
        sa.PrimaryKeyConstraint("key", name=op.f("pk_actions")),
        _check("actions_direction", "direction IN ('forward', 'undo')"),
        _check(
            "actions_state",
            "state IN ('intended', 'sending', 'landed', 'refused', 'not_sent', 'unknown', "
            "'absent', 'skipped', 'accepted')",
        ),
        _check("actions_generation", "generation >= 1"),
        _check("actions_key", "length(key) BETWEEN 1 AND 255"),
        _check("actions_landed_has_receipt", "state <> 'landed' OR receipt IS NOT NULL"),
        _check("actions_attempts", "attempts >= 0"),
        _check("actions_intended_is_unsent", "state <> 'intended' OR attempts = 0"),
        _check("actions_sent_once", "state NOT IN ('sending', 'unknown') OR attempts >= 1"),
        rowid=False,
        room=70,
    )
    op.create_index("ix_actions_run_id", "actions", ["run_id"])


def _cases() -> None:
    _table(
        "cases",
        sa.Column("case_id", _text, nullable=False),
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
        sa.PrimaryKeyConstraint("case_id", name=op.f("pk_cases")),
        _check("cases_state", "state IN ('open', 'closed')"),
        _check("cases_direction", "direction IN ('forward', 'undo')"),
        _check("cases_version", "version >= 1"),
        _check("cases_closed_has_time", "(state = 'closed') = (closed_at IS NOT NULL)"),
        _check("cases_verdict_has_actor", "verdict IS NULL OR actor IS NOT NULL"),
        _check("cases_damaged_is_sealed", "(kind = 'damaged') = (seal IS NOT NULL)"),
    )
    op.create_index("ix_cases_run_id", "cases", ["run_id"])
    _index("ix_cases_open", "cases", ["opened_at", "case_id"], "state = 'open'")
    _index(
        "uq_cases_one_open_per_action",
        "cases",
        ["key"],
        """state = 'open' AND "key" IS NOT NULL""",
        unique=True,
    )
    _index(
        "uq_cases_one_open_per_run",
        "cases",
        ["run_id", "kind"],
        """state = 'open' AND "key" IS NULL""",
        unique=True,
    )


def _orchestrators() -> None:
    _table(
        "orchestrators",
        sa.Column("id", _text, nullable=False),
        sa.Column("host", _text, nullable=False),
        sa.Column("pid", _whole, nullable=False),
        sa.Column("sagas", _text, nullable=False),
        sa.Column("state", _text, nullable=False),
        sa.Column("beat", _whole, nullable=False),
        sa.Column("beat_at", _real, nullable=False),
        sa.Column("lease", _real, nullable=False),
        sa.Column("stuck", _whole, nullable=False),
        sa.Column("refused", _text),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_orchestrators")),
        _check("orchestrators_state", "state IN ('alive', 'leaving', 'dead')"),
    )
    _table(
        "pauses",
        sa.Column("kind", _text, nullable=False),
        sa.Column("name", _text, nullable=False),
        sa.Column("reason", _text, nullable=False),
        sa.Column("actor", _text),
        sa.Column("at", _real, nullable=False),
        sa.PrimaryKeyConstraint("kind", "name", name=op.f("pk_pauses")),
        _check("pauses_kind", "kind IN ('saga', 'effect', 'provider')"),
    )
