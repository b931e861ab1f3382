from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.answering.generation import AnswerComposer, ExtractiveWriter, SentenceReleased
from tadasu.answering.generation.compose import Warned
from tadasu.core.answers import AnswerStatus, Reason, Support
from tadasu.core.documents import Origin
from tadasu.core.grades import Verdict
from tadasu.errors import ProviderAnswerInvalid, ProviderUnreachable
from tadasu.ports import Ledger, WritingTask
from tadasu.text.messages import FINDINGS, finding, translate
from tests.answering.writing import Book, chat, compose, evidence

EN = evidence(
    "The pump weighs 3 kg.",
    "The pump is not waterproof.",
    "The price is 500 yen.",
    "It was released in 2021.",
    "It is sold in Kyoto.",
)
JA = evidence(
    "質量は3 kgです。",
    "本体は防水ではありません。",
    "価格は500円です。",
    "2021年に発売されました。",
    "京都で販売されています。",
)
MUSIC = {
    "en": (
        "Who wrote the ninth symphony?",
        evidence("A table stores its rows in pages.", "An index speeds up queries."),
    ),
    "ja": ("交響曲第9番の作曲者は誰ですか？", evidence("表は行をページに格納する。", "索引は問い合わせを速くする。")),
}


async def test_a59_sources_two_and_five_are_shown_as_one_and_two() -> None:
    answer = await compose(chat("The pump is not waterproof [2]. It is sold in Kyoto [5]."), "Where is it sold?", EN)
    assert answer.text == "The pump is not waterproof [1]. It is sold in Kyoto [2]."
    assert [(c.marker, c.strips) for c in answer.citations] == [(1, ("doc.2",)), (2, ("doc.5",))]


async def test_a59_numbers_of_removed_sentences_leave_no_gap() -> None:
    answer = await compose(
        chat("本体は赤いです[1]。価格は500円です[3]。2021年に発売されました[4]。"), "価格は？", JA, language="ja"
    )
    assert answer.text == "価格は500円です[1]。2021年に発売されました[2]。"
    assert [sentence.text for sentence in answer.removed] == ["本体は赤いです。"]
    assert answer.warnings == (Warned.REMOVED,)


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_a28_an_answer_from_memory_is_no_answer(language: str) -> None:
    question, pieces = MUSIC[language]
    said = {"en": "Ludwig van Beethoven wrote it.", "ja": "ベートーヴェンが作曲しました。"}[language]
    answer = await compose(chat(said), question, pieces, language=language)
    assert answer.status is AnswerStatus.ABSTAINED
    assert answer.reason is Reason.UNSUPPORTED
    assert answer.citations == ()
    assert said not in answer.text
    assert [sentence.support for sentence in answer.removed] == [Support.UNCITED]


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("claim", [0, 1])
async def test_a29_no_citation_to_an_unrelated_passage_survives(language: str, claim: int) -> None:
    question, pieces = MUSIC[language]
    said = {
        "en": (
            "Ludwig van Beethoven wrote it [1][2].",
            "The ninth symphony was written by a deaf composer [1]. It is famous [2].",
        ),
        "ja": (
            "ベートーヴェンが作曲しました[1][2]。",
            "交響曲第9番は耳の聞こえない作曲家が書きました[1]。有名です[2]。",
        ),
    }[language][claim]
    answer = await compose(chat(said), question, pieces, language=language)
    assert answer.status is AnswerStatus.ABSTAINED
    assert answer.citations == ()
    assert all(sentence.support is Support.UNSUPPORTED for sentence in answer.removed)


@pytest.mark.parametrize(
    ("language", "refusal", "claims"),
    [
        (
            "en",
            "This is not in the knowledge base.",
            "However, it was invented by Thomas Edison [1]. He was born in 1847 [2]. It made him rich [3].",
        ),
        (
            "ja",
            "資料に記載がありません。",
            "ただし、発明者はエジソンです[1]。1847年に生まれました[2]。裕福になりました[3]。",
        ),
    ],
)
async def test_a30_claims_after_a_refusal_need_support_or_go(language: str, refusal: str, claims: str) -> None:
    pieces = EN if language == "en" else JA
    answer = await compose(chat(refusal + " " + claims), "Who invented it? 発明者は？", pieces, language=language)
    assert answer.status is AnswerStatus.ABSTAINED
    assert answer.reason is Reason.INSUFFICIENT
    assert len(answer.removed) == 3
    assert "Edison" not in answer.text
    assert "エジソン" not in answer.text


