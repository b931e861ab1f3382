"""A scorer that remembers: what was scored once is looked up, and the same question asked twice at once scores once.

What is remembered is the scorer's own number, before calibration, thresholds and levels. A new threshold or a new
calibration therefore changes levels at once, and nothing has to be scored again for it.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tadasu.answering.grading.score_bytes import FORMAT, packed, unpacked
from tadasu.answering.grading.scoring import sound_scores
from tadasu.core.scores import PairScore, ScoreScale, unscored
from tadasu.core.usage import Call, Stage
from tadasu.ports import Ledger, PairScorer, ScoreCache
from tadasu.runtime.single_flight import SingleFlight

if TYPE_CHECKING:
    from tadasu.core.vectors import PassageText


class CachedScorer:
    """ports.PairScorer in front of another one.

    Failures are never kept: a pair without a sound score (see `scoring.sound_scores`) is passed on with its reason and
    asked for again next time. Where a call comes back with too few or too many scores nobody can say whose they are:
    none of them is used or kept. Where the scorer fails altogether, the pairs that were known are given all the same.

    The scorer is asked with the normalised question (see `normalised`), so that what is kept does not depend on who
    asked first.
    """

    def __init__(self, scorer: PairScorer, cache: ScoreCache) -> None:
        self._scorer = scorer
        self._cache = cache
        self._flights: SingleFlight[str, PairScore] = SingleFlight()

    @property
    def id(self) -> str:
        """The scorer's own: remembering changes no score."""
        return self._scorer.id

    @property
    def scale(self) -> ScoreScale:
        """The scorer's own."""
        return self._scorer.scale

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> list[PairScore]:
        """One score per passage, in order; see `tadasu.ports.PairScorer`.

        What was served without the scorer is one call of the provider ``cache`` in `ledger`.
        """
        began = ledger.elapsed_ms()
        asked = normalised(question)
        keys = keys_of(asked, passages, scorer=self._scorer)
        work = _Work(self._scorer, self._cache, asked, dict(zip(keys, passages, strict=True)), ledger)
        found = await self._flights.fetch(keys, work.compute)
        if work.problem is not None and not found:
            raise work.problem
        served = sum(key not in work.scored for key in keys)
        if served:
            took = ledger.elapsed_ms() - began - work.scoring_ms
            ledger.record(
                Call(Stage.GRADE, "cache", self.id, started_ms=began, duration_ms=took, items=served, cached=served)
            )
        return [found.get(key) or work.unkept[key] for key in keys]

    async def close(self) -> None:
        """Close the scorer, where it can be closed. The cache is not ours."""
        close = getattr(self._scorer, "close", None)
        if close is not None:
            await close()


@dataclass(slots=True)
class _Work:
    """One call of `CachedScorer.score`: what it asks the scorer itself, and what came of it."""

    scorer: PairScorer
    cache: ScoreCache
    question: str
    passages: Mapping[str, PassageText]
    ledger: Ledger
    scored: set[str] = field(default_factory=set)
    unkept: dict[str, PairScore] = field(default_factory=dict)
    problem: Exception | None = None
    scoring_ms: float = 0.0

    async def compute(self, keys: Sequence[str]) -> Mapping[str, PairScore]:
        """What the cache or the scorer knows of `keys`; what may not be shared or kept goes into `unkept`."""
        known = await self.cache.get(keys)
        read = {key: score for key, data in known.items() if (score := unpacked(data)) is not None}
        found, _ = self._parted(list(read), list(read.values()))
        missing = [key for key in keys if key not in found]
        if missing:
            fresh, unkept = self._parted(missing, await self._ask(missing))
            self.unkept.update(unkept)
            await self.cache.put({key: packed(score) for key, score in fresh.items()})
            found.update(fresh)
        return found

    async def _ask(self, keys: Sequence[str]) -> Sequence[PairScore]:
        self.scored.update(keys)
        began = self.ledger.elapsed_ms()
        try:
            return await self.scorer.score(self.question, [self.passages[key] for key in keys], ledger=self.ledger)
        except Exception as problem:  # noqa: BLE001 - anybody's plugin; it is raised where no pair at all has a score
            self.problem = problem
            return [unscored(f"the scorer raised {type(problem).__name__}: {problem}")] * len(keys)
        finally:
            self.scoring_ms += self.ledger.elapsed_ms() - began

    def _parted(
        self, keys: Sequence[str], given: Sequence[PairScore]
    ) -> tuple[dict[str, PairScore], dict[str, PairScore]]:
        """The scores that are as promised, and those that are not, made sound or replaced by a reason."""
        sound = sound_scores(given, [self.passages[key] for key in keys], scale=self.scorer.scale)
        good: dict[str, PairScore] = {}
        rest: dict[str, PairScore] = {}
        for index, (key, score) in enumerate(zip(keys, sound, strict=True)):
            as_promised = not score.failed and not score.reason and score == given[index]
            (good if as_promised else rest)[key] = score
        return good, rest


def normalised(question: str) -> str:
    """`question` in NFKC, runs of white space as one space, none at the ends.

    Half and full width, composed and decomposed letters are one then (「ＫＰＴ－３４０」 and "KPT-340"); so are a line
    break and a space. Case, punctuation and everything else stay: a scorer may well tell "US" from "us".

    >>> normalised("  ＫＰＴ－３４０ の\\n保証は？ ")
    'KPT-340 の 保証は?'
    """
    return " ".join(unicodedata.normalize("NFKC", question).split())


def keys_of(asked: str, passages: Sequence[PassageText], *, scorer: PairScorer) -> list[str]:
    """A key per pair: SHA-256, as 43 letters, over everything that its score depends on.

    That is the scorer's id (which holds its version, and its prompt's where it has one) and scale, the question `asked`
    as the scorer sees it, the passage as the scorer sees it (title, text, borders of strips), and the version of this
    form. Where a passage stands, and in which document, is no part of it: the same text has the same score anywhere,
    and a changed text is another one.
    """
    head = hashlib.sha256()
    for part in (FORMAT, scorer.id, scorer.scale.value, asked):
        _feed(head, part.encode("utf-8", "surrogatepass"))
    keys = []
    for passage in passages:
        state = head.copy()
        _feed(state, passage.title.encode("utf-8", "surrogatepass"))
        _feed(state, passage.text.encode("utf-8", "surrogatepass"))
        borders = [border for strip in passage.strips for border in strip]
        _feed(state, struct.pack(f"<{len(borders)}q", *borders))
        keys.append(base64.urlsafe_b64encode(state.digest()).rstrip(b"=").decode())
    return keys


def _feed(state: hashlib._Hash, data: bytes) -> None:
    state.update(len(data).to_bytes(8, "big"))
    state.update(data)
