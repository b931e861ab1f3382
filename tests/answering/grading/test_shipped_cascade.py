"""The grader as it is shipped: its files fit each other, keep their sizes, and it passes the suites of third parties."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadasu.answering.grading.cascade import Cascade, open_grader
from tadasu.answering.grading.combination import FILE, CombinationTable, load
from tadasu.answering.grading.cross_encoder import open_cross_encoder
from tadasu.answering.grading.features import open_features
from tadasu.app.assets import models_folder
from tadasu.core.grades import Calibration, Level
from tadasu.ports import GraderParts
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.conformance.grader import GraderConformance
from tests.answering.grading.made import candidate, passage, retrieval

FOLDER = models_folder() / "grader"
MEGABYTE = 1_000_000

ASKED = {
    "en": (
        "When was the lighthouse of Ostrey built?",
        "The lighthouse of Ostrey stands at the northern end of the island. It was built in 1874 by a Scottish engineer.",
        "The lighthouse of Ostrey can be visited in summer. Its 112 steps lead to a gallery with a view of the harbour.",
    ),
    "ja": (
        "オストレーの灯台はいつ建てられましたか。",
        "オストレーの灯台は島の北の端に立っている。1874年にスコットランド人の技師が建てた。",
        "オストレーの灯台は夏に見学できる。112段の階段を登ると、港を見渡す回廊に出る。",
    ),
}


@pytest.fixture(scope="module")
def table() -> CombinationTable:
    return load(FOLDER / FILE)


@pytest.fixture(scope="module")
def shipped() -> Cascade:
    return open_grader(GraderParts(folder=FOLDER, scorer=open_cross_encoder(FOLDER)))


def test_the_table_was_fitted_with_the_models_beside_it(table: CombinationTable) -> None:
    """A new student, or new features, without a new table would be graded by numbers that mean something else."""
    assert table.scorer == open_cross_encoder(FOLDER).id
    assert table.version.endswith(open_features(FOLDER).id)


def test_files_keep_their_sizes() -> None:
    assert (FOLDER / "model.onnx").stat().st_size <= 30 * MEGABYTE
    assert (models_folder() / "encoder" / "model.onnx").stat().st_size <= 42 * MEGABYTE
    assert sum(file.stat().st_size for file in models_folder().rglob("*") if file.is_file()) < 100 * MEGABYTE


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_of_two_passages_on_the_topic_the_one_that_answers_is_above(shipped: Cascade, language: str) -> None:
    question, right, wrong = ASKED[language]
    found = retrieval(
        question,
        [
            candidate(passage(wrong, number=0), cosine=0.86, lexical=8.0, rank=1),
            candidate(passage(right, number=1), cosine=0.86, lexical=8.0, rank=2),
        ],
    )
    grades = await shipped.grade(question, found, ledger=RunLedger(SystemClock()))
    assert grades[1].probability is not None
    assert grades[0].probability is not None
    assert grades[1].probability > grades[0].probability
    assert grades[1].level is not Level.LOW
    assert all(grade.calibration is Calibration.PUBLIC for grade in grades)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_both_languages_have_borders(table: CombinationTable, language: str) -> None:
    fitted = table.languages[language]
    assert 0.0 < fitted.thresholds.low < fitted.thresholds.high < 1.0
    assert fitted.band.low < fitted.thresholds.low


class TestShipped(GraderConformance):
    compares = True

    @pytest.fixture
    def grader(self) -> Cascade:
        return open_grader(GraderParts(folder=FOLDER, scorer=open_cross_encoder(FOLDER)))


def test_a_folder_of_another_place_is_read_from_there(tmp_path: Path) -> None:
    for name in ("features.json", FILE):
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    made = open_grader(GraderParts(folder=tmp_path, scorer=open_cross_encoder(FOLDER)))
    assert made.thresholds("ja") == load(FOLDER / FILE).of("ja").thresholds
