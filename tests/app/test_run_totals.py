from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tadasu.app import run_totals
from tadasu.app.run_metrics import count_run
from tadasu.app.run_totals import totals
from tadasu.app.statistics import figures
from tadasu.core.documents import Reader
from tadasu.core.runs import Run, SearchMode, StopReason
from tadasu.core.usage import Call, Outcome, Pricing, Stage, Tokens
from tadasu.storage.run_history import SqlRunHistory
from tadasu.storage.runs import SqlRunBook
from tadasu.telemetry.metrics import Meters
from tests.cli.samples import abstained, answered, candidate, round_of


class Book:
    def __init__(self, folder: Path) -> None:
        self.notes = folder / "metrics.json"
        self.file = folder / "state.db"
        self.book = SqlRunBook.open(self.file)
        self.history = SqlRunHistory.open(self.file)

    def save(self, *runs: Run) -> None:
        for run in runs:
            self.book.save(run)

    def counted(self, *, reader: Reader = Reader(), notes: Path | None = None) -> dict[tuple[str, ...], float]:  # noqa: B008
        meters = totals(self.history, reader=reader, notes=notes or self.notes)
        return {(name, *sorted(labels.values())): value for name, labels, value in meters.samples()}

    def remove(self, run_id: str) -> None:
        with self.book._engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM runs WHERE id = ?", (run_id,))


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    one = Book(tmp_path)
    yield one
    one.history.close()
    one.book.close()


def sample(number: int) -> Run:
    """Runs of several kinds: corrected, from the web, abstained; with calls that cost, fail and are unpriced."""
    outcome = Outcome.FAILED if number == 3 else Outcome.OK
    calls = (
        Call(Stage.GRADE, "local", "features-1", started_ms=2.0, duration_ms=20.0 * number),
        Call(Stage.GENERATE, "openai", "gpt-x", cost_usd=0.25, pricing=Pricing.PRICED, tokens=Tokens(100, 20)),
        Call(Stage.SEARCH, "tavily", cost_usd=None, pricing=Pricing.UNPRICED, attempt=2, outcome=outcome),
    )
    language = "ja" if number % 2 else "en"
    if number % 5 == 4:
        return abstained(run_id=f"run-{number:03d}", language=language, stop=StopReason.INCORRECT)
    mode = SearchMode.WEB if number % 3 == 0 else SearchMode.HYBRID
    rounds = (round_of(candidate("a")), round_of(candidate("b"), number=2, mode=mode))[
        : 1 + number % 2 + (number % 3 == 0)
    ]
    return answered(
        run_id=f"run-{number:03d}",
        language=language,
        rounds=rounds,
        calls=calls,
        duration_ms=40.0 * number,
        stop=StopReason.CORRECT,
    )


def test_counters_equal_the_statistics_of_the_same_runs(book: Book) -> None:
    book.save(*map(sample, range(20)))
    runs = book.book.latest(limit=1000, reader=Reader())
    expected, found = figures(runs), book.counted()

    def of(name: str, *labels: str) -> float:
        return sum(value for key, value in found.items() if key[0] == name and {*labels} <= {*key[1:]})

    assert of("tadasu_runs_total") == of("tadasu_run_seconds_count") == of("tadasu_stops_total") == expected.runs == 20
    assert of("tadasu_runs_total", "answered") == expected.answered
    assert {reason: of("tadasu_runs_total", reason) for reason in expected.abstained} == expected.abstained
    assert {verdict: of("tadasu_runs_total", verdict) for verdict in expected.verdicts} == expected.verdicts
    assert expected.web_share is not None
    assert of("tadasu_web_fallback_runs_total") == pytest.approx(expected.web_share * 20)
    assert expected.corrected_share is not None
    assert of("tadasu_corrected_runs_total") == pytest.approx(expected.corrected_share * 20)
    assert of("tadasu_cost_usd_total") == pytest.approx(expected.cost.usd)
    assert expected.cost.usd > 0
    assert of("tadasu_unpriced_calls_total") == expected.cost.unpriced_calls > 0
    assert of("tadasu_rounds_total") == sum(len(run.rounds) for run in runs)
    assert of("tadasu_calls_total") == of("tadasu_call_seconds_count") == sum(len(run.calls) for run in runs)
    assert of("tadasu_retried_calls_total") == sum(call.attempt > 1 for run in runs for call in run.calls)
    assert of("tadasu_run_seconds_sum") == pytest.approx(sum(run.duration_ms for run in runs) / 1000)
    assert of("tadasu_rounds_total") == sum(number * count for number, count in expected.rounds.items())
    assert len(expected.stops) == 2
    assert {reason: of("tadasu_stops_total", reason) for reason in expected.stops} == expected.stops
    for stage, figure in expected.stages.items():
        calls = {outcome: of("tadasu_calls_total", stage, outcome.value) for outcome in Outcome}
        assert sum(calls.values()) == figure.calls
        assert calls[Outcome.FAILED] + calls[Outcome.CANCELLED] == figure.failed
        assert of("tadasu_call_seconds_sum", stage) == pytest.approx(figure.total_ms / 1000)
        assert of("tadasu_cost_usd_total", stage) == pytest.approx(figure.cost.usd)
        assert of("tadasu_unpriced_calls_total", stage) == figure.cost.unpriced_calls
    assert {"grade", "generate", "search"} <= set(expected.stages)
    assert expected.stages["search"].failed == 1
    tokens = [call.tokens for run in runs for call in run.calls]
    assert of("tadasu_tokens_total", "input") == sum(one.input for one in tokens)
    assert of("tadasu_tokens_total", "output") == sum(one.output for one in tokens)


