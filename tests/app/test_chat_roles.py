"""Which chat model does what: presets, roles, and what doctor says of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tadasu.answering.conversation import RestateByChat, restate_by_rules
from tadasu.answering.grading.llm import LlmGrader
from tadasu.app.chat import chat_settings
from tadasu.app.chat_findings import chat_findings
from tadasu.app.container import Container
from tadasu.app.correction import query_writer
from tadasu.app.estimates import paid_parts
from tadasu.app.findings import Finding, Health
from tadasu.app.grading import open_assessor
from tadasu.app.settings import Settings, load_settings
from tadasu.app.workspace import Workspace
from tadasu.core.usage import Outcome, Stage, Tokens
from tadasu.errors import ContextTooLong, ProviderUnreachable, SettingsInvalid
from tadasu.ports import ChatModel, Message
from tadasu.providers.presets import Structured
from tadasu.providers.prices import price_of
from tadasu.testing.chat_dialects import AnthropicDialect, LlamaCppDialect
from tadasu.testing.chat_server import Act, ChatServer, Fail, Fault, Say
from tadasu.testing.conformance.pairs import Book

TWO = """
[chat]
provider = "anthropic"
model = "claude-sonnet-4-5"
base_url = "{strong}"
key_variable = ""
price_in = 3
price_out = 15

[chat.roles.grade]
provider = "openai"
model = "cheap-1"
base_url = "{cheap}"
key_variable = ""
price_in = 0.1
price_out = 0.4

