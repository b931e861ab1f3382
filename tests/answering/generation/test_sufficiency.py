"""One score says whether the evidence is sufficient, and one threshold whether anything is quoted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.answering.generation.choosing import ExtractiveSettings
from tadasu.answering.generation.extractive import ExtractiveWriter
from tadasu.answering.generation.spotting import spot
from tadasu.answering.generation.sufficiency import Signals, judge, log_odds
from tadasu.core.answers import AnswerStatus, Evidence, Reason
from tadasu.errors import ModelUnavailable
from tadasu.ports import FoundSpan, Ledger
from tests.answering.writing import Book, compose, evidence, task

NUMBER = st.floats(-6, 6, allow_nan=False)
SIGNALS = st.builds(Signals, *[NUMBER] * len(fields(Signals)))

EN = evidence(
    ("tower", "The lighthouse was painted red in 1931. "),
    ("tower", "Its lamp was made by Barbier. "),
    ("harbour", "The harbour was dredged twice."),
)
JA = evidence(
    ("灯台", "灯台は1931年に赤く塗られた。"),
    ("灯台", "灯器を作ったのはバルビエ社である。"),
    ("港", "港は二度浚渫された。"),
)


@dataclass
class FakeReader:
    """Sees `words` wherever they stand, with one probability; fails where it has none."""

    words: str
    probability: float = 0.9
    fails: bool = False
    id: str = "fake"

    async def read(self, question: str, texts: Sequence[str], *, ledger: Ledger) -> Sequence[FoundSpan | None]:
        if self.fails:
            raise ModelUnavailable(path="model.onnx", reason="it is not there")
        places = [text.find(self.words) for text in texts]
        return [FoundSpan(at, at + len(self.words), self.probability) if at >= 0 else None for at in places]


@settings(max_examples=40, deadline=None)
@given(SIGNALS, st.sampled_from([field.name for field in fields(Signals)]), st.floats(0, 5), st.booleans())
def test_more_of_a_signal_never_lowers_the_score(signals: Signals, name: str, more: float, read: bool) -> None:
    better = replace(signals, **{name: getattr(signals, name) + more})
    assert 0.0 <= judge(signals, read=read).score <= judge(better, read=read).score <= 1.0


@given(st.floats(0, 1), st.floats(0, 1))
def test_log_odds_keep_the_order_and_are_finite(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert -6 < log_odds(low) <= log_odds(high) < 6


@pytest.mark.parametrize(("pieces", "words"), [(EN, "Barbier"), (JA, "バルビエ社")])
async def test_the_place_of_a_span_is_the_sentence_that_holds_it(pieces: Sequence[Evidence], words: str) -> None:
    spots = await spot(FakeReader(words), "?", pieces, ledger=Book())
    assert spots == {(2, 0): 0.9}


@pytest.mark.parametrize("pieces", [EN, JA])
async def test_without_a_reader_and_with_one_that_fails_rules_choose_alone(pieces: Sequence[Evidence]) -> None:
    assert await spot(None, "?", pieces, ledger=Book()) == {}
    assert await spot(FakeReader("x", fails=True), "?", pieces, ledger=Book()) == {}


@pytest.mark.parametrize(
    ("language", "question", "pieces", "words"),
    [
        ("en", "Which firm supplied what shines in the lighthouse?", EN, "Barbier"),
        ("ja", "灯台で光るものを納めたのはどの会社ですか", JA, "バルビエ社"),
    ],
)
async def test_what_the_reader_sees_is_quoted_though_other_words_were_used(
    language: str, question: str, pieces: Sequence[Evidence], words: str
) -> None:
    answer = await compose(ExtractiveWriter(reader=FakeReader(words)), question, pieces, language=language)
    assert words in answer.text
    assert answer.citations[0].quote.strip() == pieces[1].strip.text.strip() or len(answer.citations) == 2


@pytest.mark.parametrize(
    ("language", "question", "pieces"),
    [("en", "When was the lighthouse painted red?", EN), ("ja", "灯台が赤く塗られたのはいつですか", JA)],
)
async def test_a74_the_threshold_decides_whether_anything_is_quoted(
    language: str, question: str, pieces: Sequence[Evidence]
) -> None:
    writer = ExtractiveWriter(ExtractiveSettings(threshold=0.0))
    chosen = await writer.choose(task(question, pieces, language=language), ledger=Book())
    assert chosen.sufficiency is not None
    assert 0.0 < chosen.sufficiency.score < 1.0
    for threshold, status in ((0.0, AnswerStatus.ANSWERED), (1.0, AnswerStatus.ABSTAINED)):
        strict = ExtractiveWriter(ExtractiveSettings(threshold=threshold))
        answer = await compose(strict, question, pieces, language=language)
        assert answer.status is status
    assert answer.reason is Reason.INSUFFICIENT


@pytest.mark.parametrize(
    ("language", "question", "pieces"),
    [("en", "When was the lighthouse painted red?", EN), ("ja", "灯台が赤く塗られたのはいつですか", JA)],
)
async def test_better_grades_of_the_passage_make_the_evidence_more_sufficient(
    language: str, question: str, pieces: Sequence[Evidence]
) -> None:
    asked = task(question, pieces, language=language)
    passage_id = pieces[0].strip.passage_id
    scores = []
    for grade in (0.05, 0.5, 0.95):
        chosen = await ExtractiveWriter().choose(replace(asked, grades={passage_id: grade}), ledger=Book())
        assert chosen.sufficiency is not None
        scores.append(chosen.sufficiency.score)
    assert scores == sorted(set(scores))


async def test_the_signals_of_a_choice_are_finite_and_named() -> None:
    chosen = await ExtractiveWriter().choose(task("When was the lighthouse painted?", EN), ledger=Book())
    assert chosen.sufficiency is not None
    assert all(abs(value) < 10 for value in astuple(chosen.sufficiency.signals))
