"""Parties: an index by which a claim finds what waits of each saga for each tenant."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    condition = sa.text("owner IS NULL AND due_at IS NOT NULL AND quarantined_at IS NULL")
    op.create_index(
        "ix_runs_party",
        "runs",
        ["definition", "tenant", "due_at"],
        sqlite_where=condition,
        postgresql_where=condition,
    )
