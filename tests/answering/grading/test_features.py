"""The shipped first tier: right passages HIGH, wrong ones LOW, unknown scores unknown, failures named."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.answering.grading.features import FeatureGrader, open_features, shipped_folder
from tadasu.answering.grading.views import PASSAGE_VIEWS
from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.answering.retrieval.fusion import FusionTable
from tadasu.answering.retrieval.transient import rank_transient
from tadasu.core.grades import Grade, Level
from tadasu.core.retrieved import Candidate, Metric, Retrieval, similarity
from tadasu.core.usage import Stage
from tadasu.core.vectors import PassageText
from tadasu.errors import ModelUnavailable, SettingsInvalid
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.text.analyze import content_terms
from tests.answering.grading.made import at_cosine, bare, candidate, passage, retrieval

MODELS = Path(__file__).resolve().parents[3] / "models"

ENGLISH = [
    "The warranty of the KPT-340 covers parts and labour for three years from the date of delivery.",
    "The KPT-340 is calibrated at the factory in Nagoya. A certificate is enclosed with every unit.",
    "Employees may take twenty days of paid leave a year. Unused days expire in March.",
    "The board met in April to discuss the outlook for the European market.",
    "Buffer solutions must be kept below 25 °C and used within a month of opening.",
]
JAPANESE = [
    "KPT-340の保証期間は納品日から3年間で、部品代と作業費を含みます。",
    "KPT-340は名古屋工場で校正されます。すべての製品に証明書が付属します。",
    "従業員は年に20日の有給休暇を取得できます。残った日数は3月に失効します。",
    "取締役会は4月に開かれ、欧州市場の見通しを話し合いました。",
    "緩衝液は25℃以下で保管し、開封後1か月以内に使い切ってください。",
]


@pytest.fixture(scope="module")
def grader() -> FeatureGrader:
    return open_features()


@pytest.fixture(scope="module")
def encoder() -> OnnxEncoder:
    return OnnxEncoder.load(MODELS / "encoder", threads=1)


def search(question: str, texts: list[str], encoder: OnnxEncoder) -> Retrieval:
    passages = [passage(text, number=number) for number, text in enumerate(texts)]
    vectors = encoder.encode_passages(
        [PassageText(one.text, tuple((span.start, span.end) for span in one.strips)) for one in passages]
    )
    return rank_transient(
        question,
        passages,
        vectors,
        query_vector=encoder.encode_queries([question])[0],
        term_weights=dict.fromkeys(content_terms(question), 4.0),
        weights=FusionTable(),
    )


def level_of(grades: list[Grade], number: int) -> Level:
    return next(grade.level for grade in grades if grade.passage_id == f"p{number}")


@pytest.mark.parametrize(
    ("question", "texts"),
    [("How long does the warranty of the KPT-340 last?", ENGLISH), ("KPT-340の保証期間は何年ですか。", JAPANESE)],
)
def test_the_passage_that_answers_is_high_and_the_others_are_not(
    question: str, texts: list[str], grader: FeatureGrader, encoder: OnnxEncoder
) -> None:
    grades = grader.grade_now(question, search(question, texts, encoder))
    assert level_of(grades, 0) is Level.HIGH
    assert all(level_of(grades, number) is Level.LOW for number in (2, 3, 4))


@pytest.mark.parametrize(
    ("question", "texts"),
    [("Who composed the opera La Traviata?", ENGLISH), ("歌劇「椿姫」を作曲したのは誰ですか。", JAPANESE)],
)
def test_where_nothing_answers_everything_is_low(
    question: str, texts: list[str], grader: FeatureGrader, encoder: OnnxEncoder
) -> None:
    grades = grader.grade_now(question, search(question, texts, encoder))
    assert {grade.level for grade in grades} == {Level.LOW}


@pytest.mark.parametrize(
    ("question", "texts"),
    [("How long does the warranty of the KPT-340 last?", ENGLISH), ("KPT-340の保証期間は何年ですか。", JAPANESE)],
)
def test_without_any_score_or_vector_words_decide(question: str, texts: list[str], grader: FeatureGrader) -> None:
    candidates = [candidate(passage(text, number=number), cosine=None) for number, text in enumerate(texts)]
    grades = grader.grade_now(question, bare(retrieval(question, candidates)))
    best = max(grades, key=lambda grade: grade.probability or 0.0)
    assert best.passage_id == "p0"
    assert best.level is not Level.LOW
    assert all(level_of(grades, number) is Level.LOW for number in (2, 3, 4))


def test_a_japanese_question_on_an_english_passage_is_judged_by_vectors(
    grader: FeatureGrader, encoder: OnnxEncoder
) -> None:
    grades = grader.grade_now(
        "KPT-340の保証期間は何年ですか。", search("KPT-340の保証期間は何年ですか。", ENGLISH, encoder)
    )
    assert "cover" not in grades[0].signals
    assert "cosine" in grades[0].signals
    assert grades[0].passage_id == "p0"


@pytest.mark.parametrize("unknown", [None, math.nan, math.inf, "0.9", "n/a"])
def test_a14_a_missing_or_broken_score_is_unknown_and_the_passage_is_graded(
    unknown: Any, grader: FeatureGrader
) -> None:
    question = "How long does the warranty of the KPT-340 last?"
    right = candidate(passage(ENGLISH[0], number=0), cosine=None)
    wrong = candidate(passage(ENGLISH[2], number=1), cosine=0.8, lexical=1.0, rank=2)
    found = retrieval(question, [replace(right, dense=unknown, lexical=unknown, fused=unknown), wrong])
    grades = grader.grade_now(question, found)
    assert grades[0].level in {Level.HIGH, Level.MEDIUM}
    assert "cosine" not in grades[0].signals
    assert "bm25" not in grades[0].signals
    as_zero = retrieval(question, [replace(right, dense=0.0, lexical=0.0), wrong])
    assert grader.grade_now(question, as_zero)[0].probability != grades[0].probability


@pytest.mark.parametrize("unknown", [None, math.nan, "0.9"])
def test_a14_an_unknown_cosine_is_made_from_the_vectors_that_are_there(unknown: Any, grader: FeatureGrader) -> None:
    question = "保証期間は？"
    right = replace(candidate(passage(JAPANESE[0]), cosine=0.9), dense=unknown)
    assert grader.grade_now(question, retrieval(question, [right]))[0].signals["cosine"] == pytest.approx(0.9, abs=1e-5)


def _spread(question: str, texts: list[str], cosines: list[float]) -> Retrieval:
    candidates = [
        candidate(passage(text, number=rank - 1), cosine=cosine, rank=rank)
        for rank, (text, cosine) in enumerate(zip(texts, cosines, strict=True), start=1)
    ]
    return retrieval(question, candidates)


def _without_strips(found: Retrieval) -> Retrieval:
    return replace(found, candidates=tuple(replace(one, strip_vectors=None) for one in found.candidates))


@pytest.mark.parametrize(
    ("question", "texts"), [("How long is the warranty?", ENGLISH), ("保証期間は何年ですか。", JAPANESE)]
)
def test_a23_cosines_within_six_hundredths_fall_back_to_ranks_and_say_so(
    question: str, texts: list[str], grader: FeatureGrader
) -> None:
    flat = grader.grade_now(question, _spread(question, texts, [0.709, 0.70, 0.69, 0.67, 0.651]))
    assert all("ranks and leads" in grade.reason for grade in flat)
    moved = grader.grade_now(question, _without_strips(_spread(question, texts, [0.809, 0.80, 0.79, 0.77, 0.751])))
    still = grader.grade_now(question, _without_strips(_spread(question, texts, [0.709, 0.70, 0.69, 0.67, 0.651])))
    assert [one.probability for one in moved] == pytest.approx([one.probability for one in still], abs=1e-6)
    wide = grader.grade_now(question, _spread(question, texts, [0.9, 0.85, 0.8, 0.75, 0.7]))
    assert not any("ranks and leads" in grade.reason for grade in wide)


def test_a18_the_same_vectors_through_any_metric_give_the_same_grades(grader: FeatureGrader) -> None:
    question = "How long is the warranty?"
    cosines = [0.9, 0.8, 0.7]
    raw = {
        Metric.COSINE: cosines,
        Metric.INNER_PRODUCT: cosines,
        Metric.L2: [math.sqrt(2 - 2 * cosine) for cosine in cosines],
        Metric.SQUARED_L2: [2 - 2 * cosine for cosine in cosines],
    }
    graded = []
    for metric, scores in raw.items():
        candidates = [
            replace(candidate(passage(text, number=n), cosine=0.5, rank=n + 1), dense=similarity(score, metric))
            for n, (text, score) in enumerate(zip(ENGLISH, scores, strict=False))
        ]
        graded.append([grade.probability for grade in grader.grade_now(question, retrieval(question, candidates))])
    for other in graded[1:]:
        assert other == pytest.approx(graded[0], abs=1e-6)


def test_one_damaged_passage_is_ungraded_with_its_reason_and_the_others_are_graded(grader: FeatureGrader) -> None:
    question = "How long is the warranty?"
    broken = replace(candidate(passage(ENGLISH[1], number=1), cosine=0.8), dense=None, vector=np.ones(3, np.float32))
    empty = candidate(passage("  ", number=2), cosine=0.8)
    grades = grader.grade_now(
        question, retrieval(question, [candidate(passage(ENGLISH[0]), cosine=0.9), broken, empty])
    )
    assert [grade.level is Level.UNGRADED for grade in grades] == [False, True, True]
    assert "ValueError" in grades[1].reason
    assert "empty" in grades[2].reason


def test_a_foreign_passage_without_vectors_is_ungraded_not_low(grader: FeatureGrader) -> None:
    question = "保証期間は何年ですか。"
    grades = grader.grade_now(question, bare(retrieval(question, [candidate(passage(ENGLISH[0]), cosine=None)])))
    assert grades[0].level is Level.UNGRADED
    assert "no signal" in grades[0].reason


def test_an_empty_retrieval_has_no_grades(grader: FeatureGrader) -> None:
    assert grader.grade_now("Anything?", Retrieval(query="Anything?", candidates=())) == []


async def test_a_grading_is_one_free_call_in_the_ledger(grader: FeatureGrader) -> None:
    ledger = RunLedger(SystemClock())
    question = "How long is the warranty?"
    grades = await grader.grade(question, _spread(question, ENGLISH, [0.9, 0.8, 0.8, 0.8, 0.8]), ledger=ledger)
    assert len(grades) == 5
    assert [(call.stage, call.items, call.cost_usd) for call in ledger.calls] == [(Stage.GRADE, 5, 0.0)]


def test_the_strip_that_answers_scores_best(grader: FeatureGrader, encoder: OnnxEncoder) -> None:
    for question, texts, best in (
        ("Where is the KPT-340 calibrated?", ENGLISH, 0),
        ("KPT-340はどこで校正されますか。", JAPANESE, 0),
    ):
        grades = grader.grade_now(question, search(question, texts, encoder))
        scores = next(grade.strip_scores for grade in grades if grade.passage_id == "p1")
        assert len(scores) == 2
        assert int(np.argmax(scores)) == best


def test_two_passages_that_answer_do_not_talk_each_other_down(grader: FeatureGrader, encoder: OnnxEncoder) -> None:
    question = "How long does the warranty of the KPT-340 last?"
    twice = [ENGLISH[0], *ENGLISH[1:], ENGLISH[0].replace("three", "two")]
    grades = grader.grade_now(question, search(question, twice, encoder))
    assert level_of(grades, 0) is Level.HIGH
    assert level_of(grades, 5) is Level.HIGH


def test_ten_candidates_take_a_few_milliseconds(grader: FeatureGrader) -> None:
    question = "KPT-340の保証期間は納品から何年ですか。"
    texts = [text * 3 for text in JAPANESE] * 2
    found = _spread(question, texts, [0.9 - 0.01 * n for n in range(10)])
    taken = []
    for _ in range(20):
        began = time.process_time()
        grader.grade_now(question, found)
        taken.append(time.process_time() - began)
    assert min(taken) < 0.008


def test_borders_that_are_set_replace_the_fitted_ones() -> None:
    grader = open_features(tau_high=0.9, tau_low=0.1)
    assert (grader.thresholds("ja").high, grader.thresholds("en").low) == (0.9, 0.1)
    fitted = open_features()
    assert open_features(tau_high=0.99).thresholds("en").low == fitted.thresholds("en").low
    assert open_features(tau_low=0.98).thresholds("en").high >= 0.98
    with pytest.raises(SettingsInvalid, match="tau_low"):
        open_features(tau_high=0.2, tau_low=0.8)


@pytest.mark.parametrize("content", ["", "{}", '{"format": 99}', "[1, 2]", '{"format": 1, "languages": 3}'])
def test_a_damaged_model_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "features.json").write_text(content)
    with pytest.raises(ModelUnavailable):
        open_features(tmp_path)


def test_a_missing_model_and_weights_that_are_no_numbers_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="no such file"):
        open_features(tmp_path / "features.json")
    raw = json.loads((shipped_folder() / "features.json").read_text())
    raw["languages"]["en"]["passages"]["words"]["weights"][0] = math.nan
    (tmp_path / "features.json").write_text(json.dumps(raw))
    with pytest.raises(ModelUnavailable, match="finite"):
        open_features(tmp_path)


def _numbers() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.none(), st.floats(allow_nan=True, allow_infinity=True), st.floats(-1, 1), st.sampled_from(["0.9", "", True])
    )


@st.composite
def _retrievals(draw: st.DrawFn) -> tuple[str, Retrieval]:
    question = draw(st.one_of(st.sampled_from(["保証期間は？", "How long is it?", "KPT-340"]), st.text(max_size=30)))
    candidates: list[Candidate] = []
    for number in range(draw(st.integers(0, 5))):
        text = draw(st.one_of(st.sampled_from([*ENGLISH, *JAPANESE]), st.text(max_size=60)))
        one = candidate(
            passage(text, number=number), cosine=draw(st.one_of(st.none(), st.floats(-1, 1))), rank=number + 1
        )
        candidates.append(replace(one, dense=draw(_numbers()), lexical=draw(_numbers())))
    found = retrieval(question, candidates)
    return question, draw(st.sampled_from([found, bare(found), replace(found, query_vector=at_cosine(0.3))]))


@given(_retrievals())
def test_every_grade_is_a_probability_or_says_why_not(made: tuple[str, Retrieval]) -> None:
    question, found = made
    grades = _shared().grade_now(question, found)
    assert [grade.passage_id for grade in grades] == [one.passage.id for one in found.candidates]
    for grade, one in zip(grades, found.candidates, strict=True):
        assert grade.reason
        assert grade.probability is None or 0.0 < grade.probability < 1.0
        assert all(math.isfinite(value) for value in grade.signals.values())
        assert len(grade.strip_scores) in {0, len(one.passage.strips)}
        assert all(0.0 < score < 1.0 for score in grade.strip_scores)


_HELD: list[FeatureGrader] = []


def _shared() -> FeatureGrader:
    if not _HELD:
        _HELD.append(open_features())
    return _HELD[0]


def _views() -> Iterator[str]:
    raw = json.loads((shipped_folder() / "features.json").read_text())
    for part in raw["languages"].values():
        yield from part["passages"]


def test_every_view_was_fitted_in_every_language() -> None:
    assert sorted(_views()) == sorted([*PASSAGE_VIEWS, *PASSAGE_VIEWS])
