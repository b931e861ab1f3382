"""Rules and a reading model together: what each may say, and what becomes of a model that fails."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from tadasu.answering.generation.checking import CheckingSettings, Judgement, SentenceChecker
from tadasu.answering.generation.compose import Warned
from tadasu.answering.generation.extractive import ExtractiveWriter
from tadasu.app.assets import models_folder
from tadasu.core.answers import AnswerStatus, Evidence, Support
from tadasu.core.usage import Call, Stage
from tadasu.errors import BudgetSpent, ModelUnavailable, ProviderUnreachable
from tadasu.ports import Claim, Ledger, SupportModel
from tadasu.providers.support import open_support_head
from tadasu.runtime.ledger import Stopwatch
from tests.answering.writing import Book, chat, compose, evidence, task

EN = evidence(
    ("history", "Anna Lind built the mill in 1884 and Carl Berg sold it in 1901."),
    ("guide", "The mill stands in Oslo."),
)
JA = evidence(
    ("沿革", "水車小屋は1884年に田中一郎が建て、1901年に佐藤花子が売却した。"), ("案内", "水車小屋は奈良にある。")
)
ASKED = {"en": "Who built the mill?", "ja": "水車小屋を建てたのは誰ですか。"}
EVIDENCE = {"en": EN, "ja": JA}
languages = pytest.mark.parametrize("language", ["en", "ja"])


class Reads:
    """A support model that gives one probability, or fails; keeps what it was asked."""

    id = "reads"

    def __init__(self, *probabilities: float, failure: Exception | None = None) -> None:
        self.asked: list[Claim] = []
        self._given, self._failure = list(probabilities), failure

    async def support(self, claims: Sequence[Claim], *, ledger: Ledger) -> Sequence[float]:
        self.asked += claims
        if self._failure is not None:
            raise self._failure
        return [self._given.pop(0) if len(self._given) > 1 else self._given[0] for _ in claims]


async def judge(
    model: SupportModel | None, sentence: str, *numbers: int, language: str, pieces: Sequence[Evidence] = ()
) -> Judgement:
    held = tuple(pieces) or EVIDENCE[language]
    cited = [piece for piece in held if piece.number in numbers]
    checker = SentenceChecker(model, settings=CheckingSettings(doubt=0.4, trust=0.6))
    return await checker.of(task(ASKED[language], held, language=language), ledger=Book()).judge(sentence, cited)


SWAPPED = {"en": "Carl Berg built the mill in 1901.", "ja": "水車小屋は1901年に田中一郎が建てた。"}
REWORDED = {
    "en": "Lind was the one who put up the windmill structure originally.",
    "ja": "田中一郎が水車小屋の工事を最初に手がけた人物とされます。",
}


@languages
async def test_what_the_rules_let_through_the_model_may_doubt(language: str) -> None:
    by_rules = await judge(None, SWAPPED[language], 1, language=language)
    assert by_rules.check.holds
    model = Reads(0.1)
    judged = await judge(model, SWAPPED[language], 1, language=language)
    assert judged.check.support is Support.UNSUPPORTED
    assert judged.check.findings == ("support 10%",)
    assert judged.support == ()
    assert model.asked[0].sentence == SWAPPED[language]
    assert model.asked[0].question == ASKED[language]
    assert EVIDENCE[language][0].strip.text in model.asked[0].source
    assert (await judge(Reads(0.41), SWAPPED[language], 1, language=language)).check.holds


@languages
async def test_what_is_refused_for_its_wording_alone_the_model_may_trust(language: str) -> None:
    refused = await judge(None, REWORDED[language], 1, language=language)
    assert [finding.partition(" ")[0] for finding in refused.check.findings] == ["wording"]
    trusted = await judge(Reads(0.6), REWORDED[language], 1, language=language)
    assert trusted.check.holds
    assert [piece.number for piece in trusted.support] == [1]
    assert not (await judge(Reads(0.59), REWORDED[language], 1, language=language)).check.holds


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Anna Lind built the mill in 1885."),
        ("en", "Dora Falk built the mill in 1884."),
        ("ja", "水車小屋は1885年に田中一郎が建てた。"),
        ("ja", "水車小屋は1884年にカール・ベルクが建てた。"),
    ],
)
async def test_a_number_or_name_that_is_not_there_is_no_matter_of_opinion(language: str, sentence: str) -> None:
    model = Reads(1.0)
    assert not (await judge(model, sentence, 1, language=language)).check.holds
    assert model.asked == []


@languages
async def test_a_quotation_needs_no_model(language: str) -> None:
    model = Reads(0.0)
    judged = await judge(model, EVIDENCE[language][1].strip.text, 2, language=language)
    assert judged.check.holds
    assert model.asked == []


@languages
async def test_a_sentence_on_the_wrong_source_moves_only_where_the_model_agrees(language: str) -> None:
    sentence = {"en": "The mill is in Oslo.", "ja": "水車小屋は奈良にあります。"}[language]
    place = {"en": "Oslo", "ja": "奈良"}[language]

    class Knows(Reads):
        async def support(self, claims: Sequence[Claim], *, ledger: Ledger) -> Sequence[float]:
            return [0.9 if place in claim.source else 0.1 for claim in claims]

    moved = await judge(Knows(), sentence, 1, language=language)
    assert (moved.moved, [piece.number for piece in moved.support]) == (True, [2])
    model = Reads(0.1)
    assert not (await judge(model, sentence, 1, language=language)).check.holds
    assert model.asked


async def test_two_languages_are_left_to_the_rules() -> None:
    model = Reads(0.0)
    judged = await judge(model, "The mill was built in 1884.", 1, language="en", pieces=JA)
    assert judged == await judge(None, "The mill was built in 1884.", 1, language="en", pieces=JA)
    assert model.asked == []


@languages
@pytest.mark.parametrize(
    "failure",
    [
        ModelUnavailable(path="support.onnx", reason="damaged"),
        ProviderUnreachable(provider="checker", reason="no route"),
        BudgetSpent(what="calls"),
        KeyError("a plugin's own mistake"),
    ],
)
async def test_where_the_model_fails_the_rules_decide_and_the_answer_says_so(language: str, failure: Exception) -> None:
    text = f"{SWAPPED[language]}[1]" if language == "ja" else "Carl Berg built the mill in 1901 [1]."
    answer = await compose(
        chat(text),
        ASKED[language],
        EVIDENCE[language],
        language=language,
        checker=SentenceChecker(Reads(failure=failure)),
    )
    assert answer.status is AnswerStatus.ANSWERED
    assert Warned.UNREAD in answer.warnings


@languages
@pytest.mark.parametrize("given", [[], [0.9, 0.9], [math.nan], [1.5], [-0.1]])
async def test_what_is_no_probability_supports_nothing(language: str, given: list[float]) -> None:
    class Broken(Reads):
        async def support(self, claims: Sequence[Claim], *, ledger: Ledger) -> Sequence[float]:
            return given

    refused = await judge(Broken(), REWORDED[language], 1, language=language)
    assert (refused.check.holds, refused.unread) == (False, True)
    passed = await judge(Broken(), SWAPPED[language], 1, language=language)
    assert (passed.check.holds, passed.unread) == (True, True)


@languages
async def test_a_doubted_sentence_is_not_in_the_answer(language: str) -> None:
    text = f"{SWAPPED[language]}[1]" if language == "ja" else "Carl Berg built the mill in 1901 [1]."
    answer = await compose(
        chat(text), ASKED[language], EVIDENCE[language], language=language, checker=SentenceChecker(Reads(0.05))
    )
    assert answer.status is AnswerStatus.ABSTAINED
    assert [sentence.findings for sentence in answer.removed] == [("support 5%",)]


@languages
async def test_what_is_quoted_without_a_chat_model_is_never_read_again(language: str) -> None:
    model = Reads(0.0)
    answer = await compose(
        ExtractiveWriter(), ASKED[language], EVIDENCE[language], language=language, checker=SentenceChecker(model)
    )
    assert answer.status is AnswerStatus.ANSWERED
    assert model.asked == []


async def test_the_title_is_read_where_the_text_does_not_hold_it() -> None:
    piece = EN[1]
    titled = replace(piece, strip=replace(piece.strip, title="Water mills of Norway"))
    model = Reads(0.9)
    await judge(model, "The mill of Norway stands in Oslo, it says.", 2, language="en", pieces=(EN[0], titled))
    assert model.asked[0].source.startswith("Water mills of Norway\n")


async def test_a_model_writes_its_own_line_and_its_time_is_not_counted_twice() -> None:
    class Clocked(Book):
        now = 0.0

        def elapsed_ms(self) -> float:
            return self.now

    book = Clocked()

    class Slow(Reads):
        async def support(self, claims: Sequence[Claim], *, ledger: Ledger) -> Sequence[float]:
            ledger.record(Call(Stage.CHECK, "local", "reads", duration_ms=70.0))
            book.now += 70.0
            return await super().support(claims, ledger=ledger)

    watch = Stopwatch(book, Stage.CHECK, provider="local", model="grounding")
    with watch:
        book.now += 5.0
        await (
            SentenceChecker(Slow(0.9)).of(task(ASKED["en"], EN), ledger=book, watch=watch).judge(SWAPPED["en"], EN[:1])
        )
    watch.finish()
    assert [(call.model, call.duration_ms) for call in book.calls] == [("reads", 70.0), ("grounding", 5.0)]


class Batches(Reads):
    """Keeps how many claims came at once."""

    def __init__(self, *probabilities: float) -> None:
        super().__init__(*probabilities)
        self.batches: list[int] = []

    async def support(self, claims: Sequence[Claim], *, ledger: Ledger) -> Sequence[float]:
        self.batches.append(len(claims))
        return await super().support(claims, ledger=ledger)


@languages
async def test_sentences_that_are_ready_together_are_read_together_and_judged_alike(language: str) -> None:
    held, sentences = EVIDENCE[language], [SWAPPED[language], REWORDED[language], EVIDENCE[language][1].strip.text]
    asked = [(sentences[0], held[:1]), (sentences[1], held[:1]), (sentences[2], held[1:])]
    model = Batches(0.1, 0.9)
    check = SentenceChecker(model).of(task(ASKED[language], held, language=language), ledger=Book())
    await check.ahead(asked)
    assert model.batches == [2]
    together = [await check.judge(sentence, cited) for sentence, cited in asked]
    assert model.batches == [2]
    alone = [
        await judge(Reads(probability), sentence, cited[0].number, language=language)
        for probability, (sentence, cited) in zip((0.1, 0.9, 0.0), asked, strict=True)
    ]
    assert [one.check for one in together] == [one.check for one in alone]


@languages
async def test_a_whole_reply_is_read_in_one_batch_and_a_stream_sentence_by_sentence(language: str) -> None:
    mark = "{}[{}]" if language == "ja" else "{} [{}]."
    third = {"en": "The mill is found in Oslo", "ja": "水車小屋は奈良にあります。"}[language]
    said = [one.rstrip(".。") + ("。" if language == "ja" else "") for one in (SWAPPED[language], REWORDED[language])]
    reply = " ".join(mark.format(one, number) for one, number in ((said[0], 1), (said[1], 1), (third, 2)))
    whole, cut = Batches(0.9), Batches(0.9)
    question, held = ASKED[language], EVIDENCE[language]
    at_once = await compose(
        chat(reply, cuts=len(reply)), question, held, language=language, checker=SentenceChecker(whole)
    )
    streamed = await compose(chat(reply, cuts=2), question, held, language=language, checker=SentenceChecker(cut))
    assert at_once == streamed
    assert whole.batches == [2, 1]
    assert cut.batches == [1, 1, 1]


@pytest.mark.parametrize("given", [[0.9], [0.9, 0.9, 0.9], [float("nan"), 0.9], [2.0, 0.9]])
async def test_a_batch_that_is_not_understood_is_as_if_it_had_not_been_asked(given: list[float]) -> None:
    class Odd(Reads):
        async def support(self, claims: Sequence[Claim], *, ledger: Ledger) -> Sequence[float]:
            return given if len(claims) > 1 else [0.1]

    check = SentenceChecker(Odd()).of(task(ASKED["en"], EN), ledger=Book())
    await check.ahead([(SWAPPED["en"], EN[:1]), (REWORDED["en"], EN[:1])])
    assert (await check.judge(SWAPPED["en"], EN[:1])).check.findings == ("support 10%",)


@cache
def shipped() -> SupportModel:
    """The head that is shipped, loaded once."""
    return open_support_head(models_folder() / "grader", threads=1)


@pytest.mark.parametrize(
    ("language", "right", "wrong"),
    [
        ("en", "The mill was built by Anna Lind in 1884.", "The mill was built by Carl Berg in 1901."),
        ("ja", "田中一郎は1884年に水車小屋を建てました。", "佐藤花子は1901年に水車小屋を建てました。"),
    ],
)
async def test_the_shipped_model_tells_who_built_from_who_sold(language: str, right: str, wrong: str) -> None:
    assert (await judge(None, wrong, 1, language=language)).check.holds
    assert (await judge(shipped(), right, 1, language=language)).check.holds
    assert not (await judge(shipped(), wrong, 1, language=language)).check.holds
