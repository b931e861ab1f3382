"""Scores that are remembered, through the whole chain: documents, thresholds and graders change, and verdicts follow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tadasu import Tadasu, Verdict
from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.app.assets import models_folder
from tadasu.app.workspace import create_workspace
from tadasu.core.grades import Level
from tadasu.core.runs import Run
from tadasu.core.usage import Stage
from tadasu.testing.scorer_server import ScorerServer

pytestmark = pytest.mark.enable_socket

CASES = [
    (
        "How long is the warranty of the PT-300?",
        "# Warranty\n\nThe warranty of the PT-300 is 36 months from delivery.\n",
        "# Warranty\n\nThe warranty of the ZX-9 is 36 months from delivery.\n",
    ),
    (
        "LD-90の保証期間はどのくらいですか？",
        "# 保証\n\nLD-90の保証期間は納入から24か月です。\n",
        "# 保証\n\nMK-7の保証期間は納入から24か月です。\n",
    ),
]
OTHERS = {"canteen.md": "# Canteen\n\nThe canteen opens at noon.\n", "食堂.md": "# 食堂\n\n食堂は正午に開きます。\n"}


def scoring(question: str, text: str) -> float:
    """Whether the text is about the thing that is asked about."""
    return next((0.9 for name in ("PT-300", "LD-90") if name in question and name in text), 0.02)


class Desk:
    """A workspace with its scorer: asks, and says how many pairs the scorer was sent for it."""

    def __init__(self, root: Path, server: ScorerServer, encoder: OnnxEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.server, self.encoder, self.monkeypatch = root, server, encoder, monkeypatch
        settings = {
            "GRADING__GRADER": "scorer",
            "GRADING__SCORER": "rerank",
            "GRADING__TAU_HIGH": "0.7",
            "GRADING__TAU_LOW": "0.3",
            "SCORER__SCALE": "probability",
            "SCORER__MODEL": "model-1",
            "SCORER__BASE_URL": server.base_url,
            "CORRECTION__MAX_SEARCHES": "0",
        }
        for name, value in settings.items():
            self.set(name, value)

    def set(self, name: str, value: str) -> None:
        self.monkeypatch.setenv(f"TADASU_{name}", value)

    def open(self) -> Tadasu:
        tadasu = Tadasu.open(self.root)
        tadasu.container.encoder = self.encoder  # loaded once; it is not what is tested here
        return tadasu

    def write(self, texts: dict[str, str]) -> None:
        folder = self.root / "documents"
        folder.mkdir(exist_ok=True)
        for file in folder.iterdir():
            file.unlink()
        for name, text in texts.items():
            (folder / name).write_text(text, "utf-8")
        tadasu = self.open()
        assert not tadasu.sync.ingest(folder).failed
        tadasu.sync.close()

    def ask(self, question: str) -> tuple[Run, int]:
        before = self.sent
        tadasu = self.open()
        try:
            return tadasu.sync.ask(question), self.sent - before
        finally:
            tadasu.sync.close()

    @property
    def sent(self) -> int:
        return sum(len(body["documents"]) for body in self.server.requests)


@pytest.fixture(scope="module")
def encoder() -> OnnxEncoder:
    return OnnxEncoder.load(models_folder() / "encoder", threads=1)


@pytest.fixture
def desk(tmp_path: Path, encoder: OnnxEncoder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    create_workspace(tmp_path, "")
    with ScorerServer(scoring=scoring) as server:
        yield Desk(tmp_path, server, encoder, monkeypatch)


def verdict(run: Run) -> Verdict:
    return run.rounds[0].verdict


@pytest.mark.parametrize(("question", "text", "changed"), CASES, ids=["en", "ja"])
def test_a67_verdicts_follow_the_documents_and_nothing_is_scored_twice(
    desk: Desk, question: str, text: str, changed: str
) -> None:
    desk.write({"warranty.md": text, **OTHERS})
    run, sent = desk.ask(question)
    assert (verdict(run), sent) == (Verdict.CORRECT, 3)

    run, sent = desk.ask(question)
    assert (verdict(run), sent) == (Verdict.CORRECT, 0)
    [served] = [call for call in run.calls if call.stage is Stage.GRADE]
    assert (served.provider, served.items, served.cached) == ("cache", 3, 3)

    desk.write({"warranty.md": changed, **OTHERS})
    run, sent = desk.ask(question)
    assert (verdict(run), sent) == (Verdict.INCORRECT, 1), "the changed passage is scored, the others are known"

    desk.write(OTHERS)
    run, sent = desk.ask(question)
    assert (verdict(run), sent) == (Verdict.INCORRECT, 0)

    desk.write({"elsewhere.md": text, **OTHERS})
    run, sent = desk.ask(question)
    assert verdict(run) is Verdict.CORRECT
    assert sent <= 1, "the same text under another name; a title taken from the name would make it another text"


@pytest.mark.parametrize(("question", "text", "changed"), CASES, ids=["en", "ja"])
def test_a67_levels_follow_the_thresholds_and_scores_the_version(
    desk: Desk, question: str, text: str, changed: str
) -> None:
    desk.write({"warranty.md": text, **OTHERS})
    assert verdict(desk.ask(question)[0]) is Verdict.CORRECT

    desk.set("GRADING__TAU_HIGH", "0.95")
    run, sent = desk.ask(question)
    assert (verdict(run), sent) == (Verdict.AMBIGUOUS, 0)
    assert [one.grade.level for one in run.rounds[0].candidates].count(Level.MEDIUM) == 1

    desk.set("GRADING__TAU_LOW", "0.92")
    run, sent = desk.ask(question)
    assert (verdict(run), sent) == (Verdict.INCORRECT, 0)

    desk.set("SCORER__MODEL", "model-2")
    _, sent = desk.ask(question)
    assert sent == 3, "what another model said is no answer of this one"


def test_a_file_that_is_lost_or_damaged_costs_scoring_only(desk: Desk) -> None:
    question, text, _ = CASES[0]
    desk.write({"warranty.md": text, **OTHERS})
    desk.ask(question)
    scores = desk.root / ".tadasu" / "scores.db"
    scores.write_bytes(b"no database at all" * 500)
    run, sent = desk.ask(question)
    assert (verdict(run), sent) == (Verdict.CORRECT, 3)
    scores.unlink()
    scores.mkdir()
    run, sent = desk.ask(question)
    assert (verdict(run), sent) == (Verdict.CORRECT, 3)
