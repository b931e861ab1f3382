"""A whole workspace whose roles are served by different providers, each in its own protocol on loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tadasu import Tadasu
from tadasu.app.workspace import create_workspace
from tadasu.core.answers import AnswerStatus
from tadasu.core.events import Event, TextReleased
from tadasu.core.runs import Run
from tadasu.core.usage import Outcome, Pricing, Stage, Tokens, total
from tadasu.testing.chat_dialects import AnthropicDialect, BedrockDialect, GeminiDialect
from tadasu.testing.chat_server import Act, ChatServer, Fail, Say

pytestmark = pytest.mark.enable_socket
QUESTIONS = {"en": "How long is the warranty of the PT-300?", "ja": "LD-90の保証期間はどのくらいですか？"}
FOLLOW_UPS = {"en": "And how heavy is it?", "ja": "重さは？"}
STANDALONE = {"en": "How heavy is the PT-300?", "ja": "LD-90の重さはどのくらいですか？"}
ANSWERS = {
    "en": {QUESTIONS["en"]: "The warranty of the PT-300 is 36 months. [1]", "heavy": "The PT-300 weighs 12 kg. [1]"},
    "ja": {QUESTIONS["ja"]: "LD-90の保証期間は24か月です。[1]", "重さ": "LD-90の重さは 8 kg です。[1]"},
}


def strong(body: dict[str, Any]) -> Say:
    asked = json.dumps(body, ensure_ascii=False)
    language = "ja" if "LD-90の" in asked and ("どのくらい" in asked or "重さは" in asked) else "en"
    first, other = ANSWERS[language].items()
    said = other[1] if FOLLOW_UPS[language] in asked else first[1]
    return Say(said, piece=3, usage=(900, 20))


def cheap(body: dict[str, Any]) -> Say:
    REWRITING.append(body)
    asked = json.dumps(body, ensure_ascii=False)
    return Say(STANDALONE["ja" if FOLLOW_UPS["ja"] in asked else "en"], usage=(200, 10))


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    text = "# The PT-300\n\nThe warranty of the PT-300 is 36 months from delivery.\n\nThe PT-300 weighs 12 kg.\n"
    (folder / "pt-300.md").write_text(text, "utf-8")
    (folder / "ld-90.md").write_text("# LD-90\n\nLD-90の保証期間は24か月です。\n\nLD-90の重さは 8 kg です。\n", "utf-8")
    return folder


REWRITING: list[dict[str, Any]] = []
"""What the cheap model was sent."""


@pytest.fixture(scope="module")
def tadasu(tmp_path_factory: pytest.TempPathFactory, documents: Path) -> Iterator[Tadasu]:
    root = tmp_path_factory.mktemp("roles")
    create_workspace(root, "")
    with ChatServer([strong], dialect=AnthropicDialect()) as one, ChatServer([cheap], dialect=GeminiDialect()) as two:
        chat = {
            "provider": "anthropic",
            "model": "strong-1",
            "base_url": one.base_url,
            "price_in": 3.0,
            "price_out": 15.0,
            "roles": {
                "rewrite": {
                    "provider": "gemini",
                    "model": "cheap-1",
                    "base_url": two.base_url,
                    "price_in": 0.1,
                    "price_out": 0.4,
                }
            },
        }
        opened = Tadasu.open(root, chat=chat)
        opened.sync.ingest(documents)
        yield opened
        opened.sync.close()


def told(run: Run) -> list[tuple[Stage, str, str, Tokens]]:
    return [
        (call.stage, call.provider, call.model, call.tokens) for call in run.calls if call.pricing is Pricing.PRICED
    ]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a54_the_strong_model_answers_and_the_cheap_one_is_shown_the_question_to_restate(
    tadasu: Tadasu, language: str
) -> None:
    first = tadasu.sync.ask(QUESTIONS[language])
    assert first.answer.status is AnswerStatus.ANSWERED
    assert told(first) == [(Stage.GENERATE, "anthropic", "strong-1", Tokens(900, 20))]
    assert total(first.calls).usd == pytest.approx((900 * 3 + 20 * 15) / 1e6)
    second = tadasu.sync.ask(FOLLOW_UPS[language], history=[first], session=first.session)
    assert second.query == STANDALONE[language]
    sent = json.dumps(REWRITING[-1], ensure_ascii=False)
    assert FOLLOW_UPS[language] in sent
    assert QUESTIONS[language] in sent
    assert not re.search(r"\{[a-z_]+\}", sent), "no place is left unfilled"
    assert told(second) == [
        (Stage.REWRITE, "gemini", "cheap-1", Tokens(200, 10)),
        (Stage.GENERATE, "anthropic", "strong-1", Tokens(900, 20)),
    ]
    assert ("12 kg" if language == "en" else "8 kg") in second.answer.text


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a65_streamed_and_not_the_cost_is_the_same(tadasu: Tadasu, language: str) -> None:
    heard: list[Event] = []
    streamed = tadasu.sync.ask(QUESTIONS[language], listen=heard.append)
    whole = tadasu.sync.ask(QUESTIONS[language])
    assert told(whole) == told(streamed)
    assert total(whole.calls) == total(streamed.calls)
    assert "".join(event.text for event in heard if isinstance(event, TextReleased)) == whole.answer.text


ENDS: dict[str, Act] = {
    "content_refused": Say("I cannot", finish="refusal"),
    "reply_empty": Say(""),
    "reply_truncated": Say("", finish="length"),
    "context_too_long": Fail(400, "Input is too long for requested model."),
    "provider_refused": Fail(403, "no access to the model"),
}


def test_what_is_no_answer_ends_in_quotations_and_is_told_by_name(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    create_workspace(tmp_path, "")
    acts = [act for act in ENDS.values() for _ in QUESTIONS]
    with ChatServer(acts, dialect=BedrockDialect()) as server:
        chat = {"provider": "bedrock", "model": "m", "base_url": server.base_url, "region": "us-east-1"}
        tadasu = Tadasu.open(tmp_path, chat=chat)
        tadasu.sync.ingest(documents)
        runs = {(code, language): tadasu.sync.ask(QUESTIONS[language]) for code in ENDS for language in QUESTIONS}
        tadasu.sync.close()
    assert len(server.requests) == len(runs), "none of them is tried again"
    for (code, language), run in runs.items():
        assert run.answer.status is AnswerStatus.ANSWERED
        assert ("36 months" if language == "en" else "24か月") in run.answer.text
        assert run.answer.warnings, "the reader is told that the model did not write this"
        [failed] = [call for call in run.calls if call.provider == "bedrock"]
        assert (failed.stage, failed.outcome) == (Stage.GENERATE, Outcome.FAILED)
        assert failed.error.startswith(f"{code}: ")
