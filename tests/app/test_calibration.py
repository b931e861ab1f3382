from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tadasu.answering.grading.calibrated import BEFORE
from tadasu.answering.grading.calibration import CorpusCalibration, LanguageCalibration
from tadasu.answering.grading.curves import AsGiven
from tadasu.answering.grading.fitting import ALL
from tadasu.answering.grading.staleness import CorpusSketch, Stale, shape_of
from tadasu.app.calibration import score_drift
from tadasu.app.calibration_findings import calibration_finding
from tadasu.app.findings import Health
from tadasu.core.grades import Calibration, Grade, Level
from tadasu.core.runs import Run
from tests.cli.samples import answered, candidate, round_of


@pytest.fixture
def calibration() -> CorpusCalibration:
    rng = random.Random(1)
    return CorpusCalibration(
        grader="features-2",
        made_at="2026-11-30T21:00:00+00:00",
        pairs=60,
        relevant=30,
        questions=40,
        corpus=CorpusSketch(0, ()),
        scores=shape_of([rng.betavariate(0.5, 2.0) for _ in range(400)], questions=40),
        languages={ALL: LanguageCalibration(curve=AsGiven(), high=0.7, low=0.3, pairs=60, relevant=30, error=0.05)},
    )


def runs(calibration: CorpusCalibration, *, a: float, b: float, count: int = 40, grader: str = "") -> list[Run]:
    rng = random.Random(2)
    found = []
    for number in range(count):
        graded = []
        for at in range(10):
            one = candidate(f"{at}.md")
            signals = {BEFORE: rng.betavariate(a, b)}
            name = grader or f"features-2+{calibration.id}"
            graded.append(replace(one, grade=replace(one.grade, grader=name, signals=signals)))
        found.append(answered(run_id=f"r{number}", rounds=(round_of(*graded),)))
    return found


def test_scores_as_before_are_no_drift(calibration: CorpusCalibration) -> None:
    assert score_drift(runs(calibration, a=0.5, b=2.0), calibration) is None


def test_scores_spread_otherwise_are_drift(calibration: CorpusCalibration) -> None:
    found = score_drift(runs(calibration, a=2.0, b=2.0), calibration)
    assert found is not None
    assert found.why is Stale.SCORES
    assert found.details["questions"] == 40


def test_too_few_runs_and_those_of_another_calibration_say_nothing(calibration: CorpusCalibration) -> None:
    assert score_drift(runs(calibration, a=2.0, b=2.0, count=10), calibration) is None
    assert score_drift(runs(calibration, a=2.0, b=2.0, grader="features-2+00000000"), calibration) is None
    assert score_drift([], calibration) is None


def uncalibrated(mark: Calibration) -> Grade:
    return Grade("p", Level.MEDIUM, 0.5, "", "anybody-1", calibration=mark)


@pytest.mark.parametrize(
    ("mark", "health", "words"),
    [
        (Calibration.NONE, Health.WARNING, "are not calibrated"),
        (Calibration.PUBLIC, Health.OK, "calibrated on public data, not on these documents"),
    ],
)
async def test_doctor_says_what_grades_rest_on_and_the_way_out(mark: Calibration, health: Health, words: str) -> None:
    container: Any = SimpleNamespace(calibration=None, grader=SimpleNamespace(id="anybody-1"))
    found = await calibration_finding(container, [uncalibrated(mark)])
    assert found is not None
    assert found.health is health
    assert words in found.template
    assert "tadasu label" in found.template + found.advice_template
    assert "tadasu calibrate" in found.template + found.advice_template
    assert "60" in found.template + found.advice_template


async def test_doctor_says_nothing_of_grades_where_there_are_none() -> None:
    container: Any = SimpleNamespace(calibration=None, grader=SimpleNamespace(id="anybody-1"))
    assert await calibration_finding(container, []) is None
