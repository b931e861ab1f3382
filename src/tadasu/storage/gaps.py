"""Questions and what became of them, for those who look for gaps in the documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, exists, not_, select

from tadasu.core.documents import Reader
from tadasu.storage.database import translated
from tadasu.storage.runs import may_read
from tadasu.storage.spending import within
from tadasu.storage.tables import run_corrections, run_facts, runs


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: `query` as it was searched for, `web` whether that took the web, `reason` of an abstention."""

    run_id: str
    created_at: str
    query: str
    language: str
    web: bool
    reason: str


# A question that was answered at once and corrected later was asked once: the correction tells what became of it.
_corrected = exists().where(run_corrections.c.run_id == run_facts.c.run_id)


class SqlQuestions:
    """What was asked, for readers who may read the runs; see `SqlRunBook`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def asked(self, *, reader: Reader, begins: datetime, ends: datetime, limit: int) -> Sequence[Asked]:
        """The newest `limit` questions from `begins` up to `ends`, oldest first."""
        columns = (run_facts.c[name] for name in Asked.__slots__)
        query = (
            select(*columns)
            .join(runs, runs.c.id == run_facts.c.run_id)
            .where(may_read(reader), within(run_facts.c.created_at, begins, ends), not_(_corrected))
            .order_by(run_facts.c.created_at.desc(), run_facts.c.run_id.desc())
            .limit(limit)
        )
        with translated(self._engine), self._engine.connect() as connection:
            return [Asked(*row) for row in reversed(connection.execute(query).all())]
