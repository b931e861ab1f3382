"""What a batch of questions may cost and how long it may take, before it begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from tadasu.app.chat import chat_settings, provider_of
from tadasu.app.prices import pair_price, search_price
from tadasu.core.usage import Call, Cost, Pricing, Stage, Tokens, total
from tadasu.core.writing import Unsupported
from tadasu.providers.prices import is_local, price_of

if TYPE_CHECKING:
    from tadasu.app.container import Container
    from tadasu.app.sections.chat import Role
    from tadasu.app.settings import Settings
    from tadasu.core.runs import Run

LATEST = 200
"""Earlier runs that are looked at."""
ENOUGH = 3
"""So many of them with the present settings are believed."""
PROMPT_TOKENS = 700
"""Assumed beside the evidence in one call of the chat model."""
GRADING_TOKENS = 180
"""Assumed reply of the chat model about one passage."""
REWRITING_TOKENS = Tokens(400, 100)
"""Assumed for one question where a model of its own rewrites queries."""
REWORDING_TOKENS = 100
"""Assumed reply for the one sentence of an answer that is written again, where that is the policy."""
WEB_SHARE = 0.3
"""Assumed share of questions that ask the web."""
CALL_SECONDS = 5.0
"""Assumed for one call of a chat model."""
_FREE_CHAT = "scripted"
_FREE_WEB = "folder"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What `questions` may take together. `usd` is without the parts in `unpriced`, `seconds` is wall time.

    `runs` is how many earlier runs it is the median of; 0: it is made of assumptions. `highest_usd` is what it would be
    if each question cost as much as the dearest of those runs.
    """

    questions: int
    usd: float
    highest_usd: float
    unpriced: tuple[str, ...]
    seconds: float
    runs: int

    @property
    def free(self) -> bool:
        """Whether nothing can cost anything."""
        return not self.unpriced and self.highest_usd == 0.0


def estimate(
    container: Container, *, questions: int, concurrency: int = 1, stages: frozenset[Stage] | None = None
) -> Estimate | None:
    """The estimate for `questions`, `concurrency` at once, of all `stages` or those named.

    None where no part of the settings can cost anything. Otherwise from the workspace's own runs with the present
    settings where there are some, else from prices and the assumptions above.
    """
    parts = paid_parts(container.settings, stages=stages)
    if not parts:
        return None
    runs = [run for run in container.runs.latest(limit=LATEST, reader=container.reader) if run.rounds]
    alike = [run for run in runs if run.settings == container.settings_hash]
    if len(alike) >= ENOUGH:
        return _from_runs(alike, questions, concurrency, stages)
    usd = questions * sum(cost or 0.0 for cost in parts.values())
    unpriced = tuple(name for name, cost in parts.items() if cost is None)
    calls = 1 + container.settings.grading.llm
    return Estimate(questions, usd, usd, unpriced, questions * calls * CALL_SECONDS / concurrency, runs=0)


def paid_parts(settings: Settings, *, stages: frozenset[Stage] | None = None) -> dict[str, float | None]:
    """Each part that may cost something, with US dollars for one question by the assumptions above; None: unpriced."""

    def wanted(stage: Stage) -> bool:
        return stages is None or stage in stages

    parts: dict[str, float | None] = {}
    for role, stage, tokens in _chat_calls(settings):
        if wanted(stage) and provider_of(settings, role) not in {"", _FREE_CHAT}:
            model = chat_settings(settings, role)
            price = price_of(tokens, model)
            if price.pricing is not Pricing.LOCAL:
                name = f"{model.provider}/{model.model}"
                before = parts.get(name, 0.0)
                parts[name] = None if before is None or price.usd is None else before + price.usd
    scorer = settings.scorer
    if wanted(Stage.GRADE) and scorer.base_url and not is_local(scorer.base_url) and _scores(settings):
        rate = pair_price(settings, scorer.model, own=scorer.price)
        parts[scorer.model or scorer.base_url] = None if rate is None else rate * settings.retrieval.k / 1000
    if wanted(Stage.SEARCH) and settings.web.provider:
        parts |= _searches(settings)
    return {name: cost for name, cost in parts.items() if cost != 0.0}


def _chat_calls(settings: Settings) -> Iterator[tuple[Role, Stage, Tokens]]:
    """What chat models are asked for one question, by the assumptions above."""
    written = Tokens(PROMPT_TOKENS + settings.refinement.token_budget, settings.chat.max_tokens // 2)
    yield "answer", Stage.GENERATE, written
    if settings.generation.unsupported is Unsupported.REWRITE:
        yield "answer", Stage.GENERATE, Tokens(written.input, REWORDING_TOKENS)
    if settings.grading.llm or settings.grading.grader == "llm":
        k, batch = settings.retrieval.k, settings.grading.llm_batch
        shown = k * settings.ingestion.max_tokens + PROMPT_TOKENS * -(-k // batch)
        yield "grade", Stage.GRADE, Tokens(shown, k * GRADING_TOKENS)
    if "rewrite" in settings.chat.roles:
        yield "rewrite", Stage.REWRITE, REWRITING_TOKENS


def _scores(settings: Settings) -> bool:
    return settings.grading.scorer in {"rerank", "http"} and settings.grading.grader in {"cascade", "scorer"}


def _searches(settings: Settings) -> dict[str, float | None]:
    parts: dict[str, float | None] = {}
    for name in dict.fromkeys((settings.web.provider, *settings.web.fall_back)):
        table = settings.web.tables.get(name)
        if name == _FREE_WEB or (table is not None and is_local(table.base_url)):
            continue
        rate = search_price(settings, name, None if table is None else table.price)
        parts[name] = None if rate is None else WEB_SHARE * rate / 1000
    return parts


def _from_runs(runs: Sequence[Run], questions: int, concurrency: int, stages: frozenset[Stage] | None) -> Estimate:
    made = [[call for call in run.calls if stages is None or call.stage in stages] for run in runs]
    costs: list[Cost] = [total(calls) for calls in made]
    if stages is None:
        times = [run.duration_ms / 1000 for run in runs]
    else:
        times = [sum(call.duration_ms for call in calls) / 1000 for calls in made]
    return Estimate(
        questions=questions,
        usd=questions * median(cost.usd for cost in costs),
        highest_usd=questions * max(cost.usd for cost in costs),
        unpriced=_unpriced(call for calls in made for call in calls),
        seconds=questions * median(times) / concurrency,
        runs=len(runs),
    )


def _unpriced(calls: Iterable[Call]) -> tuple[str, ...]:
    named = ("/".join(filter(None, (call.provider, call.model))) for call in calls if call.cost_usd is None)
    return tuple(dict.fromkeys(named))
