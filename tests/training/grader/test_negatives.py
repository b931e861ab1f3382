"""What stands in a group: gold with its answer, and passages that only look as if they answered."""

from __future__ import annotations

import pytest

from tadasu.ports import Encoder
from tadasu.testing.datasets import holds_answer
from tests.training.grader.conftest import ASKED, mined
from training.grader import negatives
from training.grader.negatives import labelled, topical
from training.grader.rows import Group, Kind

LANGUAGES = pytest.mark.parametrize("language", ["ja", "en"])


async def _groups(language: str, encoder: Encoder) -> list[Group]:
    async with mined(language, encoder) as mine:
        return await labelled(mine, mine.questions.asked, name="world")


@pytest.fixture(autouse=True)
def _all_swapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(negatives, "_SWAPPED_SHARE", 1.0)


@LANGUAGES
async def test_the_gold_passage_comes_with_its_answer(language: str, encoder: Encoder) -> None:
    for group, (question, answer, title) in zip(
        [one for one in await _groups(language, encoder) if one.answers], ASKED[language], strict=True
    ):
        assert (group.question, group.language) == (question, language)
        (gold,) = [one for one in group.passages if one.label == 1]
        assert (gold.kind, gold.title) == (Kind.GOLD, title)
        assert [gold.text[start:end] for start, end in gold.spans] == [answer]


@LANGUAGES
async def test_no_negative_says_the_answer(language: str, encoder: Encoder) -> None:
    kinds = set()
    for group in await _groups(language, encoder):
        for one in group.passages:
            kinds.add(one.kind)
            if one.kind not in {Kind.GOLD, Kind.OTHER_ENTITY}:
                assert one.label == 0
                assert not holds_answer(one.text, group.answers)
                assert one.spans == ()
    assert {Kind.GOLD, Kind.ANSWER_REMOVED, Kind.TOPICAL, Kind.RETRIEVED, Kind.OTHER_ENTITY} <= kinds


@LANGUAGES
async def test_strips_cover_every_text_without_a_gap(language: str, encoder: Encoder) -> None:
    for group in await _groups(language, encoder):
        for one in group.passages:
            assert "".join(one.text[start:end] for start, end in one.strips) == one.text


@LANGUAGES
async def test_after_a_swap_nothing_answers_though_the_passage_is_there(language: str, encoder: Encoder) -> None:
    groups = {one.id: one for one in await _groups(language, encoder)}
    swapped = [one for id_, one in groups.items() if id_.endswith(".swapped")]
    assert swapped
    for group in swapped:
        before = groups[group.id.removesuffix(".swapped")]
        gold = next(one for one in before.passages if one.label == 1)
        assert group.question != before.question
        assert gold.text in {one.text for one in group.passages}
        assert {(one.label, one.kind) for one in group.passages} == {(0, Kind.OTHER_ENTITY)}


@LANGUAGES
async def test_what_is_found_and_names_the_new_word_is_left_out_of_a_swap(language: str, encoder: Encoder) -> None:
    swapped = [one for one in await _groups(language, encoder) if one.id == "q0.swapped"]
    word = {"ja": "札幌", "en": "festival"}[language]
    (group,) = swapped
    assert word in group.question
    assert not any(word in one.text for one in group.passages)


@LANGUAGES
async def test_topical_noise_is_of_the_same_article_and_says_nothing(language: str, encoder: Encoder) -> None:
    async with mined(language, encoder) as mine:
        groups = list(topical(mine, mine.questions.asked, name="topical", limit=3))
    assert len(groups) == 2
    for group in groups:
        gold, *noise = group.passages
        assert noise
        assert {one.title for one in noise} == {gold.title}
        assert not any(holds_answer(one.text, group.answers) for one in noise)


@LANGUAGES
async def test_mining_again_gives_the_same(language: str, encoder: Encoder) -> None:
    assert await _groups(language, encoder) == await _groups(language, encoder)
