"""The three tiers together: who decides what, and what happens where one of them fails."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from tadasu.answering.grading.cascade import Cascade, as_text
from tadasu.answering.grading.combination import Band, Combination, CombinationTable, Weighing
from tadasu.answering.grading.features import FeatureGrader, open_features
from tadasu.core.grades import Calibration, Grade, Level, Recommendation, Thresholds
from tadasu.core.retrieved import Retrieval
from tadasu.core.scores import PairScore, ScoreScale, probability_of, unscored
from tadasu.core.usage import Stage
from tadasu.core.vectors import PassageText
from tadasu.errors import GradingFailed, ProviderUnreachable
from tadasu.ports import Grader, Ledger
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tests.answering.grading.made import candidate, passage, retrieval

QUESTIONS = {
    "en": (
        "Who approves travel costs above 500 euros?",
        "Travel costs above 500 euros are approved by the finance director. Smaller ones by the team lead.",
        "The canteen opens at noon. On Fridays there is fish.",
    ),
    "ja": (
        "五万円を超える出張費は誰が承認しますか。",
        "五万円を超える出張費は経理部長が承認します。それ以下は課長が承認します。",
        "食堂は正午に開きます。金曜日は魚です。",
    ),
}
LANGUAGES = tuple(QUESTIONS)


class Scripted:
    """A scorer that gives what it is told by text, and counts what it is asked."""

    scale = ScoreScale.LOGIT

    def __init__(self, say: Callable[[PassageText], PairScore], *, name: str = "scripted-1") -> None:
        self.id = name
        self.asked: list[str] = []
        self._say = say

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> Sequence[PairScore]:
        self.asked += [one.text for one in passages]
        return [self._say(one) for one in passages]


class Assessor:
    """A third tier that gives one level, or fails."""

    id = "assessor-1"

    def __init__(self, probability: float | None, *, lost: bool = False, failure: Exception | None = None) -> None:
        self.asked: list[str] = []
        self._probability, self._lost, self._failure = probability, lost, failure

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> Sequence[Grade]:
        self.asked += [one.passage.id for one in retrieval.candidates]
        if self._failure is not None:
            raise self._failure
        if self._lost:
            return []
        level = Level.UNGRADED if self._probability is None else Thresholds().level(self._probability)
        return [
            Grade(one.passage.id, level, self._probability, "assessed", self.id, tier="llm", issues=("old",))
            for one in retrieval.candidates
        ]


def line(*weights: float, bias: float = 0.0) -> Weighing:
    logits = np.linspace(-20.0, 20.0, 401)
    heights = np.array([probability_of(float(x)) for x in logits])
    return Weighing(np.array(weights), bias, logits, heights)


WIDE = Band(0.05, 0.95)


def table(*, band: Band = WIDE, scorer: str = "scripted-1", share: float = 1.0) -> CombinationTable:
    one = Combination(
        led=line(0.5, 1.0, 0.25),
        both=line(0.5, 1.0),
        alone=line(1.0),
        unread=line(1.0, -0.5),
        strips=line(0.5, 0.5),
        strips_alone=line(1.0),
        band=band,
        share=share,
        thresholds=Thresholds(high=0.7, low=0.1),
    )
    return CombinationTable("t", scorer, {"en": one, "ja": one})


def found(language: str) -> Retrieval:
    question, good, bad = QUESTIONS[language]
    return retrieval(
        question,
        [
            candidate(passage(good, number=0), cosine=0.88, lexical=9.0, rank=1),
            candidate(passage(bad, number=1), cosine=0.78, lexical=0.5, rank=2),
        ],
    )


def ledger() -> RunLedger:
    return RunLedger(SystemClock())


@pytest.fixture(scope="module")
def features() -> FeatureGrader:
    return open_features()


def cascade(
    features: FeatureGrader, scorer: Scripted | None, assessor: Grader | None = None, **rest: object
) -> Cascade:
    given = {"table": table(), **rest}
    return Cascade(features, scorer=scorer, assessor=assessor, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_only_what_the_features_are_unsure_of_is_read(features: FeatureGrader, language: str) -> None:
    scorer = Scripted(lambda one: PairScore(4.0))
    first = features.grade_now(QUESTIONS[language][0], found(language))
    sure = [grade.probability for grade in first]
    assert sure[0] is not None
    assert sure[1] is not None
    band = Band(sure[1] + 0.001, 0.9999)  # the second passage lies below: it is not read
    grades = await cascade(features, scorer, table=table(band=band)).grade(
        QUESTIONS[language][0], found(language), ledger=ledger()
    )
    assert scorer.asked == [QUESTIONS[language][1]]
    assert [grade.tier for grade in grades] == ["cross_encoder", "features"]
    assert grades[1].probability == sure[1]
    assert all(grade.calibration is Calibration.PUBLIC for grade in grades)


HALF = table(share=0.5, band=Band(0.0, 1.0))


@pytest.mark.parametrize("language", LANGUAGES)
async def test_where_the_likeliest_passage_is_high_the_others_are_not_read(
    features: FeatureGrader, language: str
) -> None:
    question, good, _ = QUESTIONS[language]
    first = features.grade_now(question, found(language))
    scorer = Scripted(lambda one: PairScore(6.0))
    grades = await cascade(features, scorer, table=HALF).grade(question, found(language), ledger=ledger())
    assert scorer.asked == [good]
    assert grades[0].level is Level.HIGH
    assert first[1].probability is not None
    logit = math.log(first[1].probability / (1 - first[1].probability)) - 0.5 * 6.0
    assert grades[1].probability == pytest.approx(probability_of(logit), abs=2e-3)
    assert grades[1].signals["best_read"] == 6.0
    assert grades[1].signals["features"] == first[1].probability
    assert (grades[1].tier, grades[1].reason.startswith("not read")) == ("features", True)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_where_the_likeliest_passage_is_not_high_all_are_read_as_if_at_once(
    features: FeatureGrader, language: str
) -> None:
    question, good, bad = QUESTIONS[language]
    scorer = Scripted(lambda one: PairScore(-4.0 if one.text == good else -1.0))
    grades = await cascade(features, scorer, table=HALF).grade(question, found(language), ledger=ledger())
    assert scorer.asked == [good, bad]
    at_once = await cascade(features, scorer, table=HALF, read_everything=True).grade(
        question, found(language), ledger=ledger()
    )
    assert [grade.probability for grade in grades] == [grade.probability for grade in at_once]
    assert [grade.signals for grade in grades] == [grade.signals for grade in at_once]


@pytest.mark.parametrize(
    ("language", "asked"), [("en", "Who painted the harbour?"), ("ja", "港の絵を描いたのは誰ですか。")]
)
async def test_what_the_features_are_sure_is_irrelevant_is_read_before_nothing_is_found(
    features: FeatureGrader, language: str, asked: str
) -> None:
    scorer = Scripted(lambda one: PairScore(-4.0))
    candidates = found(language).candidates
    nothing = retrieval(asked, [replace(one, dense=0.7, lexical=0.0) for one in candidates])
    first = features.grade_now(asked, nothing)
    assert all(grade.probability is not None and grade.probability < 0.6 for grade in first)
    await cascade(features, scorer, table=table(band=Band(0.9998, 0.9999))).grade(asked, nothing, ledger=ledger())
    assert sorted(scorer.asked) == sorted(one.passage.text for one in candidates)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_where_nothing_could_be_read_what_was_to_wait_is_ungraded_too(
    features: FeatureGrader, language: str
) -> None:
    question, good, _ = QUESTIONS[language]
    scorer = Scripted(lambda one: unscored("out of order"))
    grades = await cascade(features, scorer, table=HALF).grade(question, found(language), ledger=ledger())
    assert scorer.asked == [good]
    assert [grade.level for grade in grades] == [Level.UNGRADED] * 2
    assert all("out of order" in grade.reason for grade in grades)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_is_read_is_weighed_with_the_features(features: FeatureGrader, language: str) -> None:
    first = features.grade_now(QUESTIONS[language][0], found(language))
    logits = iter((-3.0, -5.0))
    grades = await cascade(features, Scripted(lambda one: PairScore(next(logits))), read_everything=True).grade(
        QUESTIONS[language][0], found(language), ledger=ledger()
    )
    for before, after, read, lead in zip(first, grades, (-3.0, -5.0), (2.0, -2.0), strict=True):
        assert before.probability is not None
        logit = 0.5 * math.log(before.probability / (1 - before.probability)) + read + 0.25 * lead
        assert after.probability == pytest.approx(probability_of(logit), abs=2e-3)
        assert after.signals["cross_encoder"] == read
        assert after.signals["lead_read"] == lead
        assert after.signals["features"] == before.probability


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_passage_of_a_later_round_has_those_of_earlier_ones_for_rivals(
    features: FeatureGrader, language: str
) -> None:
    question, everything = QUESTIONS[language][0], found(language)
    logits = {one.passage.text: logit for one, logit in zip(everything.candidates, (2.0, -1.0), strict=True)}
    made = cascade(features, Scripted(lambda one: PairScore(logits[one.text])), read_everything=True)
    whole = await made.grade(question, everything, ledger=ledger())
    first, second = everything.candidates
    (earlier,) = await made.grade(question, replace(everything, candidates=(first,)), ledger=ledger())
    assert "lead_read" not in earlier.signals
    later = replace(everything, candidates=(second,), context=(first,), context_grades=(earlier,))
    (grade,) = await made.grade(question, later, ledger=ledger())
    assert grade.signals["lead_read"] == whole[1].signals["lead_read"] == -3.0


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_passage_that_could_not_be_read_is_no_rival(features: FeatureGrader, language: str) -> None:
    scores = iter((PairScore(math.nan, reason="broken"), PairScore(1.0)))
    made = cascade(features, Scripted(lambda one: next(scores)), read_everything=True)
    grades = await made.grade(QUESTIONS[language][0], found(language), ledger=ledger())
    assert grades[0].level is Level.UNGRADED
    assert "lead_read" not in grades[1].signals


@pytest.mark.parametrize("language", LANGUAGES)
async def test_strips_are_weighed_too_and_stay_as_many(features: FeatureGrader, language: str) -> None:
    scorer = Scripted(lambda one: PairScore(2.0, strips=tuple(3.0 - 6.0 * n for n in range(len(one.strips)))))
    grades = await cascade(features, scorer, read_everything=True).grade(
        QUESTIONS[language][0], found(language), ledger=ledger()
    )
    for grade, one in zip(grades, found(language).candidates, strict=True):
        assert len(grade.strip_scores) == len(one.passage.strips)
        assert grade.strip_scores[0] > grade.strip_scores[1]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_the_features_cannot_measure_is_read(features: FeatureGrader, language: str) -> None:
    damaged = tuple(
        replace(one, vector=one.vector[:3], dense=None) for one in found(language).candidates if one.vector is not None
    )
    assert all(
        grade.probability is None for grade in features.grade_now("", replace(found(language), candidates=damaged))
    )
    grades = await cascade(features, Scripted(lambda one: PairScore(1.0))).grade(
        QUESTIONS[language][0], replace(found(language), candidates=damaged), ledger=ledger()
    )
    assert [grade.tier for grade in grades] == ["cross_encoder"] * 2
    assert [grade.probability for grade in grades] == pytest.approx([probability_of(1.0)] * 2, abs=1e-3)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_passage_that_fails_is_ungraded_and_takes_no_other_along(
    features: FeatureGrader, language: str
) -> None:
    good = QUESTIONS[language][1]
    scorer = Scripted(lambda one: PairScore(math.nan, reason="broken") if one.text == good else PairScore(-2.0))
    grades = await cascade(features, scorer, read_everything=True).grade(
        QUESTIONS[language][0], found(language), ledger=ledger()
    )
    assert grades[0].level is Level.UNGRADED
    assert "broken" in grades[0].reason
    assert grades[0].recommendation is Recommendation.MANUAL_REVIEW
    assert grades[1].level is not Level.UNGRADED


async def test_falling_back_keeps_the_earlier_grade_and_says_so(features: FeatureGrader) -> None:
    scorer = Scripted(lambda one: PairScore(math.nan, reason="broken"))
    grades = await cascade(features, scorer, read_everything=True, fall_back=True).grade(
        QUESTIONS["en"][0], found("en"), ledger=ledger()
    )
    first = features.grade_now(QUESTIONS["en"][0], found("en"))
    assert [grade.probability for grade in grades] == [grade.probability for grade in first]
    assert all("the next tier failed: broken" in grade.reason for grade in grades)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_language_model_reads_only_what_lies_between_the_borders(
    features: FeatureGrader, language: str
) -> None:
    good = QUESTIONS[language][1]
    first = features.grade_now(QUESTIONS[language][0], found(language))
    assert first[0].probability is not None
    counted = math.log(first[0].probability / (1 - first[0].probability))
    # In the middle between the borders, its lead (a quarter of 6) included; the other one far below.
    scorer = Scripted(lambda one: PairScore(-0.5 * counted - 1.5 if one.text == good else -30.0))
    assessor = Assessor(0.9)
    grades = await cascade(features, scorer, assessor, read_everything=True).grade(
        QUESTIONS[language][0], found(language), ledger=ledger()
    )
    assert assessor.asked == ["p0"]
    assert [grade.tier for grade in grades] == ["llm", "cross_encoder"]
    assert grades[0].level is Level.HIGH
    assert grades[0].issues == ("old",)
    assert "cross_encoder" in grades[0].signals


@pytest.mark.parametrize(
    "assessor",
    [
        Assessor(None),
        Assessor(0.5, lost=True),
        Assessor(0.5, failure=GradingFailed(grader="x", reason="y")),
        Assessor(0.5, failure=ProviderUnreachable(provider="x", reason="y")),
    ],
)
@pytest.mark.parametrize("fall_back", [False, True])
async def test_where_the_language_model_fails_the_setting_decides(
    features: FeatureGrader, assessor: Assessor, fall_back: bool
) -> None:
    first = features.grade_now(QUESTIONS["en"][0], found("en"))
    assert first[0].probability is not None
    counted = math.log(first[0].probability / (1 - first[0].probability))
    scorer = Scripted(lambda one: PairScore(-0.5 * counted))
    grades = await cascade(features, scorer, assessor, read_everything=True, fall_back=fall_back).grade(
        QUESTIONS["en"][0], found("en"), ledger=ledger()
    )
    assert grades[0].level is (Level.MEDIUM if fall_back else Level.UNGRADED)
    assert grades[0].reason


async def test_the_language_model_may_follow_the_features_directly(features: FeatureGrader) -> None:
    first = features.grade_now(QUESTIONS["en"][0], found("en"))
    assert first[0].probability is not None
    assessor = Assessor(0.2)
    grader = cascade(
        features, None, assessor, tau_low=first[0].probability - 0.01, tau_high=first[0].probability + 0.01
    )
    grades = await grader.grade(QUESTIONS["en"][0], found("en"), ledger=ledger())
    assert assessor.asked == ["p0"]
    assert [grade.tier for grade in grades] == ["llm", "features"]


async def test_a_table_for_another_scorer_is_not_used(features: FeatureGrader) -> None:
    """Weights fitted for one scorer say nothing about another one's scores."""
    scorer = Scripted(lambda one: PairScore(1.5), name="another")
    grades = await cascade(features, scorer).grade(QUESTIONS["en"][0], found("en"), ledger=ledger())
    assert {grade.probability for grade in grades} == {probability_of(1.5)}
    assert all(grade.calibration is Calibration.NONE for grade in grades)
    assert len(scorer.asked) == 2


