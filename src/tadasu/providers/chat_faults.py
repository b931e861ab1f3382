"""What chat services say when they say no, in the words of each of them, as errors of ours."""

from __future__ import annotations

import re

from tadasu.errors import (
    ContentRefused,
    ContextTooLong,
    ProviderError,
    ProviderLimited,
    ProviderRefused,
    ProviderUnreachable,
)

_TOO_LONG = re.compile(
    r"context[_ ]length[_ ]exceeded|maximum context length|exceeds? (?:the )?(?:available |model'?s? )?context"
    r"|exceed[_ ]context[_ ]size|context[_ ](?:window|size|limit)\w* (?:is |was |has been )?exceeded"
    r"|(?:prompt|input|request) (?:is )?too (?:long|large)|too many (?:input |total )?tokens"
    r"|input token count .{0,40}exceeds|exceeds the maximum number of (?:input )?tokens"
    r"|exceed context limit|request_too_large|longer than the context",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"content[_ ](?:filter|policy|management)|responsible ?ai|safety system|guardrail", re.IGNORECASE
)
_SPENT = frozenset({"insufficient_quota", "billing_error", "servicequotaexceededexception", "billing_not_active"})
_LIMITED = frozenset(
    {
        "rate_limit_error", "rate_limit_exceeded", "too_many_requests", "resource_exhausted",
        "throttlingexception", "modelnotreadyexception", "toomanyrequestsexception",
    }
)  # fmt: skip
_FAULTS = frozenset(
    {
        "overloaded_error", "api_error", "timeout_error", "server_error", "internal_error", "internal", "unavailable",
        "deadline_exceeded", "service_unavailable", "unavailable_error", "aborted", "internalserverexception",
        "serviceunavailableexception", "modelstreamerrorexception", "modeltimeoutexception",
    }
)  # fmt: skip
_LONGEST = 200


def fault_of(
    provider: str,
    model: str,
    *,
    message: str,
    status: int | None = None,
    kind: str = "",
    retry_after_s: float | None = None,
    begun: bool = False,
) -> ProviderError:
    """The error for what a service said.

    Args:
        provider: as it is shown.
        model: whose window it is.
        message: the service's words, without any key.
        status: of HTTP; None within a stream.
        kind: the service's own word for the fault (``rate_limit_error``, ``RESOURCE_EXHAUSTED``, …).
        retry_after_s: the wait asked for.
        begun: a reply had begun, so the call is paid for.
    """
    said = " ".join(message.split())[:_LONGEST] or kind or "no reason given"
    reason = f"HTTP {status}: {said}" if status is not None else f"fault within the reply: {said}"
    details: dict[str, object] = {"provider": provider, "reason": reason, "billable": begun}
    if status is not None:
        details["status"] = status
    word = kind.lower()
    limited = status == 429 or word in _LIMITED
    if word in _SPENT:
        return ProviderRefused(**details)
    if limited:
        return ProviderLimited(**details, retry_after_s=retry_after_s)
    if _TOO_LONG.search(f"{kind} {message}"):
        return ContextTooLong(**details, model=model)
    if status is not None and 300 <= status < 400:
        return ProviderRefused(**{**details, "reason": f"HTTP {status}: it redirects, which is not followed"})
    if status in (408, 409, 424) or (word in _FAULTS if status is None else status >= 500):
        return ProviderUnreachable(**details, retry_after_s=retry_after_s)
    if _DECLINED.search(f"{kind} {message}"):
        return ContentRefused(**details)
    # Within a stream that had begun, the request itself was fine: whatever it is, it is the service's fault.
    return ProviderUnreachable(**details) if status is None else ProviderRefused(**details)
