"""Amazon Bedrock's Converse API, streamed, through boto3 in threads of its own. boto3 is imported here only."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from tadasu.core.usage import Tokens
from tadasu.errors import (
    ExtraMissing,
    KeyMissing,
    ProviderError,
    ProviderRefused,
    ProviderUnreachable,
    ReplyMalformed,
    SettingsInvalid,
)
from tadasu.ports import ChatDelta, Message
from tadasu.providers.chat_calls import LENGTH, OVERFLOW, REFUSAL, STOP, StreamedChat, form_of, turns
from tadasu.providers.chat_faults import fault_of
from tadasu.providers.http import deepest_cause, retry_after
from tadasu.providers.presets import Structured
from tadasu.providers.registry import ChatSettings

try:
    import boto3
    import botocore.exceptions
    import botocore.loaders
    import botocore.session
    import urllib3.exceptions
    from botocore.config import Config
    from botocore.eventstream import ParserError
except ImportError as _error:
    raise ExtraMissing(feature="the chat provider bedrock", package="boto3", extra="bedrock") from _error

T = TypeVar("T")
VARIABLE: Final = "AWS_ACCESS_KEY_ID"
_OWN_KEY: Final = "AWS_BEARER_TOKEN_BEDROCK"
_ACCOUNTS: Final = (
    VARIABLE,
    _OWN_KEY,
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
"""What may name an account in the environment."""
_DESCRIPTIONS: Final = botocore.loaders.Loader()
"""What boto3 knows of the services: read once for all clients, which takes most of half a second."""
_CONNECT_S: Final = 10.0
_THREADS: Final = 50
"""As many calls at the same time; the scheduler allows fewer."""
_ENDS: Final = {
    "end_turn": STOP,
    "stop_sequence": STOP,
    "tool_use": STOP,
    "max_tokens": LENGTH,
    "model_context_window_exceeded": OVERFLOW,
    "guardrail_intervened": REFUSAL,
    "content_filtered": REFUSAL,
}
_BROKEN: Final = (
    urllib3.exceptions.HTTPError,
    botocore.exceptions.HTTPClientError,
    botocore.exceptions.ConnectionError,
    OSError,
)


class BedrockWire:
    """The protocol: the events of ``ConverseStream``. boto3 makes one attempt, signs it and reads the framing."""

    def __init__(self, settings: ChatSettings) -> None:
        self._settings = settings
        self._client: Any = None
        self._threads: ThreadPoolExecutor | None = None
        self._opening = threading.Lock()
        self._forms = Structured.TOOL in settings.ways
        """Whether the model takes tools; some turn them down."""
        self._warm = True
        """Whether it takes a temperature; some turn it down."""

    @property
    def name(self) -> str:
        """See `Wire`."""
        return self._settings.base_url or "Amazon Bedrock"

    @property
    def missing_key(self) -> str:
        """See `Wire`. Nobody outside is asked."""
        files = (os.environ.get(name) for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"))
        places = [Path(file) for file in files if file] + [
            Path.home() / ".aws" / name for name in ("credentials", "config")
        ]
        named = any(os.environ.get(name, "").strip() for name in _ACCOUNTS)
        return "" if named or any(place.is_file() for place in places) else VARIABLE

    async def window(self) -> int | None:
        """The service is not asked: the price list knows."""
        return None

    async def close(self) -> None:
        """See `Wire`."""
        client, self._client = self._client, None
        threads, self._threads = self._threads, None
        if client is not None:
            await asyncio.to_thread(client.close)
        if threads is not None:
            threads.shutdown(wait=False)

    async def pieces(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float
    ) -> AsyncGenerator[ChatDelta, None]:
        """See `Wire`."""
        while True:
            asked = self._request(messages, max_tokens=max_tokens, temperature=temperature)
            if self._threads is None:
                # Of its own: replies that are waited for must not take the threads that others need.
                self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="bedrock")
            call = _Call(partial(self._begin, asked), self._threads)
            try:
                await call.run(call.begin)
                while (event := await call.run(call.next)) is not None:
                    for delta in self._deltas(event):
                        yield delta
            except ProviderRefused as error:
                if error.details.get("status") != 400 or not self._learnt(str(error).lower(), asked):
                    raise
            else:
                return
            finally:
                call.close()

    def _learnt(self, told: str, asked: Mapping[str, Any]) -> bool:
        """Whether the refusal names something that can be left out, which it is from now on."""
        if self._warm and "temperature" in told:
            self._warm = False
            return True
        if "toolConfig" in asked and "tool" in told:
            self._forms = False
            return True
        return False

    def _request(self, messages: Sequence[Message], *, max_tokens: int, temperature: float) -> dict[str, Any]:
        system, said = turns(messages)
        request: dict[str, Any] = {
            "modelId": self._settings.model,
            "messages": [{"role": message.role, "content": [{"text": message.content}]} for message in said],
            "inferenceConfig": {"maxTokens": max_tokens, **({"temperature": temperature} if self._warm else {})},
        }
        if system:
            request["system"] = [{"text": system}]
        asking = form_of(messages)
        if asking is not None and asking.form is not None and self._forms:
            form = asking.form
            schema = {"json": dict(form.schema)}
            tool = {"toolSpec": {"name": form.name, "description": "Takes the reply.", "inputSchema": schema}}
            request["toolConfig"] = {"tools": [tool], "toolChoice": {"tool": {"name": form.name}}}
        return request

    def _begin(self, request: Mapping[str, Any]) -> _Events:
        """The event stream of the reply; blocking."""
        with self._faults(begun=False):
            with self._opening:
                if self._client is None:
                    self._client = self._connect()
                client = self._client
            return _Events(client.converse_stream(**request)["stream"], lambda: self._faults(begun=True))

    def _connect(self) -> Any:
        settings = self._settings
        core = botocore.session.Session()
        core.register_component("data_loader", _DESCRIPTIONS)
        session = boto3.session.Session(botocore_session=core)
        # A key of Bedrock's own needs no account.
        if not os.environ.get(_OWN_KEY, "").strip() and session.get_credentials() is None:
            raise KeyMissing(provider=self.name, variable=VARIABLE, setting="the AWS account", billable=False)
        return session.client(
            "bedrock-runtime",
            # boto3 itself reads AWS_DEFAULT_REGION and the profile; AWS_REGION is what other tools of AWS read.
            region_name=settings.region or os.environ.get("AWS_REGION", "").strip() or None,
            endpoint_url=settings.base_url or None,
            config=Config(
                retries={"total_max_attempts": 1},
                connect_timeout=min(_CONNECT_S, settings.timeout_s),
                read_timeout=settings.timeout_s,
                max_pool_connections=_THREADS,
            ),
        )

    def _deltas(self, event: Mapping[str, Any]) -> Iterator[ChatDelta]:
        try:
            if "contentBlockDelta" in event:
                delta = event["contentBlockDelta"].get("delta") or {}
                text = delta.get("text") or (delta.get("toolUse") or {}).get("input") or ""
                if text:
                    yield ChatDelta(text=text)
            elif "messageStop" in event:
                why = str(event["messageStop"].get("stopReason") or "")
                yield ChatDelta(finish=_ENDS.get(why, why))
            elif "metadata" in event:
                usage = event["metadata"].get("usage") or {}
                if "inputTokens" in usage:
                    cached = usage.get("cacheReadInputTokens", 0) + usage.get("cacheWriteInputTokens", 0)
                    yield ChatDelta(tokens=Tokens(usage["inputTokens"] + cached, usage.get("outputTokens", 0)))
        except (AttributeError, TypeError) as error:
            reason = f"an event has another form: {type(error).__name__}"
            raise ReplyMalformed(provider=self.name, reason=reason) from error

    @contextmanager
    def _faults(self, *, begun: bool) -> Iterator[None]:
        """What boto3 raises, as errors of ours. Its messages hold no key."""
        name = self.name
        try:
            yield
        except botocore.exceptions.NoRegionError as error:
            reason = "is not set, nor is the environment variable AWS_REGION; Amazon Bedrock needs it"
            raise SettingsInvalid(where="tadasu.toml", key="chat.region", reason=reason, billable=False) from error
        except (botocore.exceptions.NoCredentialsError, botocore.exceptions.PartialCredentialsError) as error:
            raise KeyMissing(provider=name, variable=VARIABLE, setting="the AWS account", billable=False) from error
        except botocore.exceptions.ClientError as error:
            raise self._refusal(error, begun=begun) from error
        except (botocore.exceptions.ReadTimeoutError, botocore.exceptions.ConnectTimeoutError) as error:
            unsent = isinstance(error, botocore.exceptions.ConnectTimeoutError)
            reason = f"no answer within {self._settings.timeout_s:g} s"
            raise ProviderUnreachable(provider=name, reason=reason, billable=not unsent) from error
        except _BROKEN as error:
            reason = "the reply broke off" if begun else deepest_cause(error)
            raise ProviderUnreachable(provider=name, reason=reason, billable=begun) from error
        except (ParserError, botocore.exceptions.ParamValidationError, ValueError, KeyError) as error:
            if isinstance(error, botocore.exceptions.ParamValidationError):
                reason = " ".join(str(error).split())[:200]
                raise ProviderRefused(provider=name, reason=reason, billable=False) from error
            raise ReplyMalformed(
                provider=name, reason=f"the event stream cannot be read: {type(error).__name__}"
            ) from error
        except botocore.exceptions.BotoCoreError as error:
            reason = " ".join(str(error).split())[:200]
            raise ProviderRefused(provider=name, reason=reason, billable=False) from error

    def _refusal(self, error: Any, *, begun: bool) -> ProviderError:
        said, about = error.response.get("Error") or {}, error.response.get("ResponseMetadata") or {}
        headers = about.get("HTTPHeaders") or {}
        return fault_of(
            self.name,
            self._settings.model,
            message=_without_keys(str(said.get("Message") or said.get("message") or "")),
            status=None if begun else about.get("HTTPStatusCode"),
            kind=str(said.get("Code") or ""),
            retry_after_s=retry_after(headers.get("retry-after")),
            begun=begun,
        )


def _without_keys(text: str) -> str:
    """`text` without what the environment holds of keys."""
    for name in (VARIABLE, "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", _OWN_KEY):
        secret = os.environ.get(name, "").strip()
        text = text.replace(secret, "…") if secret else text
    return text


class _Events:
    """The events of one reply, one after the other; `close` ends a read that is under way in another thread."""

    __slots__ = ("_events", "_faults", "_stream")

    def __init__(self, stream: Any, faults: Callable[[], Any]) -> None:
        self._stream = stream
        self._events = iter(stream)
        self._faults = faults

    def next(self) -> Mapping[str, Any] | None:
        """The next one; None at the end. Blocking."""
        with self._faults():
            return next(self._events, None)

    def close(self) -> None:
        """Give the connection back, from whichever thread."""
        raw = getattr(self._stream, "_raw_stream", None)
        with suppress(Exception):  # an ended connection cannot be shut down, and how it says so is the library's
            raw.shutdown()  # type: ignore[union-attr]
        with suppress(Exception):
            self._stream.close()


class _Call:
    """One blocking call in threads, that can be left at any moment."""

    __slots__ = ("_begin", "_events", "_left", "_lock", "_threads")

    def __init__(self, begin: Callable[[], _Events], threads: ThreadPoolExecutor) -> None:
        self._begin = begin
        self._threads = threads
        self._events: _Events | None = None
        self._left = False
        self._lock = threading.Lock()

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` gives, from a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def begin(self) -> None:
        """Send the request and wait for its first bytes; blocking."""
        events = self._begin()
        with self._lock:
            self._events = events
            left = self._left
        if left:
            events.close()

    def next(self) -> Mapping[str, Any] | None:
        """The next event; blocking."""
        return self._events.next() if self._events is not None else None

    def close(self) -> None:
        """Leave the call: what is under way ends, also where it has not begun to answer."""
        with self._lock:
            self._left = True
            events = self._events
        if events is not None:
            events.close()


def open_chat(settings: ChatSettings) -> StreamedChat:
    """The plugin's entry: a chat model for `settings`. No network is touched before the first call."""
    return StreamedChat(BedrockWire(settings), settings)
