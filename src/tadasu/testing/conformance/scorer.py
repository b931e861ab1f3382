"""What every scorer does alike, as a suite of tests.

::

    class TestMyScorer(ScorerConformance):
        @pytest.fixture
        async def scorer(self):
            yield my_package.open_scorer(ScorerSettings(...))
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from contextlib import suppress

import pytest

from tadasu.core.scores import PairScore, ScoreScale, number_in
from tadasu.core.usage import Outcome, Stage
from tadasu.core.vectors import PassageText
from tadasu.errors import TadasuError
from tadasu.ports import PairScorer
from tadasu.testing.conformance.pairs import ODD_QUESTIONS, ODD_TEXTS, QUESTIONS, Asked, Book, passage_text

asked_in_each_language = pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.language)


class ScorerConformance:
    """Subclass it, name the class ``Test…``, and give it the fixture `scorer`.

    `tolerance` is how far a score may move with what else is in its batch (int8 models round by batch), in the scorer's
    own scale. A model of one language names it in `languages`; `gives_strips` is true where every score comes with the
    scores of its strips, and `reads_windows` where the span that a long passage's score comes from is told.
    """

    tolerance: float = 1e-6
    languages: Sequence[str] = ("en", "ja")
    gives_strips: bool = False
    reads_windows: bool = True

    @pytest.fixture
    def scorer(self) -> PairScorer:
        """Override this."""
        raise NotImplementedError("give the suite a fixture scorer")

    # --- who it is ---------------------------------------------------------------------------

    async def test_it_says_who_it_is_and_what_its_scores_mean(self, scorer: PairScorer) -> None:
        assert isinstance(scorer.scale, ScoreScale)
        assert isinstance(scorer.id, str)
        assert scorer.id.strip() == scorer.id != ""
        before = (scorer.id, scorer.scale)
        await _scored(scorer, QUESTIONS[0].question, _texts(QUESTIONS[0]))
        assert (scorer.id, scorer.scale) == before

    # --- what it says ------------------------------------------------------------------------

    @asked_in_each_language
    async def test_each_passage_has_a_score_of_the_declared_scale(self, scorer: PairScorer, asked: Asked) -> None:
        scores = await _scored(scorer, asked.question, _texts(asked))
        assert not any(score.failed for score in scores), [score.reason for score in scores]

    @asked_in_each_language
    async def test_the_passage_that_answers_scores_best(self, scorer: PairScorer, asked: Asked) -> None:
        if asked.language not in self.languages:
            pytest.skip("not a language of this scorer")
        scores = [score.score for score in await _scored(scorer, asked.question, _texts(asked))]
        assert scores.index(max(scores)) == asked.right

    @asked_in_each_language
    async def test_a_score_does_not_depend_on_its_place_or_its_neighbours(
        self, scorer: PairScorer, asked: Asked
    ) -> None:
        texts = _texts(asked)
        together = await _scored(scorer, asked.question, texts)
        turned = (await _scored(scorer, asked.question, texts[::-1]))[::-1]
        alone = [(await _scored(scorer, asked.question, [text]))[0] for text in texts]
        twice = await _scored(scorer, asked.question, [*texts, *texts])
        for others in (turned, alone, twice[: len(texts)], twice[len(texts) :]):
            assert _numbers(others) == pytest.approx(_numbers(together), abs=self.tolerance)

    @asked_in_each_language
    async def test_the_same_pair_has_the_same_score_again(self, scorer: PairScorer, asked: Asked) -> None:
        first = await _scored(scorer, asked.question, _texts(asked))
        assert _numbers(await _scored(scorer, asked.question, _texts(asked))) == pytest.approx(_numbers(first))

    @asked_in_each_language
    async def test_strips_have_a_score_each_or_none_has(self, scorer: PairScorer, asked: Asked) -> None:
        texts = _texts(asked)
        scores = await _scored(scorer, asked.question, texts)
        given = [len(score.strips) for score in scores]
        assert given in ([0] * len(texts), [len(text.strips) for text in texts])
        assert bool(sum(given)) is self.gives_strips

    # --- long and odd ------------------------------------------------------------------------

    @asked_in_each_language
    async def test_a_long_passage_is_read_to_its_end(self, scorer: PairScorer, asked: Asked) -> None:
        if asked.language not in self.languages:
            pytest.skip("not a language of this scorer")
        filler = " ".join(asked.texts[number] for number in range(len(asked.texts)) if number != asked.right)
        answer = asked.texts[asked.right]
        without = passage_text((filler + "\n") * 30, language=asked.language)
        text = (filler + "\n") * 30 + answer
        scores = await _scored(scorer, asked.question, [passage_text(text, language=asked.language), without])
        assert scores[0].score > scores[1].score + self.tolerance
        if self.reads_windows:
            hit = scores[0].hit
            assert hit is not None
            assert hit.end > len(text) - len(answer)

    @pytest.mark.parametrize("name", ODD_TEXTS)
    async def test_an_odd_passage_harms_no_other(self, scorer: PairScorer, name: str) -> None:
        asked = QUESTIONS[0]
        usual = await _scored(scorer, asked.question, _texts(asked))
        beside = await _scored(scorer, asked.question, [passage_text(ODD_TEXTS[name]), *_texts(asked)])
        assert _numbers(beside[1:]) == pytest.approx(_numbers(usual), abs=self.tolerance)

    @pytest.mark.parametrize("number", range(len(ODD_QUESTIONS)))
    async def test_an_odd_question_is_scored_or_refused_by_name(self, scorer: PairScorer, number: int) -> None:
        with suppress(TadasuError):  # a named refusal is an answer too
            await _scored(scorer, ODD_QUESTIONS[number], _texts(QUESTIONS[0]))

    async def test_nothing_is_asked_about_no_passage(self, scorer: PairScorer) -> None:
        assert await _scored(scorer, QUESTIONS[0].question, []) == []

    # --- how it works ------------------------------------------------------------------------

    async def test_its_calls_are_written_down(self, scorer: PairScorer) -> None:
        book = Book()
        await _scored(scorer, QUESTIONS[0].question, _texts(QUESTIONS[0]), book=book)
        assert book.calls
        assert {call.stage for call in book.calls} == {Stage.GRADE}
        done = [call for call in book.calls if call.outcome is Outcome.OK]
        assert sum(call.items for call in done) == len(QUESTIONS[0].texts)

    async def test_questions_may_be_asked_side_by_side(self, scorer: PairScorer) -> None:
        alone = [_numbers(await _scored(scorer, asked.question, _texts(asked))) for asked in QUESTIONS]
        together = await asyncio.gather(*(_scored(scorer, one.question, _texts(one)) for one in QUESTIONS * 3))
        for number, scores in enumerate(together):
            assert _numbers(scores) == pytest.approx(alone[number % len(QUESTIONS)], abs=self.tolerance)


async def _scored(
    scorer: PairScorer, question: str, passages: Sequence[PassageText], *, book: Book | None = None
) -> list[PairScore]:
    """The scores, each as the port promises it."""
    scores = list(await scorer.score(question, passages, ledger=book or Book()))
    assert len(scores) == len(passages)
    for score, text in zip(scores, passages, strict=True):
        assert isinstance(score, PairScore)
        if score.failed:
            assert math.isnan(score.score)
            assert score.reason
            continue
        assert isinstance(number_in(score.score, scorer.scale), float)
        assert len(score.strips) in {0, len(text.strips)}
        assert all(isinstance(number_in(strip, scorer.scale), float) for strip in score.strips)
        assert score.hit is None or 0 <= score.hit.start < score.hit.end <= len(text.text)
    return scores


def _texts(asked: Asked) -> list[PassageText]:
    return [passage_text(text, language=asked.language) for text in asked.texts]


def _numbers(scores: Sequence[PairScore]) -> list[float]:
    return [score.score for score in scores]
