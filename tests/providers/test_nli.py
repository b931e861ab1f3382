"""Entailment classifiers from elsewhere as checkers, over models whose every number is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tadasu.errors import ModelUnavailable, SettingsInvalid
from tadasu.ports import CheckerSettings, Claim, SupportModel
from tadasu.providers.nli import NliChecker, open_checker
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tests.answering.grading.tiny_models import numbers, pieces, write_classifier

LABELS = {"id2label": {"0": "contradiction", "1": "neutral", "2": "entailment"}}
SENTENCES = {"en": "The mill stands in Oslo.", "ja": "水車小屋は奈良にある。"}
SOURCES = {"en": "Nobody knows. The mill stands in Oslo, they say.", "ja": "不明である。水車小屋は奈良にあるという。"}
WORDS = {"en": "answer", "ja": "答"}
LANGUAGES = pytest.mark.parametrize("language", ["en", "ja"])


def table(*, follows: int = 2) -> np.ndarray:
    """Three numbers per piece; only those of the words say that the sentence follows."""
    found = np.full((len(numbers()), 3), -1.0, dtype=np.float32)
    for word in WORDS.values():
        found[pieces(word)[-1], follows] = 8.0
    return found


def opened(folder: Path, **chosen: object) -> NliChecker:
    return open_checker(CheckerSettings(path=folder, threads=1, **chosen))  # type: ignore[arg-type]


def card(folder: Path, told: dict[str, object]) -> Path:
    (folder / "checker.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


@LANGUAGES
async def test_the_source_is_the_premise_and_the_declared_label_counts(tmp_path: Path, language: str) -> None:
    as_port: SupportModel = opened(write_classifier(tmp_path, table(), config=LABELS))
    word, sentence = WORDS[language], SENTENCES[language]
    ledger = RunLedger(SystemClock())
    claims = [Claim(sentence, SOURCES[language]), Claim(sentence, f"{SOURCES[language]} {word}"), Claim(sentence, " ")]
    plain, sure, empty = await as_port.support(claims, ledger=ledger)
    assert plain == pytest.approx(1 / 3, abs=1e-6)
    assert sure == pytest.approx(1 / (1 + 2 * np.exp(-9.0)), abs=1e-6)
    assert empty == 0.0
    assert [(call.stage.value, call.provider, call.items) for call in ledger.calls] == [("check", "local", 3)]


@LANGUAGES
def test_the_best_window_of_a_long_source_counts_and_the_worst_part_of_a_long_sentence(
    tmp_path: Path, language: str
) -> None:
    checker = opened(write_classifier(tmp_path, table(), config=LABELS), max_tokens=64)
    word, sentence = WORDS[language], SENTENCES[language]
    long = SOURCES[language] * 20
    assert checker.support_now([Claim(sentence, f"{long} {word}")])[0] > 0.99
    assert checker.support_now([Claim(sentence, long)])[0] < 0.5
    assert checker.support_now([Claim(f"{word} {sentence * 8}", SOURCES[language])])[0] < 0.5


def test_neighbours_change_nothing(tmp_path: Path) -> None:
    checker = opened(write_classifier(tmp_path, table(), config=LABELS))
    claims = [Claim(SENTENCES[one], SOURCES[other]) for one in ("en", "ja") for other in ("en", "ja")]
    assert checker.support_now(claims) == [checker.support_now([one])[0] for one in claims]


@pytest.mark.parametrize(
    ("config", "told", "key"),
    [
        (None, {}, "labels"),
        ({"id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}}, {}, "supported"),
        (LABELS, {"supported": "yes"}, "supported"),
        (LABELS, {"scale": "percent"}, "scale"),
        ({"id2label": {"0": "LABEL_0"}}, {}, "scale"),
    ],
)
def test_what_its_numbers_mean_is_declared_and_never_guessed(
    tmp_path: Path, config: dict[str, object] | None, told: dict[str, object], key: str
) -> None:
    folder = card(write_classifier(tmp_path, table(), config=config), told)
    with pytest.raises(SettingsInvalid) as raised:
        opened(folder)
    assert key in str(raised.value)


def test_another_order_of_labels_can_be_declared(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path, table(follows=0), config=LABELS)
    told: dict[str, object] = {"labels": ["holds", "neutral", "contradiction"], "supported": "holds"}
    checker = opened(card(folder, told))
    assert checker.support_now([Claim("It is.", f"It is. {WORDS['en']}")])[0] > 0.99


@pytest.mark.parametrize("scale", ["logit", "probability"])
def test_a_model_with_one_number(tmp_path: Path, scale: str) -> None:
    one = np.full((len(numbers()), 1), 0.25, dtype=np.float32)
    checker = opened(card(write_classifier(tmp_path, one), {"labels": ["consistent"], "scale": scale}))
    wanted = 0.25 if scale == "probability" else 1 / (1 + np.exp(-0.25))
    assert checker.support_now([Claim("It is.", "It is.")]) == [pytest.approx(wanted)]


@pytest.mark.parametrize(
    ("value", "told"),
    [(np.nan, {}), (3.0, {"scale": "probability"}), (3.0, {"labels": ["entailment", "neutral"]})],
)
def test_no_number_is_an_error_and_never_a_probability(tmp_path: Path, value: float, told: dict[str, object]) -> None:
    broken = np.full((len(numbers()), 3), value, dtype=np.float32)
    checker = opened(card(write_classifier(tmp_path, broken, config=LABELS), told))
    with pytest.raises(ModelUnavailable):
        checker.support_now([Claim("It is.", "It is.")])


def test_a_missing_folder_or_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match=r"checking\.path"):
        open_checker(CheckerSettings())
    with pytest.raises(ModelUnavailable, match=r"model\.onnx"):
        opened(tmp_path)


def test_the_name_changes_with_how_it_is_read(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path, table(), config=LABELS)
    first = opened(folder).id
    assert opened(folder).id == first
    assert opened(folder, max_tokens=64).id != first
