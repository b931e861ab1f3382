"""The support head: how likely it is that a source supports a sentence of an answer.

It runs the grader's layers once more over (question and sentence, source), with narrow matrices of its own beside
theirs: ``support.onnx`` holds those and borrows all else from the grader's ``model.onnx``. Every pair is a run of its
own, the longest first, on `threads` threads, off the event loop, so that a probability does not depend on neighbours.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from tadasu.core.usage import Stage
from tadasu.errors import ModelUnavailable, SettingsInvalid
from tadasu.ports import CheckerSettings, Claim, Ledger
from tadasu.providers.heads import CARD, FORMAT, run_pair
from tadasu.runtime.ledger import timed
from tadasu.runtime.model_parts import with_constants
from tadasu.runtime.onnx_models import Workers, open_session, open_tokenizer, read_bytes, sound
from tadasu.runtime.pair_card import PairCard, read_card, read_json
from tadasu.runtime.pair_models import PairModel
from tadasu.runtime.pair_windows import windows_of
from tadasu.text.language import detect

OUTPUT = "support_logit"
_READING = "+c1"
_NO_BORDERS = np.empty(0, dtype=np.int64)
_LEAST_ROOM = 64


@dataclass(frozen=True, slots=True)
class SupportCard:
    """What `heads.json` says of the support head.

    `question` and `sentence` are the most tokens read at once of each, `longest` of a pair. `curves` per language: bias
    and factor that make a probability of the logit.
    """

    version: str
    model: Path
    sha256: str
    borrowed: tuple[tuple[int, int], ...]
    question: int
    sentence: int
    longest: int
    curves: Mapping[str, tuple[float, float]]


def read_support(folder: Path, grader: PairCard) -> SupportCard:
    """Read and check the card; raises ModelUnavailable with what is wrong."""
    path = folder / CARD
    told = read_json(path)
    if told.get("format") != FORMAT:
        raise ModelUnavailable(path=path, reason=f"its format is {told.get('format')}, this version reads {FORMAT}")
    try:
        card = _card_of(told["support"], folder)
        of = str(told["support"]["of"]["sha256"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelUnavailable(path=path, reason=f"its card lacks or breaks a field: {error}") from error
    if of != grader.model_sha256:
        raise ModelUnavailable(path=path, reason="its support head was made for another model.onnx")
    if min(card.question, card.sentence) < 1 or card.longest < card.question + card.sentence + _LEAST_ROOM:
        raise ModelUnavailable(path=path, reason="its lengths leave no room for a source")
    return card


def _card_of(told: Mapping[str, Any], folder: Path) -> SupportCard:
    curves = {str(name): (float(one[0]), float(one[1])) for name, one in told["curves"].items()}
    if not curves or not all(math.isfinite(x) for one in curves.values() for x in one):
        raise ValueError("its curves are not finite")
    return SupportCard(
        version=str(told["version"]),
        model=folder / str(told["file"]),
        sha256=str(told["sha256"]),
        borrowed=tuple((int(start), int(end)) for start, end in told["borrowed"]),
        question=int(told["lengths"]["question"]),
        sentence=int(told["lengths"]["sentence"]),
        longest=int(told["lengths"]["longest"]),
        curves=curves,
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """One run: claim number `claim`, part number `part` of its sentence, and the ids."""

    claim: int
    part: int
    ids: tuple[int, ...]


class SupportHead:
    """The `SupportModel` port over the grader's folder.

    A source that is longer than the window is read in overlapping windows, and the best counts; a sentence that is
    longer than those of the training is read in parts, and the worst counts. Of a question no more than its first
    tokens are read, as in training. The model is loaded at the first use. Safe to call from several tasks and threads.
    """

    def __init__(self, card: PairCard, support: SupportCard, *, threads: int = 2) -> None:
        self._card = card
        self._support = support
        self._workers = Workers(threads, name="support-head")
        self._lock = threading.Lock()
        self._opened: PairModel | None = None

    @property
    def id(self) -> str:
        """Name and version; changes with the model's bytes and with how pairs are read."""
        return f"support-{self._support.version}-{self._support.sha256[:8]}{_READING}"

    async def support(self, claims: Sequence[Claim], *, ledger: Ledger) -> Sequence[float]:
        """One probability per claim, in order; see `tadasu.ports.SupportModel`. A claim or source without words gets 0.

        Cancelling stops the work after the pairs being read.
        """
        if not claims:
            return []
        stop = threading.Event()
        with timed(ledger, Stage.CHECK, provider="local", model=self.id, items=len(claims)):
            try:
                return await asyncio.to_thread(self.support_now, claims, stop=stop)
            finally:
                stop.set()

    def support_now(self, claims: Sequence[Claim], *, stop: threading.Event | None = None) -> list[float]:
        """`support` in the caller's thread, without a ledger."""
        model = self._loaded()
        rows = sorted(self._rows(model.tokenizer, claims), key=lambda row: -len(row.ids))

        def run(row: _Row) -> float:
            if stop is not None and stop.is_set():
                return -math.inf
            (logits,) = run_pair(model, row.ids, [OUTPUT], self._support.model)
            return float(logits[0])

        best: list[dict[int, float]] = [{} for _ in claims]
        for row, logit in zip(rows, self._workers.map(run, rows), strict=True):
            parts = best[row.claim]
            parts[row.part] = max(parts.get(row.part, -math.inf), logit)
        return [
            self._probability(min(parts.values()), claim) if parts else 0.0
            for parts, claim in zip(best, claims, strict=True)
        ]

    def _probability(self, logit: float, claim: Claim) -> float:
        curves = self._support.curves
        bias, factor = curves.get(detect(claim.sentence + claim.source)) or next(iter(curves.values()))
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, bias + factor * logit))))

    def _rows(self, tokenizer: Tokenizer, claims: Sequence[Claim]) -> list[_Row]:
        support, card = self._support, self._card
        texts = list(dict.fromkeys(text for one in claims for text in (one.question, one.sentence, one.source)))
        encoded = tokenizer.encode_batch([sound(text) for text in texts], add_special_tokens=False)
        ids = {text: list(one.ids) for text, one in zip(texts, encoded, strict=True)}
        rows: list[_Row] = []
        for number, one in enumerate(claims):
            sentence, source = ids[one.sentence], ids[one.source]
            if not sentence or not source or not one.sentence.strip() or not one.source.strip():
                continue
            asked = ids[one.question][: support.question]
            lead = [card.begin, *asked, *([card.separator] if asked else [])]
            parts = windows_of(len(sentence), room=support.sentence, borders=_NO_BORDERS, overlap=0)
            for part, (first, last) in enumerate(parts):
                before = [*lead, *sentence[first:last], card.end, card.end]
                room = support.longest - len(before) - 1
                for start, end in windows_of(len(source), room=room, borders=_NO_BORDERS):
                    rows.append(_Row(number, part, (*before, *source[start:end], card.end)))
        return rows

    def _loaded(self) -> PairModel:
        with self._lock:
            if self._opened is None:
                card, support = self._card, self._support
                words = read_bytes(card.tokenizer, sha256=card.tokenizer_sha256)
                own = read_bytes(support.model, sha256=support.sha256)
                grader = read_bytes(card.model, sha256=card.model_sha256)
                try:
                    whole = with_constants(own, grader, support.borrowed)
                except ValueError as error:
                    raise ModelUnavailable(path=support.model, reason=str(error)) from error
                self._opened = PairModel(open_session(whole, support.model), open_tokenizer(words, card.tokenizer))
            return self._opened


def open_support_head(folder: str | Path, *, threads: int = 2) -> SupportHead:
    """The support head of a grader's folder; raises ModelUnavailable where its cards cannot be used."""
    path = Path(folder)
    card = read_card(path)
    return SupportHead(card, read_support(path, card), threads=threads)


def open_checker(settings: CheckerSettings) -> SupportHead:
    """The plugin behind ``tadasu.checkers: shipped``."""
    if settings.path is None:
        reason = "is not set; write the folder of a grader with a support head"
        raise SettingsInvalid(where="tadasu.toml", key="checking.path", reason=reason)
    return open_support_head(settings.path, threads=settings.threads)
