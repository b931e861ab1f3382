"""Question to checked answer through the real client and real HTTP on loopback."""

from __future__ import annotations

import pytest

from tadasu.answering.generation import AnswerComposer, AnswerFinished, ChatWriter, ExtractiveWriter
from tadasu.answering.generation.compose import Warned
from tadasu.core.answers import Answer
from tadasu.core.usage import Call, Outcome, Stage, Tokens
from tadasu.ports import WritingTask
from tadasu.prompts import load
from tadasu.providers.openai import open_chat
from tadasu.providers.registry import ChatSettings
from tadasu.testing.chat_server import Act, ChatServer, Fail, Say
from tests.answering.writing import Book, evidence

EVIDENCE = {
    "en": evidence("The pump weighs 3 kg.", "The price is 500 yen."),
    "ja": evidence("ポンプの質量は3 kgです。", "価格は500円です。"),
}
QUESTION = {"en": "How heavy is the pump?", "ja": "ポンプの質量は？"}


async def ask(act: Act, language: str, book: Book) -> Answer:
    with ChatServer([act]) as server:
        model = open_chat(ChatSettings(model="m", base_url=server.base_url))
        writer = ChatWriter(model, prompts={name: load("answer", name) for name in ("en", "ja")})
        composer = AnswerComposer(writer, fallback=ExtractiveWriter())
        task = WritingTask(QUESTION[language], language, EVIDENCE[language], "2026-01-01", "nonce")
        events = [event async for event in composer.compose(task, ledger=book)]
        await model.close()
    assert isinstance(events[-1], AnswerFinished)
    return events[-1].answer


def of_the_model(book: Book) -> list[Call]:
    """The calls that went out to the model: what is written and checked here stands in the book too."""
    return [call for call in book.calls if call.provider != "local"]


@pytest.mark.parametrize("piece", [1, 2, 7])
@pytest.mark.parametrize(
    ("language", "said", "shown"),
    [
        ("en", "The pump weighs 3 kg [1]. It was made in 1999 [2].", "The pump weighs 3 kg [1]."),
        ("ja", "ポンプの質量は3 kgです[1]。1999年製です[2]。", "ポンプの質量は3 kgです[1]。"),
    ],
)
async def test_a_streamed_reply_is_checked_and_counted(language: str, said: str, shown: str, piece: int) -> None:
    book = Book()
    answer = await ask(Say(said, piece=piece, usage=(321, 45)), language, book)
    assert answer.text == shown
    assert len(answer.removed) == 1
    [call] = of_the_model(book)
    assert (call.stage, call.tokens, call.outcome) == (Stage.GENERATE, Tokens(321, 45), Outcome.OK)


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_a_server_that_fails_leaves_the_evidence_to_speak(language: str) -> None:
    book = Book()
    answer = await ask(Fail(500, "out of memory"), language, book)
    assert EVIDENCE[language][0].strip.text in answer.text
    assert answer.warnings == (Warned.REPLACED,)
    assert [call.outcome for call in of_the_model(book)] == [Outcome.FAILED]


async def test_a_stream_that_breaks_leaves_the_checked_sentences() -> None:
    book = Book()
    answer = await ask(Say("The pump weighs 3 kg [1]. The price is 500 yen [2].", piece=10, cut_after=4), "en", book)
    assert answer.text == "The pump weighs 3 kg [1]."
    assert answer.warnings == (Warned.CUT_OFF,)
