"""Our own scoring protocol over real HTTP on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tadasu.core.documents import Span
from tadasu.core.scores import PairScore, ScoreScale, logit_of
from tadasu.core.usage import Outcome, Stage
from tadasu.core.vectors import PassageText
from tadasu.errors import ProviderAnswerInvalid, ProviderUnreachable, SettingsInvalid, TadasuError
from tadasu.ports import ScorerSettings
from tadasu.providers.http_scorer import PROTOCOL, HttpScorer, open_scorer, read_scores
from tadasu.testing.scorer_server import Manner, ScorerServer, overlap
from tests.answering.grading.scorers import Book

pytestmark = pytest.mark.enable_socket

QUESTION = "測定範囲は？"
PASSAGES = [
    PassageText("食堂は正午からです。", ((0, 10),), "食堂"),
    PassageText("名前はPT-300です。測定範囲は0〜50 barです。", ((0, 12), (12, 29)), "PT-300 > 仕様"),
    PassageText("The range is unknown 👍🏽.", ((0, 24),)),
]
SCALE = ScoreScale.PROBABILITY


@asynccontextmanager
async def scoring(
    *manners: Manner, scale: ScoreScale = SCALE, **settings: Any
) -> AsyncIterator[tuple[HttpScorer, ScorerServer]]:
    with ScorerServer(manners or (Manner.WELL,), scale=scale) as server:
        options = {"timeout_s": 60.0} | settings
        scorer = open_scorer(ScorerSettings(scale=scale, base_url=server.score_url, **options))
        try:
            yield scorer, server
        finally:
            await scorer.close()


def right() -> list[PairScore]:
    return [
        PairScore(overlap(QUESTION, one.text), tuple(overlap(QUESTION, one.text[a:b]) for a, b in one.strips))
        for one in PASSAGES
    ]


@pytest.mark.parametrize("manner", [Manner.WELL, Manner.REVERSED, Manner.EXTRA])
async def test_scores_and_strips_are_matched_by_id_whatever_their_order(manner: Manner) -> None:
    async with scoring(manner, model="mine") as (scorer, server):
        assert await scorer.score(QUESTION, PASSAGES, ledger=Book()) == right()
        assert await scorer.score(QUESTION, PASSAGES[::-1], ledger=Book()) == right()[::-1]
    assert server.requests[0] == {
        "protocol": PROTOCOL,
        "scale": "probability",
        "model": "mine",
        "question": QUESTION,
        "passages": [
            {"id": f"p{number}", "title": one.title, "text": one.text, "strips": [list(strip) for strip in one.strips]}
            for number, one in enumerate(PASSAGES)
        ],
    }


async def test_logits_stay_logits() -> None:
    async with scoring(scale=ScoreScale.LOGIT) as (scorer, _):
        found = await scorer.score(QUESTION, PASSAGES, ledger=Book())
    assert [one.score for one in found] == pytest.approx(
        [logit_of(one.score, ScoreScale.PROBABILITY) for one in right()]
    )


@pytest.mark.parametrize(
    ("manner", "word"),
    [
        (Manner.MISSING, "holds no score for it"),
        (Manner.DOUBLED, "holds 2 scores for it"),
        (Manner.STRAY, "holds no score for it"),
        (Manner.TEXT, "is no number: '0.9'"),
        (Manner.NAN, "is no finite number: nan"),
        (Manner.NULL, "gives no score for it, and no reason"),
        (Manner.BEYOND, "is 7.5, and a probability lies in [0, 1]"),
    ],
)
async def test_one_bad_row_costs_one_score(manner: Manner, word: str) -> None:
    async with scoring(manner) as (scorer, _):
        found = await scorer.score(QUESTION, PASSAGES, ledger=Book())
    assert found[0].failed
    assert word in found[0].reason
    assert list(found[1:]) == right()[1:]


@pytest.mark.parametrize(
    ("manner", "error", "word"),
    [
        (Manner.OTHER_SCALE, ProviderAnswerInvalid, "its scale is 'logit', and the settings say 'probability'"),
        (Manner.NO_LIST, ProviderAnswerInvalid, 'no list "scores"'),
        (Manner.NO_JSON, ProviderAnswerInvalid, "no JSON"),
        (Manner.FAULT, ProviderUnreachable, "HTTP 500"),
    ],
)
async def test_faults_have_their_names_and_are_written_down(
    manner: Manner, error: type[TadasuError], word: str
) -> None:
    book = Book()
    async with scoring(manner) as (scorer, _):
        with pytest.raises(error) as caught:
            await scorer.score(QUESTION, PASSAGES, ledger=book)
    assert word in str(caught.value)
    [call] = book.calls
    assert (call.stage, call.provider, call.outcome, call.items) == (Stage.GRADE, "http", Outcome.FAILED, 3)


def row(score: object = 0.5, **more: object) -> dict[str, object]:
    return {"scores": [{"id": "p0", "score": score, **more}]}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (row(), PairScore(0.5)),
        (row(strips=[0.1, 0.9]), PairScore(0.5, (0.1, 0.9))),
        (row(strips=[]), PairScore(0.5)),
        (row(strips=None), PairScore(0.5)),
        (row(hit=[2, 9]), PairScore(0.5, hit=Span(2, 9))),
        (row(hit=[0, 29]), PairScore(0.5)),
        (row(hit=[9, 2]), PairScore(0.5)),
        (row(hit=[-1, 3]), PairScore(0.5)),
        (row(hit=[0, 30]), PairScore(0.5)),
        (row(hit=[1.5, 3]), PairScore(0.5)),
        (row(hit="all"), PairScore(0.5)),
        (row(reason="sure of it"), PairScore(0.5)),
        (row() | {"scale": "probability"}, PairScore(0.5)),
    ],
)
def test_what_a_row_may_hold(reply: object, expected: PairScore) -> None:
    assert read_scores(reply, PASSAGES[1:2], scale=SCALE, provider="there") == [expected]


@pytest.mark.parametrize("strips", [[0.1], [0.1, 0.2, 0.3], [0.1, "0.2"], [0.1, 1.2], "ab", {"0": 0.1}, 0.3])
def test_strips_that_do_not_fit_are_left_out_with_a_note(strips: object) -> None:
    [found] = read_scores(row(strips=strips), PASSAGES[1:2], scale=SCALE, provider="there")
    assert (found.score, found.strips, found.failed) == (0.5, (), False)
    assert "left out" in found.reason


def test_the_services_own_reason_is_kept() -> None:
    [found] = read_scores(row(None, reason="too\nlong"), PASSAGES[1:2], scale=SCALE, provider="there")
    assert (found.failed, found.reason) == (True, "too long")


@pytest.mark.parametrize("rows", [[{"id": 0, "score": 1.0}], [{"score": 1.0}], ["p0"], [None], [[]]])
def test_rows_without_an_id_are_nobodys(rows: Sequence[object]) -> None:
    [found] = read_scores({"scores": rows}, PASSAGES[:1], scale=SCALE, provider="there")
    assert "no score for it" in found.reason


async def test_nothing_is_sent_about_no_passage() -> None:
    async with scoring() as (scorer, server):
        assert await scorer.score(QUESTION, [], ledger=Book()) == []
    assert server.requests == []


def test_an_undeclared_scale_is_refused_at_opening_with_what_to_write() -> None:
    with pytest.raises(SettingsInvalid, match=r"scorer\.scale is not set.*write scale = "):
        open_scorer(ScorerSettings(base_url="http://127.0.0.1:1"))
