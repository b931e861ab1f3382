"""Run by Alembic: takes the steps on the connection, and in the transaction, that the caller opened."""

from __future__ import annotations

from alembic import context

from tadasu.storage.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,  # the caller's transaction covers all steps at once
)
context.run_migrations()
