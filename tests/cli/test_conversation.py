from __future__ import annotations

from tadasu.errors import ProviderUnreachable, StoreBusy
from tests.cli.conftest import Call
from tests.cli.samples import ScriptedTadasu, answered


def test_piped_lines_are_one_conversation_with_history(call: Call, scripted: ScriptedTadasu) -> None:
    scripted.replies["And its price?"] = answered("And its price?", query="KPT-340: And its price?")
    shown = call("ask", stdin="What is the KPT-340?\nAnd its price?\n")
    assert shown.code == 0
    assert [turn["question"] for turn in scripted.asked] == ["What is the KPT-340?", "And its price?"]
    assert len(scripted.asked[0]["history"]) == 0
    assert scripted.asked[1]["history"][0].question == "What is the KPT-340?"
    assert scripted.asked[0]["session"] == scripted.asked[1]["session"] != ""
    assert "searched for: KPT-340: And its price?" in shown.out
    assert shown.out.count("searched for:") == 1


def test_an_empty_line_ends_it(call: Call, scripted: ScriptedTadasu) -> None:
    call("ask", stdin="one\n\ntwo\n")
    assert [turn["question"] for turn in scripted.asked] == ["one"]


def test_nothing_piped_in_asks_nothing(call: Call, scripted: ScriptedTadasu) -> None:
    assert call("ask", stdin="").code == 0
    assert not scripted.asked


def test_a_question_that_fails_does_not_end_it(call: Call, scripted: ScriptedTadasu) -> None:
    scripted.replies["two"] = ProviderUnreachable(provider="openai", reason="timed out")
    shown = call("ask", stdin="one\ntwo\nthree\n")
    assert shown.code == 3
    assert len(scripted.asked) == 3
    assert len(scripted.asked[2]["history"]) == 1
    assert "provider_unreachable" in shown.err


def test_what_no_question_survives_ends_it(call: Call, scripted: ScriptedTadasu) -> None:
    scripted.replies["one"] = StoreBusy(path="index.db")
    shown = call("ask", stdin="one\ntwo\n")
    assert shown.code == 6
    assert len(scripted.asked) == 1


def test_with_json_every_turn_is_one_line(call: Call, scripted: ScriptedTadasu) -> None:
    shown = call("ask", "--json", stdin="one\n二つ目\n")
    assert [row["question"] for row in shown.lines] == ["one", "二つ目"]
    assert shown.lines[0]["session"] == shown.lines[1]["session"]
