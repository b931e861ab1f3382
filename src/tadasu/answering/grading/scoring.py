"""Asks a scorer and believes nothing it says: whatever it does, every passage ends with a sound score or a reason.

Scorers are plugins and services. One that raises, hangs, or gives NaN, too few, too many or scores of another kind
must cost its own passages their score, and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from tadasu.core.documents import Span
from tadasu.core.scores import PairScore, ScoreScale, number_in, unscored
from tadasu.core.vectors import PassageText
from tadasu.errors import TadasuError
from tadasu.ports import Ledger, PairScorer

_LONGEST_REASON = 300


async def checked_scores(
    scorer: PairScorer, question: str, passages: Sequence[PassageText], *, ledger: Ledger, timeout_s: float | None
) -> list[PairScore]:
    """One score per passage, in order: finite and of the scorer's declared scale, or NaN with the reason.

    Never raises for what the scorer did; cancellation passes through. `timeout_s` is the whole batch's, None for no
    limit. A scorer that blocks the event loop cannot be stopped. It is not asked about a damaged passage.
    """
    scores = [
        unscored("") if _readable(one) else unscored("the passage is damaged: it has no text") for one in passages
    ]
    asked = [index for index, one in enumerate(passages) if _readable(one)]
    given = await _asked(scorer, question, [passages[index] for index in asked], ledger=ledger, timeout_s=timeout_s)
    for index, score in zip(asked, given, strict=True):
        scores[index] = score
    return scores


async def _asked(
    scorer: PairScorer, question: str, passages: Sequence[PassageText], *, ledger: Ledger, timeout_s: float | None
) -> list[PairScore]:
    if not passages:
        return []
    try:
        async with asyncio.timeout(timeout_s) as limit:
            given: object = await scorer.score(question, passages, ledger=ledger)
        return sound_scores(given, passages, scale=scorer.scale)
    except TimeoutError as problem:
        reason = f"the scorer gave no answer within {timeout_s:g} s" if limit.expired() else _raised(problem)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # Nobody cancelled this task: the scorer let a cancellation of its own out.
        reason = "the scorer broke off its own work"
    except TadasuError as problem:
        reason = _clipped(str(problem))
    except Exception as problem:  # noqa: BLE001 - a scorer is a plugin: whatever it raises, its passages have no score
        reason = _raised(problem)
    return [unscored(reason)] * len(passages)


def sound_scores(given: object, passages: Sequence[PassageText], *, scale: ScoreScale) -> list[PairScore]:
    """What a scorer returned for `passages`, made sound; see `checked_scores`.

    Scores carry no ids, so too few or too many of them cannot be told apart, and none is used. Strip scores that do not
    fit the passage are left out, and a `reason` beside the passage's good score says so.
    """
    fault = _misfit(given, len(passages), scale)
    if fault:
        return [unscored(fault)] * len(passages)
    assert isinstance(given, Sequence)
    return [_sound(one, passage, scale) for one, passage in zip(given, passages, strict=True)]


def _readable(passage: PassageText) -> bool:
    text: object = passage.text
    return isinstance(text, str)


def _misfit(given: object, wanted: int, scale: object) -> str:
    if not isinstance(scale, ScoreScale):
        return f"the scorer does not say what its scores mean (its scale is {_shown(scale)})"
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        return f"the scorer gave no list of scores ({type(given).__name__})"
    if len(given) != wanted:
        return f"the scorer gave {len(given)} scores for {wanted} passages: which belongs to which cannot be told"
    return ""


def _sound(given: object, passage: PassageText, scale: ScoreScale) -> PairScore:
    if not isinstance(given, PairScore):
        return unscored(f"the scorer gave no score for it ({_shown(given)})")
    reason: object = given.reason
    said = _clipped(reason) if isinstance(reason, str) else ""
    score = number_in(given.score, scale)
    if isinstance(score, str):
        return unscored(said or f"the scorer's score {score}")
    strips, note = _sound_strips(given.strips, len(passage.strips), scale)
    hit = given.hit if _within(given.hit, len(passage.text)) else None
    return replace(given, score=score, strips=strips, hit=hit, reason=note)


def _sound_strips(given: object, wanted: int, scale: ScoreScale) -> tuple[tuple[float, ...], str]:
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        return (), f"its strip scores were left out: no list ({type(given).__name__})"
    if not given:
        return (), ""
    if len(given) != wanted:
        return (), f"its strip scores were left out: {len(given)} for {wanted} strips"
    read = [number_in(one, scale) for one in given]
    numbers = tuple(one for one in read if not isinstance(one, str))
    if len(numbers) != wanted:
        fault = next(one for one in read if isinstance(one, str))
        return (), f"its strip scores were left out: one {fault}"
    return numbers, ""


def _within(hit: object, length: int) -> bool:
    return isinstance(hit, Span) and 0 <= hit.start < hit.end <= length


def _raised(problem: Exception) -> str:
    return _clipped(f"the scorer raised {type(problem).__name__}: {problem}".rstrip(": "))


def _shown(value: object) -> str:
    try:
        return _clipped(repr(value), 60)
    except Exception:  # noqa: BLE001 - whatever a plugin's object does when it is shown
        return type(value).__name__


def _clipped(text: str, length: int = _LONGEST_REASON) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"
