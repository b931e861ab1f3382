"""Gemini on Vertex AI: the same protocol with a token of a Google account. `google-auth` is imported here only."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, Final

from tadasu.errors import ExtraMissing, KeyMissing, ProviderRefused, ProviderUnreachable
from tadasu.providers.chat_calls import StreamedChat
from tadasu.providers.gemini import GeminiWire, vertex_address
from tadasu.providers.registry import ChatSettings

try:
    import google.auth
    import google.auth.exceptions
    import google.auth.transport.urllib3
    import urllib3
except ImportError as _error:
    raise ExtraMissing(feature="the chat provider vertex", package="google-auth", extra="vertex") from _error

_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
VARIABLE: Final = "GOOGLE_APPLICATION_CREDENTIALS"


class GoogleTokens:
    """Tokens of the account that the environment names (a key file, `gcloud`, the machine's own), renewed in time."""

    __slots__ = ("_credentials", "_loop", "_renewing")

    def __init__(self) -> None:
        self._credentials: Any = None
        self._renewing = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def missing(self) -> str:
        """See `TokenSource`. Nobody outside is asked."""
        folder = Path(os.environ.get("CLOUDSDK_CONFIG") or Path.home() / ".config" / "gcloud")
        named = os.environ.get(VARIABLE, "").strip() or (folder / "application_default_credentials.json").is_file()
        return "" if named else VARIABLE

    async def token(self) -> str:
        """See `TokenSource`."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._renewing = loop, asyncio.Lock()
        async with self._renewing:
            if self._credentials is None or not self._credentials.valid:
                await asyncio.to_thread(self._renew)
            return str(self._credentials.token)

    def _renew(self) -> None:
        try:
            if self._credentials is None:
                self._credentials, _ = google.auth.default(scopes=[_SCOPE])
            with urllib3.PoolManager(retries=False) as pool:
                request: Any = google.auth.transport.urllib3.Request  # untyped
                self._credentials.refresh(request(pool))
        except google.auth.exceptions.DefaultCredentialsError as error:
            raise KeyMissing(provider="Vertex AI", variable=VARIABLE, setting="that account", billable=False) from error
        except google.auth.exceptions.TransportError as error:
            raise ProviderUnreachable(provider="Google's sign-in", reason=_said(error), billable=False) from error
        except google.auth.exceptions.GoogleAuthError as error:
            raise ProviderRefused(provider="Google's sign-in", reason=_said(error), billable=False) from error


def _said(error: Exception) -> str:
    return " ".join(str(error.args[0] if error.args else error).split())[:200] or type(error).__name__


def open_chat(settings: ChatSettings) -> StreamedChat:
    """The plugin's entry: a chat model for `settings` on Vertex AI. No network is touched before the first call."""
    return StreamedChat(GeminiWire(settings, address=vertex_address(settings), tokens=GoogleTokens()), settings)
