from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from tadasu.answering.grading.cached import CachedScorer, keys_of, normalised
from tadasu.core.documents import Span
from tadasu.core.grades import Level, Thresholds
from tadasu.core.scores import PairScore, ScoreScale, probability_of, unscored
from tadasu.core.usage import Outcome, Stage
from tadasu.core.vectors import PassageText
from tadasu.errors import ProviderUnreachable
from tadasu.ports import CacheSettings, Ledger
from tadasu.runtime.cache import MemoryCache, open_cache
from tadasu.runtime.ledger import RunLedger, timed
from tadasu.runtime.world import SystemClock

EN = PassageText("The warranty of the KPT-340 lasts 24 months. It starts on delivery.", ((0, 45), (45, 67)), "Warranty")
JA = PassageText("KPT-340 の保証期間は24か月です。納品日から数えます。", ((0, 21), (21, 31)), "保証")
OTHER = PassageText("Screws are sold by the hundred.", ((0, 31),), "Screws")

Answer = Callable[[str, Sequence[PassageText]], Sequence[PairScore]]


def lengths(question: str, passages: Sequence[PassageText]) -> list[PairScore]:
    """A score that depends on the text, strips included."""
    return [
        PairScore(len(one.text) / 64, tuple((end - start) / 64 for start, end in one.strips), Span(0, len(one.text)))
        for one in passages
    ]


class Scorer:
    """A scorer that counts what it is asked."""

    def __init__(
        self, answer: Answer = lengths, *, name: str = "scorer-1", scale: ScoreScale = ScoreScale.LOGIT
    ) -> None:
        self.answer = answer
        self.id = name
        self.scale = scale
        self.asked: list[tuple[str, tuple[PassageText, ...]]] = []
        self.seconds = 0.0
        self.closed = False

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> Sequence[PairScore]:
        self.asked.append((question, tuple(passages)))
        with timed(ledger, Stage.GRADE, provider="local", model=self.id, items=len(passages)):
            await asyncio.sleep(self.seconds)
            return self.answer(question, passages)

    async def close(self) -> None:
        self.closed = True

    @property
    def pairs(self) -> int:
        return sum(len(passages) for _, passages in self.asked)


@pytest.fixture
def ledger() -> RunLedger:
    return RunLedger(SystemClock())


@pytest.fixture
def cache() -> MemoryCache:
    return open_cache(CacheSettings())


@pytest.mark.parametrize(
    ("question", "passage"), [("How long is the warranty of the KPT-340?", EN), ("KPT-340 の保証期間は？", JA)]
)
async def test_the_second_time_nothing_is_scored(
    cache: MemoryCache, ledger: RunLedger, question: str, passage: PassageText
) -> None:
    inner = Scorer()
    scorer = CachedScorer(inner, cache)
    first = await scorer.score(question, [passage, OTHER], ledger=ledger)
    again = await CachedScorer(Scorer(), cache).score(question, [OTHER, passage], ledger=ledger)
    assert first == lengths(question, [passage, OTHER])
    assert again == list(reversed(first))
    assert inner.pairs == 2
    assert (scorer.id, scorer.scale) == (inner.id, inner.scale)


async def test_the_ledger_says_what_was_served_and_what_was_scored(cache: MemoryCache, ledger: RunLedger) -> None:
    scorer = CachedScorer(Scorer(), cache)
    await scorer.score("q", [EN], ledger=ledger)
    assert [(call.provider, call.items, call.cached) for call in ledger.calls] == [("local", 1, 0)]
    await scorer.score("q", [OTHER, EN, JA], ledger=ledger)
    local, served = ledger.calls[1:]
    assert (local.provider, local.items, local.cached, local.outcome) == ("local", 2, 0, Outcome.OK)
    assert (served.provider, served.model, served.items, served.cached) == ("cache", "scorer-1", 1, 1)
    assert served.stage is Stage.GRADE
    assert served.cost_usd == 0.0
    assert 0.0 <= served.duration_ms < 1000.0


async def test_order_and_count_hold_with_hits_misses_and_doubles(cache: MemoryCache, ledger: RunLedger) -> None:
    inner = Scorer()
    scorer = CachedScorer(inner, cache)
    await scorer.score("q", [JA], ledger=ledger)
    asked = [EN, JA, EN, OTHER, JA]
    assert await scorer.score("q", asked, ledger=ledger) == lengths("q", asked)
    assert inner.asked[1][1] == (EN, OTHER)
    assert ledger.calls[-1].cached == 2
    assert await scorer.score("q", [], ledger=ledger) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＫＰＴ－３４０の保証期間は？", "KPT-340の保証期間は?"),
        ("ｶﾒﾗの 価格", " カメラの\n価格　"),
        ("Where is\tthe  caf\u00e9? ", "Where is the cafe\u0301?"),
    ],
)
async def test_questions_that_a_reader_takes_for_the_same_share_scores(
    cache: MemoryCache, ledger: RunLedger, one: str, other: str
) -> None:
    inner = Scorer()
    scorer = CachedScorer(inner, cache)
    assert await scorer.score(one, [EN], ledger=ledger) == await scorer.score(other, [EN], ledger=ledger)
    assert inner.asked == [(normalised(other), (EN,))]