async def test_a_foreign_passage_is_always_read_and_never_called_calibrated(features: FeatureGrader) -> None:
    question, good, _ = QUESTIONS["en"]
    mixed = retrieval(
        question,
        [
            candidate(passage(good, number=0), cosine=0.9, lexical=9.0),
            candidate(passage(QUESTIONS["ja"][1], number=1), cosine=0.8, rank=2),
        ],
    )
    scorer = Scripted(lambda one: PairScore(9.0))
    narrow = table(band=Band(0.5, 0.5))
    grades = await cascade(features, scorer, table=narrow).grade(question, mixed, ledger=ledger())
    assert scorer.asked == [QUESTIONS["ja"][1]]
    assert grades[1].calibration is Calibration.NONE


def test_thresholds_come_from_the_table_unless_they_are_set(features: FeatureGrader) -> None:
    scorer = Scripted(lambda one: PairScore(1.0))
    assert cascade(features, scorer).thresholds("ja") == Thresholds(high=0.7, low=0.1)
    assert cascade(features, scorer, tau_high=0.05).thresholds("ja") == Thresholds(high=0.05, low=0.05)
    assert cascade(features, scorer, tau_low=0.8).thresholds("en") == Thresholds(high=0.8, low=0.8)
    assert cascade(features, None).thresholds("en") == features.thresholds("en")


