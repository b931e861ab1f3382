"""Models that invent, cite wrongly, answer from memory or refuse and then answer: nothing of it passes for supported."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

import pytest

from tadasu.answering.generation import AnswerComposer, AnswerFinished, ChatWriter, ExtractiveWriter, SentenceReleased
from tadasu.answering.generation.compose import Rules, Warned
from tadasu.answering.generation.rewording import ChatRewording
from tadasu.core.answers import Answer, AnswerStatus, Evidence, Reason, Support
from tadasu.core.events import Shown, TextReleased, TextRevised
from tadasu.core.usage import Stage, total
from tadasu.core.writing import Release, Unsupported
from tadasu.errors import ProviderUnreachable
from tadasu.ports import AnswerWriter, ChatDelta, ChatModel, Ledger, Message, WritingTask
from tadasu.prompts import load
from tadasu.providers.openai import open_chat
from tadasu.providers.registry import ChatSettings
from tadasu.providers.scripted import ScriptedChat
from tadasu.testing.chat_server import ChatServer, Say
from tests.answering.writing import Book, evidence

EVIDENCE = {
    "en": evidence("The pump weighs 3 kg.", "The price is 500 yen.", "It is sold in Kyoto."),
    "ja": evidence("ポンプの質量は3 kgです。", "価格は500円です。", "京都で販売されています。"),
}
QUESTION = {"en": "How heavy is the pump, and who made it?", "ja": "ポンプの質量は？製造者は誰ですか？"}
MARK = {"en": "(not confirmed by the documents)", "ja": "（資料では確認できません）"}
PROMPTS = {name: {language: load(name, language) for language in ("en", "ja")} for name in ("answer", "reword")}


@dataclass(frozen=True)
class Kind:
    """What a model says, what of it nothing supports, and what of it stands: sentence to the quote that it rests on."""

    said: str
    invented: tuple[str, ...]
    stands: dict[str, str]
    without_evidence: bool = False


KINDS = {
    ("invents", "en"): Kind(
        "The pump weighs 3 kg [1]. It was made by Edison in 1999 [1].",
        ("It was made by Edison in 1999.",),
        {"The pump weighs 3 kg.": "The pump weighs 3 kg."},
    ),
    ("invents", "ja"): Kind(
        "ポンプの質量は3 kgです[1]。1999年にエジソンが製造しました[1]。",
        ("1999年にエジソンが製造しました。",),
        {"ポンプの質量は3 kgです。": "ポンプの質量は3 kgです。"},
    ),
    ("wrong source", "en"): Kind(
        "The pump weighs 3 kg [2]. The price is 700 yen [2].",
        ("The price is 700 yen.",),
        {"The pump weighs 3 kg.": "The pump weighs 3 kg."},
    ),
    ("wrong source", "ja"): Kind(
        "ポンプの質量は3 kgです[2]。価格は700円です[2]。",
        ("価格は700円です。",),
        {"ポンプの質量は3 kgです。": "ポンプの質量は3 kgです。"},
    ),
    ("cites [99]", "en"): Kind(
        "The price is 500 yen [99]. Edison made it [99][0].",
        ("Edison made it.",),
        {"The price is 500 yen.": "The price is 500 yen."},
    ),
    ("cites [99]", "ja"): Kind(
        "価格は500円です[99]。エジソンが製造しました【99】。",
        ("エジソンが製造しました。",),
        {"価格は500円です。": "価格は500円です。"},
    ),
    ("from memory", "en"): Kind("Edison made it in 1999 [1].", ("Edison made it in 1999.",), {}, True),
    ("from memory", "ja"): Kind("1999年にエジソンが作りました[1]。", ("1999年にエジソンが作りました。",), {}, True),
    ("refuses, then answers", "en"): Kind(
        "The documents do not say who made it. However, Edison made it in 1999 [1]. It became famous [2].",
        ("However, Edison made it in 1999.", "It became famous."),
        {},
    ),
    ("refuses, then answers", "ja"): Kind(
        "製造者は資料に記載がありません。ただし、1999年にエジソンが作りました[1]。有名になりました[2]。",
        ("ただし、1999年にエジソンが作りました。", "有名になりました。"),
        {},
    ),
}


async def heard(
    composer: AnswerComposer, language: str, pieces: tuple[Evidence, ...], book: Book
) -> tuple[Answer, Shown, list[TextRevised]]:
    """The answer, what a reader's screen held at the end, and what was corrected on the way there."""
    task = WritingTask(QUESTION[language], language, pieces, "2026-01-01", "n0nce")
    screen, revisions, answer = Shown(), list[TextRevised](), None
    async for event in composer.compose(task, ledger=book):
        match event:
            case SentenceReleased():
                screen(TextReleased(event.text, event.citations))
            case TextRevised():
                revisions.append(event)
                screen(event)
            case AnswerFinished():
                answer = event.answer
        assert not re.search(r"[\[［【][0-9０-９]", screen.unchecked), "what is unchecked cites nothing"
        assert not re.search(r"[\[［【]\s*[0-9０-９]*$", screen.text), "never half a marker"
    assert answer is not None
    return answer, screen, revisions


