"""Tombstones: what stays of a run that was purged. Heads are vacuumed more often."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_whole = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_real = sa.REAL().with_variant(sa.Double(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "tombstones",
        sa.Column("number", _whole, autoincrement=False, nullable=False),
        sa.Column("run_id", _text, nullable=False),
        sa.Column("tenant", _text, nullable=False),
        sa.Column("saga", _text, nullable=False),
        sa.Column("saga_version", _whole, nullable=False),
        sa.Column("definition", _text, nullable=False),
        sa.Column("input_digest", _text, nullable=False),
        sa.Column("outcome", _text, nullable=False),
        sa.Column("ended_at", _real, nullable=False),
        sa.Column("purged_at", _real, nullable=False),
        sa.Column("action_keys", _text, nullable=False),
        sa.Column("key_id", _text, nullable=False),
        sa.Column("seal", _text, nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_tombstones")),
        sa.UniqueConstraint("run_id", name=op.f("uq_tombstones_run_id")),
        sa.CheckConstraint("number >= 1", name=op.f("ck_tombstones_number")),
        sa.CheckConstraint(
            "outcome IN ('completed', 'compensated', 'settled')", name=op.f("ck_tombstones_outcome")
        ),
        sa.ForeignKeyConstraint(
            ["definition"],
            ["definitions.digest"],
            name=op.f("fk_tombstones_definition_definitions"),
        ),
        sqlite_strict=True,
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE runs SET (autovacuum_vacuum_scale_factor = 0.01)")