def test_an_id_changes_with_every_part(features: FeatureGrader) -> None:
    one, other = Scripted(lambda one: PairScore(1.0)), Scripted(lambda one: PairScore(1.0), name="other")
    made = [
        cascade(features, None),
        cascade(features, one),
        cascade(features, other),
        cascade(features, one, Assessor(0.5)),
        cascade(features, one, tau_high=0.9),
        cascade(features, one, fall_back=True),
        cascade(features, one, table=replace(table(), version="u")),
    ]
    assert len({grader.id for grader in made}) == len(made)


async def test_nothing_found_asks_nobody(features: FeatureGrader) -> None:
    scorer = Scripted(lambda one: PairScore(1.0))
    assert list(await cascade(features, scorer).grade("?", Retrieval("?", ()), ledger=ledger())) == []
    assert scorer.asked == []


async def test_the_ledger_knows_the_first_tier(features: FeatureGrader) -> None:
    book = ledger()
    await cascade(features, Scripted(lambda one: PairScore(1.0))).grade(QUESTIONS["en"][0], found("en"), ledger=book)
    assert [(call.stage, call.items) for call in book.calls] == [(Stage.GRADE, 2)]


def test_a_passage_is_read_with_its_title_and_headings() -> None:
    one = replace(passage("Text. More.", title="Manual"), headings=("Manual", "Travel"))
    read = as_text(candidate(one, cosine=None))
    assert read.title == "Manual > Travel"
    assert len(read.strips) == len(one.strips)