@pytest.mark.parametrize(
    ("language", "said", "shown"),
    [
        (
            "en",
            "The documents do not say who made it. It weighs 3 kg [1].",
            "The documents do not say who made it. It weighs 3 kg [1].",
        ),
        (
            "ja",
            "製造者は資料に記載がありません。質量は3 kgです[1]。",
            "製造者は資料に記載がありません。質量は3 kgです[1]。",
        ),
        ("en", "It weighs 3 kg [1]. The maker is not stated.", "It weighs 3 kg [1]. The maker is not stated."),
    ],
)
async def test_a30_what_is_not_known_stands_beside_what_is(language: str, said: str, shown: str) -> None:
    answer = await compose(
        chat(said), "Who made it, how heavy is it?", EN if language == "en" else JA, language=language
    )
    assert answer.text == shown
    assert [s.support for s in answer.sentences].count(Support.UNCITED) == 1


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_a_refusal_alone_abstains(language: str) -> None:
    said = {"en": "The documents do not say.", "ja": "資料に記載がありません。"}[language]
    answer = await compose(chat(said), "?", EN if language == "en" else JA, language=language)
    assert (answer.reason, answer.removed, answer.warnings) == (Reason.INSUFFICIENT, (), ())


async def test_a56_swapped_sources_are_put_right() -> None:
    answer = await compose(chat("The pump weighs 3 kg [3]. The price is 500 yen [1]."), "Weight and price?", EN)
    quotes = {c.marker: c.quote for c in answer.citations}
    assert [(s.text, [quotes[m] for m in s.markers]) for s in answer.sentences] == [
        ("The pump weighs 3 kg.", ["The pump weighs 3 kg."]),
        ("The price is 500 yen.", ["The price is 500 yen."]),
    ]
    assert answer.warnings == (Warned.MOVED,)


async def test_a56_swapped_sources_are_put_right_in_japanese() -> None:
    answer = await compose(chat("質量は3 kgです[3]。価格は500円です[1]。"), "質量と価格は？", JA, language="ja")
    assert [c.quote for c in answer.citations] == ["質量は3 kgです。", "価格は500円です。"]
    assert answer.text == "質量は3 kgです。[1]価格は500円です。[2]"


async def test_a56_a_citation_that_adds_nothing_is_not_shown() -> None:
    answer = await compose(chat("The pump weighs 3 kg [1][5]."), "How heavy?", EN)
    assert [c.strips for c in answer.citations] == [("doc.1",)]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "The pump weighs **4** kg [1]. The price is 500 yen [3]."),
        ("ja", "質量は**４** kgです[1]。価格は500円です[3]。"),
    ],
)
async def test_a68_a_wrong_number_is_taken_out_and_named(language: str, said: str) -> None:
    answer = await compose(chat(said), "?", EN if language == "en" else JA, language=language)
    assert len(answer.sentences) == 1
    assert "500" in answer.text
    assert answer.removed[0].findings[0].startswith("number")


async def test_an_uncited_sentence_gets_the_strip_that_says_it_or_goes() -> None:
    answer = await compose(chat("The pump weighs 3 kg. It is made of gold."), "What is it?", EN)
    assert answer.text == "The pump weighs 3 kg. [1]"
    assert [sentence.text for sentence in answer.removed] == ["It is made of gold."]


@pytest.mark.parametrize(
    ("language", "said", "shown"),
    [
        ("en", "No. The pump is not waterproof [2].", "No. The pump is not waterproof [1]."),
        ("ja", "いいえ。本体は防水ではありません[2]。", "いいえ。本体は防水ではありません[1]。"),
    ],
)
async def test_a_bare_no_goes_with_its_reason(language: str, said: str, shown: str) -> None:
    question = {"en": "Is the pump waterproof?", "ja": "本体は防水ですか？"}[language]
    assert (await compose(chat(said), question, EN if language == "en" else JA, language=language)).text == shown


