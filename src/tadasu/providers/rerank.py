"""Scores from a ``/rerank`` endpoint as Cohere, Jina, vLLM, llama.cpp and Text Embeddings Inference speak it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tadasu.core.documents import Span
from tadasu.core.scores import PairScore, ScoreScale, number_in, unscored
from tadasu.core.vectors import PassageText
from tadasu.errors import ProviderAnswerInvalid, ProviderError, ProviderRefused
from tadasu.ports import Ledger, ScorerSettings
from tadasu.providers.scorer_service import ScorerService
from tadasu.providers.windows import token_estimate, windows

PATH = "/rerank"
MOST_PAIRS = 32
"""Pairs in one request: what Text Embeddings Inference takes unless told otherwise."""
_LEAST_TOKENS = 64
_TEXTS = "texts"
_OPTIONS = ("return_documents", "top_n")
"""What a server may not know; left out once it has said so."""


class RerankScorer:
    """A PairScorer over a rerank endpoint. It gives no strip scores.

    Replies are matched to passages by their ``index``, never by their place. A text longer than ``max_tokens`` (by a
    cautious estimate, with the question) is sent in overlapping windows, and the best one counts.
    """

    def __init__(self, settings: ScorerSettings) -> None:
        self._service = ScorerService(settings, provider="rerank", path=PATH)
        self._options = set(_OPTIONS)
        self._as_texts = False

    @property
    def id(self) -> str:
        """Model and a digest of where and how it is asked."""
        return self._service.id

    @property
    def scale(self) -> ScoreScale:
        """As declared in the settings."""
        return self._service.scale

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> Sequence[PairScore]:
        """One score per passage, in order; see `tadasu.ports.PairScorer`."""
        room = max(_LEAST_TOKENS, self._service.settings.max_tokens - token_estimate(question))
        parts = [(index, span, text) for index, one in enumerate(passages) for span, text in _parts(one, room)]
        given = await self._all([text for _, _, text in parts], question, ledger)
        return [
            _best([(span, score) for (index, span, _), score in zip(parts, given, strict=True) if index == number], one)
            for number, one in enumerate(passages)
        ]

    async def close(self) -> None:
        """Give back connections."""
        await self._service.close()

    async def _all(self, texts: Sequence[str], question: str, ledger: Ledger) -> list[PairScore]:
        """A score per text, in requests of at most `MOST_PAIRS`; raises only where none of them was answered."""
        scores: list[PairScore] = []
        failure: ProviderError | None = None
        for start in range(0, len(texts), MOST_PAIRS):
            batch = texts[start : start + MOST_PAIRS]
            try:
                scores += await self._batch(question, batch, ledger)
            except ProviderError as error:
                failure = error
                scores += [unscored(str(error))] * len(batch)
        if failure is not None and all(score.failed for score in scores):
            raise failure
        return scores

    async def _batch(self, question: str, texts: Sequence[str], ledger: Ledger) -> list[PairScore]:
        def read(reply: object) -> list[PairScore]:
            return read_scores(reply, len(texts), scale=self.scale, provider=self._service.name)

        as_texts = self._as_texts
        while True:
            body = self._body(question, texts, as_texts=as_texts)
            try:
                scores = await self._service.call(body, read, pairs=len(texts), ledger=ledger)
            except ProviderRefused as error:
                # What was sent counts, not what is known by now: another question may have learnt it meanwhile.
                named = _named(error, body)
                if not named:
                    raise
                self._options.discard(named)
                as_texts = as_texts or named == _TEXTS
            else:
                self._as_texts = as_texts
                return scores

    def _body(self, question: str, texts: Sequence[str], *, as_texts: bool) -> dict[str, object]:
        model: dict[str, object] = {"model": self._service.settings.model} if self._service.settings.model else {}
        if as_texts:
            raw = self.scale is ScoreScale.LOGIT
            return model | {"query": question, _TEXTS: list(texts), "raw_scores": raw, "return_text": False}
        options = {"top_n": len(texts), "return_documents": False}
        told = {name: value for name, value in options.items() if name in self._options}
        return model | {"query": question, "documents": list(texts)} | told


def _named(error: ProviderRefused, body: Mapping[str, object]) -> str:
    """What a refusal of `body` names that can be said otherwise: an option in it, or ``texts``, which it lacks."""
    if error.details.get("status") not in (400, 422):
        return ""
    said = str(error.details.get("reason", ""))
    unknown = next((option for option in _OPTIONS if option in body and option in said), "")
    return unknown or (_TEXTS if _TEXTS in said and _TEXTS not in body else "")


def open_scorer(settings: ScorerSettings) -> RerankScorer:
    """The plugin behind ``tadasu.scorers: rerank``. No network is touched before the first call.

    Raises:
        SettingsInvalid: the scale is not declared, or the address cannot be one.
    """
    return RerankScorer(settings)


def read_scores(reply: object, count: int, *, scale: ScoreScale, provider: str) -> list[PairScore]:
    """The scores of `count` documents from a reply, matched by index.

    A document whose score is missing, doubled or no number of the scale has a reason instead; an index that names no
    document is nobody's.

    Raises:
        ProviderAnswerInvalid: there is no list of scores, or the indices count from 1 and so name the wrong documents.
    """
    rows = reply
    if isinstance(reply, dict):
        rows = reply.get("results", reply.get("data"))
    if not isinstance(rows, list):
        raise ProviderAnswerInvalid(provider=provider, reason="the reply holds no list of results", billable=True)
    indices = [_index(row) for row in rows]
    told = [index for index in indices if index is not None]
    if told and min(told) == 1 and max(told) == count:
        raise ProviderAnswerInvalid(provider=provider, reason="its indices count from 1, not from 0", billable=True)
    strays = sum(index is None or not 0 <= index < count for index in indices)
    missing = f"the reply of {provider} holds no score for it"
    if strays:
        missing += f" ({strays} of its {len(rows)} results name no passage)"
    times = Counter(indices)
    scores = [unscored(missing)] * count
    for index, row in zip(indices, rows, strict=True):
        if index is None or not 0 <= index < count:
            continue
        if times[index] > 1:
            scores[index] = unscored(f"the reply of {provider} holds {times[index]} scores for it")
        else:
            scores[index] = _score(row, scale, provider)
    return scores


def _index(row: object) -> int | None:
    index = row.get("index") if isinstance(row, dict) else None
    return index if type(index) is int else None


def _score(row: dict[str, object], scale: ScoreScale, provider: str) -> PairScore:
    raw = row["relevance_score"] if "relevance_score" in row else row.get("score")
    number = number_in(raw, scale)
    return unscored(f"the score from {provider} {number}") if isinstance(number, str) else PairScore(number)


def _parts(passage: PassageText, room: int) -> list[tuple[Span, str]]:
    """What is sent of a passage: its whole text or windows of it, each under its title; nothing of an empty one."""
    if not passage.text.strip():
        return []
    head = f"{passage.title}\n" if passage.title else ""
    left = max(_LEAST_TOKENS // 2, room - token_estimate(head))
    return [(span, head + span.of(passage.text)) for span in windows(passage.text, passage.strips, tokens=left)]


def _best(parts: Sequence[tuple[Span, PairScore]], passage: PassageText) -> PairScore:
    """The best window's score; none where a window has none, for that may have been the one that answers."""
    if not parts:
        return unscored("the passage is empty")
    failed = next((score for _, score in parts if score.failed), None)
    if failed is not None:
        return failed
    span, score = max(parts, key=lambda part: part[1].score)
    return score if len(span) == len(passage.text) else replace(score, hit=span)
