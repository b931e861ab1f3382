"""The models that read are opened once for a workspace, and share the grader's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadasu.app.container import Container
from tadasu.app.settings import Settings
from tadasu.app.workspace import Workspace
from tadasu.ports import Claim
from tadasu.runtime.ledger import RunLedger

LANGUAGES = pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        ("Who painted the mill?", "The mill was painted by Anna Lind in 1931.", "Anna Lind"),
        ("水車小屋を描いたのは誰ですか?", "水車小屋は1931年に田中一郎が描いた。", "田中一郎"),
    ],
)


@pytest.fixture
def container(tmp_path: Path) -> Container:
    return Container(Workspace(tmp_path), Settings())


@LANGUAGES
async def test_a_workspace_has_one_of_each_and_both_read(
    container: Container, question: str, text: str, answer: str
) -> None:
    assert container.span_reader is container.span_reader
    support = container.support_model
    assert support is not None
    assert container.support_model is support
    ledger = RunLedger(container.clock)
    (span,) = await container.span_reader.read(question, [text], ledger=ledger)
    assert span is not None
    assert text[span.start : span.end] == answer
    (likely,) = await support.support([Claim(text, text, question)], ledger=ledger)
    assert likely > 0.5
    assert [call.model for call in ledger.calls] == [container.span_reader.id, support.id]