async def test_a_lead_in_stays_before_a_list_and_goes_with_it() -> None:
    kept = await compose(
        chat("The answer is as follows:\n- The pump weighs 3 kg [1]\n- The price is 500 yen [3]"), "Weight, price?", EN
    )
    assert kept.text == "The answer is as follows:\n- The pump weighs 3 kg [1]\n- The price is 500 yen [2]"
    gone = await compose(chat("The pump explodes in these cases:\n- The pump weighs 3 kg [1]"), "Weight?", EN)
    assert gone.text == "- The pump weighs 3 kg [1]"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "| Item | Value |\n|---|---|\n| Weight of the pump | 3 kg [1] |\n| Price | 500 yen [3] |",
            "| Item | Value |\n|---|---|\n| Weight of the pump | 3 kg [1] |\n| Price | 500 yen [2] |",
        ),
        (
            "## Weight\n\nThe pump weighs 3 kg [1].\n\n## Price\n\nIt is 500 yen [3].",
            "## Weight\n\nThe pump weighs 3 kg [1].\n\n## Price\n\nIt is 500 yen [2].",
        ),
        ("```\nThe pump weighs 3 kg [1].\n```", "The pump weighs 3 kg [1]."),
        (
            "Sure! Here is the answer. The pump weighs 3 kg [1]. Let me know if you need more!",
            "The pump weighs 3 kg [1].",
        ),
        ("承知しました。価格は500円です[3]。", "価格は500円です[1]。"),
        ("[1] The pump weighs 3 kg.", "[1] The pump weighs 3 kg."),
        (
            "1. The pump weighs 3 kg. [1]\n2. The price is 500 yen. [3]",
            "1. The pump weighs 3 kg. [1]\n2. The price is 500 yen. [2]",
        ),
    ],
)
async def test_frames_stay_and_courtesies_go_without_a_word(said: str, shown: str) -> None:
    answer = await compose(chat(said), "Weight and price of the pump? 価格は？", EN)
    assert answer.text == shown
    assert (answer.removed, answer.warnings) == ((), ())


@pytest.mark.parametrize(
    "claim",
    [
        "**The machine is made of gold**",
        "# Thomas Edison",
        "## It explodes at noon",
        "| made by Thomas Edison in 1900 | x |",
        "### 値段は無料",
    ],
)
async def test_a_claim_dressed_as_a_heading_goes(claim: str) -> None:
    answer = await compose(chat(f"{claim}\n\nThe pump weighs 3 kg [1]."), "How heavy?", EN)
    assert answer.text == "The pump weighs 3 kg [1]."
    assert [sentence.text for sentence in answer.removed] == [claim]


@pytest.mark.parametrize("said", ["", "   \n"])
async def test_an_empty_reply_abstains_as_insufficient(said: str) -> None:
    assert (await compose(chat(said), "?", EN)).reason is Reason.INSUFFICIENT


async def test_no_evidence_makes_no_call() -> None:
    answer = await compose(chat("never said"), "?", ())
    assert answer.reason is Reason.INSUFFICIENT


REPLY = "Yes. The pump weighs 3 kg【1】, so [9]. It is not in the documents who made it.\n- The price is 500 yen [3-4].\n価格 500円[３]。"


async def test_a58_the_answer_does_not_depend_on_where_the_reply_was_cut() -> None:
    whole = await compose(chat(REPLY, cuts=[len(REPLY)]), "Is the pump light?", EN)
    assert whole.status is AnswerStatus.ANSWERED
    for at in range(0, len(REPLY), 3):
        for to in range(at, len(REPLY), 7):
            assert await compose(chat(REPLY, cuts=[at, to - at]), "Is the pump light?", EN) == whole


async def test_sentences_are_released_before_the_reply_ends() -> None:
    class Slow:
        id = "slow/1"
        released_at: int | None = None

        async def write(self, task: WritingTask, *, ledger: Ledger) -> AsyncIterator[str]:
            for at, piece in enumerate(
                ["The pump weighs 3 kg [1]. ", "The price is 500 yen [3]. ", "It is sold in Kyoto [5]."]
            ):
                self.at = at
                yield piece

    writer, seen = Slow(), []
    task = WritingTask("?", "en", EN, "2026-01-01", "n")
    async for event in AnswerComposer(writer).compose(task, ledger=Book()):
        if isinstance(event, SentenceReleased):
            seen.append((writer.at, event.text, len(event.citations)))
    assert seen == [
        (1, "The pump weighs 3 kg [1].", 1),
        (2, " The price is 500 yen [2].", 2),
        (2, " It is sold in Kyoto [3].", 3),
    ]


