"""Fusion of two rankings: what it promises, over many drawn rankings, and its file of weights."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.answering.retrieval.fusion import (
    FusionWeights,
    load_weights,
    reciprocal_rank_fusion,
    weighted_fusion,
)
from tadasu.core.retrieved import Hit
from tadasu.errors import ModelUnavailable

IDS = [f"p{number}" for number in range(12)]


@st.composite
def rankings(draw: st.DrawFn, *, low: float, high: float, unknown: bool = False) -> list[Hit]:
    ids = draw(st.lists(st.sampled_from(IDS), unique=True, max_size=8))
    scores = sorted((draw(st.floats(low, high)) for _ in ids), reverse=True)
    return [
        Hit(id_, None if unknown and draw(st.booleans()) else score) for id_, score in zip(ids, scores, strict=True)
    ]


dense_rankings = rankings(low=-1.0, high=1.0, unknown=True)
lexical_rankings = rankings(low=0.01, high=40.0, unknown=True)
all_weights = st.builds(FusionWeights, dense=st.floats(0, 1), dense_floor=st.floats(-1, 0.99))
depths = st.integers(0, 12)


@given(dense_rankings, lexical_rankings, all_weights, depths)
def test_each_passage_comes_once_with_what_was_known(
    dense: list[Hit], lexical: list[Hit], weights: FusionWeights, depth: int
) -> None:
    fused = weighted_fusion(dense, lexical, weights=weights, depth=depth)
    assert {entry.passage_id for entry in fused} == {hit.passage_id for hit in [*dense, *lexical]}
    assert len({entry.passage_id for entry in fused}) == len(fused)
    assert all(0.0 <= entry.score <= 1.0 + 1e-9 for entry in fused)
    assert [entry.score for entry in fused] == sorted((entry.score for entry in fused), reverse=True)
    for entry in fused:
        for rank, ranking, score in (
            (entry.dense_rank, dense, entry.dense),
            (entry.lexical_rank, lexical, entry.lexical),
        ):
            if rank is not None:
                assert ranking[rank - 1] == Hit(entry.passage_id, score)
        if entry.lexical_rank is None:
            assert entry.lexical == (0.0 if len(lexical) < depth else None)


@given(dense_rankings, all_weights)
def test_one_ranking_alone_keeps_its_order(dense: list[Hit], weights: FusionWeights) -> None:
    fused = weighted_fusion(dense, [], weights=FusionWeights(dense=1.0, dense_floor=-1.0), depth=50)
    assert [entry.passage_id for entry in fused] == [hit.passage_id for hit in dense]
    assert [e.passage_id for e in reciprocal_rank_fusion(dense, [])] == [hit.passage_id for hit in dense]


@given(rankings(low=-1.0, high=1.0), rankings(low=0.01, high=40.0), all_weights)
def test_a_passage_that_leads_both_rankings_leads(dense: list[Hit], lexical: list[Hit], weights: FusionWeights) -> None:
    dense = [Hit("best", 1.0), *dense]
    lexical = [Hit("best", 41.0), *lexical]
    for fused in (
        weighted_fusion(dense, lexical, weights=weights, depth=50),
        reciprocal_rank_fusion(dense, lexical),
    ):
        assert fused[0].score == pytest.approx(max(entry.score for entry in fused))
        assert fused[0].passage_id == "best"


@given(dense_rankings, lexical_rankings, all_weights)
def test_an_unknown_score_counts_by_its_rank_and_not_as_zero(
    dense: list[Hit], lexical: list[Hit], weights: FusionWeights
) -> None:
    nameless = [Hit(hit.passage_id, None) for hit in dense]
    fused = weighted_fusion(nameless, [], weights=FusionWeights(dense=1.0), depth=50)
    assert [entry.passage_id for entry in fused] == [hit.passage_id for hit in dense]
    assert all(entry.score > 0.5 and entry.dense is None for entry in fused)


def test_a14_scores_of_every_kind_of_missing_are_alike() -> None:
    hits = [Hit("a", None), Hit("b", float("nan")), Hit("c", "n/a"), Hit("d", float("inf"))]  # type: ignore[arg-type]
    fused = weighted_fusion(hits, [], weights=FusionWeights(dense=1.0), depth=50)
    assert [entry.passage_id for entry in fused] == ["a", "b", "c", "d"]
    assert all(entry.dense is None and entry.score > 0.5 for entry in fused)
    read = weighted_fusion([Hit("a", "0.9")], [], weights=FusionWeights(), depth=50)  # type: ignore[arg-type]
    assert read[0].dense == 0.9


def test_the_cosine_of_what_only_keywords_found_is_used() -> None:
    dense = [Hit("a", 0.90), Hit("b", 0.85)]
    lexical = [Hit("c", 10.0), Hit("d", 10.0)]
    fused = weighted_fusion(
        dense, lexical, weights=FusionWeights(dense=0.5, dense_floor=0.7), depth=50, cosines={"c": 0.72, "d": 0.84}
    )
    by_id = {entry.passage_id: entry for entry in fused}
    assert by_id["d"].score > by_id["c"].score
    assert by_id["d"].dense == 0.84
    assert by_id["d"].dense_rank is None


def test_beyond_a_full_ranking_a_score_is_unknown_and_beyond_a_short_one_it_is_nothing() -> None:
    dense, lexical = [Hit("a", 0.9)], [Hit("b", 8.0), Hit("c", 4.0)]
    full = {e.passage_id: e for e in weighted_fusion(dense, lexical, weights=FusionWeights(dense=0.0), depth=2)}
    short = {e.passage_id: e for e in weighted_fusion(dense, lexical, weights=FusionWeights(dense=0.0), depth=3)}
    assert full["a"].lexical is None
    assert 0.0 < full["a"].score < full["c"].score
    assert short["a"].lexical == 0.0
    assert short["a"].score == 0.0


def test_where_every_cosine_lies_below_the_floor_their_order_still_counts() -> None:
    dense = [Hit("z", 0.5), Hit("a", 0.4)]
    fused = weighted_fusion(dense, [], weights=FusionWeights(dense=1.0, dense_floor=0.7), depth=50)
    assert [entry.passage_id for entry in fused] == ["z", "a"]
    assert fused[0].score > fused[1].score


def test_reciprocal_ranks_are_as_published() -> None:
    dense, lexical = [Hit("a", 0.9), Hit("b", 0.8)], [Hit("b", 7.0), Hit("c", 6.0)]
    fused = {entry.passage_id: entry.score for entry in reciprocal_rank_fusion(dense, lexical)}
    scale = 61 / 2
    assert fused == pytest.approx({"a": scale / 61, "b": scale * (1 / 62 + 1 / 61), "c": scale / 62})


def test_nothing_fused_with_nothing_is_nothing() -> None:
    assert weighted_fusion([], [], weights=FusionWeights(), depth=50) == []
    assert reciprocal_rank_fusion([], []) == []


@pytest.mark.parametrize("weights", [{"dense": 1.1}, {"dense": -0.1}, {"dense_floor": 1.0}, {"dense_floor": -2.0}])
def test_weights_out_of_range_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="share"):
        FusionWeights(**weights)


def test_weights_are_read_per_language(tmp_path: Path) -> None:
    path = tmp_path / "fusion.json"
    told = {
        "ja": {"dense": 0.4, "dense_floor": 0.7},
        "en": {"dense": 0.6, "dense_floor": 0.75},
        "default": {"dense": 0.5, "dense_floor": 0.72},
        "card": {"made_by": "a test"},
    }
    path.write_text(json.dumps(told), encoding="utf-8")
    table = load_weights(path)
    assert table.of("ja") == FusionWeights(0.4, 0.7)
    assert table.of("en") == FusionWeights(0.6, 0.75)
    assert table.of("fr") == table.of("und") == FusionWeights(0.5, 0.72)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", "{}", '{"default": 1}', '{"default": {"dense": 2, "dense_floor": 0}}', '{"default": {}}'],
)
def test_a_file_of_weights_that_says_something_else_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "fusion.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ModelUnavailable, match=r"fusion\.json"):
        load_weights(path)
    with pytest.raises(ModelUnavailable, match="nowhere"):
        load_weights(tmp_path / "nowhere.json")
