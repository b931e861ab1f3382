from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tadasu.app.chat import chat_settings
from tadasu.app.discovery import find_keys, find_servers
from tadasu.app.reachability import ask_for_models
from tadasu.app.settings import load_settings
from tadasu.errors import ProviderRefused, ProviderUnreachable, SettingsInvalid


@contextmanager
def serving(
    replies: dict[str, bytes], *, status: int = 200, wait: float = 0.0
) -> Iterator[tuple[int, list[dict[str, str]]]]:
    """A real HTTP server on the loopback that answers `replies`; yields its port and the headers it was sent."""
    heard: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append({"path": self.path, **{name.lower(): value for name, value in self.headers.items()}})
            time.sleep(wait)
            body = replies.get(self.path)
            self.send_response(404 if body is None else status)
            self.end_headers()
            with suppress(BrokenPipeError):  # a client that lost its patience
                self.wfile.write(body or b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1], heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


OLLAMA = {"/api/tags": json.dumps({"models": [{"name": "llama3.2:3b"}, {"name": "qwen3:4b"}]}).encode()}
LLAMA_CPP = {"/v1/models": json.dumps({"data": [{"id": "gemma.gguf"}]}).encode()}


def test_keys_are_found_by_name_and_never_read_out() -> None:
    found = find_keys({"OPENAI_API_KEY": "sk-secret", "DEEPSEEK_API_KEY": "  ", "PATH": "/bin"})
    assert [one.what for one in found] == ["OpenAI"]
    assert found[0].where == "$OPENAI_API_KEY"
    assert found[0].settings["chat.key_variable"] == "OPENAI_API_KEY"
    assert "sk-secret" not in repr(found)


def test_services_are_proposed_by_their_own_names() -> None:
    names = ("DEEPSEEK_API_KEY", "HOLYSHEEP_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
    found = {one.settings["chat.provider"]: one for one in find_keys(dict.fromkeys(names, "k"))}
    assert list(found) == ["deepseek", "holysheep", "anthropic", "gemini"]
    for provider, one in found.items():
        settings = load_settings(None, chat={"provider": provider, "model": "m"})
        assert chat_settings(settings).key_variable == one.settings["chat.key_variable"]


def test_servers_on_this_machine_are_found_with_their_models() -> None:
    with serving(OLLAMA) as (ollama, _), serving(LLAMA_CPP) as (llama, _):
        found = find_servers(ollama_port=ollama, llama_cpp_port=llama)
    assert [one.what for one in found] == ["Ollama", "llama.cpp"]
    assert found[0].models == ("llama3.2:3b", "qwen3:4b")
    assert found[0].settings == {
        "chat.provider": "openai",
        "chat.base_url": f"http://127.0.0.1:{ollama}/v1",
        "chat.key_variable": "",
        "chat.model": "llama3.2:3b",
    }
    assert (found[1].settings["chat.provider"], found[1].settings["chat.model"]) == ("llamacpp", "gemma.gguf")


def test_nothing_listening_is_nothing_found() -> None:
    assert find_servers(ollama_port=closed_port(), llama_cpp_port=closed_port()) == ()


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"models": 3}', b'{"models": null}', b"\xff", b""])
def test_another_program_on_the_port_is_not_taken_for_one(body: bytes) -> None:
    with serving({"/api/tags": body, "/v1/models": body}) as (port, _):
        assert find_servers(ollama_port=port, llama_cpp_port=port) == ()


def test_a_server_that_does_not_answer_in_time_is_left_alone() -> None:
    with serving(OLLAMA | LLAMA_CPP, wait=0.5) as (port, _):
        began = time.monotonic()
        assert find_servers(ollama_port=port, llama_cpp_port=port, timeout=0.05) == ()
        assert time.monotonic() - began < 0.45


def test_a_service_that_lists_the_model_is_fine_and_gets_the_key() -> None:
    with serving({"/v1/models": LLAMA_CPP["/v1/models"]}) as (port, heard):
        address = f"http://127.0.0.1:{port}/v1"
        assert ask_for_models(address, "gemma.gguf", "sk-1").health.value == "ok"
        assert heard[0]["authorization"] == "Bearer sk-1"
        other = ask_for_models(address, "gpt-9", "")
        assert other.health.value == "warning"
        assert other.details["few"] == "gemma.gguf"
        assert "authorization" not in heard[1]


@pytest.mark.parametrize(
    ("provider", "path", "listed", "header"),
    [
        ("anthropic", "/v1/models?limit=1000", {"data": [{"type": "model", "id": "m-1"}]}, "x-api-key"),
        ("gemini", "/v1beta/models?pageSize=1000", {"models": [{"name": "models/m-1"}]}, "x-goog-api-key"),
    ],
)
def test_each_service_is_asked_in_its_own_manner(
    provider: str, path: str, listed: dict[str, object], header: str
) -> None:
    with serving({path: json.dumps(listed).encode()}) as (port, heard):
        address = f"http://127.0.0.1:{port}"
        assert ask_for_models(address, "m-1", "k-1", provider=provider).health.value == "ok"
        assert ask_for_models(address, "m-2", "k-1", provider=provider).details["few"] == "m-1"
    assert heard[0][header] == "k-1"
    assert "authorization" not in heard[0]


def test_a_refused_key_a_fault_and_silence_are_told_apart() -> None:
    with serving({"/models": b"{}"}, status=401) as (port, _), pytest.raises(ProviderRefused):
        ask_for_models(f"http://127.0.0.1:{port}", "m", "bad")
    with serving({"/models": b"{}"}, status=503) as (port, _), pytest.raises(ProviderUnreachable):
        ask_for_models(f"http://127.0.0.1:{port}", "m", "")
    with pytest.raises(ProviderUnreachable):
        ask_for_models(f"http://127.0.0.1:{closed_port()}", "m", "")
    with pytest.raises(SettingsInvalid):
        ask_for_models("ftp://x", "m", "")
