"""Vertex AI with the real `google-auth`: a service account's file, its tokens from a server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tadasu.core.usage import Tokens
from tadasu.errors import KeyMissing, ProviderRefused, ProviderUnreachable, SettingsInvalid
from tadasu.providers.gemini import vertex_address
from tadasu.providers.registry import ChatSettings
from tadasu.providers.vertex import open_chat
from tadasu.testing.chat_dialects import GeminiDialect
from tadasu.testing.chat_server import ChatServer, Say
from tadasu.testing.conformance.chat import reply, said
from tadasu.testing.conformance.pairs import Book

pytestmark = pytest.mark.enable_socket


class SignIn:
    """Gives a token for a signed request, each time another; `status` other than 200 refuses."""

    def __init__(self) -> None:
        self.asked: list[dict[str, list[str]]] = []
        self.status = 200
        self.lasts = 3600
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
                """Say nothing."""

            def do_POST(self) -> None:
                outer.asked.append(parse_qs(self.rfile.read(int(self.headers["content-length"])).decode()))
                token = {"access_token": f"t-{len(outer.asked)}", "expires_in": outer.lasts, "token_type": "Bearer"}
                fault = {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
                data = json.dumps(token if outer.status == 200 else fault).encode()
                self.send_response(outer.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/token"


@pytest.fixture(scope="module")
def private_key() -> str:
    key = generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.fixture
def sign_in(tmp_path: Path, private_key: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[SignIn]:
    server = SignIn()
    account = {
        "type": "service_account",
        "project_id": "p-1",
        "private_key_id": "1",
        "private_key": private_key,
        "client_email": "robot@p-1.example",
        "token_uri": server.address,
    }
    file = tmp_path / "account.json"
    file.write_text(json.dumps(account), "utf-8")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    thread = threading.Thread(target=server.http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()
    server.http.server_close()


def settings(base_url: str = "") -> ChatSettings:
    return ChatSettings(
        provider="vertex", model="gemini-2.5-flash", base_url=base_url, project="p-1", region="asia-northeast1"
    )


async def test_it_signs_in_once_and_asks_with_the_token(sign_in: SignIn) -> None:
    with ChatServer([Say("保証は 36 か月です。")], dialect=GeminiDialect(vertex=True)) as server:
        chat = open_chat(settings(server.base_url))
        for _ in range(2):
            assert said(await reply(chat, Book())) == "保証は 36 か月です。"
        await chat.close()
    assert [one["authorization"] for one in server.headers] == ["Bearer t-1", "Bearer t-1"]
    assert "assertion" in sign_in.asked[0]
    assert chat.missing_key == ""


async def test_a_token_that_has_run_out_is_made_anew(sign_in: SignIn) -> None:
    sign_in.lasts = 1
    with ChatServer([Say("ok")], dialect=GeminiDialect(vertex=True)) as server:
        chat = open_chat(settings(server.base_url))
        await reply(chat, Book())
        await reply(chat, Book())
        await chat.close()
    assert [one["authorization"] for one in server.headers] == ["Bearer t-1", "Bearer t-2"]


async def test_an_account_that_is_refused_a_silent_sign_in_and_no_account_are_told_apart(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    book = Book()
    sign_in.status = 400
    with pytest.raises(ProviderRefused, match="Invalid JWT Signature"):
        await reply(open_chat(settings()), book)
    sign_in.http.server_close()
    with pytest.raises(ProviderUnreachable, match="sign-in"):
        await reply(open_chat(settings()), book)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "nowhere.json"))
    with pytest.raises(KeyMissing, match="GOOGLE_APPLICATION_CREDENTIALS"):
        await reply(open_chat(settings()), book)
    assert [call.tokens for call in book.calls] == [Tokens()] * 3, "nothing was asked, nothing is paid for"


def test_the_address_is_made_of_project_region_and_model(monkeypatch: pytest.MonkeyPatch) -> None:
    where = "v1/projects/p-1/locations/asia-northeast1/publishers/google/models/gemini-2.5-flash:streamGenerateContent"
    assert vertex_address(settings()) == f"https://asia-northeast1-aiplatform.googleapis.com/{where}"
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p-2")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "global")
    bare = ChatSettings(provider="vertex", model="publishers/other/models/m")
    assert vertex_address(bare) == (
        "https://aiplatform.googleapis.com/v1/projects/p-2/locations/global/publishers/other/models/m:streamGenerateContent"
    )
    for variable, key in (("GOOGLE_CLOUD_LOCATION", "chat.region"), ("GOOGLE_CLOUD_PROJECT", "chat.project")):
        monkeypatch.delenv(variable)
        with pytest.raises(SettingsInvalid, match=key):
            open_chat(bare)


def test_without_an_account_doctor_is_told_where_to_name_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    assert open_chat(settings()).missing_key == "GOOGLE_APPLICATION_CREDENTIALS"
    (tmp_path / "application_default_credentials.json").write_text("{}", "utf-8")
    assert open_chat(settings()).missing_key == ""
