from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tadasu.app.run_spans import SpanForm, work_of
from tadasu.app.run_timeline import timeline
from tadasu.core.answers import Answer, AnswerStatus, Reason
from tadasu.core.grades import Verdict
from tadasu.core.retrieved import DroppedPage
from tadasu.core.runs import Run, SearchMode, StopReason
from tadasu.core.usage import Call, Outcome, Pricing, Stage, Tokens
from tadasu.telemetry.tracing import Side, Work
from tests.cli.samples import abstained, answered, candidate, round_of

PLAIN = SpanForm("1.2.3", chat=frozenset({"openai"}))
FULL = replace(PLAIN, content=True)
MS = 1_000_000
BEGAN = 1_767_225_600_000 * MS  # 2026-01-01T00:00:00Z, as the samples say

QUESTIONS = [("en", "How long is the warranty?"), ("ja", "保証期間は何年ですか")]


def corrected(language: str = "en", question: str = "How long is the warranty?") -> Run:
    """Two rounds, the second from the web; a rewording before, a chat call after, one failed fetch."""
    first = replace(round_of(candidate("a")), duration_ms=100.0, started_ms=50.0)
    web = round_of(candidate("b"), number=2, mode=SearchMode.WEB, query="secret words")
    web = replace(web, duration_ms=300.0, started_ms=150.0, dropped=(DroppedPage("https://x.example", "bot_wall"),))
    calls = (
        Call(Stage.REWRITE, "openai", "gpt-x", 0.0, 45.0, Tokens(30, 5), Pricing.PRICED, 0.001),
        Call(Stage.EMBED, "local", "e5", 50.0, 10.0),
        Call(Stage.RETRIEVE, "store", "dense", 60.0, 5.0),
        Call(Stage.GRADE, "local", "features-1", 66.0, 4.0, items=10, cached=3),
        Call(Stage.GRADE, "openai", "gpt-x", 70.0, 80.0, Tokens(900, 90), Pricing.UNPRICED, None),
        Call(Stage.SEARCH, "tavily", "", 151.0, 100.0, pricing=Pricing.PRICED, cost_usd=0.008),
        Call(
            Stage.FETCH,
            "x.example",
            "",
            260.0,
            50.0,
            outcome=Outcome.FAILED,
            error="page_refused: https://x.example said no",
        ),
        Call(Stage.GENERATE, "openai", "gpt-x", 460.0, 400.0, Tokens(1200, 60), Pricing.PRICED, 0.02, attempt=2),
    )
    return answered(
        question, language=language, rounds=(first, web), calls=calls, duration_ms=900.0, stop=StopReason.CORRECT,
        session="s-1", query="the warranty of it", settings="abc"
    )  # fmt: skip


def every(work: Work) -> list[Work]:
    return [work, *(inner for part in work.parts for inner in every(part))]


def named(work: Work, name: str) -> Work:
    (found,) = (one for one in every(work) if one.name == name)
    return found


def test_calls_hang_below_the_round_that_they_served_and_the_others_below_the_run() -> None:
    root = work_of(corrected(), PLAIN)
    assert [part.name for part in root.parts] == [
        "chat gpt-x", "tadasu.round hybrid", "tadasu.round web", "chat gpt-x",
    ]  # fmt: skip
    first, web = root.parts[1], root.parts[2]
    assert [part.name for part in first.parts] == [
        "embeddings e5",
        "retrieval dense",
        "tadasu.grade features-1",
        "chat gpt-x",
    ]
    assert [part.name for part in web.parts] == ["tadasu.search tavily", "tadasu.fetch web"]


def test_times_are_those_of_the_run() -> None:
    root = work_of(corrected(), PLAIN)
    assert (root.started_ns, root.ended_ns) == (BEGAN, BEGAN + 900 * MS)
    web = named(root, "tadasu.round web")
    assert (web.started_ns, web.ended_ns) == (BEGAN + 150 * MS, BEGAN + 450 * MS)
    search = named(root, "tadasu.search tavily")
    assert (search.started_ns, search.ended_ns) == (BEGAN + 151 * MS, BEGAN + 251 * MS)
    assert all(one.started_ns >= BEGAN and one.ended_ns <= root.ended_ns for one in every(root))


@pytest.mark.parametrize(("language", "question"), QUESTIONS)
def test_the_run_says_how_it_ended(language: str, question: str) -> None:
    about = work_of(corrected(language, question), PLAIN).attributes
    expected: dict[str, Any] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "tadasu",
        "gen_ai.agent.version": "1.2.3",
        "gen_ai.conversation.id": "s-1",
        "tadasu.run.id": "run-000001",
        "tadasu.status": "answered",
        "tadasu.verdict": "correct",
        "tadasu.stop_reason": "correct",
        "tadasu.rounds": 2,
        "tadasu.web_fallback": True,
        "tadasu.language": language,
        "tadasu.unpriced_calls": 1,
        "tadasu.writer": "extractive-1",
        "tadasu.settings": "abc",
    }
    assert {name: about[name] for name in expected} == expected
    assert about["tadasu.cost_usd"] == pytest.approx(0.029)
    spent = {name: value for name, value in about.items() if name.startswith("tadasu.cost_usd.")}
    assert spent == {
        f"tadasu.cost_usd.{stage}": usd for stage, usd in (("rewrite", 0.001), ("search", 0.008), ("generate", 0.02))
    }


