"""A run as a tree of spans: the answer, its rounds, their calls, with the times that the run holds.

Model calls carry the attributes of OpenTelemetry's conventions for generative AI (``gen_ai.*``), what only Tadasu knows
is ``tadasu.*``. Texts (question, query, answer, error messages) are left out unless they are asked for.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from tadasu.app.run_timeline import RoundTime, timeline
from tadasu.app.run_words import asked_the_web, provider_of, stop_of
from tadasu.core.answers import Reason
from tadasu.core.grades import Verdict
from tadasu.core.runs import Run
from tadasu.core.usage import Call, Outcome, Pricing, Stage, total
from tadasu.telemetry.tracing import Attribute, Side, Work

_AGENT = "tadasu"
_FAULTS = frozenset({Reason.SEARCH_FAILED, Reason.GRADER_FAILED})
_FAILED = frozenset({Verdict.SEARCH_FAILED, Verdict.GRADER_FAILED})


@dataclass(frozen=True, slots=True)
class SpanForm:
    """How runs are told: `chat` are the names of providers of chat models, `content` whether texts go along."""

    version: str
    chat: Collection[str] = ()
    content: bool = False


def work_of(run: Run, form: SpanForm) -> Work:
    """The whole tree of one run."""
    began = _nanoseconds(run.created_at)
    found = timeline(run)
    parts = [_round(one, began, form) for one in found.rounds] + [_call(one, began, form) for one in found.others]
    fault = run.answer.reason if run.answer.reason in _FAULTS else None
    return Work(
        name=f"invoke_agent {_AGENT}",
        started_ns=began,
        ended_ns=began + _from_ms(run.duration_ms),
        attributes=_run_attributes(run, form),
        error=fault.value if fault is not None else "",
        parts=tuple(sorted(parts, key=lambda part: part.started_ns)),
    )


def _run_attributes(run: Run, form: SpanForm) -> dict[str, Attribute]:
    cost = run.cost
    found: dict[str, Attribute] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": _AGENT,
        "gen_ai.agent.name": _AGENT,
        "gen_ai.agent.version": form.version,
        "tadasu.run.id": run.id,
        "tadasu.status": run.answer.status.value,
        "tadasu.stop_reason": stop_of(run),
        "tadasu.rounds": len(run.rounds),
        "tadasu.web_fallback": asked_the_web(run),
        "tadasu.language": run.language,
        "tadasu.evidence": len(run.evidence),
        "tadasu.citations": len(run.answer.citations),
        "tadasu.sentences_removed": len(run.answer.removed),
        "tadasu.sentences_unsupported": len(run.answer.unsupported),
        "tadasu.warnings": len(run.warnings),
        "tadasu.calls": len(run.calls),
        "tadasu.cost_usd": cost.usd,
        "tadasu.unpriced_calls": cost.unpriced_calls,
        "tadasu.settings": run.settings,
    }
    for stage in Stage:
        spent = total(call for call in run.calls if call.stage is stage).usd
        if spent:
            found[f"tadasu.cost_usd.{stage.value}"] = spent
    if run.rounds:
        found["tadasu.verdict"] = run.verdict.value
    if run.answer.reason is not None:
        found["tadasu.reason"] = run.answer.reason.value
    if run.answer.writer:
        found["tadasu.writer"] = run.answer.writer
    if run.corrects:
        found["tadasu.corrects"] = run.corrects
    if run.session:
        found["gen_ai.conversation.id"] = run.session
    if form.content:
        found["gen_ai.input.messages"] = _messages("user", run.question)
        found["gen_ai.output.messages"] = _messages("assistant", run.answer.text, finish="stop")
        if run.query != run.question:
            found["tadasu.query"] = run.query
    return found


def _round(timed: RoundTime, began: int, form: SpanForm) -> Work:
    one = timed.round
    levels = Counter(candidate.grade.level.value for candidate in one.candidates)
    attributes: dict[str, Attribute] = {
        "tadasu.round": one.number,
        "tadasu.mode": one.mode.value,
        "tadasu.verdict": one.verdict.value,
        "tadasu.action": one.action.kind.value,
        "tadasu.candidates": len(one.candidates),
        **{f"tadasu.candidates.{level}": count for level, count in sorted(levels.items())},
        "tadasu.excluded_passages": one.excluded_passages,
        "tadasu.pages_dropped": len(one.dropped),
    }
    if form.content:
        attributes["tadasu.query"] = one.query
    return Work(
        name=f"tadasu.round {one.mode.value}",
        started_ns=began + _from_ms(timed.started_ms),
        ended_ns=began + _from_ms(timed.ended_ms),
        attributes=attributes,
        error=one.verdict.value if one.verdict in _FAILED else "",
        detail=one.error if form.content else "",
        parts=tuple(_call(call, began, form) for call in timed.calls),
    )


def _call(call: Call, began: int, form: SpanForm) -> Work:
    provider = provider_of(call)
    local = provider in {"local", "store"}
    return Work(
        name=_name(call, provider, form),
        started_ns=began + _from_ms(call.started_ms),
        ended_ns=began + _from_ms(call.started_ms + call.duration_ms),
        attributes=dict(_call_attributes(call, provider, form)),
        side=Side.HERE if local else Side.OUTSIDE,
        error=_error(call),
        detail=call.error if form.content else "",
    )


def _operation(call: Call, form: SpanForm) -> str:
    """The operation that the conventions have a name for; empty where they have none."""
    if call.provider in form.chat:
        return "chat"
    return {Stage.EMBED: "embeddings", Stage.RETRIEVE: "retrieval"}.get(call.stage, "")


def _name(call: Call, provider: str, form: SpanForm) -> str:
    operation = _operation(call, form)
    if operation:
        return f"{operation} {call.model}".rstrip()
    return f"tadasu.{call.stage.value} {call.model or provider}"


def _call_attributes(call: Call, provider: str, form: SpanForm) -> Iterable[tuple[str, Attribute]]:
    operation = _operation(call, form)
    if operation:
        yield "gen_ai.operation.name", operation
        yield "gen_ai.provider.name", provider
    if call.model and operation != "retrieval":
        yield "gen_ai.request.model", call.model
    if call.tokens.input or call.tokens.output:
        yield "gen_ai.usage.input_tokens", call.tokens.input
        yield "gen_ai.usage.output_tokens", call.tokens.output
        if call.tokens.estimated:
            yield "tadasu.tokens_estimated", True
    yield "tadasu.stage", call.stage.value
    yield "tadasu.provider", provider
    yield "tadasu.outcome", call.outcome.value
    yield "tadasu.attempt", call.attempt
    yield "tadasu.items", call.items
    if call.cached:
        yield "tadasu.cached", call.cached
    yield "tadasu.pricing", call.pricing.value
    if call.cost_usd is not None and call.pricing is not Pricing.LOCAL:
        yield "tadasu.cost_usd", call.cost_usd


def _error(call: Call) -> str:
    """What kind of failure it was: the code that its message begins with, else how the call ended."""
    if call.outcome is Outcome.OK:
        return ""
    kind = call.error.partition(":")[0].strip()
    return kind if kind.isidentifier() else call.outcome.value


def _messages(role: str, text: str, *, finish: str = "") -> str:
    message: dict[str, object] = {"role": role, "parts": [{"type": "text", "content": text}]}
    if finish:
        message["finish_reason"] = finish
    return json.dumps([message], ensure_ascii=False)


def _nanoseconds(moment: str) -> int:
    """An ISO 8601 time as nanoseconds since 1970, without the rounding of floating point."""
    passed = datetime.fromisoformat(moment).astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (passed.days * 86_400 + passed.seconds) * 1_000_000_000 + passed.microseconds * 1_000


def _from_ms(milliseconds: float) -> int:
    return round(milliseconds * 1_000_000)