def composer_of(
    model: ChatModel, policy: Unsupported, release: Release, *, writer: AnswerWriter | None = None
) -> AnswerComposer:
    return AnswerComposer(
        writer or ChatWriter(model, prompts=PROMPTS["answer"]),
        rules=Rules(policy, ChatRewording(model, PROMPTS["reword"])),
        release=release,
    )


def holds(answer: Answer, kind: Kind, language: str, policy: Unsupported) -> None:
    """Nothing unsupported is shown as supported, and what is supported stands on what supports it."""
    quotes = {citation.marker: citation.quote for citation in answer.citations}
    supported = {
        one.text: [quotes[marker] for marker in one.markers]
        for one in answer.sentences
        if one.support is Support.SUPPORTED
    }
    assert supported == {text: [quote] for text, quote in kind.stands.items()}
    assert (answer.status is AnswerStatus.ANSWERED) is bool(kind.stands)
    flagged = [one for one in answer.sentences if one.support is Support.UNSUPPORTED]
    shown = policy is Unsupported.FLAG and bool(kind.stands)
    assert [one.text for one in flagged] == (list(kind.invented) if shown else [])
    assert all(one.markers == () and one.findings for one in flagged)
    assert answer.text.count(MARK[language]) == len(flagged)
    for text in kind.invented:
        bare = text.rstrip(".。")
        assert (bare in answer.text) is shown
        if shown:
            assert re.search(re.escape(bare) + " ?" + re.escape(MARK[language]) + "[.。](?! ?\\[)", answer.text)
    assert {one.text for one in answer.unsupported} >= set(kind.invented) or kind.without_evidence


EVERY = pytest.mark.parametrize(("name", "language"), KINDS)
POLICIES = pytest.mark.parametrize("policy", Unsupported)
RELEASES = pytest.mark.parametrize("release", Release)


@EVERY
@POLICIES
@RELEASES
@pytest.mark.parametrize("cuts", [1, 4, 1000])
async def test_nothing_unsupported_passes_for_supported(
    name: str, language: str, policy: Unsupported, release: Release, cuts: int
) -> None:
    kind = KINDS[name, language]
    stubborn = ScriptedChat([kind.said, *(["Edison made it in 1999 [1]. 1999年製です[1]。"] * 3)], cuts=cuts)
    answer, screen, revisions = await heard(
        composer_of(stubborn, policy, release), language, EVIDENCE[language], Book()
    )
    holds(answer, kind, language, policy)
    assert (screen.text, screen.unchecked) == (answer.text, "")
    assert screen.citations == answer.citations
    assert bool(revisions) is (release is Release.AT_ONCE)


class Memory:
    """A writer that asks for no evidence."""

    id = "memory/1"

    def __init__(self, said: str) -> None:
        self.said = said

    async def write(self, task: WritingTask, *, ledger: Ledger) -> AsyncIterator[str]:
        for letter in self.said:
            yield letter


@EVERY
@POLICIES
@RELEASES
async def test_over_an_empty_context_nothing_is_an_answer(
    name: str, language: str, policy: Unsupported, release: Release
) -> None:
    said = KINDS[name, language].said
    model = ScriptedChat(["It is so [1]."] * 4)
    for writer in (None, Memory(said)):
        answer, screen, _ = await heard(composer_of(model, policy, release, writer=writer), language, (), Book())
        assert answer.status is AnswerStatus.ABSTAINED
        assert (answer.citations, answer.sentences) == ((), ())
        assert screen.text == answer.text
        assert "Edison" not in answer.text
        assert "エジソン" not in answer.text


