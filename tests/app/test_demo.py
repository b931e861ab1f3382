from __future__ import annotations

from pathlib import Path

import pytest

from tadasu.app.assets import demo_folder
from tadasu.app.demo import Expectation, demo_questions, prepare_demo, unmet
from tadasu.app.settings import load_settings
from tadasu.cli.demo import PATHS
from tadasu.core.documents import Origin
from tadasu.errors import InputInvalid
from tests.cli.samples import abstained, answered


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    folder = tmp_path / "shipped"
    for name in ("documents", "web", "sources"):
        (folder / name).mkdir(parents=True)
        (folder / name / "a.md").write_text("# a\n", encoding="utf-8")
    line = '{"id": "c", "path": "correct", "question": "q", "language": "en", "expect": {"status": "answered"}}\n'
    (folder / "questions.jsonl").write_text(line, encoding="utf-8")
    return folder


def test_the_workspace_holds_the_corpus_and_plays_the_web(shipped: Path, tmp_path: Path) -> None:
    workspace = prepare_demo(shipped, tmp_path / "demo")
    assert {path.name for path in workspace.root.iterdir()} == {
        "documents", "web", "questions.jsonl", "tadasu.toml", ".tadasu",
    }  # fmt: skip
    settings = load_settings(workspace.settings_file)
    assert (settings.web.provider, settings.web.folder) == ("folder", "web")
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_a_demo_that_is_there_is_used_as_it_is(shipped: Path, tmp_path: Path) -> None:
    workspace = prepare_demo(shipped, tmp_path / "demo")
    (workspace.root / "documents" / "mine.md").write_text("mine", encoding="utf-8")
    assert prepare_demo(shipped, tmp_path / "demo") == workspace
    assert (workspace.root / "documents" / "mine.md").exists()


def test_a_folder_of_another_kind_is_left_alone(shipped: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    prepare_demo(shipped, other)  # empty: fine
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputInvalid, match="no Tadasu demo"):
        prepare_demo(shipped, full)
    assert [path.name for path in full.iterdir()] == ["thesis.txt"]


def test_the_shipped_questions_show_every_path_and_cite_what_is_there() -> None:
    questions = demo_questions(demo_folder())
    assert {one.path for one in questions} == PATHS.keys()
    assert {one.language for one in questions} == {"en", "ja"}
    for one in questions:
        for source in one.expect.sources:
            assert source.startswith("https://") or (demo_folder() / "documents" / source).is_file()


def test_a_broken_question_is_named_by_its_line(shipped: Path) -> None:
    with (shipped / "questions.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "x"}\n')
    with pytest.raises(InputInvalid, match="line 2"):
        demo_questions(shipped)


MET = Expectation(
    "answered", ("ambiguous", "correct"), ("24 months",), ("99 EUR",), ("warranty.md",), citations_from="documents"
)


def test_an_answer_as_expected_has_nothing_unmet() -> None:
    assert unmet(MET, answered(source="documents/service/warranty.md")) == ()
    assert unmet(Expectation("abstained", ("incorrect",), citations_from="none"), abstained()) == ()


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        (Expectation("abstained"), "it is answered, not abstained"),
        (Expectation("answered", ("correct",)), "the verdicts are ambiguous → correct, not correct"),
        (Expectation("answered", answer_contains=("25 months",)), "the answer lacks 25 months"),
        (Expectation("answered", not_contains=("24 months",)), "the answer contains 24 months"),
        (Expectation("answered", sources=("arranty.md",)), "arranty.md is not cited"),
        (Expectation("answered", citations_from="web"), "citations come from internal, not from web"),
        (Expectation("answered", citations_from="none"), "citations come from internal, not from none"),
    ],
)
def test_what_is_not_as_expected_is_said(expect: Expectation, words: str) -> None:
    assert unmet(expect, answered()) == (words,)


def test_a_web_answer_cites_the_web() -> None:
    run = answered(source="https://a.example/x", origin=Origin.WEB)
    assert unmet(Expectation("answered", sources=("https://a.example/x",), citations_from="web"), run) == ()
