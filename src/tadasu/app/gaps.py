"""Where the documents fall short: topics whose questions fall back to the web or get no answer."""

from __future__ import annotations

import asyncio
import enum
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from tadasu.app.spending import DAYS, Period, period_of
from tadasu.app.time_zones import zone_of
from tadasu.core.answers import Reason
from tadasu.core.proportions import wilson
from tadasu.storage.gaps import Asked, SqlQuestions
from tadasu.text.normalize import fold

if TYPE_CHECKING:
    from tadasu.app.container import Container
    from tadasu.core.vectors import FloatMatrix

USUAL = 0.30
"""A share of questions without an answer of the documents' own up to here is usual (25 to 30 % are)."""
TOO_MANY = 0.40
"""Above it, the documents need work."""
FEW = 5
MOST_QUESTIONS = 2_000
"""The newest questions of each period that are looked at: grouping takes time and memory of their square."""
_EXAMPLES = 3
_OF_THE_DOCUMENTS = frozenset({Reason.NO_DOCUMENTS, Reason.INSUFFICIENT, Reason.UNSUPPORTED, Reason.CONFLICT})
_NOT_OF_THEM = frozenset(reason.value for reason in Reason if reason not in _OF_THE_DOCUMENTS)


class Mark(enum.Enum):
    """What a share says: nothing of fewer than `FEW` questions.

    NEEDS_WORK where it is above `TOO_MANY`, SURELY where all of its interval is.
    """

    TOO_FEW = "too_few"
    USUAL = "usual"
    RAISED = "raised"
    NEEDS_WORK = "needs_work"
    SURELY_NEEDS_WORK = "surely_needs_work"


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `questions`, and between what the true share lies: Wilson's interval at 95 %."""

    count: int
    questions: int

    @property
    def value(self) -> float | None:
        """The share itself; None of nothing."""
        return self.count / self.questions if self.questions else None

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper bound."""
        return wilson(self.count, self.questions)

    @property
    def mark(self) -> Mark:
        """What it says."""
        share = self.value or 0.0
        if self.questions < FEW:
            return Mark.TOO_FEW
        if share > TOO_MANY:
            return Mark.SURELY_NEEDS_WORK if self.interval[0] > TOO_MANY else Mark.NEEDS_WORK
        return Mark.RAISED if share > USUAL else Mark.USUAL


@dataclass(frozen=True, slots=True)
class Example:
    """A question as it was searched for, how often it or one just like it was asked, and the newest run of it."""

    question: str
    times: int
    run_id: str


@dataclass(frozen=True, slots=True)
class Topic:
    """Questions about one thing. `fallback`: the web was asked; `abstained`: no answer; `gap`: either.

    `before` is `gap` in the period before. `examples` are gaps, the most frequent ones first.
    """

    words: tuple[str, ...]
    fallback: Share
    abstained: Share
    gap: Share
    before: Share
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Gaps:
    """All questions of the period together, and its topics, those with most gaps first.

    `set_aside` counts questions that say nothing about the documents: small talk, and what failed or was cut short.
    `left_out` tells that there were more than `MOST_QUESTIONS`, and only the newest were looked at.
    """

    period: Period
    previous: Period
    overall: Topic
    topics: tuple[Topic, ...]
    set_aside: int
    left_out: bool


async def gaps(container: Container, *, since: str = "", until: str = "") -> Gaps:
    """The gaps of a period (the last 30 days) as the configured reader may see them, beside the period before."""
    zone = zone_of(container.settings.budget.time_zone)
    period = period_of(container.clock.now(), zone, since=since, until=until, days=DAYS)
    eve = (period.begins.astimezone(zone) - timedelta(hours=1)).date().isoformat()
    previous = period_of(container.clock.now(), zone, until=eve, days=period.days)
    book = SqlQuestions(container.state)

    def asked(of: Period) -> Sequence[Asked]:
        limit = MOST_QUESTIONS + 1
        return book.asked(reader=container.reader, begins=of.begins, ends=of.ends, limit=limit)

    now, before = await asyncio.gather(asyncio.to_thread(asked, period), asyncio.to_thread(asked, previous))
    return await asyncio.to_thread(
        _found,
        period,
        previous,
        now,
        before,
        lambda texts: container.encoder.encode_queries(texts),  # noqa: PLW0108 - loads it
    )


def _found(
    period: Period,
    previous: Period,
    now: Sequence[Asked],
    before: Sequence[Asked],
    encode: Callable[[Sequence[str]], FloatMatrix],
) -> Gaps:
    left_out = max(len(now), len(before)) > MOST_QUESTIONS
    now, before = now[-MOST_QUESTIONS:], before[-MOST_QUESTIONS:]
    told = [one for one in now if one.reason not in _NOT_OF_THEM]
    told_before = [one for one in before if one.reason not in _NOT_OF_THEM]
    everything = [one.query for one in (*told, *told_before)]
    topics = []
    for texts, alike in _topics(everything, encode):
        own = [one for one in told if fold(one.query) in texts]
        if any(map(_is_gap, own)):
            earlier = [one for one in told_before if fold(one.query) in texts]
            topics.append(_topic(own, earlier, alike, everything))
    topics.sort(key=lambda topic: (-topic.gap.count, -topic.gap.interval[0], topic.words))
    return Gaps(
        period=period,
        previous=previous,
        overall=_topic(told, told_before, {}, []),
        topics=tuple(topics),
        set_aside=len(now) - len(told),
        left_out=left_out,
    )


def _topics(
    queries: Sequence[str], encode: Callable[[Sequence[str]], FloatMatrix]
) -> list[tuple[frozenset[str], dict[str, int]]]:
    """Per topic: its questions, folded, and the number of the group of like ones that each is in."""
    from tadasu.app.topics import ALIKE, TOGETHER, centred, grouped

    texts = list(dict.fromkeys(map(fold, queries)))
    if not texts:
        return []
    vectors = centred(texts, encode)
    weights = [0] * len(texts)
    places = {text: place for place, text in enumerate(texts)}
    for query in queries:
        weights[places[fold(query)]] += 1
    alike = {texts[row]: number for number, rows in enumerate(grouped(vectors, least=ALIKE)) for row in rows}
    found = []
    for rows in grouped(vectors, least=TOGETHER, weights=weights):
        members = [texts[row] for row in rows]
        found.append((frozenset(members), {text: alike[text] for text in members}))
    return found


def _is_gap(one: Asked) -> bool:
    return one.web or bool(one.reason)


def _topic(now: Sequence[Asked], before: Sequence[Asked], alike: dict[str, int], everything: Sequence[str]) -> Topic:
    from tadasu.app.topics import telling_words

    gap = [one for one in now if _is_gap(one)]
    words = telling_words([one.query for one in (*now, *before)], everything) if everything else []
    return Topic(
        words=tuple(words),
        fallback=Share(sum(one.web for one in now), len(now)),
        abstained=Share(sum(bool(one.reason) for one in now), len(now)),
        gap=Share(len(gap), len(now)),
        before=Share(sum(map(_is_gap, before)), len(before)),
        examples=_examples(gap, alike) if everything else (),
    )


def _examples(asked: Sequence[Asked], alike: dict[str, int]) -> tuple[Example, ...]:
    groups: dict[int, list[Asked]] = defaultdict(list)
    for one in asked:
        groups[alike[fold(one.query)]].append(one)
    ordered = sorted(groups.values(), key=lambda same: (-len(same), same[-1].created_at, same[-1].run_id))
    return tuple(Example(same[-1].query, len(same), same[-1].run_id) for same in ordered[:_EXAMPLES])
