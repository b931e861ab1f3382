"""Every run that a reader may see, oldest first, without its texts: for those who count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter
from sqlalchemy import Engine, select

from tadasu.core.answers import Answer, AnswerStatus, Reason
from tadasu.core.documents import Reader
from tadasu.core.grades import Verdict, VerdictRule
from tadasu.core.retrieved import DroppedPage
from tadasu.core.runs import Action, Round, Run, SearchMode, StopReason
from tadasu.core.usage import Call
from tadasu.storage.database import open_database, translated
from tadasu.storage.runs import may_read
from tadasu.storage.tables import runs

_AT_ONCE = 200


class SqlRunHistory:
    """Reads the run book from one end to the other, a few hundred records at a time.

    What it gives are runs without texts: questions, queries, candidates, strips and evidence are left out, and the
    answer's words too. That is a tenth of the work of reading them whole, and nobody who counts needs more.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, place: Path | str, *, busy_seconds: float = 5.0) -> SqlRunHistory:
        """The history in the database at `place`; see `open_database` for what it raises."""
        return cls(open_database(place, busy_seconds=busy_seconds))

    def close(self) -> None:
        """Give back the connections."""
        self._engine.dispose()

    def id_at(self, place: int, *, reader: Reader) -> str:
        """The id of the run at `place`; empty where it is gone, or not for `reader`."""
        query = select(runs.c.id).where(runs.c.sequence == place, may_read(reader))
        with translated(self._engine), self._engine.connect() as connection:
            return str(connection.scalar(query) or "")

    def after(self, place: int, *, reader: Reader) -> Iterator[tuple[int, Run]]:
        """Each run behind `place` (0: from the first) with its own place, as they were saved; places only ever grow."""
        visible = select(runs.c.sequence, runs.c.record).where(may_read(reader)).order_by(runs.c.sequence)
        while True:
            part = visible.where(runs.c.sequence > place).limit(_AT_ONCE)
            with translated(self._engine), self._engine.connect() as connection:
                rows = connection.execute(part).all()
            for sequence, record in rows:
                place = sequence
                yield sequence, read_lean(record)
            if len(rows) < _AT_ONCE:
                return


def read_lean(record: str) -> Run:
    """The run that `write_run` wrote, less its texts, candidates, strips and evidence."""
    lean = _adapter().validate_json(record)
    return Run(
        id=lean.id,
        created_at=lean.created_at,
        question="",
        query="",
        language=lean.language,
        reader=lean.reader,
        rounds=tuple(map(_round, lean.rounds)),
        stop_reason=lean.stop_reason,
        strips=(),
        evidence=(),
        answer=Answer("", lean.answer.status, lean.language, reason=lean.answer.reason),
        calls=lean.calls,
        duration_ms=lean.duration_ms,
        settings=lean.settings,
        session=lean.session,
        stop=lean.stop,
        corrects=lean.corrects,
    )


@dataclass(frozen=True, slots=True)
class _LeanAnswer:
    status: AnswerStatus
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class _LeanRound:
    number: int
    mode: SearchMode
    verdict: Verdict
    rule: VerdictRule
    action: Action
    duration_ms: float
    started_ms: float = 0.0
    dropped: tuple[DroppedPage, ...] = ()


@dataclass(frozen=True, slots=True)
class _LeanRun:
    id: str
    created_at: str
    language: str
    reader: Reader
    rounds: tuple[_LeanRound, ...]
    stop_reason: str
    answer: _LeanAnswer
    calls: tuple[Call, ...]
    duration_ms: float
    settings: str = ""
    session: str = ""
    stop: StopReason = StopReason.NOT_RECORDED
    corrects: str = ""


@cache
def _adapter() -> TypeAdapter[_LeanRun]:
    return TypeAdapter(_LeanRun)


def _round(lean: _LeanRound) -> Round:
    return Round(
        number=lean.number,
        mode=lean.mode,
        query="",
        changed="",
        excluded_passages=0,
        excluded_documents=0,
        candidates=(),
        verdict=lean.verdict,
        rule=lean.rule,
        action=lean.action,
        duration_ms=lean.duration_ms,
        started_ms=lean.started_ms,
        dropped=lean.dropped,
    )
