"""Our cross-encoder, over a model whose every number is known."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.answering.grading import cross_encoder as module
from tadasu.answering.grading.cross_encoder import NOTHING, CrossEncoder, open_cross_encoder, open_shipped
from tadasu.core.scores import PairScore, ScoreScale
from tadasu.core.usage import Outcome, Stage
from tadasu.core.vectors import PassageText
from tadasu.errors import ModelUnavailable
from tadasu.ports import PairScorer, ScorerSettings
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.pair_card import read_card
from tadasu.runtime.pair_rows import MOST_PARTS, read_pairs
from tadasu.runtime.world import SystemClock
from tadasu.text.segment import segment
from tests.answering.grading.tiny_models import numbers, pieces, tokenizer, write_cross_encoder
from training.grader.batches import PairEncoder

TABLE = numbers()
QUESTIONS = {"en": "Who wrote the tale?", "ja": "物語の作者は誰ですか。"}
TEXTS = {
    "en": "The tale has many chapters. It was written by a lady at the court. Nobody knows her real name.",
    "ja": "この物語は多くの帖からなる。宮廷に仕えた女性が書いた。本名は知られていない。",
}
LANGUAGES = pytest.mark.parametrize("language", ["en", "ja"])


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoder:
    return open_cross_encoder(write_cross_encoder(tmp_path_factory.mktemp("pairs"), TABLE))


def passage(text: str, language: str = "en", title: str = "") -> PassageText:
    return PassageText(text, tuple(segment(text, language=language)) if text else (), title)


def ledger() -> RunLedger:
    return RunLedger(SystemClock())


def highest(*ids: int) -> float:
    return float(TABLE[[0, 2, *ids]].max())


@LANGUAGES
async def test_passage_and_strips_are_scored_in_one_pass(scorer: CrossEncoder, language: str) -> None:
    one = passage(TEXTS[language], language)
    book = ledger()
    (found,) = await scorer.score(QUESTIONS[language], [one], ledger=book)
    assert found.score == pytest.approx(highest(*pieces(QUESTIONS[language]), *pieces(one.text)))
    assert found.hit is None
    encoded = tokenizer().encode(one.text, add_special_tokens=False)
    for (start, end), score in zip(one.strips, found.strips, strict=True):
        inside = [id_ for id_, (_, after) in zip(encoded.ids, encoded.offsets, strict=True) if start < after <= end]
        assert score == pytest.approx(np.logaddexp.reduce(TABLE[inside]), abs=1e-5)
    (call,) = book.calls
    assert (call.stage, call.model, call.items, call.outcome) == (Stage.GRADE, scorer.id, 1, Outcome.OK)


def test_it_is_a_scorer_with_the_id_and_the_scale_of_its_card(scorer: CrossEncoder) -> None:
    as_port: PairScorer = scorer
    assert as_port.id.startswith("tiny-")
    assert as_port.scale is ScoreScale.LOGIT


@LANGUAGES
@pytest.mark.parametrize("title", ["", "A tale > 物語"])
def test_a_pair_has_the_ids_that_it_had_in_training(tmp_path: Path, language: str, title: str) -> None:
    card = read_card(write_cross_encoder(tmp_path, TABLE))
    one = passage(TEXTS[language], language, title)
    (row,) = read_pairs(tokenizer(), card, QUESTIONS[language], [one]).rows
    (trained,) = PairEncoder(tokenizer()).windows(QUESTIONS[language], title, one.text)
    assert row.ids.tolist() == trained.ids.tolist()
    assert row.lead == trained.start


@LANGUAGES
def test_the_title_is_read_with_the_text(scorer: CrossEncoder, language: str) -> None:
    best = int(np.argmax(TABLE[4:])) + 4
    piece = tokenizer().decode([best])
    titled, bare = scorer.score_now(QUESTIONS[language], [passage(TEXTS[language], language, piece), passage("。")])
    assert titled.score == pytest.approx(
        highest(*pieces(piece), *pieces(TEXTS[language]), *pieces(QUESTIONS[language]))
    )
    assert bare.score < titled.score


@settings(max_examples=5)
@given(st.permutations(range(6)), st.sampled_from(["en", "ja"]))
def test_neither_order_nor_neighbours_change_a_score(scorer: CrossEncoder, order: list[int], language: str) -> None:
    texts = [TEXTS[language] * times for times in (1, 2, 40)] + ["", TEXTS["ja"], TEXTS["en"]]
    given_ = [passage(text, language) for text in texts]
    alone = [scorer.score_now(QUESTIONS[language], [one])[0] for one in given_]
    together = scorer.score_now(QUESTIONS[language], [given_[index] for index in order])
    assert together == [alone[index] for index in order]


@LANGUAGES
def test_the_best_window_of_a_long_passage_counts_and_is_named(tmp_path: Path, language: str) -> None:
    word = {"en": " answer", "ja": "答"}[language]
    table = np.full_like(TABLE, -9.0)
    wanted = pieces(word)[-1]
    table[wanted] = 5.0
    scorer = open_cross_encoder(write_cross_encoder(tmp_path, table))
    filler = TEXTS[language] * 30
    borders = [start for start, _ in segment(filler, language=language)]
    at = borders[len(borders) * 2 // 3]
    text = filler[:at] + {"en": "The answer. ", "ja": "答はこれ。"}[language] + filler[at:]
    one = passage(text, language)
    (found,) = scorer.score_now(QUESTIONS[language], [one])
    assert found.score == 5.0
    assert found.hit is not None
    assert word.strip() in found.hit.of(text)
    assert len(found.hit) < len(text) / 2
    best = int(np.argmax(found.strips))
    assert word.strip() in text[slice(*one.strips[best])]
    # The window begins and ends between strips.
    assert found.hit.start in {start for start, _ in one.strips}
    assert found.hit.end in {end for _, end in one.strips}


@LANGUAGES
def test_every_strip_of_a_long_passage_has_what_it_has_alone(scorer: CrossEncoder, language: str) -> None:
    text = TEXTS[language] * 25
    one = passage(text, language)
    (found,) = scorer.score_now(QUESTIONS[language], [one])
    encoded = tokenizer().encode(text, add_special_tokens=False)
    ends = np.array([end for _, end in encoded.offsets])
    for (start, end), score in zip(one.strips, found.strips, strict=True):
        inside = np.array(encoded.ids)[(ends > start) & (ends <= end)]
        assert score == pytest.approx(np.logaddexp.reduce(TABLE[inside]), abs=1e-5)


@pytest.mark.parametrize("text", ["", " ", "\n", "\x00", "\ud83d", "a\udc00b", "\u200b", "字" * 10_000, "x" * 10_000])
def test_strange_text_is_scored_without_a_fault(scorer: CrossEncoder, text: str) -> None:
    for question in (text, QUESTIONS["ja"]):
        (found,) = scorer.score_now(question[:1_000], [PassageText(text, ((0, len(text)),), text[:50])])
        assert not found.failed
        assert len(found.strips) == 1
        assert np.isfinite(found.strips).all()


def test_a_passage_without_words_has_the_lowest_score(scorer: CrossEncoder) -> None:
    assert scorer.score_now("Who?", [PassageText("", ())]) == [PairScore(NOTHING)]
    assert scorer.score_now("Who?", [PassageText("", ((0, 0),), "A title")]) == [PairScore(NOTHING, strips=(NOTHING,))]


async def test_no_passages_no_scores_and_no_call(scorer: CrossEncoder) -> None:
    book = ledger()
    assert await scorer.score("Who?", [], ledger=book) == []
    assert book.calls == ()


@LANGUAGES
def test_a_long_question_is_read_whole(tmp_path: Path, language: str) -> None:
    table = np.full_like(TABLE, -9.0)
    word = {"en": "answer", "ja": "答"}[language]
    table[pieces(word)[-1]] = 5.0
    scorer = open_cross_encoder(write_cross_encoder(tmp_path, table))
    for times in (4, 40, 120):
        question = TEXTS[language] * (times // 4) + " " + word
        (found,) = scorer.score_now(question, [passage(TEXTS[language] * 12, language)])
        assert found.score == 5.0, times


@LANGUAGES
def test_a_question_beyond_what_is_read_has_a_reason(scorer: CrossEncoder, language: str) -> None:
    found = scorer.score_now(TEXTS[language] * 200, [passage(TEXTS[language])] * 2)
    assert all(one.failed and "the question has" in one.reason and str(MOST_PARTS) in one.reason for one in found)


def test_what_the_model_cannot_say_is_a_reason_of_that_passage_alone(tmp_path: Path) -> None:
    for bad in (np.nan, np.inf):
        table = TABLE.copy()
        table[pieces("毒")[-1]] = bad
        scorer = open_cross_encoder(write_cross_encoder(tmp_path, table))
        good, poisoned = scorer.score_now("誰？", [passage(TEXTS["ja"]), passage("毒である。", "ja")])
        assert not good.failed
        assert poisoned.failed
        assert "no finite number" in poisoned.reason
        assert poisoned.strips == ()


def test_a_fault_inside_the_model_is_a_reason(tmp_path: Path) -> None:
    # A table that lacks the last pieces: looking one of them up is an error within ONNX Runtime.
    short = TABLE[: pieces("毒")[-1]]
    scorer = open_cross_encoder(write_cross_encoder(tmp_path, short))
    (found,) = scorer.score_now("", [passage("毒", "ja")])
    assert found.failed
    assert "the model failed on it" in found.reason


@pytest.mark.parametrize("name", ["model.onnx", "../encoder/tokenizer.json"])
async def test_a_damaged_or_missing_file_is_said(tmp_path: Path, name: str) -> None:
    folder = write_cross_encoder(tmp_path, TABLE)
    path = folder / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    with pytest.raises(ModelUnavailable, match="damaged or changed"):
        await open_cross_encoder(folder).score("?", [passage("a")], ledger=ledger())
    path.unlink()
    with pytest.raises(ModelUnavailable, match="No such file") as caught:
        await open_cross_encoder(folder).score("?", [passage("a")], ledger=ledger())
    assert "Reinstall" in caught.value.hint
    path.write_bytes(whole)
    assert not open_cross_encoder(folder).score_now("?", [passage("a")])[0].failed


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"format": 1', '"format": 9', "its format is 9"),
        ('"scale": "logit"', '"scale": "stars"', "stars"),
        ('"window": 256', '"window": 8', "too short"),
        ('"logsumexp"', '"sum"', "pooled by sum"),
        ('"id"', '"nobody"', "lacks or breaks"),
        ("{", "[", "Expecting|delimiter"),
    ],
)
def test_a_broken_card_is_said_at_the_start(tmp_path: Path, old: str, new: str, why: str) -> None:
    card = write_cross_encoder(tmp_path, TABLE) / "grader.json"
    card.write_text(card.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ModelUnavailable, match=why):
        open_shipped(ScorerSettings(path=card.parent))
    card.unlink()
    with pytest.raises(ModelUnavailable, match="no such file"):
        open_shipped(ScorerSettings(path=card.parent))


async def test_the_event_loop_goes_on_and_cancelling_stops_the_work(
    scorer: CrossEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on, done, begun = threading.Event(), threading.Event(), threading.Event(), []
    run = CrossEncoder._run

    def slow(self: CrossEncoder, session: object, row: object, reading: object, stop: threading.Event) -> object:
        reached.set()
        assert go_on.wait(30)
        scored = run(self, session, row, reading, stop)  # type: ignore[arg-type]
        begun.append(scored.reason)
        if len(begun) == 9:
            done.set()
        return scored

    monkeypatch.setattr(module.CrossEncoder, "_run", slow)
    book = ledger()
    task = asyncio.create_task(scorer.score("Who?", [passage(TEXTS["en"])] * 9, ledger=book))
    assert await asyncio.to_thread(reached.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert await asyncio.to_thread(done.wait, 30)
    assert set(begun) == {"the grading was broken off"}
    assert [call.outcome for call in book.calls] == [Outcome.CANCELLED]
