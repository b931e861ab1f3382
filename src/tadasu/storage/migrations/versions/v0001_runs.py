"""The first form: runs, their calls, and who may read them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the three tables."""
    op.create_table(
        "runs",
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(80), nullable=False, unique=True),
        sa.Column("created_at", sa.String(40), nullable=False),
        sa.Column("tenant", sa.String(200), nullable=False),
        sa.Column("session", sa.String(200), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("reason", sa.String(40), nullable=False),
        sa.Column("verdict", sa.String(20), nullable=False),
        sa.Column("language", sa.String(20), nullable=False),
        sa.Column("duration_ms", sa.Float, nullable=False),
        sa.Column("cost_usd", sa.Float, nullable=False),
        sa.Column("unpriced_calls", sa.Integer, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("runs_by_time", "runs", ["tenant", "created_at", "sequence"])
    op.create_index("runs_by_session", "runs", ["tenant", "session"])
    op.create_table(
        "run_calls",
        sa.Column("run_id", sa.String(80), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("stage", sa.String(20), nullable=False),
        sa.Column("provider", sa.String(200), nullable=False),
        sa.Column("model", sa.String(400), nullable=False),
        sa.Column("started_ms", sa.Float, nullable=False),
        sa.Column("duration_ms", sa.Float, nullable=False),
        sa.Column("input_tokens", sa.Integer, nullable=False),
        sa.Column("output_tokens", sa.Integer, nullable=False),
        sa.Column("pricing", sa.String(20), nullable=False),
        sa.Column("cost_usd", sa.Float, nullable=True),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("items", sa.Integer, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
    )
    op.create_table(
        "run_access",
        sa.Column("run_id", sa.String(80), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("group_name", sa.String(200), primary_key=True),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("run_access")
    op.drop_table("run_calls")
    op.drop_table("runs")
