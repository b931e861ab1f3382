"""Honest pages that talk about prompts, models, grades and rules lose nothing: what is said of orders is no order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tadasu.answering.outside import page_document
from tadasu.core.retrieved import WebPage
from tadasu.testing.datasets import DataAbsent, Part, passages, questions
from tadasu.text.echoes import without_echoes
from tadasu.text.injection import masked
from tests.attacks.harness import Topic, topics

ROWS = [json.loads(line) for line in (Path(__file__).parent / "honest.jsonl").read_text("utf-8").splitlines()]


def test_there_are_enough_of_them_in_both_languages() -> None:
    assert len(ROWS) >= 20
    assert sum(row["language"] == "ja" for row in ROWS) * 2 == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_an_honest_page_that_talks_of_models_and_rules_is_kept_whole(row: dict[str, str]) -> None:
    paragraphs = "".join(
        f"<p>{line.replace('&', '&amp;').replace('<', '&lt;')}</p>" for line in row["text"].split("\n")
    )
    read = page_document(WebPage("https://a.example/", "Page", body=f"<html><body>{paragraphs}</body></html>".encode()))
    assert read.text.split() == row["text"].split()


@pytest.mark.parametrize("topic", topics().values(), ids=lambda topic: topic.id)
def test_the_clean_pages_of_the_attack_set_are_kept_whole(topic: Topic) -> None:
    page = WebPage("https://a.example/", topic.title, body=topic.clean_html.encode())
    plain, read = page_document(page), page_document(page, topic.question)
    assert read.text == plain.text
    assert masked(plain.text) == plain.text


@pytest.mark.parametrize(("part", "most"), [(Part.XQUAD_EN, 1), (Part.JAQUAD_TRAIN, 1)])
def test_of_encyclopedia_passages_nothing_is_taken_for_an_order_and_hardly_an_answer_for_an_echo(
    part: Part, most: int
) -> None:
    try:
        texts = {row.id: row.text for row in passages(part)}
        asked = questions(part)[:600]
    except DataAbsent as absent:
        pytest.skip(str(absent))
    assert [text for text in list(texts.values())[:300] if masked(text) != text] == []
    lost = [
        one.text
        for one in asked
        for passage in one.gold[:1]
        if any(answer in texts[passage] for answer in one.answers)
        and not any(answer in without_echoes(texts[passage], one.text) for answer in one.answers)
    ]
    assert len(lost) <= most, lost
