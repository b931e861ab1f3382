"""The tables of the state database, as the newest migration leaves them."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text

metadata: Final = MetaData()

# The run itself is one JSON text: it is written once, read whole, and must come back equal whatever is added to it
# later. The columns beside it are what runs are listed, counted and found by.
runs: Final = Table(
    "runs",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("id", String(80), nullable=False, unique=True),
    Column("created_at", String(40), nullable=False),
    Column("tenant", String(200), nullable=False),
    Column("session", String(200), nullable=False),
    Column("status", String(20), nullable=False),
    Column("reason", String(40), nullable=False),
    Column("verdict", String(20), nullable=False),
    Column("language", String(20), nullable=False),
    Column("duration_ms", Float, nullable=False),
    Column("cost_usd", Float, nullable=False),
    Column("unpriced_calls", Integer, nullable=False),
    Column("record", Text, nullable=False),
    Index("runs_by_time", "tenant", "created_at", "sequence"),
    Index("runs_by_session", "tenant", "session"),
    sqlite_autoincrement=True,
)

run_calls: Final = Table(
    "run_calls",
    metadata,
    Column("run_id", String(80), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("stage", String(20), nullable=False),
    Column("provider", String(200), nullable=False),
    Column("model", String(400), nullable=False),
    Column("started_ms", Float, nullable=False),
    Column("duration_ms", Float, nullable=False),
    Column("input_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("pricing", String(20), nullable=False),
    Column("cost_usd", Float, nullable=True),
    Column("outcome", String(20), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("items", Integer, nullable=False),
    Column("error", Text, nullable=False),
    Column("cached", Integer, nullable=False, server_default="0"),
)

# What runs are counted and grouped by. Beside `runs`, whose rows are long: SQLite would read all of a record to get at
# a column behind it.
run_facts: Final = Table(
    "run_facts",
    metadata,
    Column("run_id", String(80), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("created_at", String(40), nullable=False),
    Column("tenant", String(200), nullable=False),
    Column("query", Text, nullable=False),
    Column("language", String(20), nullable=False),
    Column("status", String(20), nullable=False),
    Column("reason", String(40), nullable=False),
    Column("rounds", Integer, nullable=False),
    Column("web", Boolean, nullable=False),
    Column("stop_reason", Text, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("cost_usd", Float, nullable=False),
    Column("duration_ms", Float, nullable=False),
    Index("run_facts_by_time", "created_at", "tenant"),
)

# What work takes that no run tells of yet, estimates of its calls under way included; `id` is the run's. A row that
# stays is of work that was broken off.
open_work: Final = Table(
    "open_work",
    metadata,
    Column("id", String(80), primary_key=True),
    Column("created_at", String(40), nullable=False),
    Column("tenant", String(200), nullable=False),
    Column("calls", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("cost_usd", Float, nullable=False),
    Column("seconds", Float, nullable=False),
    Index("open_work_by_time", "created_at", "tenant"),
)

# One row per group that the asker was in: a reader must be in all of them. See runs.py for why that is safe.
run_access: Final = Table(
    "run_access",
    metadata,
    Column("run_id", String(80), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("group_name", String(200), primary_key=True),
)

# The run that took the place of another. The key keeps a second worker from correcting what is corrected.
run_corrections: Final = Table(
    "run_corrections",
    metadata,
    Column("run_id", String(80), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("corrected_by", String(80), ForeignKey("runs.id", ondelete="CASCADE"), nullable=False, unique=True),
)

# Work for later. `due_at` is when a job may be claimed: while a worker has it, that is the end of the lease. `holder`
# is the word that only the worker of the latest claim knows.
jobs: Final = Table(
    "jobs",
    metadata,
    Column("id", String(120), primary_key=True),
    Column("kind", String(40), nullable=False),
    Column("subject", String(80), nullable=False),
    Column("tenant", String(200), nullable=False),
    Column("reader_groups", Text, nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("state", String(20), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due_at", String(40), nullable=False),
    Column("holder", String(80), nullable=False),
    Column("reason", Text, nullable=False),
    Index("jobs_by_due", "state", "due_at"),
    Index("jobs_by_time", "tenant", "created_at"),
)
