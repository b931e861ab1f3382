"""One reply, cut at every pair of positions: what is seen and cited is the same, and never half a marker is seen."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.answering.generation import AnswerComposer, AnswerFinished, ChatWriter, SentenceReleased
from tadasu.answering.generation.chat import Aloud
from tadasu.answering.generation.checking import AnswerCheck, CheckingSettings, Judgement, SentenceChecker
from tadasu.answering.generation.citations import MarkerStream
from tadasu.answering.generation.compose import Rules
from tadasu.answering.generation.sentences import SentenceReader, Written
from tadasu.core.answers import Answer, Evidence
from tadasu.core.events import Shown, TextReleased, TextRevised
from tadasu.core.usage import Stage
from tadasu.core.writing import Release, Unsupported
from tadasu.ports import ChatDelta, Ledger, Message, WritingTask
from tadasu.prompts import load
from tadasu.runtime.ledger import Stopwatch
from tests.answering.writing import Book, evidence

PROMPTS = {language: load("answer", language) for language in ("en", "ja")}
EN = evidence("The pump weighs 3 kg.", "The price is 500 yen.", "It is sold in Kyoto.", "The hose is 2 m long.")
JA = evidence("質量は3 kgです。", "価格は500円です。", "京都で販売。", "長さは2 mです。")
REPLIES = {
    "markers en": (
        "en",
        "It weighs 3 kg [1]. Price: 500 yen[2,9], sold in Kyoto 【３】. Hose: 2 m [2-4][^4] [Source 4]. x [it",
    ),
    "markers ja": (
        "ja",
        "質量は3 kgです[１]。価格は500円です。【2】京都で販売［３、4］。[資料1、2]長さは2 mです[4†l].[2024]年【",
    ),
    "think and fence": (
        "en",
        "<think>Is it [2]?\n</think>\n```md\nThe pump weighs 3 kg [1].\n```\nMr. X bought it [3]. ",
    ),
    "table": ("en", "| What | Is |\n|---|---|\n| Pump weighs | 3 kg [1] |\n| Price | **700** yen [2] |\n\nNot known."),
    "list ja": (
        "ja",
        "次のとおりです：\n- 質量は3 kgです[1]\n- 価格は700円です[2]\n1. 京都で販売[3]\n\n製造者は不明です。",
    ),
    "refusal": ("en", "The documents do not say who made it. Edison did [1]! The price is 500 yen [2]… No."),
}
HALF = re.compile(
    r"[\[［【]\s*[\^#]?\s*[0-9０-９]{0,3}$|[\[［【]\s*[\^#]?\s*[0-9０-９]{1,3}\s*[^\]］】0-9０-９,，、\s†-]*$"
)


class Pieces:
    """A chat model whose reply comes in these pieces."""

    id = "pieces/1"

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        for piece in self._pieces:
            yield ChatDelta(text=piece)
        yield ChatDelta(finish="stop")


class Remembering(SentenceChecker):
    """The checker, asked once about each sentence: thousands of replays hold the same few."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[tuple[str, tuple[int, ...]], Judgement] = {}

    def of(self, task: WritingTask, *, ledger: Ledger, watch: Stopwatch | None = None) -> AnswerCheck:
        known = self._known

        class Known(AnswerCheck):
            async def judge(self, sentence: str, cited: Sequence[Evidence]) -> Judgement:
                key = sentence, tuple(piece.number for piece in cited)
                if key not in known:
                    known[key] = await super().judge(sentence, cited)
                return known[key]

        return Known(None, CheckingSettings(), task, ledger, watch)


