from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tadasu.answering.grading.calibrated import BEFORE, CalibratedGrader, moved, own_thresholds
from tadasu.answering.grading.calibration import CorpusCalibration, LanguageCalibration
from tadasu.answering.grading.curves import AsGiven, Platt
from tadasu.answering.grading.features import HELD, open_features
from tadasu.answering.grading.fitting import ALL
from tadasu.answering.grading.staleness import CorpusSketch, Stale, Staleness, shape_of
from tadasu.core.documents import Passage, Span
from tadasu.core.grades import Calibration, Grade, Level, Thresholds, ungraded
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.ports import Ledger
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld
from tadasu.testing.conformance.grader import GraderConformance

LEDGER = RunLedger(FixedWorld())


class Given:
    """A grader that says what it is told to."""

    def __init__(self, *grades: Grade, name: str = "given-1") -> None:
        self.id = name
        self._grades = grades

    def thresholds(self, language: str) -> Thresholds:
        return Thresholds(0.8, 0.2) if language == "en" else Thresholds(0.9, 0.1)

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> Sequence[Grade]:
        return self._grades


def grade(probability: float, *, passage: str = "p1", tier: str = "features", level: Level = Level.MEDIUM) -> Grade:
    return Grade(passage, level, probability, "because", "given-1", tier=tier, calibration=Calibration.PUBLIC)


def candidate(name: str = "p1", *, language: str = "en") -> Candidate:
    text = "The warranty is 24 months." if language == "en" else "保証期間は24か月です。"
    passage = Passage(name, "d", "a.md", "A", text, Span(0, len(text)), (Span(0, len(text)),), language=language)
    return Candidate(passage=passage, fused=1.0)


def fitted(slope: float = 1.0, offset: float = -2.0, high: float = 0.6, low: float = 0.1) -> LanguageCalibration:
    return LanguageCalibration(curve=Platt(slope, offset), high=high, low=low, pairs=60, relevant=30, error=0.04)


def calibration(
    grader: str = "given-1", *, crossing: LanguageCalibration | None = None, **languages: LanguageCalibration
) -> CorpusCalibration:
    return CorpusCalibration(
        grader=grader,
        made_at="2026-11-30T21:00:00+00:00",
        pairs=60,
        relevant=30,
        questions=20,
        corpus=CorpusSketch(0, ()),
        scores=shape_of([], questions=0),
        languages={ALL: fitted(), **languages} | ({"ja>en": crossing} if crossing else {}),
    )


async def graded(
    grader: CalibratedGrader, *candidates: Candidate, question: str = "How long is the warranty?"
) -> list[Grade]:
    retrieval = Retrieval(question, candidates or (candidate(),))
    return list(await grader.grade(question, retrieval, ledger=LEDGER))


async def test_probability_level_and_mark_are_the_calibration_s() -> None:
    made = CalibratedGrader(Given(grade(0.5)), calibration())
    (found,) = await graded(made)
    assert found.probability == pytest.approx(0.1192, abs=1e-4)
    assert found.level is Level.MEDIUM
    assert found.calibration is Calibration.CORPUS
    assert found.signals[BEFORE] == 0.5
    assert found.grader == made.id
    assert made.id.startswith("given-1+")
    assert made.id != CalibratedGrader(Given(), calibration(en=fitted(offset=0.0))).id


async def test_each_language_goes_by_its_own_curve_and_borders() -> None:
    made = CalibratedGrader(Given(grade(0.5)), calibration(ja=fitted(offset=2.0)))
    (japanese,) = await graded(made, candidate(language="ja"), question="保証期間は何か月ですか")
    (english,) = await graded(made)
    assert japanese.probability == pytest.approx(0.8808, abs=1e-4)
    assert (japanese.level, english.level) == (Level.HIGH, Level.MEDIUM)


@pytest.mark.parametrize("named", [(None, None), (0.5, None), (None, 0.4)])
@pytest.mark.parametrize("language", ["en", "ja"])
async def test_where_nothing_was_fitted_the_grades_are_those_without_the_file(
    language: str, named: tuple[float | None, float | None]
) -> None:
    nothing = LanguageCalibration(curve=AsGiven(), high=None, low=None, pairs=60, relevant=30, error=0.04)
    question = "How long is the warranty?" if language == "en" else "保証期間は何か月ですか"
    own = moved(Given().thresholds(language), named)
    values = [at / 40 for at in range(41)] + [0.1, 0.2, 0.8, 0.9, 0.795, 0.895]
    without = [
        replace(grade(value, passage=f"p{at}", level=own.level(value)), signals={HELD: 0.5} if at % 3 else {})
        for at, value in enumerate(values)
    ]
    made = CalibratedGrader(
        Given(*without), replace(calibration(), languages={ALL: nothing}), tau_high=named[0], tau_low=named[1]
    )
    candidates = [candidate(f"p{at}", language=language) for at in range(len(values))]
    found = await graded(made, *candidates, question=question)
    assert [(one.probability, one.level) for one in found] == [(one.probability, one.level) for one in without]
    assert made.thresholds(language) == own


