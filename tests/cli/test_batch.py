from __future__ import annotations

import json
from pathlib import Path

import pytest

from tadasu.cli.batch import BadLine, Line, read_lines, resume
from tadasu.core.answers import Answer, AnswerStatus, Reason
from tadasu.core.usage import Priority
from tadasu.errors import InputInvalid, ProviderUnreachable, StoreDamaged
from tests.cli.conftest import Call
from tests.cli.samples import ScriptedTadasu, abstained

BROKEN = (
    '{"question": "one", "id": "a", "answers": ["x"]}\n'
    "not json\n"
    '{"id": "b"}\n'
    "\n"
    '{"question": "二", "id": 7}\n'
    '["question"]\n'
    '{"question": "again", "id": "a"}\n'
    '{"question": "three"}'
)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text(BROKEN, encoding="utf-8")
    return path


def test_answers_come_as_json_lines_and_bad_lines_with_their_number(
    call: Call, scripted: ScriptedTadasu, questions: Path
) -> None:
    shown = call("ask", "--batch", questions)
    assert shown.code == 3
    answers = {row["id"]: row for row in shown.lines if "answer" in row}
    assert set(answers) == {"a", 7, "line-8"}
    assert answers[7]["question"] == "二"
    assert answers["a"]["input"] == {"answers": ["x"]}
    failures = {row["line"]: row["error"] for row in shown.lines if "error" in row}
    assert set(failures) == {2, 3, 6, 7}
    assert "line 2: it is not JSON" in failures[2]["message"]
    assert {error["code"] for error in failures.values()} == {"input_invalid"}
    assert "3 answered, 0 abstained, 0 skipped (answered before), 4 failed" in shown.err


