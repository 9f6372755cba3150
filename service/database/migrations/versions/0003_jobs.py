"""Jobs: many texts or files that are translated in the background."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """To this version. Programs of the version before go on to work with it."""
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("key_id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        *(
            sa.Column(name, sa.BigInteger(), nullable=False)
            for name in ("n_items", "n_done", "n_failed", "n_characters", "n_characters_done")
        ),
        sa.Column("charged_on", sa.Date(), nullable=True),
        sa.Column("n_bytes", sa.BigInteger(), nullable=False),
        sa.Column("lease_owner", sa.String(length=32), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=False),
        sa.Column("n_takes", sa.Integer(), nullable=False),
        sa.Column("worked_at", sa.Double(), nullable=False),
        sa.Column("webhook_url", sa.Text(), nullable=True),
        sa.Column("webhook_secret", sa.Text(), nullable=True),
        sa.Column("webhook_state", sa.String(length=16), nullable=False),
        sa.Column("webhook_attempts", sa.Integer(), nullable=False),
        sa.Column("webhook_at", sa.Double(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("ended_at", TIME, nullable=True),
        sa.Column("expires_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index(op.f("ix_jobs_expires_at"), "jobs", ["expires_at"], unique=False)
    op.create_index(op.f("ix_jobs_key_id_number"), "jobs", ["key_id", "number"], unique=False)
    op.create_index(op.f("ix_jobs_state_lease_until"), "jobs", ["state", "lease_until"], unique=False)
    op.create_table(
        "job_parts",
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("is_done", sa.Boolean(), nullable=False),
        sa.Column("n_items", sa.Integer(), nullable=False),
        sa.Column("n_characters", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("errors", sa.JSON(), nullable=False),
        sa.Column("source", sa.LargeBinary(), nullable=True),
        sa.Column("result", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("job_id", "number", name=op.f("pk_job_parts")),
    )
    op.create_index(
        op.f("ix_job_parts_job_id_is_done_number"), "job_parts", ["job_id", "is_done", "number"], unique=False
    )


def downgrade() -> None:
    """Back to no jobs; those that there are are lost."""
    op.drop_table("job_parts")
    op.drop_table("jobs")
