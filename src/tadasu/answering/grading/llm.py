"""The third tier, or a grader of its own: a language model that scores passages (DESIGN §3.2).

Several passages go into one call, several calls run at once, every call is in the ledger. What the model did not say
in full is asked for once more, for the passages concerned; what is missing then is UNGRADED with the reason.
"""

from __future__ import annotations

import asyncio
import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from tadasu.answering.grading.asking import Sheet, batches, sheet, shown_text
from tadasu.answering.grading.assessments import TIER, Assessment, read_assessments
from tadasu.core.documents import Passage
from tadasu.core.grades import Grade, Level, ungraded
from tadasu.core.ids import digest
from tadasu.core.retrieved import Retrieval
from tadasu.core.usage import Stage
from tadasu.errors import (
    BudgetSpent,
    ContentRefused,
    ContextTooLong,
    ProviderAnswerInvalid,
    ProviderRefused,
    ReplyTruncated,
    SettingsInvalid,
    TadasuError,
)
from tadasu.ports import Allowance, Chance, ChatModel, Grader, GraderParts, Ledger, PromptTemplate, ScoreCache
from tadasu.runtime.bounded import Bounded
from tadasu.runtime.single_flight import SingleFlight
from tadasu.text.language import detect
from tadasu.text.normalize import fold

VERSION = "1"
"""Of the sheet, of how replies are read, and of what is kept of them."""

_DECLINED = re.compile(
    r"\W*(?:i(?:'m| am) (?:very |so )?sorry|sorry|i (?:can(?:no|')t|cannot|am unable|won't)"
    r"|申し訳|すみませんが|お答えできません)",
    re.IGNORECASE,
)
_LONGEST_REASON = 300


class _Kind(enum.Enum):
    """Why a passage has no grade."""

    UNPARSED = "unparsed"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    TOO_LONG = "too long"
    PROVIDER = "the provider failed"
    BUDGET = "the budget is spent"
    DAMAGED = "the passage is damaged"


@dataclass(frozen=True, slots=True)
class _Gap:
    kind: _Kind
    detail: str

    def __str__(self) -> str:
        text = " ".join(f"no grade from the language model ({self.kind.value}): {self.detail}".split())
        return text if len(text) <= _LONGEST_REASON else f"{text[: _LONGEST_REASON - 1]}…"


_DAMAGED = _Gap(_Kind.DAMAGED, "it holds no text that can be shown")


@dataclass(frozen=True, slots=True)
class _Reply:
    """What came of one call: the text so far, why the model stopped, and what broke the call off."""

    text: str
    finish: str = ""
    fault: _Gap | None = None


@dataclass(slots=True)
class _Asked:
    """What all passages of one grading share, and what became of those that got no grade, by key."""

    question: str
    language: str
    prompt: PromptTemplate
    ledger: Ledger
    passages: Mapping[str, Passage]
    gaps: dict[str, _Gap] = field(default_factory=dict)
    under_way: int = 0

    def of_kind(self, *kinds: _Kind) -> dict[str, Passage]:
        """The passages that lack a grade for such a reason, in order."""
        return {key: one for key, one in self.passages.items() if key in self.gaps and self.gaps[key].kind in kinds}


