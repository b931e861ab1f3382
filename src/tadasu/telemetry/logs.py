"""Log lines as JSON, one object a line, each with its run and its trace, and secrets taken out of it."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, TextIO

import structlog
from structlog.stdlib import ExtraAdder, ProcessorFormatter

from tadasu.telemetry.context import current_run, current_trace, trace_id_of

HIDDEN = "***"
_SHORTEST_SECRET = 6
"""Characters. A shorter value would be found inside ordinary words."""

_SECRET_NAME = re.compile(
    r"(?i)(^|[_.-])(api_?key|authorization|cookie|credentials?|passw(or)?d|secret|access_token)($|[_.-])"
)
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{6,}"), rf"\1 {HIDDEN}"),
    (re.compile(r"(\w://)[^/\s@:]*:[^/\s@]+@"), rf"\1{HIDDEN}@"),
    (re.compile(r"\bsk-[\w-]{8,}"), HIDDEN),
    (re.compile(r"(?i)([?&](?:api_?key|key|token|access_token|sig|signature)=)[^&\s\"']+"), rf"\1{HIDDEN}"),
)


class Redaction:
    """Takes secrets out of what is about to be written: known values, and whatever looks like one.

    >>> redact = Redaction(["hunter2hunter2"])
    >>> redact("no hunter2hunter2 in redis://:pw@cache:6379, nor Bearer abcdef123")
    'no *** in redis://***@cache:6379, nor Bearer ***'
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {secret.strip() for secret in secrets}
        # The longest first: one secret may begin like another.
        self._known = sorted((one for one in known if len(one) >= _SHORTEST_SECRET), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """`text` without secrets."""
        for secret in self._known:
            text = text.replace(secret, HIDDEN)
        for pattern, instead in _PATTERNS:
            text = pattern.sub(instead, text)
        return text

    def everywhere(self, value: Any) -> Any:
        """`value` without secrets, however deep they sit; what is no plain value becomes text."""
        if isinstance(value, Mapping):
            return {
                self(str(name)): HIDDEN if _SECRET_NAME.search(str(name)) else self.everywhere(inner)
                for name, inner in value.items()
            }
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self.everywhere(inner) for inner in value]
        if value is None or isinstance(value, (bool, int, float)):
            return value
        return self(str(value))


class JsonLogs:
    """Writes what a logger and all below it say to `stream`, from INFO on, until closed."""

    def __init__(self, stream: TextIO, *, redact: Redaction, logger: str = "tadasu") -> None:
        self._logger = logging.getLogger(logger)
        self._before = (self._logger.level, self._logger.propagate)
        self._handler = logging.StreamHandler(stream)
        self._handler.setFormatter(_formatter(redact))
        self._logger.addHandler(self._handler)
        self._logger.setLevel(logging.INFO)
        # Else whoever has set up logging for the whole program would write every line a second time.
        self._logger.propagate = False

    def close(self) -> None:
        """Leave the logger as it was."""
        self._handler.flush()
        self._logger.removeHandler(self._handler)
        self._logger.setLevel(self._before[0])
        self._logger.propagate = self._before[1]


def _formatter(redact: Redaction) -> ProcessorFormatter:
    def hide(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
        cleaned: Mapping[str, Any] = redact.everywhere(event)
        return cleaned

    return ProcessorFormatter(
        foreign_pre_chain=[
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            ExtraAdder(),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _place,
        ],
        processors=[
            ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            hide,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
    )


def _place(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    run_id = str(event.get("run_id") or current_run())
    event["run_id"] = run_id or None
    event["trace_id"] = current_trace() or (trace_id_of(run_id) if run_id else None)
    return event
