from __future__ import annotations

from tadasu.core.documents import Origin
from tadasu.errors import ProviderUnreachable, StoreDamaged
from tests.cli.conftest import Call
from tests.cli.samples import ScriptedTadasu, abstained, answered


def test_an_answer_is_shown_with_sources_path_cost_time_and_what_to_do_next(
    call: Call, scripted: ScriptedTadasu
) -> None:
    shown = call("ask", "How long is the warranty?")
    assert shown.code == 0
    assert "The warranty is 24 months. [1]" in shown.out
    assert "[1] service/warranty.md · page 3 · 2026-04-01" in shown.out
    assert "“The warranty is 24 months.”" in shown.out
    assert "AMBIGUOUS → searched again → CORRECT · $0 · 42 ms · run-000001" in shown.out
    assert "Removed: “It costs 99 EUR.” (not in its source: the number 99)" in shown.out
    assert "tadasu trace last" in shown.out
    assert scripted.closed == 1


def test_the_frame_is_japanese_where_asked_for(call: Call, scripted: ScriptedTadasu) -> None:
    shown = call("ask", "保証期間は？", "--lang", "ja")
    assert "AMBIGUOUS → 再検索 → CORRECT" in shown.out
    assert "3 ページ" in shown.out
    assert scripted.asked[0]["language"] == "ja"


def test_a_web_source_says_so(call: Call, scripted: ScriptedTadasu) -> None:
    scripted.replies["q"] = answered("q", source="https://a.example/x", origin=Origin.WEB)
    assert "[1] https://a.example/x · page 3 · 2026-04-01 · from the web" in call("ask", "q").out


def test_json_is_one_document_with_documented_keys(call: Call, scripted: ScriptedTadasu) -> None:
    shown = call("ask", "How long is the warranty?", "--json")
    assert set(shown.json) == {
        "run", "question", "query", "language", "status", "reason", "answer", "citations", "unsupported", "evidence",
        "verdicts",
        "actions", "stop_reason", "warnings", "cost", "duration_ms", "session", "deferred",
    }  # fmt: skip
    assert shown.json["verdicts"] == ["ambiguous", "correct"]
    assert shown.json["status"] == "answered"
    assert shown.json["reason"] is None
    assert shown.json["citations"][0]["quote"] == "The warranty is 24 months."
    assert shown.json["evidence"][0]["text"] == "The warranty is 24 months."
    assert shown.json["cost"] == {"usd": 0.0, "unpriced_calls": 0}


def test_an_abstention_is_no_error(call: Call, scripted: ScriptedTadasu) -> None:
    scripted.replies["Who sings?"] = abstained()
    shown = call("ask", "Who sings?")
    assert shown.code == 0
    assert "INCORRECT → abstained" in shown.out
    assert call("ask", "Who sings?", "--json").json["reason"] == "insufficient"


def test_filters_reach_the_search(call: Call, scripted: ScriptedTadasu) -> None:
    call(
        "ask", "q", "--filter-source", "service/", "--since", "2026-01-01", "--until", "2026-12-31", "--language", "ja"
    )
    scope = scripted.asked[0]["scope"]
    assert (scope.source_prefix, scope.since, scope.until, scope.language) == (
        "service/",
        "2026-01-01",
        "2026-12-31",
        "ja",
    )


def test_a_date_that_is_none_is_refused_before_anything_is_asked(call: Call, scripted: ScriptedTadasu) -> None:
    for value in ("2026-13-01", "yesterday", "20260101"):
        shown = call("ask", "q", "--since", value)
        assert shown.code == 2
        assert f"--since: {value} is not a date. Write it as YYYY-MM-DD" in shown.err
    assert not scripted.asked


def test_control_codes_of_a_document_never_reach_the_terminal(call: Call, scripted: ScriptedTadasu) -> None:
    scripted.replies["q"] = answered("q", text="red \x1b[31m and \u202eback", source="a\x1b]0;x\x07.md")
    shown = call("ask", "q")
    assert "\x1b" not in shown.out
    assert "\u202e" not in shown.out
    assert "\x07" not in shown.out


def test_an_empty_question_is_a_usage_error(call: Call, scripted: ScriptedTadasu) -> None:
    shown = call("ask", "  ")
    assert shown.code == 2
    assert "the question is empty" in shown.err


def test_errors_have_their_exit_code_and_one_paragraph(call: Call, scripted: ScriptedTadasu) -> None:
    scripted.replies["far"] = ProviderUnreachable(provider="openai", reason="timed out")
    scripted.replies["torn"] = StoreDamaged(path="index.db", reason="malformed")
    shown = call("ask", "far")
    assert shown.code == 5
    assert shown.err.count("\n") == 1
    assert "openai cannot be reached (timed out)." in shown.err
    assert "[provider_unreachable]" in shown.err
    assert call("ask", "torn").code == 6


def test_errors_are_objects_with_json_and_translated(call: Call, scripted: ScriptedTadasu) -> None:
    scripted.replies["far"] = ProviderUnreachable(provider="openai", reason="timed out")
    shown = call("ask", "far", "--json", "--lang", "ja")
    assert shown.json["error"]["code"] == "provider_unreachable"
    assert "接続できません" in shown.json["error"]["message"]
    assert set(shown.json["error"]) == {"code", "message", "hint"}


def test_a_bug_is_a_paragraph_and_with_debug_a_traceback(call: Call, scripted: ScriptedTadasu) -> None:
    scripted.replies["bug"] = ZeroDivisionError("division by zero")
    shown = call("ask", "bug")
    assert shown.code == 1
    assert "Traceback" not in shown.err
    assert "ZeroDivisionError: division by zero" in shown.err
    assert "Traceback" in call("ask", "bug", "--debug").err


def test_ctrl_c_ends_with_130(call: Call, scripted: ScriptedTadasu) -> None:
    scripted.replies["wait"] = KeyboardInterrupt()
    assert call("ask", "wait").code == 130
