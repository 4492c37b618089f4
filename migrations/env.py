"""Where Alembic enters: the revisions run on the connection that `saga.journal.schema` hands over.

The transaction is the caller's, one for all revisions: whoever is killed has changed nothing.
`alembic revision -m "..."` writes a new revision; `saga db upgrade` is what runs them.
"""

from __future__ import annotations

from alembic import context

from saga.journal.columns import metadata

connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit("the revisions are run by: saga db upgrade")
context.configure(connection=connection, target_metadata=metadata)
context.run_migrations()
