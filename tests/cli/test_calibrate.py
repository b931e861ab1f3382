"""`tadasu label` and `tadasu calibrate` with every part real: ten small documents, the shipped models, whole lines."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tadasu.answering.grading.curves import Method
from tadasu.app.settings_file import settings_text
from tadasu.app.workspace import create_workspace
from tests.cli.test_real_chain import Done, as_process, tadasu

DOCUMENTS = {
    "service/warranty.md": "The warranty period for the KPT-340 pressure transmitter is 24 months from delivery.",
    "service/repair.md": "Repairs of the FLW-80 flow meter take ten working days in the repair centre in Ghent.",
    "service/battery.md": "The battery of the MLD-120 lasts for 4,000 measurements and is changed by the user.",
    "people/travel.md": "The meal allowance on business trips abroad is 60 euros a day, paid with the salary.",
    "people/remote.md": "Employees may work from home on two days a week after their first three months.",
    "company/founding.md": "The company was founded in 1968 in Matsumoto by three engineers of a watch factory.",
    "サービス/保証.md": "PHM-7の保証期間は、納入日から3年です。電極は保証の対象外とします。",
    "サービス/修理.md": "修理品は松本の修理センターへ送ってください。見積もりは5営業日以内にお送りします。",
    "人事/休暇.md": "有給休暇は入社半年後に10日付与され、以後は毎年11日から20日が付与されます。",
    "会社/沿革.md": "当社は1968年に松本市で創業し、最初の製品は水道用の流量計でした。",
}
ASKED = [
    ("How long is the warranty of the KPT-340?", "service/warranty.md", "service/repair.md"),
    ("How long does a repair of the FLW-80 take?", "service/repair.md", "service/warranty.md"),
    ("How long does the battery of the MLD-120 last?", "service/battery.md", "people/remote.md"),
    ("What is the meal allowance abroad?", "people/travel.md", "people/remote.md"),
    ("How many days a week may I work from home?", "people/remote.md", "people/travel.md"),
    ("When was the company founded?", "company/founding.md", "people/travel.md"),
    ("PHM-7の保証期間は何年ですか", "サービス/保証.md", "サービス/修理.md"),
    ("修理品はどこへ送りますか", "サービス/修理.md", "サービス/保証.md"),
    ("有給休暇は何日付与されますか", "人事/休暇.md", "会社/沿革.md"),
    ("会社はいつ創業しましたか", "会社/沿革.md", "人事/休暇.md"),
    ("最初の製品は何でしたか", "会社/沿革.md", "サービス/保証.md"),
]


def sheet(*extra: tuple[str, str, str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["質問", "文書", "判定"])
    for question, right, wrong in ASKED:
        writer.writerow([question, f"docs/{right}", "はい"])
        writer.writerow([question, f"docs/{wrong}", "いいえ"])
    for row in extra:
        writer.writerow(row)
    return out.getvalue()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = create_workspace(tmp_path_factory.mktemp("labels") / "ws", settings_text()).root
    for name, text in DOCUMENTS.items():
        path = root / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {path.stem}\n\n{text}\n", encoding="utf-8")
    (root / "docs" / "board").mkdir()
    (root / "docs" / "board" / "secret.md").write_text("# Board\n\nThe board meets in Bruges.\n", encoding="utf-8")
    assert as_process(root, "ingest", "docs/board", "--groups", "board").returncode == 0
    assert as_process(root, "ingest", "docs", "--json").returncode == 0
    return root


@pytest.fixture
def workspace(made: Path, tmp_path: Path) -> Path:
    """The workspace as it was ingested, without labels and calibration."""
    target = tmp_path / "ws"
    shutil.copytree(made, target)
    return target


def first_tier_alone(workspace: Path) -> None:
    """Grade by the features only, which these tests make fail or flat."""
    file = workspace / "tadasu.toml"
    text = file.read_text("utf-8")
    assert '# grader = "cascade"' in text
    file.write_text(text.replace('# grader = "cascade"', 'grader = "features"'), encoding="utf-8")


def told(done: Done) -> Any:
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def test_labels_from_a_sheet_calibrate_the_grades_from_the_next_question_on(workspace: Path) -> None:
    (workspace / "labels.csv").write_bytes(
        sheet(("何?", "docs/なし.md", "はい"), ("何?", "docs/a.md", "?")).encode("cp932")
    )
    done = tadasu(workspace, "calibrate", "labels.csv", "--plot", "plot.svg", "--json")
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)
    assert found["labels"]["counted"] == 22
    assert found["labels"]["relevant"] == 11
    assert {entry["row"] for entry in found["bad"]} == {24, 25}
    assert all("labels.csv, row 2" in entry["error"]["message"] for entry in found["bad"])
    whole = found["languages"]["*"]
    assert whole["method"] in {"as_given", "platt", "isotonic"}
    assert whole["auc"] > 0.9
    assert not whole["low"]["promised"]
    assert whole["low"]["needed"] > 0
    assert sum(found["verdicts"]["after"].values()) == 12
    assert ET.parse(workspace / "plot.svg").getroot().tag.endswith("svg")

    kept = json.loads((workspace / "calibration.json").read_text(encoding="utf-8"))
    assert kept["labels"] == {"pairs": 22, "questions": 11, "relevant": 11}
    searched = told(tadasu(workspace, "search", "How long is the warranty of the KPT-340?", "--json"))
    grades = [one["grade"] for one in searched["candidates"]]
    english = [grade for grade in grades if grade["calibration"] == "corpus"]
    assert english
    assert all(grade["grader"].endswith(f"+{found['calibration']}") for grade in grades)

    healthy = told(tadasu(workspace, "doctor", "--json", "--offline"))
    (finding,) = [one for one in healthy["findings"] if one["check"] == "calibration"]
    assert finding["status"] == "ok"
    assert "22 labels of these documents" in finding["message"]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_the_terminal_says_what_was_fitted_and_what_it_is_worth(workspace: Path, lang: str) -> None:
    (workspace / "labels.csv").write_text(sheet(), encoding="utf-8")
    done = tadasu(workspace, "calibrate", "labels.csv", "--dry-run", "--lang", lang)
    assert done.returncode == 0, done.stderr
    wanted = {
        "en": ("22 labelled pairs", "log loss", "ECE", "tau_low stays at", "AMBIGUOUS:", "Nothing was kept"),
        "ja": ("ラベル付きの組 22 件", "対数損失", "ECE", "tau_low は", "AMBIGUOUS（曖昧）", "何も保存していません"),
    }[lang]
    for words in wanted:
        assert words in done.stdout
    assert "1.0 │" in done.stdout
    assert not (workspace / "calibration.json").exists()


def test_too_few_labels_are_refused_with_the_way_out(workspace: Path) -> None:
    (workspace / "labels.csv").write_text("\n".join(sheet().splitlines()[:5]), encoding="utf-8")
    done = tadasu(workspace, "calibrate", "labels.csv", "--json")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "labels_too_few"
    assert "tadasu label" in error["hint"]
    missing = tadasu(workspace, "calibrate")
    assert missing.returncode == 2
    assert "labels.jsonl: cannot be read" in missing.stderr


ACROSS = [(ASKED[6][0], "service/warranty.md"), (ASKED[9][0], "company/founding.md"), (ASKED[0][0], "サービス/保証.md")]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_every_row_is_somewhere_in_the_counts_and_pairs_across_languages_are_said(workspace: Path, lang: str) -> None:
    (workspace / "docs" / "old").mkdir()
    (workspace / "docs" / "old" / "travel.md").write_text("# Old\n\nMeals were 40 euros a day.\n", encoding="utf-8")
    assert tadasu(workspace, "ingest", "docs").returncode == 0
    rows = [
        ("何?", "docs/なし.md", "はい"),
        ("What?", "travel.md", "yes"),
        ("What?", "people/remote.md", "maybe"),
        (ASKED[0][0], "docs/service/warranty.md", "no"),
        (ASKED[0][0], "service/warranty.md", "yes"),
        (ASKED[1][0], "service/repair.md", "no"),
        *((question, document, "はい") for question, document in ACROSS),
    ]
    (workspace / "labels.csv").write_text(sheet(*rows), encoding="utf-8")
    done = tadasu(workspace, "calibrate", "labels.csv", "--json", "--lang", lang)
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)
    labels = found["labels"]
    parts = ("counted", "repeated", "bad", "absent", "failed", "ruled_by_language_model", "across_languages")
    assert labels["rows"] == len(ASKED) * 2 + len(rows) == sum(labels[name] for name in parts)
    assert [labels[name] for name in parts] == [22, 1, 3, 2, 0, 0, 3]
    assert [entry["row"] for entry in found["bad"]] == [24, 25, 26, 27, 29]
    codes = [entry["error"]["code"] for entry in found["bad"]]
    assert codes == ["label_invalid", "label_ambiguous", "label_invalid", "label_contradicted", "label_contradicted"]
    assert "docs/old/travel.md" in found["bad"][1]["error"]["message"]
    across = found["across_languages"]
    assert (across["pairs"], across["relevant"]) == (3, 3)
    assert 0 <= across["missed"] <= 3

    shown = tadasu(workspace, "calibrate", "labels.csv", "--dry-run", "--lang", lang).stdout
    (line,) = [one for one in shown.splitlines() if one.startswith(("Rows given", "渡された行"))]
    given, *others = map(int, re.findall(r"[0-9]+", line))
    assert given == sum(others) == labels["rows"]
    wanted = {"en": "3 pairs across languages (3 relevant) are not in this fit", "ja": "言語をまたぐ組 3 件"}[lang]
    assert wanted in shown
    if lang == "ja":
        assert "as_given" not in shown
        assert all(one.endswith("。") for one in shown.splitlines() if one.startswith("labels.csv の"))


def test_where_nothing_is_fitted_no_grade_and_no_verdict_changes_in_any_language(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tadasu.answering.grading.fitting._chosen", lambda *_: Method.AS_GIVEN)
    (workspace / "labels.csv").write_text(sheet(), encoding="utf-8")

    def grades() -> list[tuple[str, float | None, str]]:
        return [
            (one["passage_id"], one["grade"]["probability"], one["grade"]["level"])
            for question, _, _ in ASKED
            for one in told(tadasu(workspace, "search", question, "--json"))["candidates"]
        ]

    before = grades()
    found = told(tadasu(workspace, "calibrate", "labels.csv", "--json"))
    assert found["moved"] == []
    assert found["verdicts"]["before"] == found["verdicts"]["after"]
    kept = json.loads((workspace / "calibration.json").read_text(encoding="utf-8"))
    assert set(kept["languages"]) == {"*"}
    assert (kept["languages"]["*"]["tau_low"], kept["languages"]["*"]["tau_high"]) == (None, None)
    borders = found["languages"]["*"]["borders"]
    assert borders["en"] != borders["ja"]
    assert grades() == before
    shown = tadasu(workspace, "calibrate", "labels.csv", "--dry-run").stdout
    assert f"tau_low stays at {borders['en']['tau_low']:.3f} (en), {borders['ja']['tau_low']:.3f} (ja)" in shown
    assert " -> " not in shown


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_what_a_curve_moves_is_said_of_each_language(
    workspace: Path, lang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tadasu.answering.grading.fitting._chosen", lambda *_: Method.PLATT)
    (workspace / "labels.csv").write_text(sheet(), encoding="utf-8")
    found = told(tadasu(workspace, "calibrate", "labels.csv", "--json", "--dry-run"))
    assert found["languages"]["*"]["method"] == "platt"
    assert {one["language"] for one in found["moved"]} == {"en", "ja"}
    shown = tadasu(workspace, "calibrate", "labels.csv", "--dry-run", "--lang", lang).stdout
    for one in found["moved"]:
        name = {"en": f"{one['border']} ({one['language']}): ", "ja": f"{one['border']}（{one['language']}）: "}[lang]
        assert name in shown
    assert "stays" not in shown
    assert "のままです" not in shown


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_a_refusal_lists_the_rows_and_names_what_they_were_lost_by(workspace: Path, lang: str) -> None:
    (workspace / "labels.csv").write_text(sheet().replace("docs/", "nowhere/"), encoding="utf-8")
    done = tadasu(workspace, "calibrate", "labels.csv", "--json", "--lang", lang)
    assert done.returncode == 2
    found = json.loads(done.stdout)
    assert found["error"]["code"] == "labels_too_few"
    assert {"en": "not in the index", "ja": "索引にない"}[lang] in found["error"]["hint"]
    assert [entry["row"] for entry in found["bad"]] == list(range(2, 24))
    shown = tadasu(workspace, "calibrate", "labels.csv", "--lang", lang)
    assert shown.returncode == 2
    assert {"en": "labels.csv, row 2: ", "ja": "labels.csv の 2 行目: "}[lang] in shown.stderr

    only = [("質問,文書,判定"), *(f"{question},{document},はい" for question, document in ACROSS)]
    only += [f"{asked[0]},{right},はい" for asked in ASKED[6:] for right in ("service/repair.md", "people/travel.md")]
    only += [f"{asked[0]},サービス/修理.md,はい" for asked in ASKED[:6]]
    only += [f"{asked[0]},会社/沿革.md,はい" for asked in ASKED[:6]]
    (workspace / "labels.csv").write_text("\n".join(only), encoding="utf-8")
    refused = json.loads(tadasu(workspace, "calibrate", "labels.csv", "--json", "--lang", lang).stdout)
    assert refused["labels"]["across_languages"] == len(only) - 1
    assert {"en": "across languages", "ja": "言語をまたいで"}[lang] in refused["error"]["hint"]


def test_texts_and_ids_of_passages_are_labels_too(workspace: Path) -> None:
    searched = told(tadasu(workspace, "search", ASKED[0][0], "--json"))
    by_source = {one["source"]: one["passage_id"] for one in searched["candidates"]}
    rows = []
    for number, (question, right, wrong) in enumerate(ASKED):
        for document, label in ((right, 1), (wrong, 0)):
            row: dict[str, object] = {"question": question, "label": label}
            source = f"docs/{document}"
            row["passage"] = by_source[source] if number % 2 and source in by_source else DOCUMENTS[document]
            rows.append(row)
    rows.append({"question": ASKED[0][0], "passage": "Nothing of the kind stands in any document here.", "label": 0})
    rows.append({"question": ASKED[0][0], "passage": "p00000000000000000000", "label": 0})
    rows.append({"question": ASKED[0][0], "document": "docs/board/secret.md", "label": 0})
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (workspace / "labels.jsonl").write_text(text, encoding="utf-8")
    done = tadasu(workspace, "calibrate", "--json", "--dry-run")
    assert done.returncode == 3
    found = json.loads(done.stdout)
    assert found["labels"]["counted"] == 23
    assert found["labels"]["not_in_index"] == 1
    assert any("1 passage is not in the index" in words for words in found["warnings"])
    # What is not there and what the reader may not see look alike.
    reasons = [entry["error"]["message"] for entry in found["bad"]]
    assert len(reasons) == 2
    assert "its passage is not in the index" in reasons[0]
    assert "its document is not in the index" in reasons[1]


def test_a08_a_failed_grading_counts_as_failed_and_as_no_number(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_tier_alone(workspace)
    from tadasu.answering.grading.features import FeatureGrader
    from tadasu.core.grades import ungraded

    real = FeatureGrader.grade_now

    def sometimes(self: FeatureGrader, question: str, retrieval: Any) -> Any:
        grades = real(self, question, retrieval)
        if "battery" not in question:
            return grades
        return [ungraded(grade.passage_id, reason="the grader timed out", grader="x") for grade in grades]

    monkeypatch.setattr(FeatureGrader, "grade_now", sometimes)
    (workspace / "labels.csv").write_text(sheet(), encoding="utf-8")
    done = tadasu(workspace, "calibrate", "labels.csv", "--json", "--dry-run")
    assert done.returncode == 3
    found = json.loads(done.stdout)
    assert [entry["row"] for entry in found["failed"]] == [6, 7]
    assert all("timed out" in entry["reason"] for entry in found["failed"])
    assert (found["labels"]["counted"], found["labels"]["relevant"]) == (20, 10)

    monkeypatch.setattr(
        FeatureGrader,
        "grade_now",
        lambda self, question, retrieval: [
            ungraded(one.passage.id, reason="no graphics card", grader="x") for one in retrieval.candidates
        ],
    )
    nothing = tadasu(workspace, "calibrate", "labels.csv", "--json", "--dry-run")
    assert nothing.returncode == 5
    assert "no graphics card" in json.loads(nothing.stdout)["error"]["message"]


def test_a23_scores_without_spread_are_said_to_be_no_use(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first_tier_alone(workspace)
    from tadasu.answering.grading.features import FeatureGrader

    real = FeatureGrader.grade_now

    def flat(self: FeatureGrader, question: str, retrieval: Any) -> Any:
        return [
            replace(grade, probability=0.5 + grade.probability / 20) if grade.probability is not None else grade
            for grade in real(self, question, retrieval)
        ]

    monkeypatch.setattr(FeatureGrader, "grade_now", flat)
    (workspace / "labels.csv").write_text(sheet(), encoding="utf-8")
    found = told(tadasu(workspace, "calibrate", "labels.csv", "--json", "--dry-run"))
    assert any("hardly tells these passages apart" in words for words in found["warnings"])
    assert any("ranks and leads" in words for words in found["warnings"])


def test_a_calibration_goes_stale_with_the_documents_and_with_the_grader(workspace: Path) -> None:
    (workspace / "labels.csv").write_text(sheet(), encoding="utf-8")
    told(tadasu(workspace, "calibrate", "labels.csv", "--json"))
    for number in range(8):
        (workspace / "docs" / f"new-{number}.md").write_text(f"# New {number}\n\nSomething new.\n", encoding="utf-8")
    assert tadasu(workspace, "ingest", "docs").returncode == 0
    (finding,) = [
        one
        for one in told(tadasu(workspace, "doctor", "--json", "--offline"))["findings"]
        if one["check"] == "calibration"
    ]
    assert finding["status"] == "warning"
    assert "of the documents changed, came or went" in finding["message"]
    asked = told(tadasu(workspace, "ask", ASKED[0][0], "--json"))
    assert any("may no longer hold" in warning for warning in asked["warnings"])
    shown = tadasu(workspace, "search", ASKED[0][0], "--lang", "ja")
    assert "較正はもう当てはまらないかもしれません" in shown.stdout

    path = workspace / "calibration.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(raw | {"grader": "features-0"}), encoding="utf-8")
    (finding,) = [
        one
        for one in told(tadasu(workspace, "doctor", "--json", "--offline"))["findings"]
        if one["check"] == "calibration"
    ]
    assert "made for the grader features-0" in finding["message"]


def test_a_damaged_calibration_is_an_error_that_names_the_file(workspace: Path) -> None:
    (workspace / "calibration.json").write_text('{"format": 1', encoding="utf-8")
    done = tadasu(workspace, "ask", ASKED[0][0], "--json")
    assert done.returncode == 6
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "calibration_damaged"
    assert "calibration.json" in error["message"]
    (workspace / "labels.csv").write_text(sheet(), encoding="utf-8")
    assert told(tadasu(workspace, "calibrate", "labels.csv", "--json"))["kept"]
    assert tadasu(workspace, "ask", ASKED[0][0], "--json").returncode == 0


def test_without_labels_doctor_and_search_say_the_way_out(workspace: Path) -> None:
    (finding,) = [
        one
        for one in told(tadasu(workspace, "doctor", "--json", "--offline"))["findings"]
        if one["check"] == "calibration"
    ]
    assert finding["status"] == "ok"
    assert "public data, not on these documents" in finding["message"]
    assert "60 labels" in finding["message"]
    assert "tadasu label" in tadasu(workspace, "search", "KPT-340 warranty").stdout


def test_labels_are_given_key_by_key_and_taken_up_again(workspace: Path) -> None:
    (workspace / "questions.txt").write_text("\n".join(question for question, _, _ in ASKED), encoding="utf-8")
    first = tadasu(workspace, "label", "--questions", "questions.txt", stdin="y\nn\nX s u y q")
    assert first.returncode == 0, first.stderr
    rows = [json.loads(line) for line in (workspace / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["label"] for row in rows] == [1, 1]  # the second was taken back and answered again
    assert all(0 < row["share"] <= 1 and row["stratum"] in {"high", "medium", "low"} for row in rows)
    assert "The last label is taken back." in first.stdout
    assert "2 labels in" in first.stdout
    second = tadasu(
        workspace, "label", "--questions", "questions.txt", "--json", "--lang", "ja", stdin="ｙ" * 4 + "n" * 60
    )
    found = told(second)
    assert "このパッセージは質問に答えていますか" in second.stderr
    assert found["labels"] == found["given"] + 2
    rows = [json.loads(line) for line in (workspace / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    pairs = [(row["question"], row["passage"]) for row in rows]
    assert len(set(pairs)) == len(pairs)
    assert not any("board" in row["source"] for row in rows)


def test_labels_come_from_the_latest_runs_where_no_file_is_named(workspace: Path) -> None:
    nothing = tadasu(workspace, "label", "--json")
    assert nothing.returncode == 2
    assert "no question has been asked here yet" in json.loads(nothing.stdout)["error"]["message"]
    told(tadasu(workspace, "ask", ASKED[0][0], "--json"))
    found = told(tadasu(workspace, "label", "--json", "--limit", "2", stdin="nnnn"))
    assert (found["given"], found["irrelevant"]) == (2, 2)
