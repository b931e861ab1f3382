"""Scores from a service of your own over a small JSON protocol; see ``docs/how-to/graders.md``.

There: ``{"protocol": "tadasu-scorer/1", "scale": …, "model": …, "question": …, "passages": [{"id", "title", "text",
"strips"}]}``. Back: ``{"scores": [{"id", "score", "strips"?, "hit"?, "reason"?}]}``, in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tadasu.core.documents import Span
from tadasu.core.scores import PairScore, ScoreScale, number_in, unscored
from tadasu.core.vectors import PassageText
from tadasu.errors import ProviderAnswerInvalid
from tadasu.ports import Ledger, ScorerSettings
from tadasu.providers.scorer_service import ScorerService

PROTOCOL = "tadasu-scorer/1"


class HttpScorer:
    """A PairScorer over the protocol above. All passages of a question go in one request."""

    def __init__(self, settings: ScorerSettings) -> None:
        self._service = ScorerService(settings, provider="http")

    @property
    def id(self) -> str:
        """Model or address, and a digest of where and how it is asked."""
        return self._service.id

    @property
    def scale(self) -> ScoreScale:
        """As declared in the settings."""
        return self._service.scale

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> Sequence[PairScore]:
        """One score per passage, in order; see `tadasu.ports.PairScorer`."""
        if not passages:
            return []

        def read(reply: object) -> list[PairScore]:
            return read_scores(reply, passages, scale=self.scale, provider=self._service.name)

        body = self._body(question, passages)
        return await self._service.call(body, read, pairs=len(passages), ledger=ledger)

    async def close(self) -> None:
        """Give back connections."""
        await self._service.close()

    def _body(self, question: str, passages: Sequence[PassageText]) -> dict[str, object]:
        return {
            "protocol": PROTOCOL,
            "scale": self.scale.value,
            "model": self._service.settings.model,
            "question": question,
            "passages": [
                {"id": _id(number), "title": one.title, "text": one.text, "strips": [list(span) for span in one.strips]}
                for number, one in enumerate(passages)
            ],
        }


def open_scorer(settings: ScorerSettings) -> HttpScorer:
    """The plugin behind ``tadasu.scorers: http``. No network is touched before the first call.

    Raises:
        SettingsInvalid: the scale is not declared, or the address cannot be one.
    """
    return HttpScorer(settings)


def read_scores(reply: object, passages: Sequence[PassageText], *, scale: ScoreScale, provider: str) -> list[PairScore]:
    """The scores of `passages` from a reply, matched by id.

    A passage whose score is missing, doubled or no number of the scale has a reason instead; ids that nobody asked
    about are ignored. Strip scores are kept where there is one number of the scale for each strip.

    Raises:
        ProviderAnswerInvalid: there is no list of scores, or the reply names another scale than the declared one.
    """
    rows = reply.get("scores") if isinstance(reply, dict) else None
    if not isinstance(reply, dict) or not isinstance(rows, list):
        raise ProviderAnswerInvalid(provider=provider, reason='the reply holds no list "scores"', billable=True)
    told = reply.get("scale", scale.value)
    if told != scale.value:
        reason = f"its scale is {told!r}, and the settings say {scale.value!r}"
        raise ProviderAnswerInvalid(provider=provider, reason=reason, billable=True)
    named = [(row["id"], row) for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
    times, by_id = Counter(name for name, _ in named), dict(named)
    return [
        _score(by_id.get(_id(number)), one, scale, provider)
        if times[_id(number)] <= 1
        else unscored(f"the reply of {provider} holds {times[_id(number)]} scores for it")
        for number, one in enumerate(passages)
    ]


def _id(number: int) -> str:
    return f"p{number}"


def _score(row: Mapping[str, object] | None, passage: PassageText, scale: ScoreScale, provider: str) -> PairScore:
    if row is None:
        return unscored(f"the reply of {provider} holds no score for it")
    said = row.get("reason")
    reason = " ".join(said.split()) if isinstance(said, str) else ""
    if row.get("score") is None:
        return unscored(reason or f"{provider} gives no score for it, and no reason")
    number = number_in(row["score"], scale)
    if isinstance(number, str):
        return unscored(f"the score from {provider} {number}")
    strips, note = _strips(row.get("strips"), len(passage.strips), scale)
    return PairScore(number, strips, _hit(row.get("hit"), len(passage.text)), note)


def _strips(given: object, wanted: int, scale: ScoreScale) -> tuple[tuple[float, ...], str]:
    if given is None or given == []:
        return (), ""
    read = [number_in(one, scale) for one in given] if isinstance(given, list) else []
    numbers = tuple(one for one in read if not isinstance(one, str))
    if len(read) != wanted or len(numbers) != wanted:
        return (), f"its strip scores were left out: they are not {wanted} numbers of the scale"
    return numbers, ""


def _hit(given: object, length: int) -> Span | None:
    if isinstance(given, list) and len(given) == 2 and all(type(one) is int for one in given):
        start, end = given
        return Span(start, end) if 0 <= start < end <= length and end - start < length else None
    return None
