"""Room: what is rewritten while a run goes on stays in its own page of a PostgreSQL server."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE runs SET (fillfactor = 50)")
        op.execute("ALTER TABLE actions SET (fillfactor = 50)")
