from __future__ import annotations

from dataclasses import replace

import pytest

from tadasu.answering.explain import Fate, explain, from_record, hidden_by, matches
from tadasu.core.answers import Answer, AnswerStatus
from tadasu.core.documents import Scope
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld
from tests.cli.samples import Shelf, answered, document

LEDGER = RunLedger(FixedWorld())


@pytest.mark.parametrize(
    ("source", "fate"),
    [
        ("service/warranty.md", Fate.CITED),
        ("d-service/warranty.md", Fate.CITED),
        ("warranty.md", Fate.CITED),
        ("service/other.md", Fate.CUT),
        ("old/low.md", Fate.GRADED_OUT),
    ],
)
def test_the_record_alone_explains_every_candidate(source: str, fate: Fate) -> None:
    found = from_record(answered(), source)
    assert found is not None
    assert found.fate is fate
    assert found.sightings


def test_evidence_that_is_not_cited_is_said_to_be_so() -> None:
    run = answered()
    uncited = replace(run, answer=Answer("No.", AnswerStatus.ANSWERED, "en"))
    found = from_record(uncited, "service/warranty.md")
    assert found is not None
    assert found.fate is Fate.NOT_CITED
    assert [item.number for item in found.evidence] == [1]


async def test_a_document_that_was_no_candidate_is_looked_for_with_the_runs_own_query_and_filters() -> None:
    scope = Scope(source_prefix="far/")
    run = answered(query="standalone words", scope=scope)
    shelf = Shelf(document("far/away.md"), document("near.md"), ranked=["near.md"] * 36 + ["far/away.md"])
    found = await explain(run, "away.md", shelf=shelf, search=shelf, ledger=LEDGER)
    assert (found.fate, found.wide_rank) == (Fate.NOT_FOUND, 37)
    assert shelf.asked == [("standalone words", 200, scope)]
    short = await explain(run, "far/away.md", shelf=shelf, search=shelf, ledger=LEDGER, wide_k=36)
    assert (short.fate, short.wide_rank, short.wide_k) == (Fate.NOT_FOUND, None, 36)


async def test_a_filtered_document_is_not_searched_for() -> None:
    shelf = Shelf(document("far/away.md", language="ja"))
    run = answered(scope=Scope(language="en"))
    found = await explain(run, "far/away.md", shelf=shelf, search=shelf, ledger=LEDGER)
    assert found.fate is Fate.FILTERED
    assert found.filters == ("language en (the document's: ja)",)
    assert not shelf.asked


async def test_an_unknown_document_is_unknown() -> None:
    shelf = Shelf(document("a.md"))
    found = await explain(answered(), "b.md", shelf=shelf, search=shelf, ledger=LEDGER)
    assert found.fate is Fate.UNKNOWN


@pytest.mark.parametrize(
    ("scope", "hidden"),
    [
        (Scope(), False),
        (Scope(language="en"), False),
        (Scope(language="ja"), True),
        (Scope(source_prefix="a/"), False),
        (Scope(source_prefix="b/"), True),
        (Scope(since="2026-04-01", until="2026-04-01"), False),
        (Scope(since="2026-04-02"), True),
        (Scope(until="2026-03-31"), True),
    ],
)
def test_filters_are_named_exactly_where_they_hide(scope: Scope, hidden: bool) -> None:
    assert bool(hidden_by(document("a/x.md"), scope)) is hidden


def test_an_undated_document_is_hidden_by_any_date_filter() -> None:
    assert hidden_by(document("a.md", date=""), Scope(since="2026-01-01"))
    assert hidden_by(document("a.md", date=""), Scope(until="2026-01-01"))
    assert not hidden_by(document("a.md", date=""), Scope())


def test_a_name_matches_whole_parts_of_a_path_only() -> None:
    assert matches("./b.md", "d1", "a/b.md")
    assert matches("資料/b.md", "d1", "社内/資料/b.md")
    assert not matches("arranty.md", "d1", "service/warranty.md")
