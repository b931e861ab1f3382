"""A whole workspace with real parts, a chat service and a collector on loopback: what is asked is what is told."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator

import pytest

from tadasu import Tadasu
from tadasu.app.run_totals import run_totals
from tadasu.app.statistics import figures
from tadasu.app.workspace import create_workspace
from tadasu.telemetry.context import trace_id_of
from tadasu.testing.chat_server import ChatServer, Say
from tests.app.test_telemetry import free_port
from tests.telemetry.collector import Collector

ANSWERS = {"en": "The warranty of the PT-300 is 36 months. [1]", "ja": "LD-90の保証期間は24か月です。[1]"}
QUESTIONS = {"en": "How long is the warranty of the PT-300?", "ja": "LD-90の保証期間はどのくらいですか？"}


def reply(body: dict[str, object]) -> Say:
    asked = json.dumps(body, ensure_ascii=False)
    return Say(ANSWERS["ja" if "LD-90の保証期間はどのくらい" in asked else "en"], usage=(321, 12))


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tadasu, Collector, int]]:
    root = tmp_path_factory.mktemp("told")
    create_workspace(root, "")
    documents = root / "documents"
    documents.mkdir()
    text = "# Warranty of the PT-300\n\nThe warranty of the PT-300 is 36 months from delivery.\n"
    (documents / "warranty.md").write_text(text, "utf-8")
    (documents / "保証.md").write_text("# LD-90の保証\n\nLD-90の保証期間は納入から24か月です。\n", "utf-8")
    port = free_port()
    with Collector() as collector, ChatServer([reply]) as chat:
        tadasu = Tadasu.open(
            root,
            chat={"provider": "openai", "model": "gpt-x", "base_url": chat.base_url, "price_in": 1.0, "price_out": 2.0},
            telemetry={"endpoint": collector.address, "prometheus_port": port},
        )
        tadasu.sync.ingest(documents)
        yield tadasu, collector, port
        tadasu.sync.close()


def test_runs_are_told_alike_to_collector_prometheus_and_statistics(opened: tuple[Tadasu, Collector, int]) -> None:
    tadasu, collector, port = opened
    runs = {language: tadasu.sync.ask(question) for language, question in QUESTIONS.items()}
    assert "36 months" in runs["en"].answer.text
    assert "24か月" in runs["ja"].answer.text
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as served:
        scraped = served.read().decode()
    tadasu.container.telemetry.close()
    for language, run in runs.items():
        spans = [span for span in collector.spans if span["trace"] == trace_id_of(run.id)]
        (root,) = (span for span in spans if not span["parent"])
        assert root["attributes"]["tadasu.run.id"] == run.id
        assert root["attributes"]["tadasu.language"] == language
        assert len(spans) == 1 + len(run.rounds) + len(run.calls)
        assert all(root["started"] <= span["started"] <= span["ended"] <= root["ended"] + 1_000_000 for span in spans)
        chat = [span for span in spans if span["attributes"].get("gen_ai.operation.name") == "chat"]
        made = [call for call in run.calls if call.provider == "openai"]
        assert len(chat) == len(made) > 0
        assert all(span["name"] == "chat gpt-x" for span in chat)
        assert all(span["attributes"]["gen_ai.usage.input_tokens"] == 321 for span in chat)
        rounds = {span["span"]: span for span in spans if span["name"].startswith("tadasu.round")}
        graded = [span for span in spans if span["attributes"].get("tadasu.stage") == "grade"]
        assert graded
        assert all(span["parent"] in rounds for span in graded)
        assert run.question not in repr(spans)
    found = figures(list(runs.values()))
    totals = {(name, *sorted(labels.values())): value for name, labels, value in run_totals(tadasu.container).samples()}
    assert totals["tadasu_run_seconds_count", "answered"] == found.answered
    assert totals["tadasu_cost_usd_total", "generate", "gpt-x"] == pytest.approx(found.cost.usd)
    assert found.cost.usd > 0
    served_lines = set(scraped.splitlines())
    stored_lines = [line for line in run_totals(tadasu.container).text().splitlines() if not line.startswith("#")]
    assert stored_lines
    assert set(stored_lines) <= served_lines  # the process has counted nothing but these runs
