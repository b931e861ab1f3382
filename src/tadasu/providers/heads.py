"""Heads over the grader's cross-encoder: where an answer stands in a text.

The span head needs nothing of its own in the file: the grader gives every token of a text a logit that says "here is
the answer", from which the best run of tokens is taken. Model, tokenizer and windows are the grader's
(`tadasu.runtime.pair_models`), so that they are loaded once.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tadasu.core.usage import Stage
from tadasu.core.vectors import PassageText
from tadasu.errors import ModelUnavailable
from tadasu.ports import FoundSpan, Ledger
from tadasu.providers.spans import SpanRule, best_run, run_logit, whole_words
from tadasu.runtime.ledger import timed
from tadasu.runtime.onnx_models import Workers
from tadasu.runtime.pair_card import PairCard, read_card, read_json
from tadasu.runtime.pair_models import PairModel, open_pair_model
from tadasu.runtime.pair_rows import MOST_PARTS, PairRow, Reading, read_pairs
from tadasu.text.language import detect

CARD = "heads.json"
FORMAT = 1
_READING = "+s1"
"""Changes with whatever changes a span or its probability while model and card stay the same."""


@dataclass(frozen=True, slots=True)
class HeadsCard:
    """What `heads.json` says beside the grader's card: how spans are chosen, and for which grader that was fitted."""

    path: Path
    grader: str
    version: str
    spans: SpanRule


def read_heads(folder: Path) -> HeadsCard:
    """Read and check the card; raises ModelUnavailable with what is wrong."""
    path = folder / CARD
    told = read_json(path)
    if told.get("format") != FORMAT:
        raise ModelUnavailable(path=path, reason=f"its format is {told.get('format')}, this version reads {FORMAT}")
    try:
        return HeadsCard(path, str(told["grader"]), str(told["version"]), SpanRule.of(told["spans"]))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelUnavailable(path=path, reason=f"its card lacks or breaks a field: {error}") from error


@dataclass(frozen=True, slots=True)
class _Asked:
    reading: Reading
    texts: Sequence[str]
    language: str
    stop: threading.Event | None


class SpanHead:
    """The `SpanReader` port over the grader's folder.

    The model is loaded at the first use. A span depends on its own question and text only. Safe to call from several
    tasks and threads.
    """

    def __init__(self, card: PairCard, heads: HeadsCard, *, threads: int = 2) -> None:
        if heads.grader != card.id:
            reason = f"it was fitted for the grader {heads.grader}, and this is {card.id}"
            raise ModelUnavailable(path=heads.path, reason=reason)
        self._card = card
        self._rule = heads.spans
        self._version = heads.version
        self._workers = Workers(threads, name="span-head")
        self._lock = threading.Lock()
        self._opened: PairModel | None = None

    @property
    def id(self) -> str:
        """Name and version: the grader's, the card's, and how spans are read."""
        return f"{self._card.id}+spans-{self._version}{_READING}"

    async def read(self, question: str, texts: Sequence[str], *, ledger: Ledger) -> Sequence[FoundSpan | None]:
        """One span per text, in order; see `tadasu.ports.SpanReader`. Cancelling stops after the windows being read."""
        if not texts:
            return []
        stop = threading.Event()
        with timed(ledger, Stage.STRIP, provider="local", model=self.id, items=len(texts)):
            try:
                return await asyncio.to_thread(self.read_now, question, texts, stop=stop)
            finally:
                stop.set()

    def read_now(
        self, question: str, texts: Sequence[str], *, stop: threading.Event | None = None
    ) -> list[FoundSpan | None]:
        """`read` in the caller's thread, without a ledger."""
        model = self._loaded()
        reading = read_pairs(model.tokenizer, self._card, question, [PassageText(text) for text in texts])
        if reading.parts > MOST_PARTS:
            reason = f"a question of {reading.question} tokens is longer than what it reads"
            raise ModelUnavailable(path=self._card.model, reason=reason)
        asked = _Asked(reading, texts, detect(question), stop)
        rows = sorted(reading.rows, key=lambda row: -len(row.ids))
        found: list[FoundSpan | None] = [None] * len(texts)
        for row, span in zip(rows, self._workers.map(lambda row: self._run(model, row, asked), rows), strict=True):
            best = found[row.passage]
            if span is not None and (best is None or _order(span) > _order(best)):
                found[row.passage] = span
        return found

    def _run(self, model: PairModel, row: PairRow, asked: _Asked) -> FoundSpan | None:
        if asked.stop is not None and asked.stop.is_set():
            return None
        logit, tokens = run_pair(model, row.ids, ["passage_logit", "token_logits"], self._card.model)
        own = tokens[0, row.lead : row.lead + row.last - row.first].astype(np.float64)
        first, end = best_run(own, self._rule)
        spans = asked.reading.passages[row.passage].spans[row.first : row.last]
        start, stop = whole_words(asked.texts[row.passage], int(spans[first, 0]), int(spans[end - 1, 1]))
        if start >= stop:
            return None
        likely = self._rule.probability(asked.language, text=float(logit[0]), run=run_logit(own, first, end))
        return FoundSpan(start, stop, likely)

    def _loaded(self) -> PairModel:
        with self._lock:
            if self._opened is None:
                self._opened = open_pair_model(self._card)
            return self._opened


def _order(span: FoundSpan) -> tuple[float, int]:
    return span.probability, -span.start


def run_pair(model: PairModel, ids: Any, outputs: Sequence[str], path: Path) -> Sequence[Any]:
    """The named outputs for one row of ids; raises ModelUnavailable where the model fails or gives no numbers."""
    row = np.asarray(ids, dtype=np.int64)[None]
    feed: Mapping[str, Any] = {"input_ids": row, "attention_mask": np.ones_like(row)}
    try:
        found: Sequence[Any] = model.session.run(list(outputs), feed)
    except Exception as error:  # the library's errors have no base of their own
        raise ModelUnavailable(path=path, reason=f"it failed on a text ({error})") from error
    if not all(np.isfinite(one).all() for one in found):
        raise ModelUnavailable(path=path, reason="it gave no finite number for a text")
    return found


def open_span_head(folder: str | Path, *, threads: int = 2) -> SpanHead:
    """The span head of a grader's folder; raises ModelUnavailable where its cards cannot be used."""
    path = Path(folder)
    return SpanHead(read_card(path), read_heads(path), threads=threads)
