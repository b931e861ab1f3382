"""A small world in two languages: articles, questions, and an index of them with the shipped encoder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tadasu.answering.retrieval.fusion import load_weights
from tadasu.answering.retrieval.hybrid import HybridSearch
from tadasu.ports import Encoder
from tadasu.testing.datasets import Part, PassageRow, Question
from tadasu.testing.splits import Split
from training.feature_rows import MODELS, indexed, open_encoder
from training.feature_sets import Asked, QuestionSet
from training.grader.negatives import Mining, mining

TEXTS = {
    "ja": {
        "川崎倉庫": (
            "川崎倉庫は神奈川県にある。床面積は8,000平方メートルである。冷蔵設備を備えている。食品が多く保管されている。",
            "川崎倉庫では約60人が働いている。朝の6時に最初のトラックが着く。夜は無人で、警備会社が見回っている。",
        ),
        "札幌まつり": (
            "札幌まつりは毎年2月に開かれる。雪と氷の像が並ぶ。世界中から人が訪れ、町の宿はどこも満室になる。",
            "札幌まつりの最初の像は高校生が作った。材料は公園に捨てられていた雪であったという。",
        ),
        "琵琶湖": (
            "琵琶湖は滋賀県にある日本一大きい湖である。周囲は約235キロメートルある。水は京都へも送られている。",
        ),
    },
    "en": {
        "Kawasaki warehouse": (
            "The Kawasaki warehouse stands near the port. It has 8,000 square metres of floor. Food is kept cold there.",
            "About 60 people work in the Kawasaki warehouse. The first lorry arrives at six in the morning.",
        ),
        "Sapporo festival": (
            "The festival of Sapporo is held in February. Statues of snow line the park, and every hotel is full by then.",
            "Pupils made the first statues of Sapporo. The snow had been thrown away in the park.",
        ),
        "Lake Biwa": (
            "Lake Biwa is the largest lake of Japan. Its shore is 235 kilometres long. Kyoto drinks its water.",
        ),
    },
}
ASKED = {
    "ja": (
        ("川崎倉庫の床面積はどのくらいですか", "8,000平方メートル", "川崎倉庫"),
        ("札幌まつりはいつですか", "2月", "札幌まつり"),
    ),
    "en": (
        ("How large is the floor of the Kawasaki warehouse?", "8,000 square metres", "Kawasaki warehouse"),
        ("When is the festival of Sapporo held?", "February", "Sapporo festival"),
    ),
}


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    return open_encoder(MODELS, cache=None)


def world(language: str) -> QuestionSet:
    part = Part.JAQUAD_TRAIN if language == "ja" else Part.XQUAD_EN
    rows = tuple(
        PassageRow(part, f"{title}-{number}", title, text, f"title:{title}")
        for title, texts in TEXTS[language].items()
        for number, text in enumerate(texts)
    )
    asked = tuple(
        Asked(
            Question(part, f"q{number}", text, (answer,), (f"{title}-0",), f"title:{title}"), frozenset({f"{title}-0"})
        )
        for number, (text, answer, title) in enumerate(ASKED[language])
    )
    return QuestionSet("world", language, rows, asked, rows, tuple(one.question for one in asked))


@asynccontextmanager
async def mined(language: str, encoder: Encoder) -> AsyncIterator[Mining]:
    questions = world(language)
    async with indexed(questions, encoder) as store:
        weights = load_weights(MODELS / "fusion.json")
        search = HybridSearch(search=store, terms=store, encoder=encoder, weights=weights)
        yield mining(questions, Split.TRAIN, search=search, encoder=encoder)
