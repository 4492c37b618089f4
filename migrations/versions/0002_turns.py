"""Turns: runs of one resource go one after the other."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_whole = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_real = sa.REAL().with_variant(sa.Double(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "turns",
        sa.Column("run_id", _text, nullable=False),
        sa.Column("tenant", _text, nullable=False),
        sa.Column("resource", _text, nullable=False),
        sa.Column("state", _text, nullable=False),
        sa.Column("started_at", _real, nullable=False),
        sa.Column("since", _real, nullable=False),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_turns")),
        sa.CheckConstraint("state IN ('waits', 'holds', 'parked')", name=op.f("ck_turns_state")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    _index("uq_turns_one_holds", ["tenant", "resource"], "holds", unique=True)
    _index("ix_turns_waits", ["tenant", "resource", "started_at", "run_id"], "waits")


def _index(name: str, columns: list[str], state: str, *, unique: bool = False) -> None:
    condition = sa.text(f"state = '{state}'")
    op.create_index(
        name,
        "turns",
        columns,
        unique=unique,
        sqlite_where=condition,
        postgresql_where=condition,
    )