def test_counting_on_gives_what_counting_anew_gives(book: Book, tmp_path: Path) -> None:
    for number in range(8):
        book.save(sample(number))
        assert book.counted() == pytest.approx(book.counted(notes=tmp_path / f"anew-{number}.json"))


def test_a_long_count_that_is_broken_off_goes_on_from_the_last_note(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_totals, "_NOTED_EVERY", 3)
    book.save(*map(sample, range(8)))
    counted = count_run

    def breaks_off(meters: Meters, run: Run) -> None:
        if run.id == "run-007":
            raise KeyboardInterrupt
        counted(meters, run)

    monkeypatch.setattr(run_totals, "count_run", breaks_off)
    with pytest.raises(KeyboardInterrupt):
        book.counted()
    assert json.loads(book.notes.read_text())["run"] == "run-005"
    monkeypatch.setattr(run_totals, "count_run", counted)
    assert book.counted() == pytest.approx(book.counted(notes=book.notes.with_name("anew.json")))


def test_a_second_call_reads_no_run_again(book: Book) -> None:
    book.save(*map(sample, range(6)))
    first = book.counted()
    with book.book._engine.begin() as connection:  # all but the last run, whose record must not be needed either
        connection.exec_driver_sql("UPDATE runs SET record = 'unreadable'")
    assert book.counted() == first


def test_notes_of_another_reader_or_of_another_book_are_not_believed(book: Book, tmp_path: Path) -> None:
    board = Reader(groups=frozenset({"board"}))
    book.save(sample(1), answered(run_id="secret", reader=board))
    everybody = book.counted()
    assert book.counted(reader=board)["tadasu_run_seconds_count", "answered"] == 2.0
    assert book.counted() == everybody
    (tmp_path / "other").mkdir()
    other = Book(tmp_path / "other")
    other.save(*(answered(run_id=f"other-{number}") for number in range(3)))
    assert other.counted(notes=book.notes)["tadasu_run_seconds_count", "answered"] == 3.0
    other.history.close()
    other.book.close()


def test_where_the_last_counted_run_is_gone_all_is_counted_anew(book: Book) -> None:
    book.save(sample(1), sample(2), sample(3))
    book.counted()
    book.remove("run-003")
    assert book.counted()["tadasu_run_seconds_count", "answered"] == 2.0


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"form": 1}', '{"form": 0, "reader": "x"}'])
def test_damaged_notes_cost_nothing_but_time(book: Book, damage: str) -> None:
    book.save(sample(1), sample(2))
    expected = book.counted()
    book.notes.write_text(damage)
    assert book.counted() == expected
    assert json.loads(book.notes.read_text())["run"] == "run-002"


def test_notes_of_other_families_are_counted_anew_and_none_is_doubled(book: Book) -> None:
    book.save(sample(1))
    expected = book.counted()
    noted = json.loads(book.notes.read_text())
    del noted["counted"]["tadasu_rounds"]
    book.notes.write_text(json.dumps(noted))
    assert book.counted() == expected


def test_a_folder_that_cannot_be_written_is_no_trouble(book: Book, tmp_path: Path) -> None:
    book.save(sample(1))
    assert book.counted(notes=tmp_path / "no" / "such" / "folder.json")["tadasu_run_seconds_count", "answered"] == 1.0
