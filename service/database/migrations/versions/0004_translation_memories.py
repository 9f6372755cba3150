"""Translation memories, with an index of their own on either database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """To this version. Programs of the version before go on to work with it."""
    op.create_table(
        "memories",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("key_id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=1024), nullable=False),
        sa.Column("source_language", sa.String(length=20), nullable=False),
        sa.Column("target_language", sa.String(length=20), nullable=False),
        sa.Column("n_units", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_memories")),
    )
    op.create_index(op.f("ix_memories_id"), "memories", ["id"])
    op.create_index(op.f("ix_memories_key_id"), "memories", ["key_id"])
    op.create_table(
        "memory_units",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("memory", sa.BigInteger(), nullable=False),
        sa.Column("key_number", sa.BigInteger(), nullable=False),
        sa.Column("pair_number", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memory_units")),
    )
    op.create_index(
        op.f("ix_memory_units_memory_key_number_pair_number"),
        "memory_units",
        ["memory", "key_number", "pair_number"],
        unique=True,
    )
    op.create_table(
        "memory_jobs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("key_id", sa.String(length=32), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("operation", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=1024), nullable=False),
        sa.Column("n_skipped", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memory_jobs")),
    )
    op.create_index(op.f("ix_memory_jobs_expires_at"), "memory_jobs", ["expires_at"])
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS memory_grams "
            "USING fts5(grams, content='', detail=none, columnsize=0, tokenize='ascii')"
        )
    else:
        op.execute("ALTER TABLE memory_units ADD COLUMN grams INTEGER[] NOT NULL")
        op.execute("CREATE INDEX ix_memory_units_grams ON memory_units USING gin (grams)")


def downgrade() -> None:
    """Back to the version before; memories are lost."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE memory_grams")
    for table in ("memory_jobs", "memory_units", "memories"):
        op.drop_table(table)
