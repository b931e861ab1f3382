"""Server-sent events whose data is JSON, as chat services stream them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any

from tadasu.errors import ProviderError, ReplyMalformed
from tadasu.providers.chat_faults import fault_of
from tadasu.providers.http import HttpRefusal, JsonService

_FIELDS = ("event:", "id:", "retry:", ":")


async def events(lines: AsyncIterator[str], *, provider: str) -> AsyncGenerator[Mapping[str, Any], None]:
    """The JSON objects of a stream's events, in order; ``[DONE]``, comments and other fields are left out.

    A reply that is no event stream but JSON, pretty or not (some services answer so where they could not begin to
    stream), is read as one object, or as the objects of its list.

    Raises:
        ReplyMalformed: an event, or the whole reply, is no JSON object.
    """
    data: list[str] = []
    loose: list[str] = []
    async for line in lines:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line:
            if data and (found := _object("\n".join(data), provider)) is not None:
                yield found
            data.clear()
        elif not line.startswith(_FIELDS):
            loose.append(line)
    if data and (found := _object("\n".join(data), provider)) is not None:
        yield found
    if loose:
        for one in _objects("\n".join(loose), provider):
            yield one


async def streamed_events(
    service: JsonService,
    body: Mapping[str, object],
    *,
    model: str,
    idle_s: float,
    headers: Mapping[str, str] | None = None,
) -> AsyncGenerator[Mapping[str, Any], None]:
    """The events of the reply to `body`; a refusal as the error of `fault_of`. See `JsonService.lines` for the rest."""
    lines = service.lines(body, idle_s=idle_s, headers=headers)
    found = events(lines, provider=service.name)
    try:
        async for event in found:
            yield event
    except HttpRefusal as refusal:
        raise refused(service, refusal, model=model) from refusal
    finally:
        await found.aclose()
        await lines.aclose()


def refused(service: JsonService, refusal: HttpRefusal, *, model: str) -> ProviderError:
    """The refusal of a service as an error of ours."""
    kind, wait = "", refusal.retry_after_s
    try:
        body = json.loads(refusal.data)
    except (ValueError, RecursionError):
        body = {}
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict):
        kind = kind_of(body.get("error", body))
        wait = wait if wait is not None else retry_delay(body.get("error"))
    return fault_of(service.name, model, message=refusal.said, status=refusal.status, kind=kind, retry_after_s=wait)


def kind_of(error: object) -> str:
    """The service's own word for a fault: a status, a type or a code that is a word."""
    if not isinstance(error, Mapping):
        return ""
    words = (error.get(name) for name in ("status", "code", "type"))
    return next((word for word in words if isinstance(word, str) and word and not word.isdigit()), "")


def retry_delay(error: object) -> float | None:
    """The wait in s that Google's services put into an error's details, ``"retryDelay": "37s"``; else None."""
    details = error.get("details") if isinstance(error, Mapping) else None
    for detail in details if isinstance(details, list) else ():
        said = detail.get("retryDelay") if isinstance(detail, Mapping) else None
        if isinstance(said, str) and said.endswith("s"):
            try:
                return max(0.0, float(said[:-1]))
            except ValueError:
                return None
    return None


def _object(text: str, provider: str) -> Mapping[str, Any] | None:
    if text.strip() == "[DONE]":
        return None
    found = _parsed(text, provider)
    if not isinstance(found, dict):
        raise ReplyMalformed(provider=provider, reason="an event of the stream is no JSON object")
    return found


def _objects(text: str, provider: str) -> list[Mapping[str, Any]]:
    found = _parsed(text, provider)
    listed = found if isinstance(found, list) else [found]
    objects: list[Mapping[str, Any]] = [one for one in listed if isinstance(one, dict)]
    if len(objects) < len(listed):
        raise ReplyMalformed(provider=provider, reason="the reply is no event stream")
    return objects


def _parsed(text: str, provider: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReplyMalformed(provider=provider, reason="an event of the stream is no JSON") from error
