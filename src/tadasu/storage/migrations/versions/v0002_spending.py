"""What runs are counted by, what a cache spared, and what work takes that no run tells of yet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_AT_ONCE = 200


def upgrade() -> None:
    """Make the tables, and fill them for the runs that are there from their records."""
    op.add_column("run_calls", sa.Column("cached", sa.Integer, nullable=False, server_default="0"))
    facts = op.create_table(
        "run_facts",
        sa.Column("run_id", sa.String(80), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("created_at", sa.String(40), nullable=False),
        sa.Column("tenant", sa.String(200), nullable=False),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("language", sa.String(20), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("reason", sa.String(40), nullable=False),
        sa.Column("rounds", sa.Integer, nullable=False),
        sa.Column("web", sa.Boolean, nullable=False),
        sa.Column("stop_reason", sa.Text, nullable=False),
        sa.Column("calls", sa.Integer, nullable=False),
        sa.Column("tokens", sa.Integer, nullable=False),
        sa.Column("cost_usd", sa.Float, nullable=False),
        sa.Column("duration_ms", sa.Float, nullable=False),
    )
    op.create_index("run_facts_by_time", "run_facts", ["created_at", "tenant"])
    op.create_table(
        "open_work",
        sa.Column("id", sa.String(80), primary_key=True),
        sa.Column("created_at", sa.String(40), nullable=False),
        sa.Column("tenant", sa.String(200), nullable=False),
        sa.Column("calls", sa.Integer, nullable=False),
        sa.Column("tokens", sa.Integer, nullable=False),
        sa.Column("cost_usd", sa.Float, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
    )
    op.create_index("open_work_by_time", "open_work", ["created_at", "tenant"])
    _fill(op.get_bind(), facts)


def downgrade() -> None:
    """Take them away."""
    op.drop_table("open_work")
    op.drop_table("run_facts")
    op.drop_column("run_calls", "cached")


def _fill(connection: sa.Connection, facts: sa.Table) -> None:
    spared = sa.text("UPDATE run_calls SET cached = :cached WHERE run_id = :run_id AND position = :position")
    for rows in _in_parts(connection):
        records = [(row, _read(row["record"])) for row in rows]
        connection.execute(facts.insert(), [_facts(row, record) for row, record in records])
        cached = [
            {"run_id": row["id"], "position": position, "cached": call["cached"]}
            for row, record in records
            for position, call in enumerate(_list(record.get("calls")))
            if isinstance(call, dict) and _count(call.get("cached"))
        ]
        if cached:
            connection.execute(spared, cached)


def _in_parts(connection: sa.Connection) -> Iterator[list[dict[str, Any]]]:
    last = 0
    columns = "sequence, id, created_at, tenant, language, status, reason, cost_usd, duration_ms, record"
    query = sa.text(f"SELECT {columns} FROM runs WHERE sequence > :last ORDER BY sequence LIMIT {_AT_ONCE}")  # noqa: S608
    while rows := [dict(row) for row in connection.execute(query, {"last": last}).mappings()]:
        yield rows
        last = rows[-1]["sequence"]


def _read(record: str) -> dict[str, Any]:
    """The record; nothing of one that cannot be read, which must not keep the others from being opened."""
    try:
        found = json.loads(record)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _facts(row: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    rounds, calls = _list(record.get("rounds")), _list(record.get("calls"))
    tokens = [call.get("tokens") for call in calls if isinstance(call, dict)]
    return {
        **{name: row[name] for name in ("created_at", "tenant", "language", "status", "reason")},
        **{name: row[name] for name in ("cost_usd", "duration_ms")},
        "run_id": row["id"],
        "query": str(record.get("query", "")),
        "rounds": len(rounds),
        "web": any(isinstance(one, dict) and one.get("mode") == "web" for one in rounds),
        "stop_reason": str(record.get("stop", "not_recorded")),
        "calls": len(calls),
        "tokens": sum(_count(one.get(side)) for one in tokens if isinstance(one, dict) for side in ("input", "output")),
    }


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
