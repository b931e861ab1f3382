"""No passage that something was fitted on is measured on; articles land in one split wherever they occur."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadasu.testing import datasets
from tadasu.testing.datasets import PASSAGE_PARTS, DataAbsent, Part, holds_answer, normal, passages, questions
from tadasu.testing.splits import (
    BENCHMARK_ONLY,
    Benchmark,
    Split,
    fingerprint,
    measured_by,
    read_fitted_on,
    split_of,
    write_fitted_on,
)

MODELS = Path(__file__).resolve().parents[2] / "models"
FITTED_ON = [
    (Benchmark.RETRIEVAL, MODELS / "fusion.fitted_on.txt"),
    (Benchmark.GRADING, MODELS / "grader" / "fitted_on.txt"),
    (Benchmark.GRADING, MODELS / "grader" / "student_fitted_on.txt"),
    (Benchmark.GRADING, MODELS / "grader" / "heads_fitted_on.txt"),
]


@pytest.fixture
def shared_data() -> Path:
    folder = datasets.folder()
    if not (folder / "jsquad").is_dir():
        pytest.skip(f"the shared data is not at {folder}; set TADASU_DATA")
    return folder


def test_every_benchmark_of_something_fitted_is_held_apart() -> None:
    assert {benchmark for benchmark, _ in FITTED_ON} == set(Benchmark)


@pytest.mark.parametrize(("benchmark", "path"), FITTED_ON, ids=lambda one: getattr(one, "name", None))
def test_no_passage_fitted_on_is_measured_on(benchmark: Benchmark, path: Path, shared_data: Path) -> None:
    fitted_on = read_fitted_on(path)
    assert len(fitted_on) > 1000
    both = [row.id for row in measured_by(benchmark) if fingerprint(row.text) in fitted_on]
    assert both == []


def test_what_was_fitted_on_is_training_data_of_the_sets_it_names(shared_data: Path) -> None:
    known = {
        fingerprint(row.text)
        for part in PASSAGE_PARTS - BENCHMARK_ONLY
        for row in passages(part)
        if split_of(part, row.key) is not Split.TEST
    }
    for _, path in FITTED_ON:
        assert read_fitted_on(path) <= known


def test_a_title_of_a_benchmark_set_is_test_in_every_set(shared_data: Path) -> None:
    title = passages(Part.JSQUAD_VALID)[0].key
    assert {split_of(part, title) for part in Part} == {Split.TEST}


def test_one_article_has_one_split_in_all_sets(shared_data: Path) -> None:
    seen: dict[str, Split] = {}
    for part in PASSAGE_PARTS:
        for row in passages(part):
            assert seen.setdefault(row.key, split_of(part, row.key)) is split_of(part, row.key)


def test_questions_of_squad_like_sets_share_the_split_of_their_passage(shared_data: Path) -> None:
    for part in (Part.XQUAD_EN, Part.JAQUAD_TRAIN):
        key_of = {row.id: row.key for row in passages(part)}
        assert all(question.key == key_of[question.gold[0]] for question in questions(part))


def test_every_split_has_its_share(shared_data: Path) -> None:
    titles = {row.key for row in passages(Part.WIKI_EN)}
    found = [split_of(Part.WIKI_EN, title) for title in titles]
    shares = {split: found.count(split) / len(found) for split in Split}
    assert shares[Split.TRAIN] == pytest.approx(0.6, abs=0.03)
    assert shares[Split.CALIBRATE] == pytest.approx(0.2, abs=0.03)


def test_jsquad_texts_lose_the_title_that_bert_was_fed(shared_data: Path) -> None:
    rows = passages(Part.JSQUAD_VALID)
    assert not any("[SEP]" in row.text for row in rows)
    assert rows[0].title == "梅雨"
    assert rows[0].text.startswith("梅雨（つゆ、ばいう）は")


def test_without_the_data_nothing_is_promised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TADASU_DATA", str(tmp_path))
    with pytest.raises(DataAbsent, match="jaquad") as caught:
        next(datasets.rows(Part.JAQUAD_DEV, "passages"))
    assert "TADASU_DATA" in caught.value.hint


def test_keys_ignore_how_a_title_is_written() -> None:
    assert normal("Super_Bowl_50") == normal("super bowl　５０")
    assert normal("東大寺の仏像") != normal("東大寺")


def test_a_list_of_fingerprints_is_read_as_written(tmp_path: Path) -> None:
    assert write_fitted_on(tmp_path / "list", ["One.", "二。", "one."]) == 2
    assert read_fitted_on(tmp_path / "list") == {fingerprint("ONE."), fingerprint("二。")}


@pytest.mark.parametrize(
    ("text", "answers", "expected"),
    [
        ("He was a politician.", ("pol",), False),
        ("He was a politician.", ("politician",), True),
        ("高さ約１５メートルの仏像", ("15メートル",), True),
        ("会員は300人", ("30",), False),
        ("会員は30人", ("30",), True),
        ("Born in Tōkyō in 1990", ("199", "90"), False),
    ],
)
def test_an_answer_occurs_as_a_word(text: str, answers: tuple[str, ...], expected: bool) -> None:
    assert holds_answer(text, answers) is expected