@pytest.mark.parametrize("tier", ["llm", "guard"])
async def test_what_has_rules_of_its_own_keeps_its_grade(tier: str) -> None:
    (found,) = await graded(CalibratedGrader(Given(grade(0.5, tier=tier)), calibration()))
    assert (found.probability, found.level, found.calibration) == (0.5, Level.MEDIUM, Calibration.PUBLIC)


async def test_no_curve_makes_high_what_a_rule_held_back() -> None:
    made = calibration(en=fitted(offset=3.0))
    held = replace(grade(0.4), signals={HELD: 0.5})
    (found,) = await graded(CalibratedGrader(Given(held), made))
    assert found.level is Level.MEDIUM
    (free,) = await graded(CalibratedGrader(Given(grade(0.4)), made))
    assert free.level is Level.HIGH
    # Where a later tier of the grader came to HIGH all the same, it stands.
    (read,) = await graded(CalibratedGrader(Given(replace(held, level=Level.HIGH)), made))
    assert read.level is Level.HIGH


async def test_a_failed_grading_stays_a_failure() -> None:
    failed = ungraded("p1", reason="timed out", grader="given-1")
    (found,) = await graded(CalibratedGrader(Given(failed), calibration()))
    assert (found.probability, found.level, found.reason) == (None, Level.UNGRADED, "timed out")
    assert found.calibration is Calibration.NONE


async def test_a_passage_in_another_language_keeps_its_grade_unless_such_pairs_were_labelled() -> None:
    foreign = replace(grade(0.5), calibration=Calibration.NONE)
    english = candidate(language="en")
    question = "保証期間は何か月ですか"
    (kept,) = await graded(CalibratedGrader(Given(foreign), calibration()), english, question=question)
    assert (kept.probability, kept.calibration) == (0.5, Calibration.NONE)
    known = calibration(crossing=fitted(offset=2.0))
    (found,) = await graded(CalibratedGrader(Given(foreign), known), english, question=question)
    assert found.probability == pytest.approx(0.8808, abs=1e-4)
    assert found.calibration is Calibration.CORPUS


async def test_borders_named_in_the_settings_win() -> None:
    made = CalibratedGrader(Given(grade(0.5)), calibration(), tau_high=0.11)
    (found,) = await graded(made)
    assert found.level is Level.HIGH
    assert made.thresholds("en") == Thresholds(0.11, 0.1)
    # One that is set moves the fitted one along where they would cross.
    assert CalibratedGrader(Given(), calibration(), tau_high=0.05).thresholds("en") == Thresholds(0.05, 0.05)
    assert CalibratedGrader(Given(), calibration(), tau_low=0.7).thresholds("en") == Thresholds(0.7, 0.7)


async def test_another_grader_is_not_put_through_a_curve_that_was_not_its_own() -> None:
    made = CalibratedGrader(Given(grade(0.5), name="given-2"), calibration("given-1"))
    (found,) = await graded(made)
    assert (found.probability, found.level, found.calibration) == (0.5, Level.MEDIUM, Calibration.STALE)
    stale = await made.staleness()
    assert stale is not None
    assert (stale.why, stale.details) == (Stale.GRADER, {"made_for": "given-1", "now": "given-2"})
    assert made.thresholds("en") == Thresholds(0.8, 0.2)
    moved = CalibratedGrader(Given(grade(0.5), name="given-2"), calibration("given-1"), tau_high=0.4)
    assert (await graded(moved))[0].level is Level.HIGH


async def test_changed_documents_keep_the_curve_and_are_said() -> None:
    asked = 0

    async def look() -> Staleness | None:
        nonlocal asked
        asked += 1
        return Staleness(Stale.CORPUS, {"share": 0.4})

    made = CalibratedGrader(Given(grade(0.5)), calibration(), look=look)
    for _ in range(3):
        (found,) = await graded(made)
        assert found.calibration is Calibration.STALE
        assert found.probability == pytest.approx(0.1192, abs=1e-4)
    assert asked == 1


async def test_grades_keep_their_order_through_the_curve() -> None:
    values = [0.1, 0.9, 0.4, 0.4, 0.99999]
    grades = [grade(value, passage=f"p{at}") for at, value in enumerate(values)]
    made = CalibratedGrader(Given(*grades), calibration())
    found = await graded(made, *(candidate(f"p{at}") for at in range(5)))
    told = [one.probability or 0.0 for one in found]
    assert sorted(range(5), key=told.__getitem__) == sorted(range(5), key=values.__getitem__)
    assert [one.passage_id for one in found] == [f"p{at}" for at in range(5)]


def test_a_grader_that_tells_no_borders_has_the_usual_ones() -> None:
    assert own_thresholds(Given(), "ja") == Thresholds(0.9, 0.1)
    assert own_thresholds(object(), "ja") == Thresholds()  # type: ignore[arg-type]


class TestCalibrated(GraderConformance):
    compares = True

    @pytest.fixture
    def grader(self) -> CalibratedGrader:
        features = open_features()
        return CalibratedGrader(features, calibration(features.id, ja=fitted(offset=1.0, slope=0.5)))
