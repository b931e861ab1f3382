"""From a question to a run with the language model as the grader: the real parts, a chat server on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tadasu import AnswerStatus, Tadasu
from tadasu.app.workspace import create_workspace
from tadasu.core.grades import Level, Verdict
from tadasu.core.runs import Run
from tadasu.core.usage import Stage
from tadasu.errors import SettingsInvalid
from tadasu.testing.chat_server import Act, ChatServer, Fail, Say
from tests.answering.grading.judges import lines, row, sent_blocks

pytestmark = pytest.mark.enable_socket

QUESTIONS = [
    (
        "How long is the warranty of the PT-300?",
        "36 months",
        "The warranty of the PT-300 is 36 months from delivery. [1]",
    ),
    ("LD-90の保証期間はどのくらいですか？", "24か月", "LD-90の保証期間は納入から24か月です。[1]"),
]


ONE_ATTEMPT = "[limits]\nattempts = 1\nbreaker_faults = 100\n"


class Model:
    """Grades by whether a passage holds the words looked for; fails where it is told to."""

    def __init__(self) -> None:
        self.wanted = self.reply = ""
        self.down = False

    def __call__(self, body: dict[str, Any]) -> Act:
        if shown := sent_blocks(body):
            if self.down:
                return Fail(503, "overloaded")
            scores = {name: (0.9 if self.wanted in text else 0.1,) * 3 for name, text in shown.items()}
            return Say(lines(*(row(name, *given) for name, given in scores.items())), piece=300, usage=(500, 90))
        return Say(self.reply, piece=300)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, model: Model) -> Iterator[Tadasu]:
    root = tmp_path_factory.mktemp("graded")
    documents = root / "documents"
    documents.mkdir()
    (documents / "warranty.md").write_text(
        "# PT-300\n\nThe warranty of the PT-300 is 36 months from delivery.\n", "utf-8"
    )
    (documents / "canteen.md").write_text(
        "# Canteen\n\nThe canteen opens at noon. Warranty slips are kept there.\n", "utf-8"
    )
    (documents / "保証.md").write_text("# LD-90\n\nLD-90の保証期間は納入から24か月です。\n", "utf-8")
    with ChatServer([model]) as server:
        chat = f'[chat]\nprovider = "openai"\nmodel = "m"\nbase_url = "{server.base_url}"\n'
        create_workspace(root, f'{chat}[grading]\ngrader = "llm"\nllm_batch = 2\n{ONE_ATTEMPT}')
        tadasu = Tadasu.open(root)
        assert tadasu.sync.ingest(documents).added == 3
        yield tadasu
        tadasu.sync.close()


def model_calls(run: Run) -> int:
    return sum(call.stage is Stage.GRADE and call.provider == "openai" for call in run.calls)


@pytest.mark.parametrize(("question", "wanted", "reply"), QUESTIONS)
def test_a_language_model_grades_a_run_and_is_not_asked_twice(
    opened: Tadasu, model: Model, question: str, wanted: str, reply: str
) -> None:
    model.wanted, model.reply = wanted, reply
    run = opened.sync.ask(question)
    assert run.verdict is Verdict.CORRECT
    assert wanted in run.answer.text
    assert {one.grade.tier for one in run.rounds[0].candidates} == {"llm"}
    assert [one.grade.level for one in run.rounds[0].candidates].count(Level.HIGH) == 1
    assert model_calls(run) == 2
    assert "the grades are not calibrated" in run.answer.warnings + run.warnings
    again = opened.sync.ask(question)
    assert model_calls(again) == 0
    assert [one.grade for one in again.rounds[0].candidates] == [one.grade for one in run.rounds[0].candidates]


def test_a_model_that_is_down_grades_nothing_and_the_run_says_why(opened: Tadasu, model: Model) -> None:
    model.down = True
    failed = opened.sync.ask("Where are warranty slips kept?")
    assert failed.verdict is Verdict.GRADER_FAILED
    assert failed.answer.status is AnswerStatus.ABSTAINED
    assert "HTTP 503" in failed.rounds[0].error
    model.down, model.wanted, model.reply = False, "slips", "Warranty slips are kept there. [1]"
    assert opened.sync.ask("Where are warranty slips kept?").verdict is Verdict.CORRECT


def test_without_a_chat_model_it_says_what_is_missing(tmp_path: Path) -> None:
    create_workspace(tmp_path, '[grading]\ngrader = "llm"\n')
    (tmp_path / "a.md").write_text("A text.\n", "utf-8")
    tadasu = Tadasu.open(tmp_path)
    tadasu.sync.ingest(tmp_path / "a.md")
    with pytest.raises(SettingsInvalid, match="needs a chat model"):
        tadasu.sync.ask("What is it?")
    tadasu.sync.close()


def test_a_third_tier_without_a_chat_model_says_what_is_missing(tmp_path: Path) -> None:
    """Asked for and not there is a mistake, not a grader that silently has one tier less."""
    create_workspace(tmp_path, '[grading]\ngrader = "features"\nllm = true\n')
    with pytest.raises(SettingsInvalid, match="chat"):
        Tadasu.open(tmp_path).sync.search("PT-300")
