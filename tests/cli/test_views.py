from __future__ import annotations

from dataclasses import replace

import pytest

from tadasu.core.documents import Access, Origin, Scope
from tadasu.core.grades import Level, Thresholds
from tadasu.core.runs import Packing
from tadasu.core.usage import Call as ModelCall
from tadasu.core.usage import Outcome, Pricing, Stage
from tests.cli.conftest import Call
from tests.cli.samples import ScriptedTadasu, Shelf, abstained, answered, candidate, document, round_of


@pytest.fixture
def asked(scripted: ScriptedTadasu) -> ScriptedTadasu:
    scripted.shelf = Shelf(
        document("service/warranty.md"), document("old/low.md"),
        replace(document("far/away.md"), access=Access(groups=frozenset({"board", "audit"}))),
        document("ja/保証.md", language="ja"),
        ranked=["service/warranty.md", "old/low.md", "far/away.md"],
    )  # fmt: skip
    scripted.container.store = scripted.container.search = scripted.shelf
    scripted.runs.save(answered(scope=Scope(language="en")))
    return scripted


def test_trace_shows_the_whole_run_as_a_tree(call: Call, asked: ScriptedTadasu) -> None:
    shown = call("trace").out
    for line in (
        "run-000001 · 2026-01-01T00:00:00.000+00:00",
        "question: How long is the warranty?",
        "filters: language en",
        "round 1: hybrid, 12 ms",
        "LOW 0.05 old/low.md · page 3 · dense 0.870 (1), keywords 7.2 (2) · cosine 0.87",
        "verdict AMBIGUOUS by the rule any_high",
        "then search_again: the verdict is AMBIGUOUS and searches are left",
        "changed: only the keywords of the question, twice as many candidates",
        "ruled out: 3 passages, 0 documents",
        "ended because: the verdict is CORRECT",
        "strips: 1 kept, 1 dropped",
        "kept: it answers · 0.93: The warranty is 24 months.",
        "dropped: below the threshold · 0.10: Ask the office.",
        "answer: answered, by extractive-1",
        "Removed: “It costs 99 EUR.” (not in its source: the number 99)",
        "2 calls, $0, 42 ms",
        "grade · local/features-1 · 0 ms · 10 items · $0",
    ):
        assert line in shown


def test_trace_in_japanese(call: Call, asked: ScriptedTadasu) -> None:
    shown = call("trace", "last", "--lang", "ja").out
    assert "判定 AMBIGUOUS（規則 any_high）" in shown
    assert "残した: 質問に答えている" in shown
    assert "終了の理由: 判定は CORRECT です" in shown


@pytest.mark.parametrize(
    ("language", "packed", "restored"),
    [
        ("en", "7 of 1024 tokens of evidence, counted by estimate; refinement: mild", "given to a second try"),
        ("ja", "根拠のトークン 7/1024", "文章全体で再試行しました"),
    ],
)
def test_trace_says_how_much_evidence_there_was_and_whether_it_was_a_second_try(
    call: Call, asked: ScriptedTadasu, language: str, packed: str, restored: str
) -> None:
    first = Packing(7, 1024, "estimate", "mild")
    for number, packing in enumerate((first, replace(first, restored=True))):
        asked.runs.save(replace(answered(), id=f"run-9{number}", packing=packing))
        shown = call("trace", f"run-9{number}", "--lang", language).out
        assert packed in shown
        assert (restored in shown) is packing.restored


def test_a_source_that_says_the_same_is_shown_with_the_citation(call: Call, asked: ScriptedTadasu) -> None:
    answer = answered().answer
    [citation] = answer.citations
    told = replace(answer, citations=(replace(citation, also=("copies/a.md", "copies/b.md")),))
    asked.runs.save(replace(answered(), id="run-9", answer=told))
    assert "also in copies/a.md, copies/b.md" in call("trace", "run-9").out
    assert call("trace", "run-9", "--json").json["answer"]["citations"][0]["also"] == ["copies/a.md", "copies/b.md"]


def test_trace_says_what_is_unpriced_and_what_failed(call: Call, asked: ScriptedTadasu) -> None:
    calls = (
        ModelCall(
            Stage.GENERATE, "openai", "m", pricing=Pricing.UNPRICED, cost_usd=None, outcome=Outcome.FAILED, error="503"
        ),
        ModelCall(Stage.GENERATE, "openai", "m", pricing=Pricing.UNPRICED, cost_usd=None, attempt=2),
    )
    asked.runs.save(replace(answered(), id="run-9", calls=calls))
    shown = call("trace", "run-9").out
    assert "2 calls, $0 + 2 unpriced calls, 42 ms" in shown
    assert "unpriced · failed: 503" in shown
    assert "unpriced · attempt 2" in shown


def test_trace_as_json_is_the_run(call: Call, asked: ScriptedTadasu) -> None:
    told = call("trace", "run-000001", "--json").json
    assert told["verdict"] == "correct"
    assert told["rounds"][0]["candidates"][1]["grade"]["level"] == "low"
    assert told["strips"][1]["fate"] == "below_threshold"
    assert told["scope"]["language"] == "en"
    assert told["cost"] == {"usd": 0.0, "unpriced_calls": 0}


