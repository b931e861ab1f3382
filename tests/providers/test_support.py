"""The support head over the shipped files: real model, English and Japanese in pairs."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tadasu.app.assets import models_folder
from tadasu.core.usage import Outcome, Stage
from tadasu.errors import ModelUnavailable
from tadasu.ports import Claim, SupportModel
from tadasu.providers.heads import run_pair
from tadasu.providers.support import SupportHead, open_support_head
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock

LANGUAGES = pytest.mark.parametrize("language", ["en", "ja"])
FOLDER = models_folder() / "grader"
SOURCES = {
    "en": "The bridge over the Leven was opened in 1884. It was designed by Anna Reed and built by the firm Cole & Sons. "
    "The toll was abolished in 1931.",
    "ja": "レーベン川の橋は1884年に開通した。設計は田中一郎で、施工は鈴木組が行った。通行料は1931年に廃止された。",
}
RIGHT = {
    "en": ("The bridge over the Leven was opened in 1884.", "It was designed by Anna Reed."),
    "ja": ("レーベン川の橋は1884年に開通しました。", "設計は田中一郎です。"),
}
WRONG = {
    "en": ("The bridge over the Leven was opened in 1931.", "It was designed by Cole & Sons."),
    "ja": ("レーベン川の橋は1931年に開通しました。", "設計は鈴木組です。"),
}
ELSEWHERE = {
    "en": "Whales are mammals. They breathe air through blowholes on top of their heads.",
    "ja": "クジラは哺乳類である。頭の上にある噴気孔で空気を吸う。",
}


@pytest.fixture(scope="module")
def head() -> SupportHead:
    return open_support_head(FOLDER)


def ledger() -> RunLedger:
    return RunLedger(SystemClock())


@LANGUAGES
async def test_what_the_source_says_is_supported_and_what_it_does_not_say_is_not(
    head: SupportHead, language: str
) -> None:
    model: SupportModel = head
    book = ledger()
    pairs = zip(RIGHT[language], WRONG[language], strict=True)
    claims = [Claim(one, SOURCES[language]) for pair in pairs for one in pair]
    claims.append(Claim(RIGHT[language][0], ELSEWHERE[language]))
    first, first_wrong, second, second_wrong, elsewhere = await model.support(claims, ledger=book)
    assert all(0.0 <= one <= 1.0 for one in (first, first_wrong, second, second_wrong, elsewhere))
    assert min(first, second) > 0.5 > max(first_wrong, elsewhere)
    assert second > second_wrong + 0.2
    (call,) = book.calls
    assert (call.stage, call.model, call.items, call.outcome) == (Stage.CHECK, head.id, 5, Outcome.OK)


@LANGUAGES
def test_the_question_says_what_a_short_answer_claims(head: SupportHead, language: str) -> None:
    question = {"en": "When was the toll abolished?", "ja": "通行料はいつ廃止されましたか?"}[language]
    right, wrong = {"en": ("1931", "1884"), "ja": ("1931年", "1884年")}[language]
    likely, unlikely = head.support_now([Claim(one, SOURCES[language], question) for one in (right, wrong)])
    assert likely > unlikely


@LANGUAGES
def test_neither_neighbours_nor_order_change_a_probability(head: SupportHead, language: str) -> None:
    sentences = [*RIGHT[language], *WRONG[language], ELSEWHERE[language]]
    claims = [Claim(one, SOURCES[language] * times) for times, one in enumerate(sentences, start=1)]
    alone = [head.support_now([one])[0] for one in claims]
    assert head.support_now(claims) == alone
    assert head.support_now(claims[::-1]) == alone[::-1]


@LANGUAGES
def test_of_a_long_source_the_best_window_counts(head: SupportHead, language: str) -> None:
    filler = ELSEWHERE[language] * 40
    right, wrong = head.support_now(
        [
            Claim(RIGHT[language][0], filler + SOURCES[language] + filler),
            Claim(RIGHT[language][0], filler + filler),
        ]
    )
    assert right > 0.5 > wrong


@LANGUAGES
def test_of_a_long_sentence_the_worst_part_counts(head: SupportHead, language: str) -> None:
    right, wrong = RIGHT[language][0], ELSEWHERE[language]
    (both,) = head.support_now([Claim(right + " " + wrong * 12, SOURCES[language])])
    assert both < 0.5


@pytest.mark.parametrize(("sentence", "source"), [("", "A source."), ("A sentence.", ""), (" ", "\n"), ("", "")])
def test_nothing_said_or_cited_is_not_supported(head: SupportHead, sentence: str, source: str) -> None:
    assert head.support_now([Claim(sentence, source)]) == [0.0]


async def test_nothing_to_judge_calls_nothing(head: SupportHead) -> None:
    book = ledger()
    assert await head.support([], ledger=book) == []
    assert book.calls == ()


async def test_cancelling_stops_after_the_pairs_being_read(head: SupportHead, monkeypatch: pytest.MonkeyPatch) -> None:
    reached, go_on = threading.Event(), threading.Event()
    begun: list[int] = []
    run = run_pair

    def slow(*given: Any) -> Any:
        begun.append(1)
        reached.set()
        assert go_on.wait(30)
        return run(*given)

    monkeypatch.setattr("tadasu.providers.support.run_pair", slow)
    book = ledger()
    task = asyncio.create_task(head.support([Claim("A.", SOURCES["en"])] * 9, ledger=book))
    assert await asyncio.to_thread(reached.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert len(begun) <= 2
    assert [call.outcome for call in book.calls] == [Outcome.CANCELLED]


def copy_of(folder: Path, **changes: object) -> Path:
    for name in ("grader.json", "support.onnx"):
        shutil.copy(FOLDER / name, folder)
    (folder / "model.onnx").symlink_to(FOLDER / "model.onnx")
    told: dict[str, Any] = json.loads((FOLDER / "heads.json").read_text(encoding="utf-8"))
    told["support"] |= changes
    (folder / "heads.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"of": {"file": "model.onnx", "sha256": "0" * 64}}, "another model.onnx"),
        ({"curves": {}}, "lacks or breaks a field"),
        ({"curves": {"en": [0.0, float("inf")]}}, "not finite"),
        ({"borrowed": [[1]]}, "lacks or breaks a field"),
        ({"lengths": {"question": 300, "sentence": 300, "longest": 352}}, "no room for a source"),
    ],
)
def test_a_card_that_cannot_be_used_is_named(tmp_path: Path, changes: Mapping[str, object], reason: str) -> None:
    with pytest.raises(ModelUnavailable, match=reason):
        open_support_head(copy_of(tmp_path, **changes))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sha256": "0" * 64}, "damaged or changed"),
        ({"borrowed": [[0, 10**9]]}, "not inside the file"),
        ({"borrowed": []}, "support.onnx"),
    ],
)
def test_files_that_are_damaged_are_named_at_the_first_use(
    tmp_path: Path, changes: Mapping[str, object], reason: str
) -> None:
    folder = tmp_path / "models" / "grader"
    folder.mkdir(parents=True)
    (tmp_path / "models" / "encoder").symlink_to(FOLDER.parent / "encoder")
    head = open_support_head(copy_of(folder, **changes))
    with pytest.raises(ModelUnavailable, match=reason):
        head.support_now([Claim("A.", "B.")])
