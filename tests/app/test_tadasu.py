"""The Python API with the real parts, over a folder of three documents."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tadasu import AnswerStatus, Reader, Reason, Scope, Tadasu
from tadasu.app.tadasu import LONGEST_QUESTION
from tadasu.app.workspace import create_workspace
from tadasu.errors import InputInvalid, RunNotFound, WorkspaceMissing


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tadasu]:
    root = tmp_path_factory.mktemp("api")
    create_workspace(root, "")
    documents = root / "documents"
    (documents / "board").mkdir(parents=True)
    (documents / "warranty.md").write_text(
        "# Warranty of the PT-300\n\nThe warranty of the PT-300 is 36 months from delivery.\n", "utf-8"
    )
    (documents / "保証.md").write_text("# LD-90の保証\n\nLD-90の保証期間は納入から24か月です。\n", "utf-8")
    (documents / "board" / "merger.md").write_text(
        "# Merger\n\nThe merger with Nordkai costs EUR 99 million.\n", "utf-8"
    )
    (documents / "board" / ".tadasu-access.toml").write_text('groups = ["board"]\n', "utf-8")
    tadasu = Tadasu.open(root)
    assert tadasu.sync.ingest(documents).added == 3
    yield tadasu
    tadasu.sync.close()


@pytest.mark.parametrize(
    ("question", "holds", "source"),
    [
        ("How long is the warranty of the PT-300?", "36 months", "warranty.md"),
        ("LD-90の保証期間はどのくらいですか？", "24か月", "保証.md"),
    ],
)
def test_a_blocking_program_asks_and_traces(opened: Tadasu, question: str, holds: str, source: str) -> None:
    run = opened.sync.ask(question)
    assert holds in run.answer.text
    assert run.answer.citations[0].source.endswith(source)
    assert opened.sync.trace(run.id) == opened.trace("last") == run


async def test_questions_may_be_asked_side_by_side(opened: Tadasu) -> None:
    runs = await asyncio.gather(*(opened.ask("How long is the warranty of the PT-300?") for _ in range(8)))
    assert len({run.id for run in runs}) == 8
    assert {run.answer.text for run in runs} == {runs[0].answer.text}


async def test_another_groups_document_is_nowhere_in_a_run(opened: Tadasu) -> None:
    question = "How much does the merger with Nordkai cost?"
    hidden = await opened.ask(question)
    assert hidden.answer.status is AnswerStatus.ABSTAINED
    assert not any(secret in repr(hidden) for secret in ("merger.md", "99 million", "Nordkai costs"))
    board = Scope(reader=Reader(groups=frozenset({"board"})))
    shown = await opened.ask(question, scope=board)
    assert "99 million" in shown.answer.text
    with pytest.raises(RunNotFound):
        opened.trace(shown.id)


async def test_nothing_within_the_filters_and_nothing_at_all_are_told_apart(opened: Tadasu) -> None:
    filtered = await opened.ask("How long is the warranty of the PT-300?", scope=Scope(source_prefix="nowhere/"))
    assert filtered.answer.reason is Reason.ALL_FILTERED
    stranger = await opened.ask("How long is the warranty?", scope=Scope(reader=Reader(tenant="other")))
    assert stranger.answer.reason is Reason.NO_DOCUMENTS


@pytest.mark.parametrize("question", ["x" * (LONGEST_QUESTION + 1), "half \ud83d a pair"])
async def test_what_cannot_be_a_question_is_refused_before_any_work(opened: Tadasu, question: str) -> None:
    with pytest.raises(InputInvalid, match="question"):
        await opened.ask(question)
    with pytest.raises(InputInvalid, match="question"):
        await opened.search(question)


def test_a_folder_without_a_workspace_is_said(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceMissing):
        Tadasu.open(tmp_path)
