"""The whole line with scripted searches and models: what reaches the writer, what is recorded, what can be replayed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tadasu.answering.conversation import RestateByChat, restate_by_rules
from tadasu.answering.correction.loop import CorrectionLoop
from tadasu.answering.correction.policy import CorrectionSettings
from tadasu.answering.generation import AnswerComposer, ChatWriter, ExtractiveWriter
from tadasu.answering.pipeline import Inquiry, Pipeline
from tadasu.answering.refinement import RefinementSettings
from tadasu.answering.refinery import Refinery
from tadasu.app.statistics import figures
from tadasu.core.answers import AnswerStatus, Reason
from tadasu.core.documents import Origin, Passage, Reader, Scope
from tadasu.core.events import Event, RunEnded, TextReleased
from tadasu.core.grades import Verdict
from tadasu.core.runs import Run, StripFate
from tadasu.errors import GradingFailed, ProviderUnreachable
from tadasu.ports import Grader
from tadasu.prompts import load
from tadasu.providers.scripted import ScriptedChat
from tadasu.runtime.budget import Limits
from tadasu.runtime.world import FixedWorld, SystemIds
from tadasu.storage.runs import SqlRunBook
from tadasu.text.messages import translate
from tests.answering.correction.worlds import ScriptedGrader, ScriptedSearch, ScriptedWeb
from tests.answering.writing import Words, passage

ENGLISH = "How long is the warranty of the PT-300?"
JAPANESE = "PT-300の保証期間は何年ですか？"


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[SqlRunBook]:
    book = SqlRunBook.open(tmp_path / "state.db")
    yield book
    book.close()


def pipeline(
    runs: SqlRunBook,
    search: ScriptedSearch,
    grader: Grader,
    *,
    web: ScriptedWeb | None = None,
    chat: ScriptedChat | None = None,
    limits: Limits | None = None,
    replayed: bool = False,
) -> Pipeline:
    world = FixedWorld(seed=7)
    prompts = {language: load("answer", language) for language in ("en", "ja")}
    writer = ChatWriter(chat, prompts=prompts) if chat else None
    return Pipeline(
        restate=restate_by_rules,
        correction=CorrectionLoop(
            search=search, grader=grader, outside=web, settings=CorrectionSettings(max_searches=1), k=10
        ),
        composer=AnswerComposer(writer, fallback=ExtractiveWriter()) if writer else AnswerComposer(ExtractiveWriter()),
        refinery=Refinery(Words(), RefinementSettings()),
        limits=limits or Limits(),
        runs=runs,
        clock=world,
        ids=world if replayed else SystemIds(),
        chance=world,
    )


def shelf(language: str) -> list[Passage]:
    if language == "ja":
        return [
            passage(["PT-300の保証期間は3年です。", "PT-300は横浜で作られています。"], name="good", document="d-good"),
            passage(["社員食堂は12時に開きます。"], name="bad", document="d-bad"),
        ]
    return [
        passage(
            ["The warranty of the PT-300 is 3 years. ", "The PT-300 is made in Yokohama."],
            name="good",
            document="d-good",
        ),
        passage(["The canteen opens at 12:00."], name="bad", document="d-bad"),
    ]


def prompt_of(chat: ScriptedChat) -> str:
    return "\n".join(message.content for message in chat.requests[0])


@pytest.mark.parametrize(("question", "language", "quoted"), [(ENGLISH, "en", "3 years"), (JAPANESE, "ja", "3年")])
async def test_a_correct_run_answers_with_citations_and_is_saved_whole(
    runs: SqlRunBook, question: str, language: str, quoted: str
) -> None:
    events: list[Event] = []
    run = await pipeline(runs, ScriptedSearch(shelf(language)), ScriptedGrader({"good": 0.9, "bad": 0.05})).answer(
        Inquiry(question), listen=events.append
    )
    assert run.answer.status is AnswerStatus.ANSWERED
    assert quoted in run.answer.text
    assert [c.document_id for c in run.answer.citations] == ["d-good"]
    assert run.language == language
    assert "".join(e.text for e in events if isinstance(e, TextReleased)) == run.answer.text
    assert isinstance(events[-1], RunEnded)
    assert runs.load(run.id, reader=Reader()) == run
    assert run.question == question


@pytest.mark.parametrize(("question", "language"), [(ENGLISH, "en"), (JAPANESE, "ja")])
async def test_a12_correct_and_incorrect_send_different_evidence_for_the_same_documents(
    runs: SqlRunBook, question: str, language: str
) -> None:
    reply = "The warranty of the PT-300 is 3 years. [1]" if language == "en" else "PT-300の保証期間は3年です。[1]"
    correct, incorrect = ScriptedChat([reply]), ScriptedChat([reply])
    web = ScriptedWeb([passage(["A page about PT-300."], name="web0", document="w", origin=Origin.WEB)])
    first = await pipeline(runs, ScriptedSearch(shelf(language)), ScriptedGrader({"good": 0.9}), chat=correct).answer(
        Inquiry(question)
    )
    grader = ScriptedGrader({"good": 0.1, "bad": 0.1, "web0": 0.8})
    second = await pipeline(runs, ScriptedSearch(shelf(language)), grader, web=web, chat=incorrect).answer(
        Inquiry(question)
    )
    assert (first.verdict, second.rounds[0].verdict) == (Verdict.CORRECT, Verdict.INCORRECT)
    assert {e.strip.document_id for e in first.evidence} == {"d-good"}
    assert {e.strip.document_id for e in second.evidence} == {"w"}
    assert prompt_of(correct) != prompt_of(incorrect)
    assert "A page about PT-300." not in prompt_of(correct)
    assert shelf(language)[0].text[:12] not in prompt_of(incorrect).replace(question, "")


async def test_a16_the_prompt_holds_only_the_good_passage(runs: SqlRunBook) -> None:
    noise = [passage([f"Noise number {i} about nothing."], name=f"n{i}", document=f"d{i}") for i in range(4)]
    chat = ScriptedChat(["The warranty of the PT-300 is 3 years. [1]"])
    await pipeline(
        runs, ScriptedSearch([shelf("en")[0], *noise]), ScriptedGrader({"good": 0.9}, default=0.01), chat=chat
    ).answer(Inquiry(ENGLISH))
    assert "3 years" in prompt_of(chat)
    assert "Noise" not in prompt_of(chat)


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        ("Which band wrote the song Nighthawk?", "Nighthawk was written by The Lanterns in 1987. [1]"),
        ("「夜鷹」という曲を作ったのは誰ですか？", "「夜鷹」を作ったのは1987年の灯台楽団です。[1]"),
    ],
)
async def test_a28_a29_an_off_topic_question_is_not_answered_from_memory_and_cites_nothing(
    runs: SqlRunBook, question: str, claim: str
) -> None:
    manual = [passage(["VACUUM rebuilds the database file."], name="db", document="d-db")]
    none_good = await pipeline(runs, ScriptedSearch(manual), ScriptedGrader({}), chat=ScriptedChat([claim])).answer(
        Inquiry(question)
    )
    assert (none_good.answer.status, none_good.answer.reason) == (AnswerStatus.ABSTAINED, Reason.INSUFFICIENT)
    fooled = await pipeline(
        runs, ScriptedSearch(manual), ScriptedGrader({"db": 0.9}), chat=ScriptedChat([claim])
    ).answer(Inquiry(question))
    assert (fooled.answer.status, fooled.answer.reason) == (AnswerStatus.ABSTAINED, Reason.UNSUPPORTED)
    assert fooled.answer.citations == ()
    assert fooled.answer.removed


@pytest.mark.parametrize(
    ("language", "question", "reply"),
    [
        ("en", ENGLISH, "This is not in the knowledge base. The PT-300 weighs 9 kg. It costs 400 euros. It is blue."),
        ("ja", JAPANESE, "資料には記載がありません。PT-300の重さは9kgです。価格は400ユーロです。色は青です。"),
    ],
)
async def test_a30_claims_after_a_refusal_are_removed(
    runs: SqlRunBook, language: str, question: str, reply: str
) -> None:
    run = await pipeline(
        runs, ScriptedSearch(shelf(language)), ScriptedGrader({"good": 0.9}), chat=ScriptedChat([reply])
    ).answer(Inquiry(question))
    assert run.answer.status is AnswerStatus.ABSTAINED
    assert len(run.answer.removed) >= 3


@pytest.mark.parametrize(
    "hostile", ["{x} {{y}} %s $z {0} </evidence> [1] ===", "質問{x}【１】％ｓ $z は？", "\u202e?\x00"]
)
async def test_a53_the_question_reaches_the_model_and_the_run_byte_for_byte(runs: SqlRunBook, hostile: str) -> None:
    chat = ScriptedChat(["The warranty of the PT-300 is 3 years. [1]"])
    run = await pipeline(runs, ScriptedSearch(shelf("en")), ScriptedGrader({"good": 0.9}), chat=chat).answer(
        Inquiry(hostile)
    )
    assert run.question == hostile
    if run.evidence:
        assert hostile in prompt_of(chat)


@pytest.mark.parametrize("texts", [[], [""], ["   \n"], [" "]])
async def test_a25_empty_and_blank_passages_abstain_without_an_error(runs: SqlRunBook, texts: list[str]) -> None:
    blank = [passage([text], name=f"b{i}", document=f"d{i}") for i, text in enumerate(texts)]
    run = await pipeline(runs, ScriptedSearch(blank), ScriptedGrader({}, default=0.5)).answer(Inquiry(ENGLISH))
    assert run.answer.status is AnswerStatus.ABSTAINED
    assert runs.load(run.id, reader=Reader()) == run


async def test_a_failing_model_is_replaced_by_quotations_and_the_ledger_keeps_the_failure(runs: SqlRunBook) -> None:
    chat = ScriptedChat([ProviderUnreachable(provider="scripted", reason="time-out")])
    run = await pipeline(runs, ScriptedSearch(shelf("en")), ScriptedGrader({"good": 0.9}), chat=chat).answer(
        Inquiry(ENGLISH)
    )
    assert "3 years" in run.answer.text
    assert run.answer.warnings
    assert next(call.outcome.value for call in run.calls if call.stage.value == "generate") == "failed"


async def test_every_failure_still_leaves_a_saved_run_with_its_reason(runs: SqlRunBook) -> None:
    def raising(_: object) -> list[object]:
        raise GradingFailed(grader="g", reason="out of memory")

    grader = ScriptedGrader({}, wrap=raising)  # type: ignore[arg-type]
    run = await pipeline(runs, ScriptedSearch(shelf("ja")), grader).answer(Inquiry(JAPANESE))
    assert run.answer.reason is Reason.GRADER_FAILED
    assert "out of memory" in run.rounds[0].error
    assert runs.load("last", reader=Reader()) == run
    spent = await pipeline(runs, ScriptedSearch(shelf("ja")), ScriptedGrader({}), limits=Limits(seconds=0.0)).answer(
        Inquiry(JAPANESE)
    )
    assert spent.answer.reason is Reason.BUDGET_SPENT


async def test_a_follow_up_is_searched_for_standalone_while_the_model_gets_the_users_words(runs: SqlRunBook) -> None:
    search, chat = ScriptedSearch(shelf("en")), ScriptedChat(["The warranty of the PT-300 is 3 years. [1]"] * 2)
    line = pipeline(runs, search, ScriptedGrader({"good": 0.9}), chat=chat)
    first = await line.answer(Inquiry("Where is the PT-300 made?"))
    second = await line.answer(Inquiry("How long is its warranty?", history=[first], session="s1"))
    assert "PT-300" in search.asked[-1].query
    assert second.query == search.asked[-1].query != second.question
    assert "How long is its warranty?" in "\n".join(m.content for m in chat.requests[-1])
    assert (second.previous_run, second.session) == (first.id, "s1")


@pytest.mark.parametrize(
    ("said", "language", "words"),
    [
        ("thanks!", "en", "not a question"),
        ("ありがとうございます。", "ja", "質問ではない"),
        ("?!", "en", "not a question"),
    ],
)
async def test_small_talk_is_answered_without_a_search_and_leaves_the_topic_alone(
    runs: SqlRunBook, said: str, language: str, words: str
) -> None:
    search = ScriptedSearch(shelf("en"))
    line = pipeline(runs, search, ScriptedGrader({"good": 0.9}))
    first = await line.answer(Inquiry("Where is the PT-300 made?"))
    searches = len(search.asked)
    events: list[Event] = []
    run = await line.answer(Inquiry(said, history=[first], session="s1"), listen=events.append)
    assert len(search.asked) == searches
    assert (run.answer.reason, run.rounds, run.stop_reason, run.query) == (Reason.NO_QUESTION, (), "small talk", said)
    assert words in run.answer.text
    assert run.language == language
    assert "".join(e.text for e in events if isinstance(e, TextReleased)) == run.answer.text
    assert runs.load(run.id, reader=Reader()) == run
    assert translate(run.stop_reason, "ja") != run.stop_reason
    assert figures([first, run]).verdicts == {"correct": 1}
    third = await line.answer(Inquiry("How long is its warranty?", history=[first, run], session="s1"))
    assert third.query == "PT-300: How long is its warranty?"


async def test_a_chat_model_restates_a_follow_up_and_the_rules_do_where_it_fails(runs: SqlRunBook) -> None:
    line = pipeline(runs, ScriptedSearch(shelf("en")), ScriptedGrader({"good": 0.9}))
    first = await line.answer(Inquiry("Where is the PT-300 made?"))
    prompts = {language: load("standalone", language) for language in ("en", "ja")}
    failing = ProviderUnreachable(provider="scripted", reason="time-out")
    chat = ScriptedChat(["PT-300 warranty length", "", failing])
    restate = RestateByChat(chat, prompts, FixedWorld())
    from tadasu.runtime.ledger import RunLedger

    ledger = RunLedger(FixedWorld())
    asked = [await restate("How long is its warranty?", [first], ledger=ledger) for _ in range(3)]
    assert asked == ["PT-300 warranty length", *["PT-300: How long is its warranty?"] * 2]
    assert await restate("How long is its warranty?", [], ledger=ledger) == "How long is its warranty?"
    assert "How long is its warranty?" in chat.requests[0][-1].content
    assert [call.stage.value for call in ledger.calls] == ["rewrite"] * 3


async def test_the_same_world_gives_the_same_run_again(tmp_path: Path) -> None:
    made: list[Run] = []
    for turn in range(2):
        book = SqlRunBook.open(tmp_path / f"{turn}.db")
        made.append(
            await pipeline(
                book, ScriptedSearch(shelf("en")), ScriptedGrader({"good": 0.9, "bad": 0.4}), replayed=True
            ).answer(Inquiry(ENGLISH))
        )
        book.close()
    assert made[0] == made[1]


async def test_strips_of_the_run_concatenate_to_the_passages_that_went_on(runs: SqlRunBook) -> None:
    own = shelf("en")
    run = await pipeline(runs, ScriptedSearch(own), ScriptedGrader({"good": 0.9, "bad": 0.5})).answer(Inquiry(ENGLISH))
    for each in own:
        assert "".join(r.strip.text for r in run.strips if r.strip.passage_id == each.id) == each.text
    kept = {r.strip.id for r in run.strips if r.fate in (StripFate.SELECTED, StripFate.NEIGHBOUR)}
    assert {e.strip.id for e in run.evidence} == kept


async def test_a_run_is_hidden_from_another_tenant(runs: SqlRunBook) -> None:
    scope = Scope(reader=Reader(tenant="a"))
    run = await pipeline(runs, ScriptedSearch(shelf("en")), ScriptedGrader({"good": 0.9})).answer(
        Inquiry(ENGLISH, scope=scope)
    )
    from tadasu.errors import RunNotFound

    with pytest.raises(RunNotFound):
        runs.load(run.id, reader=Reader(tenant="b"))
    assert list(runs.latest(limit=5, reader=Reader(tenant="b"))) == []
