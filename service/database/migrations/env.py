"""Run by Alembic for every command: hands it the connection that ``service.database.migrate`` has opened."""

from __future__ import annotations

from alembic import context

from service.database.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()