def test_a_chat_call_carries_the_conventions_of_generative_ai() -> None:
    call = work_of(corrected(), PLAIN).parts[3]
    assert call.side is Side.OUTSIDE
    assert call.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-x",
        "gen_ai.usage.input_tokens": 1200,
        "gen_ai.usage.output_tokens": 60,
        "tadasu.stage": "generate",
        "tadasu.provider": "openai",
        "tadasu.outcome": "ok",
        "tadasu.attempt": 2,
        "tadasu.items": 1,
        "tadasu.pricing": "priced",
        "tadasu.cost_usd": 0.02,
    }


def test_an_unpriced_call_has_no_cost_and_local_work_is_done_here() -> None:
    root = work_of(corrected(), PLAIN)
    graded = root.parts[1].parts[3].attributes
    assert graded["tadasu.pricing"] == "unpriced"
    assert "tadasu.cost_usd" not in graded
    local = named(root, "tadasu.grade features-1")
    assert local.side is Side.HERE
    assert "tadasu.cost_usd" not in local.attributes
    assert (local.attributes["tadasu.items"], local.attributes["tadasu.cached"]) == (10, 3)


def test_a_failed_call_names_its_kind_and_a_fetched_host_stays_unnamed() -> None:
    root = work_of(corrected(), PLAIN)
    fetch = named(root, "tadasu.fetch web")
    assert (fetch.error, fetch.detail) == ("page_refused", "")
    assert "x.example" not in repr(root)
    assert named(work_of(corrected(), FULL), "tadasu.fetch web").detail == "page_refused: https://x.example said no"


@pytest.mark.parametrize(
    ("outcome", "error", "kind"),
    [
        (Outcome.OK, "", ""),
        (Outcome.FAILED, "TimeoutError: after 3 s", "TimeoutError"),
        (Outcome.FAILED, "something went wrong: with words", "failed"),
        (Outcome.CANCELLED, "", "cancelled"),
    ],
)
def test_how_a_call_ended_is_its_kind_of_error(outcome: Outcome, error: str, kind: str) -> None:
    run = answered(calls=(Call(Stage.SEARCH, "brave", outcome=outcome, error=error),), rounds=())
    assert work_of(run, PLAIN).parts[0].error == kind


@pytest.mark.parametrize(("language", "question"), QUESTIONS)
def test_texts_go_along_only_where_they_are_asked_for(language: str, question: str) -> None:
    run = corrected(language, question)
    bare = repr(work_of(run, PLAIN))
    for text in (question, run.query, run.answer.text, run.rounds[1].query, run.evidence[0].strip.text):
        assert text not in bare
    about = work_of(run, FULL).attributes
    asked, told = (json.loads(str(about[f"gen_ai.{side}.messages"])) for side in ("input", "output"))
    assert asked == [{"role": "user", "parts": [{"type": "text", "content": question}]}]
    assert told[0]["parts"][0]["content"] == run.answer.text
    assert about["tadasu.query"] == run.query
    assert named(work_of(run, FULL), "tadasu.round web").attributes["tadasu.query"] == "secret words"


def test_an_abstention_is_no_error_and_a_broken_search_is_one() -> None:
    honest = work_of(abstained(), PLAIN)
    assert honest.error == ""
    assert (honest.attributes["tadasu.status"], honest.attributes["tadasu.reason"]) == ("abstained", "insufficient")
    failed = round_of(verdict=Verdict.SEARCH_FAILED)
    answer = Answer("Not known.", AnswerStatus.ABSTAINED, "en", reason=Reason.SEARCH_FAILED)
    broken = work_of(abstained(rounds=(failed,), answer=answer), PLAIN)
    assert broken.error == broken.parts[0].error == "search_failed"


def test_a_run_without_rounds_has_no_verdict() -> None:
    assert "tadasu.verdict" not in work_of(abstained(rounds=(), calls=()), PLAIN).attributes


def test_rounds_of_old_runs_follow_upon_each_other() -> None:
    rounds = tuple(replace(round_of(number=number), duration_ms=100.0) for number in (1, 2))
    calls = tuple(Call(Stage.GRADE, "local", started_ms=at, duration_ms=20.0) for at in (10.0, 60.0, 130.0, 500.0))
    found = timeline(answered(rounds=rounds, calls=calls))
    assert [(one.started_ms, len(one.calls), one.grading_ms) for one in found.rounds] == [
        (0.0, 2, 70.0),
        (100.0, 1, 20.0),
    ]
    assert [call.started_ms for call in found.others] == [500.0]