@pytest.mark.parametrize(
    ("one", "other"),
    [("Who leads US sales?", "who leads us sales?"), ("保証は？", "保証は"), ("a b", "ab"), ("かき", "カキ")],
)
async def test_what_may_change_a_score_is_another_question(
    cache: MemoryCache, ledger: RunLedger, one: str, other: str
) -> None:
    inner = Scorer()
    scorer = CachedScorer(inner, cache)
    await scorer.score(one, [EN], ledger=ledger)
    await scorer.score(other, [EN], ledger=ledger)
    assert len(inner.asked) == 2


def test_a67_the_key_holds_all_that_the_score_depends_on() -> None:
    base = Scorer()
    variants = [
        keys_of("q", [EN], scorer=base),
        keys_of("q2", [EN], scorer=base),
        keys_of("q", [replace(EN, text=EN.text.replace("24", "36"))], scorer=base),
        keys_of("q", [replace(EN, title="保証")], scorer=base),
        keys_of("q", [replace(EN, title="", text=EN.title + EN.text)], scorer=base),
        keys_of("q", [replace(EN, strips=((0, 67),))], scorer=base),
        keys_of("q", [replace(EN, strips=())], scorer=base),
        keys_of("q", [EN], scorer=Scorer(name="scorer-2")),  # a new version of the model, or of its prompt
        keys_of("q", [EN], scorer=Scorer(scale=ScoreScale.PROBABILITY)),
    ]
    keys = [key for one in variants for key in one]
    assert len(set(keys)) == len(keys)
    assert {len(key) for key in keys} == {43}
    assert keys_of("q", [EN, JA, EN], scorer=base)[::2] == variants[0] * 2


async def test_a67_a_changed_passage_is_scored_anew_and_the_old_text_is_still_known(
    cache: MemoryCache, ledger: RunLedger
) -> None:
    inner = Scorer()
    scorer = CachedScorer(inner, cache)
    changed = replace(EN, text=EN.text.replace("24 months", "three years"))
    before = await scorer.score("q", [EN], ledger=ledger)
    after = await scorer.score("q", [changed], ledger=ledger)
    assert before != after == lengths("q", [changed])
    assert await scorer.score("q", [EN], ledger=ledger) == before
    assert inner.pairs == 2


async def test_a67_a_new_version_of_the_scorer_is_asked(cache: MemoryCache, ledger: RunLedger) -> None:
    await CachedScorer(Scorer(), cache).score("q", [EN], ledger=ledger)
    newer = Scorer(lambda question, passages: [PairScore(9.0) for _ in passages], name="scorer-2")
    assert await CachedScorer(newer, cache).score("q", [EN], ledger=ledger) == [PairScore(9.0)]


async def test_a67_levels_follow_a_changed_threshold_at_once(cache: MemoryCache, ledger: RunLedger) -> None:
    inner = Scorer(lambda question, passages: [PairScore(0.4) for _ in passages])
    scorer = CachedScorer(inner, cache)

    async def level(thresholds: Thresholds) -> Level:
        [score] = await scorer.score("q", [EN], ledger=ledger)
        return thresholds.level(probability_of(score.score))

    assert await level(Thresholds(high=0.7, low=0.3)) is Level.MEDIUM
    assert await level(Thresholds(high=0.55, low=0.3)) is Level.HIGH
    assert await level(Thresholds(high=0.9, low=0.65)) is Level.LOW
    assert inner.pairs == 1


FAULTS: Mapping[str, Answer] = {
    "too few": lambda question, passages: lengths(question, passages)[:-1],
    "too many": lambda question, passages: [*lengths(question, passages), PairScore(1.0)],
    "none": lambda question, passages: [],
    "NaN": lambda question, passages: [PairScore(math.nan) for _ in passages],
    "infinite": lambda question, passages: [PairScore(math.inf) for _ in passages],
    "NaN in a strip": lambda question, passages: [PairScore(1.0, (math.nan,) * len(one.strips)) for one in passages],
    "strips of another passage": lambda question, passages: [PairScore(1.0, (1.0,) * 7) for _ in passages],
    "hit outside": lambda question, passages: [PairScore(1.0, hit=Span(0, 9999)) for _ in passages],
    "with a reason": lambda question, passages: [PairScore(1.0, reason="half of it was read") for _ in passages],
    "failed": lambda question, passages: [unscored("too long") for _ in passages],
    "no scores at all": lambda question, passages: ["0.9" for _ in passages],  # type: ignore[misc]
}

KEEP_A_SCORE = {"NaN in a strip", "strips of another passage", "hit outside", "with a reason"}
"""Faults after which the passage's own score still stands."""