def test_an_out_file_is_taken_up_where_it_stopped(
    call: Call, scripted: ScriptedTadasu, questions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "runs.jsonl"
    scripted.replies["二"] = ProviderUnreachable(provider="openai", reason="timed out")
    first = call("ask", "--batch", questions, "--out", out, "--json")
    assert first.code == 3
    assert (first.json["answered"], first.json["skipped"]) == (2, 0)
    assert {failed["id"] for failed in first.json["failed"] if failed["id"] is not None} == {7}
    with out.open("a", encoding="utf-8") as file:
        file.write('{"id": "cut off by a ki')
    del scripted.replies["二"]
    asked = len(scripted.asked)
    second = call("ask", "--batch", questions, "--out", out, "--json")
    assert (second.json["answered"], second.json["skipped"]) == (1, 2)
    assert len(scripted.asked) == asked + 1
    assert sorted(str(json.loads(line)["id"]) for line in out.read_text(encoding="utf-8").splitlines()) == [
        "7", "a", "line-8",
    ]  # fmt: skip


def test_a_whole_batch_is_done_with_exit_code_0(call: Call, scripted: ScriptedTadasu) -> None:
    scripted.replies["Who sings?"] = abstained()
    shown = call("ask", "--batch", "-", "--concurrency", "1", stdin='{"question": "Who sings?"}\n{"question": "b"}\n')
    assert shown.code == 0
    assert [row["status"] for row in shown.lines] == ["abstained", "answered"]
    assert "1 answered, 1 abstained" in shown.err


def test_a_batch_lets_those_who_wait_go_first(call: Call, scripted: ScriptedTadasu) -> None:
    call("ask", "Who sings?")
    call("ask", "--batch", "-", stdin='{"question": "b"}\n')
    assert [asked["priority"] for asked in scripted.asked] == [Priority.HIGH, Priority.LOW]


def test_a_store_that_is_broken_ends_the_batch_at_once(call: Call, scripted: ScriptedTadasu) -> None:
    scripted.replies["a"] = StoreDamaged(path="index.db", reason="malformed")
    shown = call("ask", "--batch", "-", "--concurrency", "1", stdin='{"question": "a"}\n{"question": "b"}\n')
    assert shown.code == 6
    assert len(scripted.asked) == 1


def test_a_bug_met_by_one_question_does_not_cost_the_others_their_answers(call: Call, scripted: ScriptedTadasu) -> None:
    scripted.replies["a"] = ZeroDivisionError("division by zero")
    shown = call("ask", "--batch", "-", stdin='{"question": "a"}\n{"question": "b"}\n')
    assert shown.code == 3
    assert {row["id"]: row.get("status", row.get("error", {}).get("code")) for row in shown.lines} == {
        "line-1": "unexpected",
        "line-2": "answered",
    }


def test_a_file_that_is_not_there_is_a_usage_error(call: Call, scripted: ScriptedTadasu, tmp_path: Path) -> None:
    assert call("ask", "--batch", tmp_path / "none.jsonl").code == 2
    assert call("ask", "q", "--batch", tmp_path / "none.jsonl").code == 2
    assert call("ask", "q", "--out", tmp_path / "runs.jsonl").code == 2


def test_answers_never_go_into_the_file_of_the_questions(call: Call, scripted: ScriptedTadasu, questions: Path) -> None:
    shown = call("ask", "--batch", questions, "--out", questions)
    assert shown.code == 2
    assert questions.read_text(encoding="utf-8") == BROKEN


def test_bytes_that_are_no_text_are_one_bad_line() -> None:
    found = list(
        read_lines(
            b'\xef\xbb\xbf{"question": "a"}\r\n\xff\xfe\n{"question": " "}\n{"question":"b","id":true}', name="x"
        )
    )
    assert isinstance(found[0], Line)
    assert found[0].question == "a"
    reasons = [row.error.details["reason"] for row in found[1:] if isinstance(row, BadLine)]
    assert reasons == ["it is not UTF-8", 'it has no text "question"', "its id is neither text nor an integer"]


@pytest.mark.parametrize(
    "text", ["my notes\n", "my notes", '{"id": "a", "question": "q"}\n', '{"id": "a"}\nmy notes', '{"name": 1}\n']
)
def test_resuming_refuses_a_file_of_another_kind_and_leaves_it_alone(tmp_path: Path, text: str) -> None:
    other = tmp_path / "notes.txt"
    other.write_text(text, encoding="utf-8")
    with pytest.raises(InputInvalid, match="is not a line that"):
        resume(other)
    assert other.read_text(encoding="utf-8") == text


CAUSE = "3 of 3 passages could not be graded: the service is away (`tadasu doctor` says more)"


@pytest.mark.parametrize("reason", [Reason.GRADER_FAILED, Reason.SEARCH_FAILED])
@pytest.mark.parametrize(
    ("lang", "said", "told"),
    [
        ("en", "1 could not be searched or graded", CAUSE),
        ("ja", "1 件は検索または評価できませんでした", "3 件中 3 件の"),
    ],
)
def test_a11_what_could_not_be_assessed_is_told_apart_and_tried_again(
    call: Call, scripted: ScriptedTadasu, tmp_path: Path, reason: Reason, lang: str, said: str, told: str
) -> None:
    answer = Answer("Not known.", AnswerStatus.ABSTAINED, "en", reason=reason)
    scripted.replies["b"] = abstained(answer=answer, warnings=(CAUSE,))
    rows = '{"question": "a"}\n{"question": "b"}\n'
    out = tmp_path / "runs.jsonl"
    first = call("ask", "--batch", "-", "--out", out, "--lang", lang, stdin=rows)
    assert first.code == 3
    assert said in first.err
    assert told in first.err
    assert [json.loads(line)["id"] for line in out.read_text(encoding="utf-8").splitlines()] == ["line-1"]
    again = call("ask", "--batch", "-", "--out", out, "--json", stdin=rows)
    assert (again.json["skipped"], again.json["abstained"], len(again.json["unassessed"])) == (1, 0, 1)
    assert again.json["unassessed"][0]["reason"] == reason.value
    del scripted.replies["b"]
    assert call("ask", "--batch", "-", "--out", out, stdin=rows).code == 0


def test_a11_a_line_of_an_earlier_version_that_was_not_assessed_is_not_final(tmp_path: Path) -> None:
    out = tmp_path / "runs.jsonl"
    lines = [
        {"id": "a", "run": "r-1", "reason": "grader_failed", "deferred": "none"},
        {"id": "b", "run": "r-2", "reason": "insufficient", "deferred": "none"},
        {"id": "c", "run": "r-3", "reason": "grader_failed", "deferred": "pending"},
    ]
    out.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert resume(out) == {"b", "c"}


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_a11_a_question_that_could_not_be_assessed_ends_with_5_and_says_why(
    call: Call, scripted: ScriptedTadasu, lang: str
) -> None:
    answer = Answer("Not known.", AnswerStatus.ABSTAINED, "en", reason=Reason.GRADER_FAILED)
    scripted.replies["b"] = abstained(answer=answer, warnings=(CAUSE,))
    shown = call("ask", "b", "--lang", lang)
    assert shown.code == 5
    assert {"en": CAUSE, "ja": "3 件中 3 件のパッセージを評価できませんでした: the service is away"}[lang] in shown.out
    assert call("ask", "b", "--json").json["warnings"] == [CAUSE]