def test_every_warning_and_finding_is_said_in_japanese() -> None:
    for warned in Warned:
        assert translate(warned.value, "en") == warned.value
        assert translate(warned.value, "ja") != warned.value
    for kind in FINDINGS:
        assert finding(f"{kind} X42", "ja") != finding(f"{kind} X42", "en")
    assert "X42" in finding("number X42", "ja")
    assert finding("unheard of", "ja") == "unheard of"


class Failing:
    """Writes some text, then fails."""

    id = "failing/1"

    def __init__(self, text: str) -> None:
        self._text = text

    async def write(self, task: WritingTask, *, ledger: Ledger) -> AsyncIterator[str]:
        if self._text:
            yield self._text
        raise ProviderUnreachable(provider="x", reason="gone")


async def test_a_writer_that_fails_at_once_is_replaced() -> None:
    answer = await compose(Failing(""), "How heavy is the pump?", EN, fallback=ExtractiveWriter())
    assert answer.text == "The pump weighs 3 kg. [1]"
    assert answer.writer == ExtractiveWriter().id
    assert answer.warnings == (Warned.REPLACED,)


async def test_without_a_fallback_the_error_is_the_callers() -> None:
    with pytest.raises(ProviderUnreachable):
        await compose(Failing("The pump"), "?", EN)


async def test_a_writer_that_fails_later_leaves_what_was_checked() -> None:
    answer = await compose(
        Failing("The pump weighs 3 kg [1]. The price is 500 yen [3] and it"), "?", EN, fallback=ExtractiveWriter()
    )
    assert answer.text == "The pump weighs 3 kg [1]."
    assert answer.warnings == (Warned.CUT_OFF,)


async def test_a_reply_cut_off_by_its_limit_loses_its_last_half_sentence() -> None:
    answer = await compose(chat("The pump weighs 3 kg [1]. The price is 5", finish="length"), "?", EN)
    assert answer.text == "The pump weighs 3 kg [1]."
    assert answer.warnings == (Warned.CUT_OFF,)
    with pytest.raises(ProviderAnswerInvalid, match="cut off"):
        await compose(chat("The price is 5", finish="length"), "?", EN)


PIECES = st.sampled_from(
    [
        "The pump weighs 3 kg",
        "It is sold in Kyoto",
        "価格は500円です",
        "Gold is heavy",
        "No",
        "はい",
        " [1]",
        "[3][9]",
        "【5】",
        "[2-4]",
        "[",
        "1]",
        ". ",
        "。",
        "\n",
        "\n- ",
        ": ",
        "The documents do not say",
        "資料に記載がありません",
        "**",
        "|",
        "“",
        "\u200b",
    ]
)


@settings(max_examples=80, deadline=None)
@given(st.lists(PIECES, max_size=14), st.integers(1, 9))
def test_whatever_a_model_writes_the_answer_is_whole(parts: list[str], cut: int) -> None:
    answer = asyncio.run(compose(chat("".join(parts), cuts=cut), "Is the pump heavy? 価格は？", EN))
    shown = {int(number) for number in re.findall(r"\[(\d)\]", answer.text)}
    assert shown == {citation.marker for citation in answer.citations} == set(range(1, len(shown) + 1))
    assert {marker for sentence in answer.sentences for marker in sentence.markers} == shown
    assert not re.search(r"\[\d?$|\[\d[^\]\d]", answer.text)
    if answer.status is AnswerStatus.ANSWERED:
        assert any(sentence.support is Support.SUPPORTED for sentence in answer.sentences)
        assert all(sentence.text in answer.text.replace("  ", " ") or sentence.markers for sentence in answer.sentences)


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("origin", [Origin.INTERNAL, Origin.WEB, None])
@pytest.mark.parametrize(("language", "said"), [("en", "The pump weighs 3 kg [1]."), ("ja", "質量は3 kgです[1]。")])
async def test_a10_every_verdict_with_and_without_the_web_ends_in_an_answer(
    verdict: Verdict, origin: Origin | None, language: str, said: str
) -> None:
    pieces = EN if language == "en" else JA
    pieces = tuple(replace(p, strip=replace(p.strip, origin=origin)) for p in pieces) if origin else ()
    question = {"en": "How heavy is the pump?", "ja": "質量は？"}[language]
    for writer in (chat(said), ExtractiveWriter()):
        answer = await compose(writer, question, pieces, language=language, verdict=verdict)
        if origin is None:
            assert answer.reason is Reason.INSUFFICIENT
        else:
            assert [citation.origin for citation in answer.citations] == [origin]
            assert "3 kg" in answer.text
