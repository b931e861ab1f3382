"""The second tier: our cross-encoder reads question and passage together (DESIGN §3.2).

One pass gives the passage's logit and one per token, from which each strip's is pooled. Every window is a run of its
own (see `tadasu.runtime.onnx_models`), the longest first, on `threads` threads, off the event loop.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from tadasu.answering.grading.features import shipped_folder
from tadasu.core.documents import Span
from tadasu.core.scores import PairScore, ScoreScale, unscored
from tadasu.core.usage import Stage
from tadasu.core.vectors import PassageText
from tadasu.ports import Ledger, ScorerSettings
from tadasu.runtime.ledger import timed
from tadasu.runtime.onnx_models import Workers
from tadasu.runtime.pair_card import PairCard, read_card
from tadasu.runtime.pair_models import PairModel, open_pair_model
from tadasu.runtime.pair_rows import MOST_PARTS, PairRow, PassageTokens, Reading, read_pairs
from tadasu.runtime.pair_windows import pool_strips

if TYPE_CHECKING:
    from tadasu.runtime.pair_windows import Floats

NOTHING = -30.0
"""Logit of what holds no words, and so no answer: where `tadasu.core.scores.logit_of` clips."""

_READING = "+r1"
"""Changes with whatever changes a score while the model stays the same: windows, titles, pooling."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """What the model said of one row; a `reason` where it said nothing usable."""

    row: PairRow
    logit: float
    strips: Floats
    reason: str = ""


class CrossEncoder:
    """The `PairScorer` port over a folder with `model.onnx` and `grader.json`.

    Model and tokenizer are loaded, and checked against the card's SHA-256, at the first use. A score depends on
    its own question and passage only, to the last bit: neighbours and their order change nothing. Safe to call from
    several tasks and threads.
    """

    def __init__(self, card: PairCard, *, threads: int = 2) -> None:
        self._card = card
        self._workers = Workers(threads, name="cross-encoder")
        self._lock = threading.Lock()
        self._opened: PairModel | None = None

    @property
    def id(self) -> str:
        """Name and version, as the card says (it changes with the model's bytes), and how pairs are read."""
        return f"{self._card.id}{_READING}"

    @property
    def scale(self) -> ScoreScale:
        """Logits."""
        return self._card.scale

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> Sequence[PairScore]:
        """One score per passage, in order, with one score per strip; see `tadasu.ports.PairScorer`.

        A passage without words has the lowest logit, -30. Cancelling stops the work after the windows being read.
        """
        if not passages:
            return []
        stop = threading.Event()
        with timed(ledger, Stage.GRADE, provider="local", model=self.id, items=len(passages)):
            try:
                return await asyncio.to_thread(self.score_now, question, passages, stop=stop)
            finally:
                stop.set()

    def score_now(
        self, question: str, passages: Sequence[PassageText], *, stop: threading.Event | None = None
    ) -> list[PairScore]:
        """`score` in the caller's thread, without a ledger."""
        session, tokenizer = self._loaded()
        reading = read_pairs(tokenizer, self._card, question, passages)
        if reading.parts > MOST_PARTS:
            reason = (
                f"the question has {reading.question} tokens, {reading.parts} parts of what the model reads at once"
            )
            return [unscored(f"{reason}, and it reads at most {MOST_PARTS}")] * len(passages)
        ordered = sorted(reading.rows, key=lambda row: -len(row.ids))
        by_passage: list[list[_Scored]] = [[] for _ in passages]
        for scored in self._workers.map(lambda row: self._run(session, row, reading, stop), ordered):
            by_passage[scored.row.passage].append(scored)
        return [
            _gathered(scored, tokens, passage)
            for scored, tokens, passage in zip(by_passage, reading.passages, passages, strict=True)
        ]

    def _run(self, session: Any, row: PairRow, reading: Reading, stop: threading.Event | None) -> _Scored:
        strips = reading.passages[row.passage].bounds
        if stop is not None and stop.is_set():
            return _Scored(row, math.nan, np.empty(0), "the grading was broken off")
        ids = row.ids[None]
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        try:
            logit, tokens = session.run(["passage_logit", "token_logits"], feed)
        except Exception as error:  # noqa: BLE001 - the library's errors have no base; the other passages are not touched
            return _Scored(row, math.nan, np.empty(0), f"the model failed on it ({error})")
        own = tokens[0, row.lead : row.lead + row.last - row.first].astype(np.float64)
        if not (np.isfinite(logit).all() and np.isfinite(own).all()):
            return _Scored(row, math.nan, np.empty(0), "the model gave no finite number for it")
        return _Scored(row, float(logit[0]), pool_strips(own, strips - row.first, nothing=NOTHING))

    def _loaded(self) -> tuple[Any, Tokenizer]:
        with self._lock:
            if self._opened is None:
                self._opened = open_pair_model(self._card)
            return self._opened.session, self._opened.tokenizer


def _gathered(scored: Sequence[_Scored], tokens: PassageTokens, passage: PassageText) -> PairScore:
    """One passage's score from its rows: the highest, and of each strip the highest; not known where one row failed."""
    if not scored:
        return PairScore(NOTHING, strips=(NOTHING,) * len(tokens.bounds))
    failed = next((one.reason for one in scored if one.reason), "")
    if failed:
        return unscored(failed)
    best = max(scored, key=lambda one: (one.logit, -one.row.first))
    strips = np.max([one.strips for one in scored], axis=0)
    return PairScore(max(best.logit, NOTHING), strips=tuple(strips.tolist()), hit=_hit(best.row, tokens, passage))


def _hit(row: PairRow, tokens: PassageTokens, passage: PassageText) -> Span | None:
    """The row's window in the passage, from border to border of strips where it lies so; None for all of it."""
    count = len(tokens.ids)
    if row.last - row.first == count:
        return None
    start = int(tokens.spans[row.first, 0]) if row.first else 0
    end = int(tokens.spans[row.last - 1, 1]) if row.last < count else len(passage.text)
    begun, ended = np.flatnonzero(tokens.bounds[:, 0] == row.first), np.flatnonzero(tokens.bounds[:, 1] == row.last)
    return Span(
        passage.strips[begun[-1]][0] if row.first and len(begun) else start,
        passage.strips[ended[0]][1] if row.last < count and len(ended) else end,
    )


def open_cross_encoder(folder: str | Path | None = None, *, threads: int = 2) -> CrossEncoder:
    """The shipped cross-encoder, or one trained elsewhere; raises ModelUnavailable where its card cannot be used."""
    return CrossEncoder(read_card(Path(folder) if folder is not None else shipped_folder()), threads=threads)


def open_shipped(settings: ScorerSettings) -> CrossEncoder:
    """The plugin behind ``tadasu.scorers: shipped``; scale and windows are its card's, settings cannot change them."""
    return open_cross_encoder(settings.path, threads=settings.threads)
