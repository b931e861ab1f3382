"""Classifiers from elsewhere, over models whose every number is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.answering.grading.onnx_classifier import OnnxClassifier, open_scorer, read_numbers
from tadasu.core.scores import PairScore, ScoreScale
from tadasu.core.vectors import PassageText
from tadasu.errors import ModelUnavailable, SettingsInvalid
from tadasu.ports import PairScorer, ScorerSettings
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.text.segment import segment
from tests.answering.grading.tiny_models import numbers, pieces, write_classifier

TABLE = numbers()[:, None]
QUESTIONS = {"en": "Who wrote the tale?", "ja": "物語の作者は誰ですか。"}
TEXTS = {
    "en": "The tale has many chapters. It was written by a lady at the court. Nobody knows her real name.",
    "ja": "この物語は多くの帖からなる。宮廷に仕えた女性が書いた。本名は知られていない。",
}
WORDS = {"en": "answer", "ja": "答"}
LANGUAGES = pytest.mark.parametrize("language", ["en", "ja"])
LOGIT: dict[str, object] = {"scale": "logit"}


def passage(text: str, language: str = "en", title: str = "") -> PassageText:
    return PassageText(text, tuple(segment(text, language=language)) if text else (), title)


def opened(folder: Path, **chosen: object) -> OnnxClassifier:
    return open_scorer(ScorerSettings(path=folder, **chosen))  # type: ignore[arg-type]


def pointing_at(*words: str) -> np.ndarray:
    """A table in which only these words say anything."""
    table = np.full_like(TABLE, -9.0)
    for word in words:
        table[pieces(word)[-1]] = 5.0
    return table


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> OnnxClassifier:
    return opened(write_classifier(tmp_path_factory.mktemp("classifier"), TABLE, card=LOGIT))


@LANGUAGES
async def test_one_number_is_the_score(scorer: OnnxClassifier, language: str) -> None:
    as_port: PairScorer = scorer
    given_ = [passage(TEXTS[language], language), passage("")]
    found = await as_port.score(QUESTIONS[language], given_, ledger=RunLedger(SystemClock()))
    read = [0, 2, *pieces(QUESTIONS[language]), *pieces(TEXTS[language])]
    assert found[0].score == pytest.approx(float(TABLE[read].max()))
    assert found[0].hit is None
    assert found[1] == PairScore(-30.0)
    assert as_port.scale is ScoreScale.LOGIT


@settings(max_examples=5)
@given(st.permutations(range(5)), st.sampled_from(["en", "ja"]))
def test_neither_order_nor_neighbours_change_a_score(scorer: OnnxClassifier, order: list[int], language: str) -> None:
    given_ = [passage(text, language) for text in (TEXTS["en"], TEXTS["ja"], TEXTS[language] * 60, "", "短い。")]
    alone = [scorer.score_now(QUESTIONS[language], [one])[0] for one in given_]
    assert scorer.score_now(QUESTIONS[language], [given_[index] for index in order]) == [alone[i] for i in order]


@LANGUAGES
@pytest.mark.parametrize("template", ["", "Query: {question} Document: {title}: {passage} Relevant:"])
def test_the_best_window_of_a_long_passage_counts_and_is_named(tmp_path: Path, language: str, template: str) -> None:
    word = WORDS[language]
    folder = write_classifier(tmp_path, pointing_at(word), card={**LOGIT, "template": template})
    filler = TEXTS[language] * 60
    starts = [start for start, _ in segment(filler, language=language)]
    at = starts[len(starts) * 2 // 3]
    one = passage(f"{filler[:at]}The {word}. {filler[at:]}", language, "題")
    (found,) = opened(folder).score_now(QUESTIONS[language], [one])
    assert found.score == 5.0
    assert found.hit is not None
    assert word in found.hit.of(one.text)
    assert len(found.hit) < len(one.text) / 2
    assert found.strips == ()


@LANGUAGES
@pytest.mark.parametrize("where", [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
def test_no_part_of_a_passage_is_left_out(tmp_path: Path, language: str, where: float) -> None:
    folder = write_classifier(tmp_path, pointing_at(WORDS[language]), card={**LOGIT, "window": 64})
    filler = TEXTS[language].replace("。", "、").replace(".", ",") * 20
    at = int(len(filler) * where)
    (found,) = opened(folder).score_now("?", [PassageText(f"{filler[:at]} {WORDS[language]} {filler[at:]}")])
    assert found.score == 5.0


@LANGUAGES
def test_a_long_question_is_read_whole_or_has_a_reason(tmp_path: Path, language: str) -> None:
    folder = write_classifier(tmp_path, pointing_at(WORDS[language]), card={**LOGIT, "window": 128})
    scorer = opened(folder)
    question = f"{TEXTS[language] * 6} {WORDS[language]} {TEXTS[language] * 3}"
    (found,) = scorer.score_now(question, [passage(TEXTS[language] * 10, language)])
    assert found.score == 5.0
    far, empty = scorer.score_now(TEXTS[language] * 100, [passage(TEXTS[language], language), passage(" ")])
    assert far.failed
    assert "the question makes" in far.reason
    assert empty == PairScore(-30.0)


@pytest.mark.parametrize(
    "text", [" ", "\n", "\x00", "\ud83d", "a\udc00b", "\u200b", "字" * 10_000, "</s><s>", "{passage}"]
)
@pytest.mark.parametrize("template", ["", "{question} [SEP] {passage}"])
def test_strange_text_is_scored_without_a_fault(tmp_path: Path, text: str, template: str) -> None:
    scorer = opened(write_classifier(tmp_path, TABLE, card={**LOGIT, "template": template}))
    for question in (text[:1_000], "誰？"):
        assert not scorer.score_now(question, [PassageText(text)])[0].failed


def test_words_that_look_like_special_tokens_stay_words(tmp_path: Path) -> None:
    table = pointing_at()
    table[2] = -3.0  # the end marker, which every input has
    folder = write_classifier(tmp_path, table, card=LOGIT)
    maker = opened(folder)._loaded()[1]
    name = maker._tokenizer.id_to_token(2)
    (made,) = maker.make(f"a {name} b", [PassageText(f"c {name} d")]).inputs
    assert made.encoded.ids.count(2) == 3


def labelled(*columns: float) -> np.ndarray:
    return np.tile(np.array(columns, dtype=np.float32), (len(TABLE), 1))


@pytest.mark.parametrize(
    ("names", "positive"),
    [({"0": "irrelevant", "1": "relevant"}, 1), ({"0": "yes", "1": "no"}, 0), ({"1": "LABEL_1", "0": "LABEL_0"}, 1)],
)
def test_of_two_labels_the_score_is_the_log_odds_of_the_positive_one(
    tmp_path: Path, names: dict[str, str], positive: int
) -> None:
    folder = write_classifier(tmp_path, labelled(0.5, 2.0), card=LOGIT, config={"id2label": names})
    (found,) = opened(folder).score_now("誰？", [passage("宮廷の女性。", "ja")])
    assert found.score == pytest.approx(1.5 if positive else -1.5)


def test_of_three_labels_a_declared_one_stands_against_the_others(tmp_path: Path) -> None:
    table = labelled(0.5, 1.0, 2.0)
    by_name = {"id2label": {"0": "contradiction", "1": "neutral", "2": "stated"}}
    for told in (2, "stated"):
        folder = write_classifier(tmp_path, table, card={**LOGIT, "positive": told}, config=by_name)
        (found,) = opened(folder).score_now("Who?", [passage("A lady.")])
        assert found.score == pytest.approx(2.0 - np.logaddexp(0.5, 1.0))
    write_classifier(tmp_path, table, card=LOGIT, config=by_name)
    with pytest.raises(SettingsInvalid, match="contradiction, neutral, stated"):
        opened(tmp_path)
    write_classifier(tmp_path, table, card={**LOGIT, "positive": "right"}, config=by_name)
    with pytest.raises(SettingsInvalid, match="'right'"):
        opened(tmp_path)


def test_labels_that_nobody_names_are_refused_with_what_to_write(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path, labelled(0.5, 2.0), card=LOGIT)
    with pytest.raises(SettingsInvalid, match="positive is not set, and the model gives 2 numbers"):
        opened(folder).score_now("Who?", [passage("A lady.")])
    folder = write_classifier(tmp_path, labelled(0.5, 2.0), card={**LOGIT, "positive": 0})
    assert opened(folder).score_now("Who?", [passage("A lady.")])[0].score == pytest.approx(-1.5)


def test_an_undeclared_scale_is_refused_at_the_start_with_what_to_write(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path, TABLE)
    with pytest.raises(SettingsInvalid) as caught:
        opened(folder)
    assert 'scale = "logit"' in str(caught.value)
    assert 'scale = "probability"' in str(caught.value)
    assert "scorer.scale" in str(caught.value)
    assert opened(folder, scale=ScoreScale.LOGIT).scale is ScoreScale.LOGIT


def test_the_card_or_the_config_declares_the_scale_and_the_settings_go_first(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path, labelled(0.7), config={"tadasu": {"scale": "probability"}})
    assert opened(folder).score_now("誰？", [passage("宮廷。")])[0].score == pytest.approx(0.7)
    assert opened(folder, scale=ScoreScale.LOGIT).scale is ScoreScale.LOGIT
    write_classifier(tmp_path, labelled(0.7), card={"scale": "stars"})
    with pytest.raises(SettingsInvalid, match='write "logit" or "probability"'):
        opened(folder)


def test_what_is_no_probability_has_a_reason(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path, labelled(1.7), card={"scale": "probability"})
    (found,) = opened(folder).score_now("Who?", [passage("A lady.")])
    assert found.failed
    assert "1.7" in found.reason


def test_a_range_is_moved_to_probabilities(tmp_path: Path) -> None:
    for given_, wanted in ((-1.0, 0.0), (0.5, 0.75), (1.02, 1.0)):
        folder = write_classifier(tmp_path, labelled(given_), card={"scale": "probability", "range": [-1, 1]})
        assert opened(folder).score_now("誰？", [passage("宮廷。")])[0].score == pytest.approx(wanted)
    for card, why in (
        ({"scale": "logit", "range": [-1, 1]}, "probability"),
        ({"scale": "probability", "range": 3}, "two"),
    ):
        write_classifier(tmp_path, labelled(0.0), card=card)
        with pytest.raises(SettingsInvalid, match=why):
            opened(tmp_path)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_the_model_cannot_say_is_a_reason_of_that_passage_alone(tmp_path: Path, bad: float) -> None:
    table = labelled(1.0)
    table[pieces("毒")[-1]] = bad
    folder = write_classifier(tmp_path, table, card=LOGIT, pooled="ReduceMean")
    good, poisoned = opened(folder).score_now("誰？", [passage("宮廷", "ja"), passage("毒", "ja")])
    assert not good.failed
    assert poisoned.failed
    assert "no finite number" in poisoned.reason


def test_numbers_that_cannot_be_read_have_a_reason(scorer: OnnxClassifier) -> None:
    assert isinstance(read_numbers(np.empty(0), scorer._card), str)
    assert isinstance(read_numbers(np.array([0.1, 0.2]), scorer._card), str)


def test_a_model_of_another_kind_is_said(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path, TABLE, card=LOGIT, inputs=("input_ids", "pixel_values"))
    with pytest.raises(ModelUnavailable, match="pixel_values"):
        opened(folder).score_now("Who?", [passage("A lady.")])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_or_missing_file_is_said(tmp_path: Path, name: str) -> None:
    folder = write_classifier(tmp_path, TABLE, card=LOGIT)
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelUnavailable, match=name):
        opened(folder).score_now("Who?", [passage("A lady.")])
    write_classifier(tmp_path, TABLE, card={**LOGIT, "files": {name: "0" * 64}})
    promising = opened(folder)
    with pytest.raises(ModelUnavailable, match="damaged or changed"):
        promising.score_now("Who?", [passage("A lady.")])
    (folder / name).unlink()
    with pytest.raises(ModelUnavailable, match="no such file"):
        opened(folder)


def test_without_a_folder_it_says_what_to_write() -> None:
    with pytest.raises(SettingsInvalid, match="scorer.path"):
        open_scorer(ScorerSettings(scale=ScoreScale.LOGIT))


def test_the_id_changes_with_the_model_and_how_it_is_read(tmp_path: Path) -> None:
    ids = {
        opened(write_classifier(tmp_path / "m", table, card=card)).id
        for table in (TABLE, TABLE + 1)
        for card in (
            LOGIT,
            {"scale": "probability"},
            {**LOGIT, "window": 100},
            {**LOGIT, "template": "{question}{passage}"},
        )
    }
    assert len(ids) == 8
    assert all(one.startswith("m@") for one in ids)
    with pytest.raises(SettingsInvalid, match="each once"):
        opened(write_classifier(tmp_path / "m", TABLE, card={**LOGIT, "template": "{question}"}))
