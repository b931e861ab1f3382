"""Work for later, and which run took the place of another."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the two tables."""
    op.create_table(
        "run_corrections",
        sa.Column("run_id", sa.String(80), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column(
            "corrected_by", sa.String(80), sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False, unique=True
        ),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(120), primary_key=True),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("subject", sa.String(80), nullable=False),
        sa.Column("tenant", sa.String(200), nullable=False),
        sa.Column("reader_groups", sa.Text, nullable=False),
        sa.Column("created_at", sa.String(40), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("due_at", sa.String(40), nullable=False),
        sa.Column("holder", sa.String(80), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
    )
    op.create_index("jobs_by_due", "jobs", ["state", "due_at"])
    op.create_index("jobs_by_time", "jobs", ["tenant", "created_at"])


def downgrade() -> None:
    """Drop them."""
    op.drop_table("jobs")
    op.drop_table("run_corrections")
