"""Every reason for "not known" is reached through the whole line, in both languages, and said in the asker's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tadasu.answering.conversation import restate_by_rules
from tadasu.answering.correction.loop import CorrectionLoop
from tadasu.answering.correction.policy import CorrectionSettings
from tadasu.answering.generation import AnswerComposer, ChatWriter, ExtractiveWriter
from tadasu.answering.pipeline import Inquiry, Pipeline
from tadasu.answering.refinement import RefinementSettings
from tadasu.answering.refinery import Refinery
from tadasu.core.answers import AnswerStatus, Reason
from tadasu.core.documents import Passage, Scope
from tadasu.core.runs import Run
from tadasu.core.writing import OnConflict
from tadasu.errors import SearchFailed
from tadasu.prompts import load
from tadasu.providers.scripted import ScriptedChat
from tadasu.runtime.budget import Limits
from tadasu.runtime.world import FixedWorld, SystemIds
from tadasu.storage.runs import SqlRunBook
from tadasu.text.messages import abstention
from tests.answering.correction.worlds import ScriptedGrader, ScriptedSearch
from tests.answering.writing import Words, passage

QUESTION = {"en": "How long is the warranty of the PT-300?", "ja": "PT-300の保証期間は何年ですか？"}
CLAIM = {"en": "The warranty of the PT-300 is 9 years. [1]", "ja": "PT-300の保証期間は9年です。[1]"}
LANGUAGES = pytest.mark.parametrize("language", ["en", "ja"])


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[SqlRunBook]:
    book = SqlRunBook.open(tmp_path / "state.db")
    yield book
    book.close()


def shelf(language: str, *years: int) -> list[Passage]:
    told = "The warranty of the PT-300 is {} years." if language == "en" else "PT-300の保証期間は{}年です。"
    return [passage([told.format(one)], name=f"p{one}", document=f"d{one}") for one in years]


async def ask(
    runs: SqlRunBook,
    language: str,
    passages: list[Passage],
    *,
    grade: float = 0.9,
    chat: ScriptedChat | None = None,
    failure: Exception | None = None,
    limits: Limits | None = None,
    scope: Scope | None = None,
    on_conflict: OnConflict = OnConflict.TELL,
) -> Run:
    world = FixedWorld(seed=7)
    prompts = {one: load("answer", one) for one in ("en", "ja")}
    writer = ChatWriter(chat, prompts=prompts) if chat else ExtractiveWriter()
    line = Pipeline(
        restate=restate_by_rules,
        correction=CorrectionLoop(
            search=ScriptedSearch(passages, failure=failure),
            grader=ScriptedGrader({}, default=grade),
            outside=None,
            settings=CorrectionSettings(max_searches=1),
        ),
        composer=AnswerComposer(writer, on_conflict=on_conflict),
        refinery=Refinery(Words(), RefinementSettings()),
        limits=limits or Limits(),
        runs=runs,
        clock=world,
        ids=SystemIds(),
        chance=world,
    )
    return await line.answer(Inquiry(QUESTION[language], scope=scope or Scope()))


def is_silent(run: Run, reason: Reason) -> bool:
    """Whether the run abstained for `reason`, said it in its language, and cites nothing."""
    answer = run.answer
    silent = answer.status is AnswerStatus.ABSTAINED and not answer.citations
    return silent and answer.reason is reason and answer.text == abstention(reason.value, run.language)


@LANGUAGES
async def test_a27_an_empty_index_is_no_documents(runs: SqlRunBook, language: str) -> None:
    assert is_silent(await ask(runs, language, []), Reason.NO_DOCUMENTS)


@LANGUAGES
async def test_filters_that_leave_nothing_are_all_filtered(runs: SqlRunBook, language: str) -> None:
    scope = Scope(source_prefix="elsewhere/", exclude_documents=frozenset({"d3"}))
    assert is_silent(await ask(runs, language, shelf(language, 3), scope=scope), Reason.ALL_FILTERED)


@LANGUAGES
async def test_a_search_that_fails_is_search_failed(runs: SqlRunBook, language: str) -> None:
    failure = SearchFailed(reason="the disk is gone")
    assert is_silent(await ask(runs, language, shelf(language, 3), failure=failure), Reason.SEARCH_FAILED)


@LANGUAGES
@pytest.mark.parametrize("grade", [0.05, 0.9])
async def test_a28_what_the_documents_do_not_say_is_insufficient(runs: SqlRunBook, language: str, grade: float) -> None:
    text = "The canteen opens at noon." if language == "en" else "社員食堂は正午に開きます。"
    run = await ask(runs, language, [passage([text], name="bad", document="d-bad")], grade=grade)
    assert is_silent(run, Reason.INSUFFICIENT)


@LANGUAGES
async def test_a_model_that_makes_up_all_it_says_is_unsupported(runs: SqlRunBook, language: str) -> None:
    run = await ask(runs, language, shelf(language, 3), chat=ScriptedChat([CLAIM[language]] * 3))
    assert is_silent(run, Reason.UNSUPPORTED)
    assert run.answer.removed


@LANGUAGES
async def test_a_contradiction_is_told_or_is_a_conflict_by_policy(runs: SqlRunBook, language: str) -> None:
    told = await ask(runs, language, shelf(language, 2, 3))
    assert told.answer.status is AnswerStatus.ANSWERED
    assert len(told.answer.citations) == 2
    silent = await ask(runs, language, shelf(language, 2, 3), on_conflict=OnConflict.ABSTAIN)
    assert is_silent(silent, Reason.CONFLICT)


@LANGUAGES
async def test_a_conflict_by_policy_asks_no_chat_model(runs: SqlRunBook, language: str) -> None:
    chat = ScriptedChat([CLAIM[language]])
    run = await ask(runs, language, shelf(language, 2, 3), chat=chat, on_conflict=OnConflict.ABSTAIN)
    assert is_silent(run, Reason.CONFLICT)
    assert not chat.requests


@LANGUAGES
async def test_a_budget_without_a_call_is_budget_spent(runs: SqlRunBook, language: str) -> None:
    assert is_silent(await ask(runs, language, shelf(language, 3), limits=Limits(calls=0)), Reason.BUDGET_SPENT)