class LlmGrader:
    """Lets a chat model grade passages.

    Args:
        chat: the model.
        prompts: the prompt ``grade`` per language; ``en`` is needed and serves every language without one.
        chance: draws ids and delimiters.
        cache: where assessments are kept; None: nowhere.
        batch: passages in one call, at most.
        calls: calls at the same time, over all questions of an event loop.
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        prompts: Mapping[str, PromptTemplate],
        chance: Chance,
        cache: ScoreCache | None,
        batch: int,
        calls: int,
    ) -> None:
        if "en" not in prompts:
            raise ValueError("an English grading prompt is needed")
        if batch < 1:
            raise ValueError(f"at least one passage goes into a call, not {batch}")
        self._chat = chat
        self._prompts = prompts
        self._chance = chance
        self._cache = cache
        self._batch = batch
        self._bounded = Bounded(calls)
        self._flights: SingleFlight[str, Assessment] = SingleFlight()

    @property
    def id(self) -> str:
        """Version, model and prompts: ``llm-1 openai/gpt-… grade/en@… grade/ja@…``."""
        prompts = (self._prompts[language].id for language in sorted(self._prompts))
        return " ".join((f"{TIER}-{VERSION}", self._chat.id, *prompts))

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> Sequence[Grade]:
        """One grade per candidate, in order. Never raises for what the model did: see the reason of an UNGRADED one."""
        language = detect(question)
        prompt = self._prompts.get(language, self._prompts["en"])
        passages = [candidate.passage for candidate in retrieval.candidates]
        keys = [self._key(question, passage, prompt) for passage in passages]
        told = {key: passage for key, passage in zip(keys, passages, strict=True) if key and passage.text.strip()}
        asked = _Asked(question, language, prompt, ledger, told)
        found = await self._flights.fetch(list(told), lambda missing: self._assess(missing, asked)) if told else {}
        return [
            self._graded(passage, found.get(key), asked.gaps.get(key) if key else _DAMAGED)
            for key, passage in zip(keys, passages, strict=True)
        ]

    def _key(self, question: str, passage: Passage, prompt: PromptTemplate) -> str:
        """Where the passage's assessment is kept; empty for a passage that cannot be shown."""
        try:
            content = digest(shown_text(passage, language="en"), passage.text)
        except (TypeError, AttributeError):
            return ""
        return digest(TIER, VERSION, self._chat.id, prompt.id, fold(question).strip(), content)

    def _graded(self, passage: Passage, assessment: Assessment | None, gap: _Gap | None) -> Grade:
        if assessment is not None:
            return assessment.grade(passage.id, grader=self.id)
        if gap is None and not passage.text.strip():
            return Grade(passage.id, Level.LOW, 0.0, "the passage holds no text", self.id, tier=TIER)
        reason = str(gap or _Gap(_Kind.PROVIDER, "another question's call for it ended without a reply"))
        return ungraded(passage.id, reason=reason, grader=self.id, tier=TIER)

    async def _assess(self, keys: Sequence[str], asked: _Asked) -> Mapping[str, Assessment]:
        """What the cache or the model says about `keys`; why the others are missing is in ``asked.gaps``."""
        known = await self._remembered(keys)
        fresh = await self._from_model({key: asked.passages[key] for key in keys if key not in known}, asked)
        if self._cache is not None and fresh:
            await self._cache.put({key: assessment.to_bytes() for key, assessment in fresh.items()})
        return known | fresh

    async def _remembered(self, keys: Sequence[str]) -> dict[str, Assessment]:
        if self._cache is None:
            return {}
        stored = await self._cache.get(keys)
        read = {key: Assessment.from_bytes(data) for key, data in stored.items() if key in keys}
        return {key: assessment for key, assessment in read.items() if assessment is not None}

    async def _from_model(self, passages: Mapping[str, Passage], asked: _Asked) -> dict[str, Assessment]:
        """Two attempts: all `passages` in batches, then those whose rows could not be read."""
        for key in passages:
            asked.gaps.pop(key, None)
        found = await self._calls(batches(passages, size=self._batch), asked, again=False)
        unread = asked.of_kind(_Kind.UNPARSED, _Kind.TRUNCATED)
        second = list(batches({key: one for key, one in unread.items() if key in passages}, size=self._batch))
        if self._batch > 1:
            # One passage that the model objects to, or that is too long, must not cost its neighbours their grades.
            alone = asked.of_kind(_Kind.REFUSED, _Kind.TOO_LONG)
            second += [{key: one} for key, one in alone.items() if key in passages]
        return found | await self._calls(second, asked, again=True)

    async def _calls(
        self, groups: Iterable[Mapping[str, Passage]], asked: _Asked, *, again: bool
    ) -> dict[str, Assessment]:
        jobs = dict(enumerate(groups))
        done = await self._bounded.run(
            {number: partial(self._one_call, group, asked, again=again) for number, group in jobs.items()}
        )
        found: dict[str, Assessment] = {}
        for rows, gaps in done.results.values():
            found |= rows
            asked.gaps |= gaps
        for number, problem in done.failures.items():
            asked.gaps |= dict.fromkeys(jobs[number], _gap_of(problem))
        for key in found:
            asked.gaps.pop(key, None)
        return found

    async def _one_call(
        self, group: Mapping[str, Passage], asked: _Asked, *, again: bool
    ) -> tuple[dict[str, Assessment], dict[str, _Gap]]:
        """Assessments and gaps by key; each key of `group` is in exactly one of both."""
        page = sheet(
            asked.question, group, prompt=asked.prompt, language=asked.language, chance=self._chance, again=again
        )
        reply = await self._said(page, asked)
        readings = read_assessments(reply.text, page.shown)
        rows = {page.keys[name]: assessment for name, assessment in readings.found.items()}
        gaps = {page.keys[name]: reply.fault or _unread(reply, page, why) for name, why in readings.faults.items()}
        return rows, gaps

    async def _said(self, page: Sheet, asked: _Asked) -> _Reply:
        """The model's reply, as far as it came."""
        allowance = asked.ledger if isinstance(asked.ledger, Allowance) else None
        pieces: list[str] = []
        finish = ""
        limit = asyncio.timeout(None)
        asked.under_way += 1
        try:
            if allowance is not None:
                allowance.check("grading by the language model", under_way=asked.under_way - 1)
                limit = asyncio.timeout(allowance.seconds_left)
            async with limit:
                async for delta in self._chat.stream(
                    page.messages, max_tokens=page.max_tokens, temperature=0.0, ledger=asked.ledger, stage=Stage.GRADE
                ):
                    pieces.append(delta.text)
                    finish = delta.finish or finish
        except TimeoutError as problem:
            late = _Gap(_Kind.BUDGET, "the time of the run was over before the reply came")
            return _Reply("".join(pieces), fault=late if limit.expired() else _gap_of(problem))
        except Exception as problem:  # noqa: BLE001 - chat models are plugins; what came before the fault is kept
            return _Reply("".join(pieces), fault=_gap_of(problem))
        finally:
            asked.under_way -= 1
        return _Reply("".join(pieces), finish)