async def replayed(
    pieces: Sequence[str], language: str, checker: SentenceChecker, policy: Unsupported, release: Release
) -> tuple[Answer, str]:
    composer = AnswerComposer(
        ChatWriter(Pieces(pieces), prompts=PROMPTS), checker=checker, rules=Rules(policy), release=release
    )
    question = {"en": "What of the pump?", "ja": "質量と価格は？"}[language]
    task = WritingTask(question, language, EN if language == "en" else JA, "2026-01-01", "n0nce")
    screen = Shown()
    async for event in composer.compose(task, ledger=Book()):
        if isinstance(event, AnswerFinished):
            assert (screen.text, screen.unchecked) == (event.answer.text, "")
            assert screen.citations == event.answer.citations
            return event.answer, screen.text
        screen(TextReleased(event.text, event.citations) if isinstance(event, SentenceReleased) else event)
        assert not HALF.search(screen.text), screen.text
        assert isinstance(event, SentenceReleased) or release is Release.AT_ONCE
    raise AssertionError("no end")


def cut(text: str, *borders: int) -> list[str]:
    ends = [*sorted(borders), len(text)]
    return [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def read(pieces: Sequence[str]) -> list[Written]:
    """What the reader of sentences makes of a reply that comes in `pieces`."""
    aloud, markers, sentences, out = Aloud(), MarkerStream(), SentenceReader(), list[Written]()
    for piece in pieces:
        out += sentences.feed(markers.feed(aloud.feed(piece)))
    out += sentences.feed(markers.feed(aloud.finish()))
    return [*out, *sentences.feed(markers.finish()), *sentences.finish()]


@pytest.mark.parametrize("name", REPLIES)
def test_a58_every_pair_of_cuts_gives_the_same_sentences_and_citations(name: str) -> None:
    _, reply = REPLIES[name]
    whole = read([reply])
    assert len(whole) >= 3
    for i in range(len(reply) + 1):
        for j in range(i, len(reply) + 1):
            assert read(cut(reply, i, j)) == whole, (i, j)


@pytest.mark.parametrize("release", Release)
@pytest.mark.parametrize("name", REPLIES)
async def test_a58_every_cut_gives_the_same_answer_under_every_policy(name: str, release: Release) -> None:
    language, reply = REPLIES[name]
    checker = Remembering()
    for policy in (Unsupported.REMOVE, Unsupported.FLAG):
        whole = await replayed([reply], language, checker, policy, release)
        assert await replayed(list(reply), language, checker, policy, release) == whole
        for at in range(len(reply) + 1):
            pieces = cut(reply, at, min(at + 1 + at % 5, len(reply)))
            assert await replayed(pieces, language, checker, policy, release) == whole


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(REPLIES)), st.lists(st.integers(0, 110), max_size=8), st.sampled_from(Release))
async def test_a58_random_cuts_give_the_same_answer(name: str, borders: list[int], release: Release) -> None:
    language, reply = REPLIES[name]
    pieces = cut(reply, *(at for at in borders if at <= len(reply)))
    whole = await replayed([reply], language, SHARED, Unsupported.FLAG, Release.CHECKED)
    assert await replayed(pieces, language, SHARED, Unsupported.FLAG, release) == whole


SHARED = Remembering()


def test_what_is_taken_back_must_be_there() -> None:
    with pytest.raises(ValueError, match="is not the end"):
        Shown()(TextRevised("x", ""))


@pytest.mark.parametrize(
    ("language", "reply"),
    [
        ("en", "Price: 500 yen [2][3]. It weighs 3 kg【１】. Edison [9"),
        ("ja", "質量は3 kgです[1、2]。【２】価格は500円。赤い[99]。"),
    ],
)
async def test_a58_one_answer_cut_at_every_pair_of_positions_is_seen_and_cited_alike(language: str, reply: str) -> None:
    whole = await replayed([reply], language, SHARED, Unsupported.FLAG, Release.CHECKED)
    assert len(whole[0].citations) == 2
    for i in range(len(reply) + 1):
        for j in range(i, len(reply) + 1):
            pieces = cut(reply, i, j)
            assert await replayed(pieces, language, SHARED, Unsupported.FLAG, Release.AT_ONCE) == whole, (i, j)
