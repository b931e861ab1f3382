"""The heads over the shipped cross-encoder: real model, English and Japanese in pairs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tadasu.answering.grading.cross_encoder import open_cross_encoder
from tadasu.app.assets import models_folder
from tadasu.core.usage import Outcome
from tadasu.core.vectors import PassageText
from tadasu.errors import ModelUnavailable
from tadasu.ports import SpanReader
from tadasu.providers.heads import SpanHead, open_span_head
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock

LANGUAGES = pytest.mark.parametrize("language", ["en", "ja"])
FOLDER = models_folder() / "grader"
QUESTIONS = {"en": "Who wrote The Tale of Genji?", "ja": "源氏物語は誰が書いたか?"}
TEXTS = {
    "en": "The Tale of Genji was written by Murasaki Shikibu in the early 11th century. It has 54 chapters.",
    "ja": "源氏物語は、平安時代中期に紫式部が書いた長編物語である。全54帖からなる。",
}
ANSWERS = {"en": "Murasaki Shikibu", "ja": "紫式部"}
OTHERS = {
    "en": "Paris is the capital of France. The Seine flows through it.",
    "ja": "東京は日本の首都である。隅田川が流れている。",
}


@pytest.fixture(scope="module")
def head() -> SpanHead:
    return open_span_head(FOLDER)


def ledger() -> RunLedger:
    return RunLedger(SystemClock())


@LANGUAGES
async def test_the_words_that_answer_are_found_and_other_texts_are_unlikely(head: SpanHead, language: str) -> None:
    reader: SpanReader = head
    book = ledger()
    texts = [OTHERS[language], "", TEXTS[language], " \n"]
    other, nothing, found, blank = await reader.read(QUESTIONS[language], texts, ledger=book)
    assert nothing is None
    assert blank is None
    assert found is not None
    assert other is not None
    assert TEXTS[language][found.start : found.end] == ANSWERS[language]
    assert 0.0 <= other.probability < 0.1 < found.probability <= 1.0
    (call,) = book.calls
    assert (call.model, call.items, call.outcome) == (head.id, 4, Outcome.OK)


@LANGUAGES
def test_neighbours_change_nothing(head: SpanHead, language: str) -> None:
    texts = [OTHERS[language], TEXTS[language] * 9, TEXTS[language]]
    together = head.read_now(QUESTIONS[language], texts)
    assert together == [head.read_now(QUESTIONS[language], [text])[0] for text in texts]


@LANGUAGES
def test_a_long_text_is_read_in_windows_and_offsets_are_those_of_the_whole(head: SpanHead, language: str) -> None:
    filler = OTHERS[language] * 60
    text = filler + TEXTS[language] + filler
    (found,) = head.read_now(QUESTIONS[language], [text])
    assert found is not None
    assert text[found.start : found.end] == ANSWERS[language]
    assert found.start > len(filler)


@LANGUAGES
def test_a_question_that_is_longer_than_anything_is_refused_by_name(head: SpanHead, language: str) -> None:
    with pytest.raises(ModelUnavailable, match="longer than what it reads"):
        head.read_now(QUESTIONS[language] * 600, [TEXTS[language]])


async def test_nothing_to_read_calls_nothing(head: SpanHead) -> None:
    book = ledger()
    assert await head.read("Who?", [], ledger=book) == []
    assert book.calls == ()


def test_the_grader_and_the_head_hold_one_model() -> None:
    grader, head = open_cross_encoder(FOLDER), open_span_head(FOLDER)
    grader.score_now("Who?", [PassageText("Ann.")])
    head.read_now("Who?", ["Ann."])
    assert grader._opened is head._opened
    assert grader._opened is not None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": 9}, "its format is 9"),
        ({"grader": "another-1"}, "fitted for the grader another-1"),
        ({"spans": {"below": 1.0}}, "lacks or breaks a field"),
        (
            {"spans": {"below": 1, "cap": 1, "most": 9, "weights": {"en": [1, 2, float("nan")]}}},
            "not finite",
        ),
    ],
)
def test_a_card_that_cannot_be_used_is_named(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    shutil.copy(FOLDER / "grader.json", tmp_path)
    told = json.loads((FOLDER / "heads.json").read_text(encoding="utf-8"))
    (tmp_path / "heads.json").write_text(json.dumps(told | change), encoding="utf-8")
    with pytest.raises(ModelUnavailable, match=reason):
        open_span_head(tmp_path)
