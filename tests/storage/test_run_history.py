from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tadasu.core.answers import AnswerStatus
from tadasu.core.documents import Reader
from tadasu.core.retrieved import DroppedPage
from tadasu.core.runs import Run, SearchMode
from tadasu.storage.run_history import SqlRunHistory, read_lean
from tadasu.storage.runs import SqlRunBook, write_run
from tests.cli.samples import abstained, answered, candidate, round_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
def history(file: Path) -> Iterator[SqlRunHistory]:
    one = SqlRunHistory.open(file)
    yield one
    one.close()


def save(file: Path, *runs: Run) -> None:
    book = SqlRunBook.open(file)
    for run in runs:
        book.save(run)
    book.close()


@pytest.mark.parametrize(
    ("language", "question"), [("en", "How long is the warranty?"), ("ja", "保証期間は何年ですか")]
)
def test_a_lean_run_has_everything_but_its_texts(language: str, question: str) -> None:
    web = replace(
        round_of(candidate("a"), number=2, mode=SearchMode.WEB), dropped=(DroppedPage("https://x", "bot_wall"),)
    )
    run = answered(question, language=language, rounds=(round_of(candidate("b")), web))
    record = write_run(run)
    lean = read_lean(record)
    assert (lean.id, lean.created_at, lean.language, lean.calls) == (run.id, run.created_at, language, run.calls)
    assert (lean.answer.status, lean.stop, lean.duration_ms) == (run.answer.status, run.stop, run.duration_ms)
    assert (lean.verdict, lean.cost) == (run.verdict, run.cost)
    assert [(one.mode, one.dropped, one.duration_ms) for one in lean.rounds] == [
        (one.mode, one.dropped, one.duration_ms) for one in run.rounds
    ]
    assert question not in write_run(lean)
    assert run.answer.text not in write_run(lean)


def test_an_abstention_keeps_its_reason() -> None:
    lean = read_lean(write_run(abstained()))
    assert lean.answer.status is AnswerStatus.ABSTAINED
    assert lean.answer.reason is abstained().answer.reason


def test_every_run_comes_once_oldest_first_however_many_there_are(file: Path, history: SqlRunHistory) -> None:
    saved = [answered(run_id=f"run-{number:04d}") for number in range(450)]
    save(file, *saved)
    found = list(history.after(0, reader=Reader()))
    assert [run.id for _, run in found] == [run.id for run in saved]
    places = [place for place, _ in found]
    assert places == sorted(set(places))
    assert [run.id for _, run in history.after(places[300], reader=Reader())] == [run.id for run in saved[301:]]
    assert history.id_at(places[300], reader=Reader()) == "run-0300"


def test_runs_of_other_tenants_and_of_groups_that_one_is_not_in_do_not_come(file: Path, history: SqlRunHistory) -> None:
    board = Reader(groups=frozenset({"board"}))
    save(
        file,
        answered(run_id="everybody"),
        answered(run_id="board", reader=board),
        answered(run_id="others", reader=Reader(tenant="acme")),
    )
    assert [run.id for _, run in history.after(0, reader=Reader())] == ["everybody"]
    assert [run.id for _, run in history.after(0, reader=board)] == ["everybody", "board"]
    place = next(place for place, run in history.after(0, reader=board) if run.id == "board")
    assert history.id_at(place, reader=board) == "board"
    assert history.id_at(place, reader=Reader()) == ""


def test_nothing_saved_gives_nothing(history: SqlRunHistory) -> None:
    assert list(history.after(0, reader=Reader())) == []
    assert history.id_at(1, reader=Reader()) == ""