def test_a_run_that_is_not_there_is_exit_code_4(call: Call, asked: ScriptedTadasu) -> None:
    shown = call("trace", "run-none")
    assert shown.code == 4
    assert "There is no run run-none here." in shown.err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("service/warranty.md", "service/warranty.md is cited as [1]."),
        ("warranty.md", "service/warranty.md is cited as [1]."),
        ("service/other.md", "went on to refinement, but none of its strips was kept."),
        ("old/low.md", "was found at rank 2 in round 1, graded LOW 0.05, and did not go on."),
        ("far/away.md", "was not among the candidates: its best passage is ranked 3 for this query."),
        ("ja/保証.md", "was hidden by the filters of the question: language en (the document's: ja)."),
    ],
)
def test_why_says_what_became_of_a_document(call: Call, asked: ScriptedTadasu, name: str, words: str) -> None:
    shown = call("why", "last", name)
    assert shown.code == 0
    assert words in shown.out


def test_why_in_japanese_and_json(call: Call, asked: ScriptedTadasu) -> None:
    assert "[1] として引用されています" in call("why", "last", "warranty.md", "--lang", "ja").out
    told = call("why", "last", "old/low.md", "--json").json
    assert told["fate"] == "graded_out"
    assert told["sightings"][0]["candidate"]["grade"]["signals"] == {"cosine": 0.87}


def test_why_does_not_tell_a_hidden_document_from_none(call: Call, asked: ScriptedTadasu) -> None:
    shown = call("why", "last", "secret.md")
    assert shown.code == 4
    assert "There is no document secret.md here." in shown.err


def test_search_shows_both_ranks_and_the_grade(call: Call, scripted: ScriptedTadasu) -> None:
    shown = call("search", "warranty")
    assert "0.870 (1)" in shown.out
    assert "7.2 (2)" in shown.out
    assert "HIGH 0.90" in shown.out
    assert "verdict CORRECT by the rule any_high" in shown.out
    told = call("search", "warranty", "--mode", "dense", "--json").json
    assert told["mode"] == "dense"
    assert told["candidates"][0]["rank"] == 1
    assert told["candidates"][0]["grade"]["level"] == "high"
    call("search", "warranty", "--filter-source", "service/", "--since", "2026-01-01", "--language", "ja")
    scope = scripted.asked[-1]["scope"]
    assert (scope.source_prefix, scope.since, scope.language) == ("service/", "2026-01-01", "ja")
    assert call("search", "warranty", "--until", "soon").code == 2
    assert call("search", " ").code == 2
    assert call("search", "x", "--mode", "psychic").code == 2


def test_stats_count_the_index_and_the_runs(call: Call, asked: ScriptedTadasu) -> None:
    asked.runs.save(abstained())
    shown = call("stats").out
    assert "4 documents, 7 passages" in shown
    assert "answered 1, abstained 1 (insufficient 1)" in shown
    assert "CORRECT 50%, INCORRECT 50%" in shown
    told = call("stats", "--json").json
    assert told["index"]["passages"] == 7
    assert told["runs"]["abstained"] == {"insufficient": 1}
    assert [row["run"] for row in told["latest"]] == ["run-000002", "run-000001"]
    assert call("stats", "--documents", "--json").json["documents"][0] == {
        "id": "d-far/away.md",
        "source": "far/away.md",
        "date": "2026-04-01",
        "language": "en",
        "groups": ["audit", "board"],
    }
    lines = call("stats", "--documents").out.splitlines()
    assert "d-far/away.md  2026-04-01  en   audit, board  far/away.md" in lines
    assert "d-old/low.md  2026-04-01  en   everybody     old/low.md" in lines
    assert "全員" in call("stats", "--documents", "--lang", "ja").out


def test_stats_of_nothing_say_what_to_try(call: Call, scripted: ScriptedTadasu) -> None:
    assert "No question has been asked yet. Try: tadasu ask" in call("stats").out


def test_an_ungraded_web_candidate_is_shown_as_such(call: Call, asked: ScriptedTadasu) -> None:
    from tests.cli.samples import candidate, round_of

    web = candidate("https://a.example/x", level=Level.UNGRADED, origin=Origin.WEB)
    asked.runs.save(replace(abstained(), id="run-8", rounds=(round_of(web),)))
    assert "UNGRADED https://a.example/x" in call("trace", "run-8").out


@pytest.mark.parametrize(
    ("lang", "failed", "borders"),
    [
        ("en", "decided by rerank/m 1; 1 of 2 could not be graded", "HIGH from 0.58, LOW below 0.04 (en)"),
        ("ja", "2 件中 1 件は評価できませんでした", "HIGH は 0.58 以上、LOW は 0.04 未満（en）"),
    ],
)
def test_a_trace_names_what_decided_what_failed_and_the_borders(
    call: Call, scripted: ScriptedTadasu, lang: str, failed: str, borders: str
) -> None:
    one, lost = candidate("a.md"), candidate("b.md", level=Level.UNGRADED)
    one = replace(one, grade=replace(one.grade, tier="scorer", grader="scorer/rerank/m@0123+c"))
    done = replace(round_of(one, lost), borders=Thresholds(high=0.58, low=0.04))
    scripted.runs.save(answered(rounds=(done,)))
    shown = call("trace", "last", "--lang", lang).out
    assert failed in shown
    assert borders in shown
    assert call("trace", "last", "--json").json["rounds"][0]["borders"] == {"high": 0.58, "low": 0.04}
