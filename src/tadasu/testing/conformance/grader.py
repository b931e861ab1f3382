"""What every grader does alike, as a suite of tests.

::

    class TestMyGrader(GraderConformance):
        @pytest.fixture
        def grader(self):
            return my_package.open_grader(GraderParts(...))
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from tadasu.core.grades import Grade, Level
from tadasu.core.retrieved import Retrieval
from tadasu.core.usage import Stage
from tadasu.errors import TadasuError
from tadasu.ports import Grader
from tadasu.testing.conformance.pairs import (
    ODD_QUESTIONS,
    ODD_TEXTS,
    QUESTIONS,
    Asked,
    Book,
    passage,
    passages_of,
    retrieval,
)

asked_in_each_language = pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.language)


class GraderConformance:
    """Subclass it, name the class ``Test…``, and give it the fixture `grader`.

    `tolerance` is how far a probability may move with the order of the candidates. `compares` is true for a grader that
    looks at the candidates together (ranks, leads over the others): the order of a search and its other passages may
    then change a grade. A grader of one language names it in `languages`.
    """

    tolerance: float = 1e-6
    compares: bool = False
    languages: Sequence[str] = ("en", "ja")

    @pytest.fixture
    def grader(self) -> Grader:
        """Override this."""
        raise NotImplementedError("give the suite a fixture grader")

    # --- what a grade is ---------------------------------------------------------------------

    @asked_in_each_language
    async def test_each_candidate_has_a_grade_under_its_own_id(self, grader: Grader, asked: Asked) -> None:
        grades = await _graded(grader, asked.question, retrieval(asked))
        assert all(grade.level is not Level.UNGRADED for grade in grades), [grade.reason for grade in grades]

    @asked_in_each_language
    async def test_the_passage_that_answers_is_graded_best(self, grader: Grader, asked: Asked) -> None:
        if asked.language not in self.languages:
            pytest.skip("not a language of this grader")
        grades = await _graded(grader, asked.question, retrieval(asked))
        assert _best(grades) == passages_of(asked)[asked.right].id

    async def test_its_id_is_its_name_and_does_not_change(self, grader: Grader) -> None:
        before = grader.id
        assert before.strip() == before != ""
        await _graded(grader, QUESTIONS[0].question, retrieval(QUESTIONS[0]))
        assert grader.id == before

    @asked_in_each_language
    async def test_the_same_retrieval_has_the_same_grades_again(self, grader: Grader, asked: Asked) -> None:
        first = await _graded(grader, asked.question, retrieval(asked))
        again = await _graded(grader, asked.question, retrieval(asked))
        assert _by_id(again) == pytest.approx(_by_id(first), abs=self.tolerance)

    @asked_in_each_language
    async def test_grades_follow_their_passages_through_any_order(self, grader: Grader, asked: Asked) -> None:
        passages = passages_of(asked)
        first = await _graded(grader, asked.question, retrieval(asked, passages))
        for order in (passages[::-1], passages[2:] + passages[:2]):
            turned = await _graded(grader, asked.question, retrieval(asked, order))
            if not self.compares:
                assert _by_id(turned) == pytest.approx(_by_id(first), abs=self.tolerance)
            if asked.language in self.languages:
                assert _best(turned) == passages[asked.right].id

    async def test_two_passages_with_the_same_words_have_a_grade_each(self, grader: Grader) -> None:
        asked = QUESTIONS[0]
        text = asked.texts[asked.right]
        same = [passage(text, number=number) for number in range(3)]
        grades = await _graded(grader, asked.question, retrieval(asked, same))
        assert len({grade.passage_id for grade in grades}) == 3

    async def test_an_empty_retrieval_has_no_grades(self, grader: Grader) -> None:
        assert await _graded(grader, QUESTIONS[0].question, retrieval(QUESTIONS[0], [])) == []

    async def test_passages_of_earlier_rounds_get_no_grade(self, grader: Grader) -> None:
        found = retrieval(QUESTIONS[0])
        parted = replace(found, candidates=found.candidates[:2], context=found.candidates[2:])
        assert len(await _graded(grader, QUESTIONS[0].question, parted)) == 2

    # --- bad input ---------------------------------------------------------------------------

    @pytest.mark.parametrize("name", ODD_TEXTS)
    async def test_an_odd_passage_harms_no_other(self, grader: Grader, name: str) -> None:
        asked = QUESTIONS[0]
        passages = [*passages_of(asked), passage(ODD_TEXTS[name], number=9)]
        grades = await _graded(grader, asked.question, retrieval(asked, passages))
        assert all(grade.level is not Level.UNGRADED for grade in grades[:-1])
        if "en" in self.languages:
            assert _best(grades[:-1]) == passages[asked.right].id

    async def test_a_damaged_passage_is_ungraded_and_harms_no_other(self, grader: Grader) -> None:
        asked = QUESTIONS[0]
        broken: Any = None
        damaged = replace(passage("…", number=9), text=broken)
        grades = await _graded(grader, asked.question, retrieval(asked, [damaged, *passages_of(asked)]), whole=False)
        assert grades[0].level is Level.UNGRADED
        assert all(grade.level is not Level.UNGRADED for grade in grades[1:])

    @pytest.mark.parametrize("unknown", [None, float("nan"), float("inf"), "0.9"], ids=str)
    async def test_a_score_of_the_search_that_is_none_is_unknown_and_never_zero(
        self, grader: Grader, unknown: Any
    ) -> None:
        asked = QUESTIONS[0]
        plain = retrieval(asked)
        spoilt = tuple(replace(one, dense=unknown, lexical=unknown) for one in plain.candidates)
        grades = await _graded(grader, asked.question, replace(plain, candidates=spoilt))
        assert all(grade.level is not Level.UNGRADED for grade in grades)
        if "en" in self.languages:
            assert _best(grades) == passages_of(asked)[asked.right].id

    @pytest.mark.parametrize("number", range(len(ODD_QUESTIONS)))
    async def test_an_odd_question_is_graded_or_refused_by_name(self, grader: Grader, number: int) -> None:
        question = ODD_QUESTIONS[number]
        with suppress(TadasuError):  # a named refusal is an answer too
            await _graded(grader, question, replace(retrieval(QUESTIONS[0]), query=question))

    # --- how it works ------------------------------------------------------------------------

    async def test_its_calls_are_written_down(self, grader: Grader) -> None:
        book = Book()
        await _graded(grader, QUESTIONS[0].question, retrieval(QUESTIONS[0]), book=book)
        assert book.calls
        assert {call.stage for call in book.calls} == {Stage.GRADE}

    async def test_questions_may_be_graded_side_by_side(self, grader: Grader) -> None:
        alone = [_by_id(await _graded(grader, asked.question, retrieval(asked))) for asked in QUESTIONS]
        together = await asyncio.gather(*(_graded(grader, one.question, retrieval(one)) for one in QUESTIONS * 3))
        for number, grades in enumerate(together):
            assert _by_id(grades) == pytest.approx(alone[number % len(QUESTIONS)], abs=self.tolerance)


async def _graded(
    grader: Grader, question: str, found: Retrieval, *, book: Book | None = None, whole: bool = True
) -> list[Grade]:
    """The grades, each as the port promises it; `whole` where every passage has a text."""
    grades = list(await grader.grade(question, found, ledger=book or Book()))
    assert [grade.passage_id for grade in grades] == [one.passage.id for one in found.candidates]
    for grade, candidate in zip(grades, found.candidates, strict=True):
        assert grade.grader == grader.id
        if grade.level is Level.UNGRADED:
            assert grade.reason
            continue
        assert grade.probability is not None
        assert 0.0 <= grade.probability <= 1.0
        assert grade.tier
        assert len(grade.strip_scores) in {0, len(candidate.passage.strips)}
        assert all(0.0 <= strip <= 1.0 for strip in grade.strip_scores)
        if whole:
            assert grade.hit is None or 0 <= grade.hit.start < grade.hit.end <= len(candidate.passage.text)
    return grades


def _by_id(grades: Sequence[Grade]) -> dict[str, float]:
    return {grade.passage_id: -1.0 if grade.probability is None else grade.probability for grade in grades}


def _best(grades: Sequence[Grade]) -> str:
    return max(grades, key=lambda grade: -1.0 if grade.probability is None else grade.probability).passage_id