def open_grader(parts: GraderParts) -> Grader:
    """The plugin behind ``tadasu.graders: llm``: the language model grades every passage.

    Raises:
        SettingsInvalid: no chat model is configured.
    """
    if parts.assessor is None:
        reason = 'is "llm", which needs a chat model, and none is configured: name one under [chat]'
        raise SettingsInvalid(where="tadasu.toml", key="grading.grader", reason=reason)
    return parts.assessor


def _unread(reply: _Reply, page: Sheet, fault: str) -> _Gap:
    if reply.finish == "length":
        return _Gap(_Kind.TRUNCATED, f"the reply was cut off at {page.max_tokens} tokens")
    if reply.finish == "refusal" or _DECLINED.match(reply.text):
        return _Gap(_Kind.REFUSED, f"the model declined: {reply.text[:80]}")
    return _Gap(_Kind.UNPARSED, fault)


def _gap_of(problem: Exception) -> _Gap:
    match problem:
        case BudgetSpent():
            return _Gap(_Kind.BUDGET, str(problem))
        case ReplyTruncated():
            return _Gap(_Kind.TRUNCATED, str(problem))
        case ProviderAnswerInvalid():
            return _Gap(_Kind.UNPARSED, str(problem))
        case ContextTooLong():
            return _Gap(_Kind.TOO_LONG, str(problem))
        case ContentRefused():
            return _Gap(_Kind.REFUSED, str(problem))
        case ProviderRefused() if "status" not in problem.details:
            return _Gap(_Kind.REFUSED, str(problem))
        case TadasuError():
            return _Gap(_Kind.PROVIDER, str(problem))
        case _:
            return _Gap(_Kind.PROVIDER, f"{type(problem).__name__}: {problem}")