@pytest.mark.parametrize("fault", FAULTS)
async def test_a11_what_cannot_be_trusted_is_never_kept(cache: MemoryCache, ledger: RunLedger, fault: str) -> None:
    inner = Scorer(FAULTS[fault])
    scorer = CachedScorer(inner, cache)
    scores = await scorer.score("q", [EN, JA], ledger=ledger)
    assert len(scores) == 2
    assert all(one.failed is (fault not in KEEP_A_SCORE) for one in scores)
    assert all(one.reason for one in scores if fault not in {"hit outside", "with a reason"})
    assert (await cache.statistics()).entries == 0
    inner.answer = lengths
    assert await scorer.score("q", [EN, JA], ledger=ledger) == lengths("q", [EN, JA])
    assert inner.pairs == 4
    assert (await cache.statistics()).entries == 2


async def test_a11_one_failed_pair_does_not_cost_the_others_their_place(cache: MemoryCache, ledger: RunLedger) -> None:
    def half(question: str, passages: Sequence[PassageText]) -> list[PairScore]:
        return [
            unscored("too long") if one == EN else score
            for one, score in zip(passages, lengths("", passages), strict=True)
        ]

    inner = Scorer(half)
    scorer = CachedScorer(inner, cache)
    for _ in range(2):
        assert [score.failed for score in await scorer.score("q", [JA, EN], ledger=ledger)] == [False, True]
    assert [passages for _, passages in inner.asked] == [(JA, EN), (EN,)]


async def test_a11_probabilities_outside_their_range_are_not_kept(cache: MemoryCache, ledger: RunLedger) -> None:
    inner = Scorer(lambda question, passages: [PairScore(1.5) for _ in passages], scale=ScoreScale.PROBABILITY)
    [score] = await CachedScorer(inner, cache).score("q", [EN], ledger=ledger)
    assert score.failed
    assert (await cache.statistics()).entries == 0


async def test_a11_a_scorer_that_raises_is_heard_and_nothing_is_kept(cache: MemoryCache, ledger: RunLedger) -> None:
    def down(question: str, passages: Sequence[PassageText]) -> list[PairScore]:
        raise ProviderUnreachable(provider="rerank", reason="no route")

    inner = Scorer(down)
    scorer = CachedScorer(inner, cache)
    with pytest.raises(ProviderUnreachable):
        await scorer.score("q", [EN, JA], ledger=ledger)
    assert (await cache.statistics()).entries == 0
    inner.answer = lengths
    await scorer.score("q", [EN], ledger=ledger)
    inner.answer = down
    known, unknown = await scorer.score("q", [EN, JA], ledger=ledger)
    assert known == lengths("q", [EN])[0]
    assert unknown.failed
    assert "ProviderUnreachable" in unknown.reason
    assert "no route" in unknown.reason
    assert [call.cached for call in ledger.calls if call.provider == "cache"] == [1]


async def test_damaged_bytes_are_a_miss(cache: MemoryCache, ledger: RunLedger) -> None:
    inner = Scorer()
    scorer = CachedScorer(inner, cache)
    first = await scorer.score("q", [EN, JA], ledger=ledger)
    key, whole = keys_of("q", [EN, JA], scorer=inner), await cache.get(keys_of("q", [EN, JA], scorer=inner))
    await cache.put({key[0]: whole[key[0]][:-1] + b"x", key[1]: b""})
    assert await scorer.score("q", [EN, JA], ledger=ledger) == first
    assert inner.pairs == 4
    assert await scorer.score("q", [EN, JA], ledger=ledger) == first
    assert inner.pairs == 4


async def test_the_same_question_asked_twenty_times_at_once_is_scored_once(cache: MemoryCache) -> None:
    inner = Scorer()
    inner.seconds = 0.02
    scorer = CachedScorer(inner, cache)
    ledgers = [RunLedger(SystemClock()) for _ in range(20)]
    results = await asyncio.gather(*[scorer.score("q", [EN, JA], ledger=one) for one in ledgers])
    assert inner.pairs == 2
    assert results == [lengths("q", [EN, JA])] * 20
    assert sum(call.cached for one in ledgers for call in one.calls) == 38


async def test_one_who_gives_up_does_not_take_the_score_from_the_others(cache: MemoryCache, ledger: RunLedger) -> None:
    inner = Scorer()
    inner.seconds = 0.02
    scorer = CachedScorer(inner, cache)
    first, second = [asyncio.create_task(scorer.score("q", [EN], ledger=ledger)) for _ in range(2)]
    await asyncio.sleep(0.005)
    first.cancel()
    assert await second == lengths("q", [EN])
    assert first.cancelled()
    assert len(inner.asked) == 2


async def test_closing_closes_the_scorer(cache: MemoryCache) -> None:
    inner = Scorer()
    await CachedScorer(inner, cache).close()
    assert inner.closed