@EVERY
@POLICIES
@pytest.mark.enable_socket
async def test_over_real_http_streamed_and_whole_are_alike(name: str, language: str, policy: Unsupported) -> None:
    release = Release.AT_ONCE if language == "en" else Release.CHECKED
    kind = KINDS[name, language]
    found = []
    for piece in (2, 10_000):
        acts = [
            Say(kind.said, piece=piece, usage=(321, 45)),
            Say("1999年製です。Edison [1].", piece=piece, usage=(100, 9)),
        ]
        with ChatServer(acts) as server:
            model = open_chat(ChatSettings(model="m", base_url=server.base_url, price_in=1.0, price_out=2.0))
            book = Book()
            answer, screen, _ = await heard(composer_of(model, policy, release), language, EVIDENCE[language], book)
            await model.close()
        holds(answer, kind, language, policy)
        assert screen.text == answer.text
        calls = [call for call in book.calls if call.provider != "local"]
        found.append((answer, total(calls), [call.tokens for call in calls]))
    assert found[0] == found[1]
    again = len(kind.invented) if policy is Unsupported.REWRITE else 0
    assert 1 <= len(found[0][2]) <= 1 + again


@RELEASES
@pytest.mark.parametrize("cuts", [1, 1000])
@pytest.mark.parametrize(
    ("language", "said", "again", "shown"),
    [
        (
            "en",
            "The pump weighs 3 kg [1]. The price is 700 yen [2]. It is sold in Kyoto [3].",
            "<think>It says 500.</think>The price is 500 yen [2].",
            "The pump weighs 3 kg [1]. The price is 500 yen [2]. It is sold in Kyoto [3].",
        ),
        (
            "ja",
            "ポンプの質量は3 kgです[1]。価格は700円です[2]。京都で販売されています[3]。",
            "価格は500円です【２】。",
            "ポンプの質量は3 kgです[1]。価格は500円です[2]。京都で販売されています[3]。",
        ),
        (
            "en",
            "- The pump weighs 3 kg [1]\n- The price is 700 yen [2]\n- It is sold in Kyoto [3]",
            "The price is 500 yen [2]",
            "- The pump weighs 3 kg [1]\n- The price is 500 yen [2]\n- It is sold in Kyoto [3]",
        ),
    ],
)
async def test_a_sentence_that_is_written_again_takes_its_place(
    language: str, said: str, again: str, shown: str, release: Release, cuts: int
) -> None:
    model = ScriptedChat([said, again], cuts=cuts)
    composer = composer_of(model, Unsupported.REWRITE, release)
    answer, screen, _ = await heard(composer, language, EVIDENCE[language], Book())
    assert screen.text == answer.text == shown
    [gone] = answer.removed
    assert "700" in gone.text
    assert "500" in gone.instead
    assert (len(answer.unsupported), answer.claims) == (1, 3)
    assert len(model.requests) == 2
    assert gone.text.lstrip("- ") in model.requests[1][-1].content
    assert answer.warnings == ("sentences that the evidence does not support were written again",)


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_the_model_is_asked_again_only_when_it_has_ended_and_once_for_each_sentence(language: str) -> None:
    """A model with one place would otherwise wait for itself."""
    said = KINDS["refuses, then answers", language].said
    order: list[str] = []

    class OnePlace(ScriptedChat):
        async def stream(
            self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
        ) -> AsyncIterator[ChatDelta]:
            order.append("begun")
            async for delta in super().stream(
                messages, max_tokens=max_tokens, temperature=temperature, ledger=ledger, stage=stage
            ):
                yield delta
            order.append("ended")

    model = OnePlace([said, "不明です。", "Not known."], cuts=2)
    answer, _, _ = await heard(
        composer_of(model, Unsupported.REWRITE, Release.CHECKED), language, EVIDENCE[language], Book()
    )
    assert answer.reason is Reason.INSUFFICIENT
    assert order == ["begun", "ended"] * len(model.requests)
    assert len(model.requests) <= 3