[chat.roles.rewrite]
model = "claude-haiku-4-5"
"""


def load(folder: Path, text: str) -> Settings:
    (folder / "tadasu.toml").write_text(text, "utf-8")
    return load_settings(folder / "tadasu.toml")


def container(folder: Path, text: str) -> Container:
    return Container(Workspace(folder), load(folder, text))


async def said(model: ChatModel | None, book: Book, stage: Stage) -> str:
    assert model is not None
    reply = model.stream([Message("user", "q")], max_tokens=20, temperature=0.0, ledger=book, stage=stage)
    return "".join([delta.text async for delta in reply])


@pytest.mark.parametrize(
    ("provider", "address", "variable"),
    [
        ("openai", "", "OPENAI_API_KEY"),
        ("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        ("holysheep", "https://api.holysheep.ai/v1", "HOLYSHEEP_API_KEY"),
        ("anthropic", "", "ANTHROPIC_API_KEY"),
        ("gemini", "", "GEMINI_API_KEY"),
        ("vertex", "", ""),
        ("bedrock", "", ""),
        ("llamacpp", "http://127.0.0.1:8080/v1", ""),
    ],
)
def test_a_preset_knows_the_address_and_the_variable_of_the_key(provider: str, address: str, variable: str) -> None:
    found = chat_settings(load_settings(None, chat={"provider": provider, "model": "m"}))
    assert (found.provider, found.base_url, found.key_variable) == (provider, address, variable)
    own = {"provider": provider, "model": "m", "base_url": "http://127.0.0.1:9", "key_variable": "MINE"}
    mine = chat_settings(load_settings(None, chat=own))
    assert (mine.base_url, mine.key_variable) == ("http://127.0.0.1:9", "MINE")


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-4.1-mini"),
        ("deepseek", "deepseek-chat"),
        ("anthropic", "claude-sonnet-4-5"),
        ("gemini", "gemini-2.5-flash"),
        ("vertex", "gemini-2.5-flash"),
        ("bedrock", "amazon.nova-lite-v1:0"),
    ],
)
def test_models_of_known_services_have_a_price(provider: str, model: str) -> None:
    price = price_of(
        Tokens(1000, 1000), chat_settings(load_settings(None, chat={"provider": provider, "model": model}))
    )
    assert price.usd is not None
    assert 0 < price.usd < 1


def test_holysheep_is_unpriced_until_its_prices_are_given() -> None:
    chat = {"provider": "holysheep", "model": "gpt-4.1"}
    assert price_of(Tokens(1000, 1000), chat_settings(load_settings(None, chat=chat))).usd is None
    prices = {"models": {"gpt-4.1": {"input": 2, "output": 8}}}
    told = price_of(Tokens(1000, 1000), chat_settings(load_settings(None, chat=chat, prices=prices)))
    assert told.usd == pytest.approx(0.01)


def test_a_role_takes_over_what_belongs_to_its_provider_and_nothing_else(tmp_path: Path) -> None:
    settings = load(tmp_path, TWO.format(strong="https://strong.example", cheap="https://cheap.example/v1"))
    answer, grade, rewrite, check = (chat_settings(settings, role) for role in ("answer", "grade", "rewrite", "check"))
    assert (answer.provider, answer.model, answer.price_in) == ("anthropic", "claude-sonnet-4-5", 3)
    assert (grade.provider, grade.model, grade.base_url) == ("openai", "cheap-1", "https://cheap.example/v1")
    assert (rewrite.provider, rewrite.model, rewrite.base_url) == (
        "anthropic",
        "claude-haiku-4-5",
        "https://strong.example",
    )
    assert rewrite.price_in is None, "the price of one model is not that of another"
    assert check == answer
    other = chat_settings(
        load_settings(
            None,
            chat={
                "provider": "vertex",
                "model": "m",
                "project": "p",
                "region": "r",
                "timeout_s": 7,
                "structured": "mode",
                "roles": {"grade": {"provider": "deepseek", "model": "deepseek-chat", "context_window": 9}},
            },
        ),
        "grade",
    )
    assert (other.project, other.region, other.structured, other.timeout_s) == ("", "", None, 7)
    assert (other.key_variable, other.context_window) == ("DEEPSEEK_API_KEY", 9)
    assert other.ways == (Structured.TOOL, Structured.MODE)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("provider", "deepseek"),
        ("model", "other"),
        ("base_url", "http://127.0.0.1:9/v1"),
        ("key_variable", "MINE"),
        ("timeout_s", 5.0),
        ("context_window", 1000),
        ("structured", "mode"),
        ("project", "p"),
        ("region", "r"),
    ],
)
def test_a74_every_setting_of_a_chat_model_changes_it_for_the_answer_and_for_a_role(key: str, value: object) -> None:
    plain = {"provider": "openai", "model": "m"}
    usual = chat_settings(load_settings(None, chat=plain))
    assert chat_settings(load_settings(None, chat={**plain, key: value})) != usual
    for_grading = load_settings(None, chat={**plain, "roles": {"grade": {"model": "m", key: value}}})
    assert chat_settings(for_grading, "grade") != usual
    assert chat_settings(for_grading) == usual


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[chat.roles.grades]\nmodel = "m"', "chat.roles"),
        ('[chat.roles.grade]\nmodell = "m"', r"chat\.roles\.grade\.modell is not a known setting"),
        ('[chat]\nstructured = "xml"', "chat.structured"),
        ("[chat]\ncontext_window = 0", "chat.context_window"),
    ],
)
def test_typing_mistakes_are_named(tmp_path: Path, text: str, key: str) -> None:
    with pytest.raises(SettingsInvalid, match=key):
        load(tmp_path, text)


@pytest.mark.enable_socket
async def test_the_cheap_model_grades_and_the_strong_one_answers(tmp_path: Path) -> None:
    with (
        ChatServer([Say("strong", usage=(1000, 100))], dialect=AnthropicDialect()) as strong,
        ChatServer([Say("cheap", usage=(1000, 100))]) as cheap,
    ):
        one = container(tmp_path, TWO.format(strong=strong.base_url, cheap=cheap.base_url))
        book = Book()
        assert await said(one.chat, book, Stage.GENERATE) == "strong"
        assert await said(one.chats.of("grade"), book, Stage.GRADE) == "cheap"
        assert await said(one.chats.of("rewrite"), book, Stage.REWRITE) == "strong"
        assert [(call.provider, call.model) for call in book.calls] == [
            ("anthropic", "claude-sonnet-4-5"),
            ("openai", "cheap-1"),
            ("anthropic", "claude-haiku-4-5"),
        ]
        assert book.calls[0].cost_usd == pytest.approx(0.0045)
        assert book.calls[1].cost_usd == pytest.approx(0.00014)
        assert one.chats.of("check") is one.chat, "equal settings share one model"
        assert one.chats.of("grade") is one.chats.of("grade")
        await one.close()


def test_graders_writers_and_restaters_get_the_model_of_their_role(tmp_path: Path) -> None:
    text = TWO.format(strong="http://127.0.0.1:9", cheap="http://127.0.0.1:9/v1") + "[grading]\nllm = true\n"
    one = container(tmp_path, text)
    grader = open_assessor(one)
    assert isinstance(grader, LlmGrader)
    assert "openai/cheap-1" in grader.id
    assert isinstance(one.restate, RestateByChat)
    assert one.restate._chat is one.chats.of("rewrite")
    writer = query_writer(one)
    assert writer is not None
    assert writer._chat is one.chats.of("rewrite")  # type: ignore[attr-defined]


def test_a_model_may_grade_where_none_answers(tmp_path: Path) -> None:
    one = container(tmp_path, '[chat.roles.grade]\nprovider = "llamacpp"\nmodel = "m"\n[grading]\nllm = true\n')
    assert one.chat is None
    assert one.restate is restate_by_rules
    assert isinstance(open_assessor(one), LlmGrader)


def test_estimates_count_each_role_at_its_own_price(tmp_path: Path) -> None:
    text = TWO.format(strong="https://strong.example", cheap="https://cheap.example/v1")
    parts = paid_parts(load(tmp_path, text + "[grading]\nllm = true\n"))
    assert set(parts) == {"anthropic/claude-sonnet-4-5", "openai/cheap-1", "anthropic/claude-haiku-4-5"}
    assert parts["anthropic/claude-haiku-4-5"] is None, "the price of [chat] is that of its own model"
    assert paid_parts(load(tmp_path, text), stages=frozenset({Stage.GRADE})) == {}


@pytest.mark.enable_socket
async def test_what_does_not_fit_the_window_is_not_sent_and_not_tried_again(tmp_path: Path) -> None:
    with ChatServer([Fail(400, "no")], dialect=LlamaCppDialect(window=128)) as server:
        one = container(tmp_path, f'[chat]\nprovider = "llamacpp"\nmodel = "m"\nbase_url = "{server.base_url}"\n')
        book = Book()
        assert one.chat is not None
        with pytest.raises(ContextTooLong):
            async for _ in one.chat.stream(
                [Message("user", "値" * 500)], max_tokens=20, temperature=0.0, ledger=book, stage=Stage.GENERATE
            ):
                pass
        assert (len(book.calls), server.requests) == (1, [])
        await one.close()


def by_check(found: list[Finding]) -> dict[str, Finding]:
    return {one.check: one for one in found}


@pytest.mark.enable_socket
async def test_doctor_tells_of_each_role_and_never_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-very-secret")
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    with ChatServer([Fail(500)], dialect=LlamaCppDialect(window=2048)) as server:
        one = container(
            tmp_path,
            '[chat]\nprovider = "anthropic"\nmodel = "claude-sonnet-4-5"\nbase_url = "http://127.0.0.1:9"\n'
            "price_in = 3\nprice_out = 15\n"
            f'[chat.roles.grade]\nprovider = "llamacpp"\nmodel = "test-model"\nbase_url = "{server.base_url}"\n'
            '[chat.roles.rewrite]\nprovider = "deepseek"\nmodel = "deepseek-chat"\n'
            '[chat.roles.check]\nprovider = "holysheep"\nmodel = "gpt-4.1"\n',
        )
        found = by_check(await chat_findings(one, network=True))
        assert server.requests == [], "nobody is asked for an answer"
    assert found["chat"].details["name"] == "anthropic/claude-sonnet-4-5"
    assert "not known" in found["window"].template, "the list knows models of Anthropic's own address only"
    assert found["reachable"].health is Health.ERROR
    assert (found["price"].details["taken"], found["price"].details["given"]) == ("$3.0000", "$15.0000")
    assert found["key"].details == {"variable": "ANTHROPIC_API_KEY"}
    assert found["grade.chat"].details["name"] == "llamacpp/test-model"
    assert found["grade.window"].details["tokens"] == "2,048"
    assert "costs nothing" in found["grade.price"].template
    assert found["grade.reachable"].health is Health.OK
    assert "grade.key" not in found
    assert found["rewrite.key"].health is Health.ERROR
    assert found["rewrite.key"].details["setting"] == "chat.roles.rewrite.key_variable"
    assert "rewrite.reachable" not in found
    assert found["check.price"].health is Health.WARNING
    assert found["check.window"].details["setting"] == "chat.roles.check.context_window"
    assert "k-very-secret" not in repr(found)


async def test_doctor_says_which_package_or_setting_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = by_check(await chat_findings(container(tmp_path, '[chat]\nprovider = "gemini"\n'), network=False))
    assert found["chat"].details == {"provider": "gemini", "setting": "chat.model"}
    text = '[chat.roles.grade]\nprovider = "vertex"\nmodel = "m"\n'
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    found = by_check(await chat_findings(container(tmp_path, text), network=False))
    assert "quotations" in found["chat"].template
    assert found["grade.chat"].details["key"] == "chat.project"
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.delitem(sys.modules, "tadasu.providers.bedrock", raising=False)
    text = '[chat]\nprovider = "bedrock"\nmodel = "amazon.nova-lite-v1:0"\n'
    found = by_check(await chat_findings(container(tmp_path, text), network=False))
    assert found["chat"].details["extra"] == "bedrock"


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    "act",
    [
        Fail(529, "Overloaded"),
        Fail(429, "slow down", headers={"retry-after": "0.01"}),
        Say("", cut_after=0, fault=Fault("Overloaded")),
    ],
)
async def test_overloads_and_limits_are_waited_out_by_the_scheduler(tmp_path: Path, act: Act) -> None:
    with ChatServer([act, Say("ok")], dialect=AnthropicDialect()) as server:
        text = (
            f'[chat]\nprovider = "anthropic"\nmodel = "m"\nbase_url = "{server.base_url}"\n[limits]\nbackoff_s = 0.01\n'
        )
        one = container(tmp_path, text)
        book = Book()
        assert await said(one.chat, book, Stage.GENERATE) == "ok"
        await one.close()
    assert [(call.attempt, call.outcome) for call in book.calls] == [(1, Outcome.FAILED), (2, Outcome.OK)]


@pytest.mark.enable_socket
async def test_what_was_shown_is_never_said_twice(tmp_path: Path) -> None:
    with ChatServer(
        [Say("one two three", cut_after=2, fault=Fault("Overloaded"))], dialect=AnthropicDialect()
    ) as server:
        text = f'[chat]\nprovider = "anthropic"\nmodel = "m"\nbase_url = "{server.base_url}"\n'
        one = container(tmp_path, text)
        with pytest.raises(ProviderUnreachable, match="Overloaded"):
            await said(one.chat, Book(), Stage.GENERATE)
        await one.close()
    assert len(server.requests) == 1
