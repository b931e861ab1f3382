"""Evidence for the answering model, and whole passages for a second try where the strips held no answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tadasu.answering.conversation import restate_by_rules
from tadasu.answering.correction.loop import CorrectionLoop
from tadasu.answering.correction.policy import CorrectionSettings
from tadasu.answering.generation import AnswerComposer
from tadasu.answering.generation.compose import Release
from tadasu.answering.pipeline import Inquiry, Pipeline
from tadasu.answering.refinement import RefinementSettings
from tadasu.answering.refinery import Asked, Refinery
from tadasu.core.answers import AnswerStatus, Reason
from tadasu.core.documents import Reader
from tadasu.core.events import Event, Shown, TextReleased
from tadasu.core.grades import Grade, Thresholds
from tadasu.core.retrieved import Retrieval
from tadasu.core.runs import StripFate
from tadasu.ports import Ledger, WritingTask
from tadasu.runtime.budget import Limits
from tadasu.runtime.world import FixedWorld, SystemIds
from tadasu.storage.runs import SqlRunBook
from tests.answering.correction.worlds import ScriptedSearch
from tests.answering.writing import Book, Words, graded, passage

EN = ["The PT-300 is a pump. ", "Blue it is. ", "Sold in Kyoto. ", "The warranty is 3 years. "]
JA = ["PT-300はポンプです。", "色は青です。", "京都で売られています。", "保証期間は3年です。"]
ASKED = Asked("How long?", "How long?", "en")


class StripGrader:
    """Grades every passage alike, its first strip high and the others low."""

    id = "strips"

    def __init__(self, probability: float) -> None:
        self._probability = probability

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> Sequence[Grade]:
        level = Thresholds().level(self._probability)
        return [
            Grade(
                one.passage.id,
                level,
                self._probability,
                "scripted",
                "strips",
                strip_scores=(0.9, *[0.0] * (len(one.passage.strips) - 1)),
            )
            for one in retrieval.candidates
        ]


class Finder:
    """Writes the piece of evidence with `words`, nothing where there is none; keeps what it was given."""

    id = "finder"

    def __init__(self, words: str, *, writing: Callable[[], None] = lambda: None) -> None:
        self._words = words
        self._writing = writing
        self.given: list[list[str]] = []

    async def write(self, task: WritingTask, *, ledger: Ledger) -> AsyncIterator[str]:
        self._writing()
        self.given.append([piece.strip.text for piece in task.evidence])
        for piece in task.evidence:
            if self._words in piece.strip.text:
                yield f"{piece.strip.text.strip()} [{piece.number}]"


class Space:
    """A prompt with room for `room` tokens."""

    counted_by = "words"

    def __init__(self, room: int | None) -> None:
        self._room = room

    def count(self, text: str) -> int:
        return Words().count(text)

    async def room(self, question: str, language: str) -> int | None:
        return self._room


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[SqlRunBook]:
    book = SqlRunBook.open(tmp_path / "state.db")
    yield book
    book.close()


def line(
    runs: SqlRunBook,
    writer: Finder,
    text: list[str],
    *,
    probability: float = 0.9,
    limits: Limits | None = None,
    refinery: Refinery | None = None,
    world: FixedWorld | None = None,
    release: Release = Release.CHECKED,
) -> Pipeline:
    world = world or FixedWorld()
    return Pipeline(
        restate=restate_by_rules,
        correction=CorrectionLoop(
            search=ScriptedSearch([passage(text, name="p")]),
            grader=StripGrader(probability),
            outside=None,
            settings=CorrectionSettings(max_searches=0),
        ),
        composer=AnswerComposer(writer, release=release),
        refinery=refinery or Refinery(Words(), RefinementSettings(neighbours=0)),
        limits=limits or Limits(),
        runs=runs,
        clock=world,
        ids=SystemIds(),
        chance=world,
    )


@pytest.mark.parametrize(
    ("text", "question", "words"),
    [(EN, "How long is the warranty of the PT-300?", "3 years"), (JA, "PT-300の保証期間は何年ですか？", "3年")],
)
async def test_what_refinement_hid_is_found_by_a_second_try(
    runs: SqlRunBook, text: list[str], question: str, words: str
) -> None:
    writer, events = Finder(words), list[Event]()
    run = await line(runs, writer, text).answer(Inquiry(question), listen=events.append)
    assert writer.given == [text[:1], text]
    assert run.answer.status is AnswerStatus.ANSWERED
    assert words in run.answer.text
    assert "".join(e.text for e in events if isinstance(e, TextReleased)) == run.answer.text
    assert run.packing is not None
    assert run.packing.restored
    assert [piece.strip.text for piece in run.evidence] == text
    assert {record.fate for record in run.strips} == {StripFate.SELECTED}
    assert [call.model for call in run.calls if call.stage.value == "strip"] == ["refinement", "whole passages"]
    assert runs.load(run.id, reader=Reader()) == run


@pytest.mark.parametrize(("text", "question"), [(EN, "Who designed the PT-300?"), (JA, "PT-300を設計したのは誰？")])
async def test_where_the_second_try_finds_nothing_either_it_is_said_once(
    runs: SqlRunBook, text: list[str], question: str
) -> None:
    writer, events = Finder("nowhere to be found"), list[Event]()
    run = await line(runs, writer, text).answer(Inquiry(question), listen=events.append)
    assert len(writer.given) == 2
    assert (run.answer.status, run.answer.reason) == (AnswerStatus.ABSTAINED, Reason.INSUFFICIENT)
    assert [e.text for e in events if isinstance(e, TextReleased)] == [run.answer.text]
    assert run.packing is not None
    assert run.packing.restored


async def test_text_that_is_shown_at_once_is_taken_back_before_the_second_try(runs: SqlRunBook) -> None:
    class Refuses(Finder):
        async def write(self, task: WritingTask, *, ledger: Ledger) -> AsyncIterator[str]:
            async for piece in super().write(task, ledger=ledger):
                yield piece
                return
            yield "The documents do not say."

    screen = Shown()
    run = await line(runs, Refuses("3 years"), EN, release=Release.AT_ONCE).answer(
        Inquiry("How long is the warranty of the PT-300?"), listen=screen
    )
    assert run.answer.status is AnswerStatus.ANSWERED
    assert (screen.checked, screen.unchecked) == (run.answer.text, "")
    assert "do not say" not in run.answer.text


async def test_there_is_no_second_try_without_need_or_chance(runs: SqlRunBook) -> None:
    question = "How long is the warranty of the PT-300?"
    found = Finder("pump")
    run = await line(runs, found, EN).answer(Inquiry(question))
    assert len(found.given) == 1
    assert run.packing is not None
    assert not run.packing.restored
    medium = Finder("3 years")
    await line(runs, medium, EN, probability=0.5).answer(Inquiry(question))
    assert len(medium.given) == 1
    nothing_hidden = Finder("3 years")
    await line(runs, nothing_hidden, EN[:1]).answer(Inquiry(question))
    assert len(nothing_hidden.given) == 1
    turned_off = Finder("3 years")
    refinery = Refinery(Words(), RefinementSettings(neighbours=0), second_try=False)
    await line(runs, turned_off, EN, refinery=refinery).answer(Inquiry(question))
    assert len(turned_off.given) == 1


async def test_a_spent_budget_leaves_it_at_the_first_try_and_the_run_says_so(runs: SqlRunBook) -> None:
    question, world = "How long is the warranty of the PT-300?", FixedWorld()
    writer = Finder("3 years", writing=lambda: world.advance(40.0))
    run = await line(runs, writer, EN, limits=Limits(seconds=30.0), world=world).answer(Inquiry(question))
    assert len(writer.given) == 1
    assert run.answer.reason is Reason.INSUFFICIENT
    assert any("a second try with whole passages" in warning for warning in run.warnings)


async def test_a_model_counts_for_itself_and_its_window_bounds_the_evidence() -> None:
    one = graded(passage(EN, name="p"), 0.9, [0.9] * 4)
    refinery = Refinery(Words(), RefinementSettings(token_budget=100), space=Space(None), strength="mild")
    free = await refinery.evidence([one], ASKED, ledger=Book())
    assert free.packing is not None
    assert (free.packing.budget, free.packing.tokens, free.packing.counted_by) == (100, free.tokens, "words")
    assert (free.packing.strength, free.packing.restored) == ("mild", False)
    narrow = Refinery(Words(), RefinementSettings(token_budget=100), space=Space(90))
    little = await narrow.evidence([one], ASKED, ledger=Book())
    assert little.packing is not None
    assert little.packing.budget == 90
    assert 0 < len(little.evidence) < len(free.evidence)
    nothing = await narrow.evidence([], ASKED, ledger=Book())
    assert (nothing.evidence, nothing.packing) == ((), None)
