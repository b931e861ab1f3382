"""Passages that are in no store are ranked as stored ones are, and retrievals of several queries become one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.answering.retrieval.fusion import FusionTable
from tadasu.answering.retrieval.transient import merge_retrievals, nearest_by_words, rank_transient
from tadasu.core.documents import Passage
from tadasu.core.retrieved import Candidate, DroppedPage, Retrieval
from tadasu.core.vectors import PassageText
from tadasu.text.analyze import content_terms
from tests.answering.retrieval.small_index import TEXTS, passage_of
from tests.answering.retrieval.words_encoder import WordsEncoder


def ranked(query: str, passages: Sequence[Passage], *, weights: dict[str, float] | None = None) -> Retrieval:
    encoder = WordsEncoder()
    return rank_transient(
        query,
        passages,
        encoder.encode_passages([PassageText(p.text, tuple((s.start, s.end) for s in p.strips)) for p in passages]),
        query_vector=encoder.encode_queries([query])[0],
        term_weights=dict.fromkeys(content_terms(query), 2.0) if weights is None else weights,
        weights=FusionTable(),
    )


PAGES = [passage_of(source, text) for source, text in TEXTS.items()]


@pytest.mark.parametrize(
    ("query", "first"), [("When does the pressure valve open?", "valve.md"), ("圧力弁はいつ開きますか？", "弁.md")]
)
def test_the_passage_that_answers_comes_first(query: str, first: str) -> None:
    retrieval = ranked(query, PAGES)
    assert retrieval.candidates[0].passage.source == first
    assert len(retrieval.candidates) == len(PAGES)
    best = retrieval.candidates[0]
    assert best.vector is not None
    assert best.strip_vectors is not None
    assert best.dense_rank == best.lexical_rank == 1
    assert best.dense is not None
    assert best.lexical is not None
    assert best.queries == (query,)
    # All passages were looked at: no word in common is a known score.
    assert all(candidate.lexical is not None for candidate in retrieval.candidates)


def test_rarer_terms_count_more() -> None:
    passages = [passage_of("a", "valve valve valve"), passage_of("b", "calibration")]
    query = "valve calibration"
    terms = content_terms(query)
    rare = ranked(query, passages, weights={terms[0]: 0.1, terms[1]: 9.0})
    assert max(rare.candidates, key=lambda c: c.lexical or 0).passage.source == "b"
    common = ranked(query, passages, weights={terms[0]: 9.0, terms[1]: 0.1})
    assert max(common.candidates, key=lambda c: c.lexical or 0).passage.source == "a"


def test_a_page_that_comes_twice_is_one_candidate() -> None:
    assert len(ranked("pressure", [*PAGES, *PAGES]).candidates) == len(PAGES)


def test_a25_no_passages_and_empty_passages() -> None:
    assert ranked("pressure", []).candidates == ()
    blank = [passage_of("a", ""), passage_of("b", " "), passage_of("c", "…")]
    assert len(ranked("pressure", blank).candidates) == 3
    assert len(ranked("？", blank, weights={}).candidates) == 3


def candidate(number: int, *, fused: float, query: str, dense: float | None = None, rank: int | None = 1) -> Candidate:
    passage = passage_of(f"{number}.md", f"text {number}")
    return Candidate(passage, fused, dense_rank=rank, dense=dense, queries=(query,))


def test_a50_each_passage_once_with_every_query_that_found_it() -> None:
    found = [
        Retrieval(query, tuple(candidate(n, fused=1.0 - n / 20, query=query) for n in range(at, at + 10)))
        for at, query in ((0, "圧力弁とは"), (4, "valve"), (8, "弁の校正"))
    ]
    merged = merge_retrievals(found)
    ids = [c.passage.id for c in merged.candidates]
    assert len(ids) == len(set(ids)) == 18
    by_source = {c.passage.source: c.queries for c in merged.candidates}
    assert by_source["0.md"] == ("圧力弁とは",)
    assert by_source["5.md"] == ("圧力弁とは", "valve")
    assert by_source["9.md"] == ("圧力弁とは", "valve", "弁の校正")
    assert merged.query == "圧力弁とは"
    assert [c.passage.id for c in merge_retrievals(found, k=3).candidates] == ids[:3]


def test_a_merged_passage_keeps_the_best_that_is_known_of_it() -> None:
    first = Retrieval("a", (candidate(1, fused=0.2, query="a", dense=None, rank=None),))
    second = Retrieval("b", (candidate(1, fused=0.7, query="b", dense=0.8, rank=4),))
    for pair in ([first, second], [second, first]):
        (only,) = merge_retrievals(pair).candidates
        assert (only.fused, only.dense, only.dense_rank) == (0.7, 0.8, 4)


drawn = st.lists(
    st.builds(
        lambda query, found: Retrieval(query, tuple(candidate(n, fused=f, query=query) for n, f in found.items())),
        st.sampled_from(["a", "b", "c"]),
        st.dictionaries(st.integers(0, 6), st.floats(0, 1), max_size=5),
    ),
    min_size=1,
    max_size=4,
)


@given(drawn)
def test_merging_loses_no_passage_and_no_query(retrievals: list[Retrieval]) -> None:
    merged = merge_retrievals(retrievals)
    expected: dict[str, set[str]] = {}
    for retrieval in retrievals:
        for each in retrieval.candidates:
            expected.setdefault(each.passage.id, set()).update(each.queries)
    assert {c.passage.id: set(c.queries) for c in merged.candidates} == expected
    assert [c.fused for c in merged.candidates] == sorted((c.fused for c in merged.candidates), reverse=True)
    assert merge_retrievals([merged]).candidates == merged.candidates


def test_pages_that_could_not_be_used_are_kept_each_once() -> None:
    wall, other = DroppedPage("https://a.example", "cookie_wall"), DroppedPage("https://b.example", "not_found")
    merged = merge_retrievals([Retrieval("a", (), dropped=(wall,)), Retrieval("b", (), dropped=(wall, other))])
    assert merged.dropped == (wall, other)


def test_merging_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        merge_retrievals([])


@settings(max_examples=30)
@given(st.integers(1, 8), st.sampled_from([("gauge pressure", "gauge.md"), ("東京都 天気", "京都.md")]))
def test_of_a_long_page_those_with_the_words_are_looked_at_in_the_order_of_the_page(
    most: int, asked: tuple[str, str]
) -> None:
    query, best = asked
    passages = [passage_of(source, text) for source, text in TEXTS.items()]
    kept = nearest_by_words(passages, dict.fromkeys(content_terms(query), 1.0), most=most)
    assert kept == [passage for passage in passages if passage in kept]
    assert len(kept) == min(most, len(passages))
    assert best in {passage.source for passage in kept}
    assert nearest_by_words(passages, {}, most=2) == passages[:2]  # no word says anything: the page's beginning
