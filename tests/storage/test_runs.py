"""Runs come back equal, only to those who may read them, at once and quickly."""

from __future__ import annotations

import itertools
import sqlite3
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tadasu.core.answers import Reason
from tadasu.core.documents import Access, Reader
from tadasu.core.runs import Run
from tadasu.core.usage import Call, Outcome, Pricing, Stage
from tadasu.errors import InputInvalid, RunNotFound, StoreBusy
from tadasu.storage.runs import SqlRunBook, read_run, write_run
from tests.storage.some_runs import abstained_run, drawn_runs, everyday_run

ANYONE = Reader()


@pytest.fixture
def book(tmp_path: Path) -> Iterator[SqlRunBook]:
    opened = SqlRunBook.open(tmp_path / "state.db")
    yield opened
    opened.close()


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn_runs())
def test_any_run_comes_back_equal(run: Run) -> None:
    assert read_run(write_run(run)) == run


def test_a_saved_run_is_read_back_equal(book: SqlRunBook) -> None:
    run = everyday_run()
    book.save(run)
    assert book.load(run.id, reader=ANYONE) == run
    abstained = abstained_run("run-0002", reason=Reason.NO_DOCUMENTS)
    book.save(abstained)
    assert book.load("run-0002", reader=ANYONE) == abstained


def test_another_connection_sees_a_run_as_soon_as_it_is_saved(book: SqlRunBook, tmp_path: Path) -> None:
    book.save(everyday_run())
    with sqlite3.connect(tmp_path / "state.db") as other:
        assert other.execute("SELECT id, status, verdict FROM runs").fetchall() == [("run-0001", "answered", "correct")]
    other.close()


def test_the_ledger_is_kept_row_by_row(book: SqlRunBook, tmp_path: Path) -> None:
    unpriced = Call(Stage.GENERATE, "openai", "x", pricing=Pricing.UNPRICED, cost_usd=None, outcome=Outcome.FAILED)
    book.save(replace(everyday_run(), calls=(*everyday_run().calls, unpriced)))
    with sqlite3.connect(tmp_path / "state.db") as other:
        rows = other.execute("SELECT stage, outcome, cost_usd FROM run_calls ORDER BY position").fetchall()
        assert rows[0] == ("embed", "ok", 0.0)
        assert rows[-1] == ("generate", "failed", None)
        assert other.execute("SELECT cost_usd, unpriced_calls FROM runs").fetchone() == (0.0, 1)
    other.close()


def test_a_run_is_saved_once(book: SqlRunBook) -> None:
    book.save(everyday_run())
    with pytest.raises(ValueError, match="run-0001"):
        book.save(replace(everyday_run(), question="another"))
    assert book.load("run-0001", reader=ANYONE) == everyday_run()


def test_last_and_latest_follow_time_and_then_order(book: SqlRunBook) -> None:
    for id_, created_at in (("run-a", "2026-03-01"), ("run-c", "2026-03-02"), ("run-b", "2026-03-02")):
        book.save(everyday_run(id_, created_at=created_at))
    assert [run.id for run in book.latest(limit=2, reader=ANYONE)] == ["run-b", "run-c"]
    assert [run.id for run in book.latest(limit=9, reader=ANYONE)] == ["run-b", "run-c", "run-a"]
    assert book.latest(limit=0, reader=ANYONE) == []
    assert book.load("last", reader=ANYONE).id == "run-b"


def test_the_start_of_an_id_is_enough_where_it_is_the_only_one(book: SqlRunBook) -> None:
    for id_ in ("run-abc1", "run-abd2", "run-abd"):
        book.save(everyday_run(id_))
    assert book.load("run-abc", reader=ANYONE).id == "run-abc1"
    assert book.load("run-abd", reader=ANYONE).id == "run-abd"
    with pytest.raises(InputInvalid, match="several"):
        book.load("run-ab", reader=ANYONE)
    for unknown in ("run-x", "", "%", "run_abc", "RUN-ABC"):
        with pytest.raises(RunNotFound):
            book.load(unknown, reader=ANYONE)


def test_an_empty_book_has_no_last_run(book: SqlRunBook) -> None:
    with pytest.raises(RunNotFound):
        book.load("last", reader=ANYONE)
    assert book.latest(limit=5, reader=ANYONE) == []


groups = st.frozensets(st.sampled_from(["red", "blue", "green"]))
readers = st.builds(Reader, tenant=st.sampled_from(["alpha", "beta"]), groups=groups)
accesses = st.builds(Access, tenant=st.sampled_from(["alpha", "beta"]), groups=groups)


def test_a_run_is_read_only_by_those_who_see_all_its_documents(book: SqlRunBook) -> None:
    numbers = itertools.count()

    @settings(max_examples=60, deadline=None)
    @given(asker=readers, reader=readers, documents=st.lists(accesses, max_size=6))
    def check(asker: Reader, reader: Reader, documents: list[Access]) -> None:
        run = everyday_run(f"run-{next(numbers)}-", reader=asker, k=1)
        book.save(run)
        used = [access for access in documents if asker.may_see(access)]
        if run.id in {each.id for each in book.latest(limit=1, reader=reader)}:
            assert reader.tenant == asker.tenant
            assert all(reader.may_see(access) for access in used)
            assert book.load(run.id, reader=reader) == run
        else:
            assert asker != reader
            for name in (run.id, run.id[:-1]):
                with pytest.raises(RunNotFound):
                    book.load(name, reader=reader)

    check()


def test_a_hidden_run_does_not_make_the_start_of_an_id_ambiguous(book: SqlRunBook) -> None:
    book.save(everyday_run("run-1a"))
    book.save(everyday_run("run-1b", reader=Reader(groups=frozenset({"red"}))))
    assert book.load("run-1", reader=ANYONE).id == "run-1a"
    assert book.load("last", reader=ANYONE).id == "run-1a"


def test_a_locked_book_says_that_it_is_busy(tmp_path: Path) -> None:
    book = SqlRunBook.open(tmp_path / "state.db", busy_seconds=0.05)
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy) as caught:
        book.save(everyday_run())
    assert caught.value.retryable
    other.execute("ROLLBACK")
    other.close()
    book.save(everyday_run())
    book.close()


def test_saving_takes_no_time_that_a_user_would_notice(book: SqlRunBook) -> None:
    book.save(everyday_run("run-warm"))
    times = []
    for number in range(60):
        run = everyday_run(f"run-{number}")
        started = time.perf_counter()
        book.save(run)
        times.append(time.perf_counter() - started)
    # The figure itself is measured by benchmarks/overhead.py; this only notices when it is far off.
    assert statistics.median(times) < 0.02
