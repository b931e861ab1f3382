"""Values as JSON: field names are the keys, so that what is documented in `core` is what scripts read."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tadasu.core.answers import CheckedSentence, Citation, Evidence
    from tadasu.core.runs import Run
    from tadasu.errors import TadasuError


def jsonable(value: Any) -> Any:
    """`value` with dataclasses as objects, enums by value, sets sorted, and numbers that JSON has no word for as null.

    >>> from tadasu.core.documents import Span
    >>> jsonable(Span(1, 4)), jsonable(frozenset({"b", "a"})), jsonable(float("nan"))
    ({'start': 1, 'end': 4}, ['a', 'b'], None)
    """
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(jsonable(item) for item in value)
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value) if isinstance(value, Path) else value


def to_text(value: Any, *, indent: int | None = 2) -> str:
    """`value` as a JSON text, non-ASCII letters as they are; half surrogates, which UTF-8 cannot hold, escaped."""
    text = json.dumps(jsonable(value), ensure_ascii=False, indent=indent, allow_nan=False)
    return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text)


def error_object(error: TadasuError, *, message: str = "", hint: str = "") -> dict[str, Any]:
    """The inside of ``{"error": …}``: code, message, hint."""
    return {"code": error.code, "message": message or str(error), "hint": hint or error.hint}


def answer_object(run: Run) -> dict[str, Any]:
    """What `tadasu ask --json` prints: the answer, where it comes from, how it came about, what it cost."""
    answer = run.answer
    return {
        "run": run.id,
        "question": run.question,
        "query": run.query,
        "language": run.language,
        "status": answer.status.value,
        "reason": answer.reason.value if answer.reason is not None else None,
        "answer": answer.text,
        "citations": [citation_object(citation) for citation in answer.citations],
        "unsupported": [unsupported_object(one) for one in answer.unsupported],
        "evidence": [evidence_object(item) for item in run.evidence],
        "verdicts": [one.verdict.value for one in run.rounds],
        "actions": [{"kind": one.action.kind.value, "reason": one.action.reason} for one in run.rounds],
        "stop_reason": run.stop_reason,
        "warnings": [*run.warnings, *answer.warnings],
        "cost": {"usd": run.cost.usd, "unpriced_calls": run.cost.unpriced_calls},
        "duration_ms": round(run.duration_ms, 3),
        "session": run.session,
        "deferred": run.deferred.value,
    }


def citation_object(citation: Citation) -> dict[str, Any]:
    """One citation: marker, source with page and date, whether it is from the web, the quote and where it stands."""
    return {
        "marker": citation.marker,
        "source": citation.source,
        "title": citation.title,
        "page": citation.page,
        "date": citation.date,
        "origin": citation.origin.value,
        "quote": citation.quote,
        "document_id": citation.document_id,
        "span": jsonable(citation.span),
        "strips": list(citation.strips),
        "also": list(citation.also),
    }


def unsupported_object(sentence: CheckedSentence) -> dict[str, Any]:
    """A sentence that nothing supports: the text, what was found, and what was written instead of it."""
    return {"text": sentence.text, "findings": list(sentence.findings), "instead": sentence.instead}


def evidence_object(item: Evidence) -> dict[str, Any]:
    """One strip of evidence with its text."""
    strip = item.strip
    return {
        "number": item.number,
        "strip": strip.id,
        "source": strip.source,
        "page": strip.page,
        "date": strip.date,
        "origin": strip.origin.value,
        "text": strip.text,
        "span": jsonable(strip.span),
        "score": item.score,
    }
