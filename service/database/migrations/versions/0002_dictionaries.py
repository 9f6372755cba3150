"""Further dictionaries of glossaries: a glossary has had one direction until now."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this version. Programs of the version before go on to work with it."""
    op.create_table(
        "dictionaries",
        sa.Column("glossary_id", sa.String(length=36), nullable=False),
        sa.Column("source_language", sa.String(length=20), nullable=False),
        sa.Column("target_language", sa.String(length=20), nullable=False),
        sa.Column("n_entries", sa.Integer(), nullable=False),
        sa.Column("entries", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint(
            "glossary_id", "source_language", "target_language", name=op.f("pk_dictionaries")
        ),
    )


def downgrade() -> None:
    """Back to one direction; the others are lost."""
    op.drop_table("dictionaries")