async def test_a_rewording_that_fails_or_is_cut_off_leaves_the_sentence_out() -> None:
    kind = KINDS["invents", "en"]
    broken: list[Callable[[], ChatModel]] = [
        lambda: ScriptedChat([kind.said]),
        lambda: ScriptedChat([kind.said, ""]),
        lambda: ScriptedChat([kind.said, "It weighs 3 kg [1]. It is so [1]. And so on [2]. And on [3]."]),
    ]
    for model in broken:
        answer, _, _ = await heard(
            composer_of(model(), Unsupported.REWRITE, Release.CHECKED), "en", EVIDENCE["en"], Book()
        )
        assert answer.text == "The pump weighs 3 kg [1]."
        assert [one.instead for one in answer.removed] == [""]


@pytest.mark.parametrize(
    ("language", "said", "shown"),
    [
        (
            "en",
            "It was made by Edison [1]. The pump weighs 3 kg [1].",
            "It was made by Edison (not confirmed by the documents). The pump weighs 3 kg [1].",
        ),
        (
            "ja",
            "エジソンが作りました[1]。ポンプの質量は3 kgです[1]。",
            "エジソンが作りました（資料では確認できません）。ポンプの質量は3 kgです[1]。",
        ),
        (
            "en",
            "| What | Figure |\n|---|---|\n| The pump weighs | 3 kg [1] |\n| The price is | 700 yen [2] |",
            "| What | Figure |\n|---|---|\n| The pump weighs | 3 kg [1] |\n"
            "| The price is | 700 yen (not confirmed by the documents) |",
        ),
    ],
)
@RELEASES
async def test_a_marked_sentence_keeps_its_place(language: str, said: str, shown: str, release: Release) -> None:
    composer = composer_of(ScriptedChat([said]), Unsupported.FLAG, release)
    answer, screen, _ = await heard(composer, language, EVIDENCE[language], Book())
    assert screen.text == answer.text == shown
    assert answer.warnings == ("sentences that the evidence does not support are marked",)


@POLICIES
async def test_quotations_are_under_no_policy(policy: Unsupported) -> None:
    """Where the model fails the evidence speaks, and a failure after text was shown takes what is unchecked back."""
    model = ScriptedChat([])
    composer = AnswerComposer(
        ChatWriter(model, prompts=PROMPTS["answer"]),
        fallback=ExtractiveWriter(),
        rules=Rules(policy, ChatRewording(model, PROMPTS["reword"])),
        release=Release.AT_ONCE,
    )
    answer, screen, _ = await heard(composer, "en", EVIDENCE["en"], Book())
    assert "3 kg" in answer.text
    assert screen.text == answer.text


class Breaks:
    """A writer that says something and then fails."""

    id = "breaks/1"

    def __init__(self, said: str) -> None:
        self.said = said

    async def write(self, task: WritingTask, *, ledger: Ledger) -> AsyncIterator[str]:
        for letter in self.said:
            yield letter
        raise ProviderUnreachable(provider="x", reason="gone")


@POLICIES
@RELEASES
@pytest.mark.parametrize(
    ("said", "shown", "warning"),
    [
        ("It was made by Edison and it wei", "The pump weighs 3 kg. [1]", Warned.REPLACED),
        ("Edison made it [1]. The price is 500 yen [2]. It is sold in Ky", "The price is 500 yen [1].", Warned.CUT_OFF),
    ],
)
async def test_what_was_shown_unchecked_goes_with_a_model_that_breaks_off(
    said: str, shown: str, warning: Warned, policy: Unsupported, release: Release
) -> None:
    """Nothing is written again by a model that has just failed."""
    model = ScriptedChat(["The price is 500 yen [2]."] * 3)
    composer = AnswerComposer(
        Breaks(said),
        fallback=ExtractiveWriter(),
        rules=Rules(policy, ChatRewording(model, PROMPTS["reword"])),
        release=release,
    )
    answer, screen, revisions = await heard(composer, "en", EVIDENCE["en"], Book())
    assert (screen.text, screen.unchecked) == (answer.text, "")
    assert warning in answer.warnings
    assert model.requests == []
    assert bool(revisions) is (release is Release.AT_ONCE)
    flagged = "Edison made it (not confirmed by the documents). "
    assert answer.text.removeprefix(flagged) == shown
    assert (flagged in answer.text) is (policy is Unsupported.FLAG and warning is Warned.CUT_OFF)
