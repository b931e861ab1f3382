"""What Prometheus is told about runs. Labels are few and closed: never a question, an id, a host or a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tadasu.app.run_timeline import timeline
from tadasu.app.run_words import OTHER, asked_the_web, provider_of, stop_of, word
from tadasu.core.answers import Answer, AnswerStatus
from tadasu.core.runs import Run, StopReason
from tadasu.core.usage import Call, Pricing
from tadasu.telemetry.metrics import Family, Meters

_CALL_BUCKETS: Final = (
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.15,
    0.2,
    0.25,
    0.3,
    0.35,
    0.4,
    0.5,
    0.75,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    60.0,
)
"""Seconds. 0.3 is a border, so that "p95 above 300 ms" is read off and not interpolated."""
_RUN_BUCKETS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0, 30.0, 60.0, 120.0)

RUNS: Final = Family(
    "tadasu_runs", "Questions that were dealt with, by how they ended.", ("status", "reason", "verdict", "language")
)
RUN_SECONDS: Final = Family("tadasu_run_seconds", "Time from question to answer.", ("status",), _RUN_BUCKETS)
ROUNDS: Final = Family("tadasu_rounds", "Searches with their grading and verdict.", ("mode", "verdict"))
STOPS: Final = Family("tadasu_stops", "Why the correction loop ended.", ("reason",))
WEB: Final = Family("tadasu_web_fallback_runs", "Runs that asked the web because the own documents did not do.")
CORRECTED: Final = Family("tadasu_corrected_runs", "Runs that needed more than one search.")
CORRECTIONS: Final = Family(
    "tadasu_deferred_corrections", "Runs in the background that take the place of an earlier answer."
)
CALLS: Final = Family("tadasu_calls", "Calls of models, stores and services.", ("stage", "provider", "outcome"))
RETRIES: Final = Family("tadasu_retried_calls", "Calls that were a second or later attempt.", ("stage", "provider"))
CALL_SECONDS: Final = Family("tadasu_call_seconds", "Time of one call.", ("stage", "provider"), _CALL_BUCKETS)
GRADING_SECONDS: Final = Family(
    "tadasu_grading_seconds", "Time in which all passages of one search were graded.", (), _CALL_BUCKETS
)
COST: Final = Family("tadasu_cost_usd", "US dollars spent, calls without a price left out.", ("stage", "model"))
UNPRICED: Final = Family("tadasu_unpriced_calls", "Calls whose price is not known.", ("stage", "model"))
TOKENS: Final = Family("tadasu_tokens", "Tokens as providers counted them.", ("stage", "direction"))
DROPPED: Final = Family("tadasu_pages_dropped", "Web pages that were found and could not be used.", ("reason",))
SENTENCES: Final = Family(
    "tadasu_answer_sentences",
    "Sentences that a writer wrote and that claim something, by what became of them.",
    ("fate",),
)

FAMILIES: Final = (
    RUNS, RUN_SECONDS, ROUNDS, STOPS, WEB, CORRECTED, CORRECTIONS, CALLS, RETRIES, CALL_SECONDS, GRADING_SECONDS,
    COST, UNPRICED, TOKENS, DROPPED, SENTENCES,
)  # fmt: skip

_LANGUAGES: Final = ("en", "ja")


def run_meters(runs: Iterable[Run] = (), *, besides: Sequence[Family] = ()) -> Meters:
    """Fresh counters with `runs` counted in, and room for `besides`."""
    meters = Meters((*FAMILIES, *besides))
    for status in AnswerStatus:
        meters.mention(RUN_SECONDS, status.value)
    for reason in StopReason:
        meters.mention(STOPS, reason.value)
    for run in runs:
        count_run(meters, run)
    return meters


def count_run(meters: Meters, run: Run) -> None:
    """Count one finished run."""
    status = run.answer.status.value
    reason = run.answer.reason.value if run.answer.reason is not None else ""
    verdict = run.verdict.value if run.rounds else "none"
    language = run.language if run.language in _LANGUAGES else OTHER
    meters.add(RUNS, status, reason, verdict, language)
    meters.observe(RUN_SECONDS, status, seconds=run.duration_ms / 1000)
    meters.add(STOPS, stop_of(run))
    meters.add(WEB, amount=float(asked_the_web(run)))
    meters.add(CORRECTED, amount=float(len(run.rounds) > 1))
    meters.add(CORRECTIONS, amount=float(bool(run.corrects)))
    for one in run.rounds:
        meters.add(ROUNDS, one.mode.value, one.verdict.value)
        for page in one.dropped:
            meters.add(DROPPED, word(page.reason))
    for fate, count in sentence_fates(run.answer).items():
        if count:
            meters.add(SENTENCES, fate, amount=float(count))
    for call in run.calls:
        _count_call(meters, call)
    for timed in timeline(run).rounds:
        if timed.grading_ms is not None:
            meters.observe(GRADING_SECONDS, seconds=timed.grading_ms / 1000)


def sentence_fates(answer: Answer) -> dict[str, int]:
    """How many sentences were supported, removed, rewritten and flagged; all but the first are unsupported."""
    rewritten = sum(bool(one.instead) for one in answer.removed)
    return {
        "supported": answer.claims - len(answer.unsupported),
        "removed": len(answer.removed) - rewritten,
        "rewritten": rewritten,
        "flagged": len(answer.unsupported) - len(answer.removed),
    }


def _count_call(meters: Meters, call: Call) -> None:
    stage, provider = call.stage.value, provider_of(call)
    meters.add(CALLS, stage, provider, call.outcome.value)
    meters.observe(CALL_SECONDS, stage, provider, seconds=call.duration_ms / 1000)
    if call.attempt > 1:
        meters.add(RETRIES, stage, provider)
    if call.cost_usd is None:
        meters.add(UNPRICED, stage, call.model)
    elif call.pricing is not Pricing.LOCAL:
        meters.add(COST, stage, call.model, amount=call.cost_usd)
    if call.tokens.input or call.tokens.output:
        meters.add(TOKENS, stage, "input", amount=call.tokens.input)
        meters.add(TOKENS, stage, "output", amount=call.tokens.output)
