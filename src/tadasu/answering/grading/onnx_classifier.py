"""Any Hugging Face sequence classifier or T5 scorer in ONNX as a second tier (DESIGN §3.2).

The folder holds `model.onnx` and `tokenizer.json`, as Hugging Face's own exporters and ``training/export.py`` write
them; `classifier_card` says what else is read. It gives no strip scores.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from tokenizers import Encoding

from tadasu.answering.grading.classifier_card import ClassifierCard, check_files, read_classifier
from tadasu.answering.grading.classifier_texts import Input, InputMaker
from tadasu.core.scores import PairScore, ScoreScale, unscored
from tadasu.core.usage import Stage
from tadasu.core.vectors import PassageText
from tadasu.errors import ModelUnavailable, SettingsInvalid
from tadasu.ports import Ledger, ScorerSettings
from tadasu.runtime.ledger import timed
from tadasu.runtime.onnx_models import Workers, open_session, open_tokenizer, read_bytes
from tadasu.runtime.pair_card import MODEL, TOKENIZER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

_LOWEST = {ScoreScale.LOGIT: -30.0, ScoreScale.PROBABILITY: 0.0}
_READS = {"input_ids", "attention_mask", "token_type_ids"}


class OnnxClassifier:
    """The `PairScorer` port over a classifier's folder. Model and tokenizer are loaded at the first use.

    One number per pair is the score. Of several labels, in the scale ``logit``, the score is the log-odds of the
    positive one against the others; in the scale ``probability`` the graph's own number of that label. Passages are
    read one at a time, so that neighbours change nothing. Safe to call from several tasks and threads.
    """

    def __init__(self, folder: Path, card: ClassifierCard, *, threads: int = 2) -> None:
        self._folder = folder
        self._card = card
        self._workers = Workers(threads, name="classifier")
        self._lock = threading.Lock()
        self._opened: tuple[Any, InputMaker] | None = None

    @property
    def id(self) -> str:
        """The folder's name, and a digest of model, tokenizer and how they are read."""
        return self._card.id

    @property
    def scale(self) -> ScoreScale:
        """As declared."""
        return self._card.scale

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> Sequence[PairScore]:
        """One score per passage, in order; see `tadasu.ports.PairScorer`.

        A passage without words has the lowest score. Cancelling stops the work after the windows being read.
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
        session, maker = self._loaded()
        made = maker.make(question, passages)
        ordered = sorted(made.inputs, key=lambda one: -len(one.encoded.ids))
        by_passage: dict[int, list[tuple[Input, float | str]]] = {}
        for one, score in self._workers.map(lambda item: (item, self._run(session, item.encoded, stop)), ordered):
            by_passage.setdefault(one.passage, []).append((one, score))
        return [
            unscored(made.failed[index]) if index in made.failed else self._gathered(by_passage.get(index, []))
            for index in range(len(passages))
        ]

    def _gathered(self, scored: Sequence[tuple[Input, float | str]]) -> PairScore:
        """The best of a passage's windows; not known where one of them has no score."""
        if not scored:
            return PairScore(_LOWEST[self.scale])
        best: tuple[Input, float] | None = None
        for one, score in scored:
            if isinstance(score, str):
                return unscored(score)
            if best is None or score > best[1]:
                best = (one, score)
        assert best is not None
        return PairScore(best[1], hit=best[0].window)

    def _run(self, session: Any, encoded: Encoding, stop: threading.Event | None) -> float | str:
        """One input's score, or why it has none."""
        if stop is not None and stop.is_set():
            return "the grading was broken off"
        try:
            given = session.run([session.get_outputs()[_output(session)].name], _feed(session, encoded))[0]
        except Exception as error:  # noqa: BLE001 - the library's errors have no base; the other passages are not touched
            return f"the model failed on it ({error})"
        return read_numbers(np.asarray(given, dtype=np.float64).reshape(-1), self._card)

    def _loaded(self) -> tuple[Any, InputMaker]:
        with self._lock:
            if self._opened is None:
                check_files(self._folder)
                path = self._folder / TOKENIZER
                tokenizer = open_tokenizer(read_bytes(path), path)
                session = open_session(self._folder / MODEL, self._folder / MODEL)
                self._check(session)
                maker = InputMaker(tokenizer, window=self._card.window, template=self._card.template)
                self._opened = (session, maker)
            return self._opened

    def _check(self, session: Any) -> None:
        asked = {given.name for given in session.get_inputs()}
        path = self._folder / MODEL
        if "input_ids" not in asked or asked - _READS:
            names = ", ".join(sorted(asked - _READS)) or "no input_ids"
            raise ModelUnavailable(path=path, reason=f"it wants {names}: it is no classifier of one input")
        shape = session.get_outputs()[_output(session)].shape
        if len(shape) > 2:
            raise ModelUnavailable(path=path, reason=f"its output has {len(shape)} dimensions: it is no classifier")
        labels = shape[1] if len(shape) == 2 and isinstance(shape[1], int) else 1
        if labels > 1 and self._card.positive is None:
            reason = (
                f"is not set, and the model gives {labels} numbers; write the number of the one that means relevant"
            )
            raise SettingsInvalid(where=str(self._folder / "grader.json"), key="positive", reason=reason)


def read_numbers(numbers: Floats, card: ClassifierCard) -> float | str:
    """The score in what the model gave for one pair, or why there is none."""
    if not len(numbers) or not np.isfinite(numbers).all():
        return "the model gave no finite number for it"
    if len(numbers) == 1:
        score = float(numbers[0])
    elif card.positive is None or card.positive >= len(numbers):
        return f"the model gave {len(numbers)} numbers, and which one means relevant is not said (positive)"
    elif card.scale is ScoreScale.PROBABILITY:
        score = float(numbers[card.positive])
    else:
        others = np.delete(numbers, card.positive)
        score = float(numbers[card.positive] - np.logaddexp.reduce(others))
    if card.lowest is not None and card.highest is not None:
        # A regression lands a little outside of what it was trained on.
        return min(1.0, max(0.0, (score - card.lowest) / (card.highest - card.lowest)))
    if card.scale is ScoreScale.PROBABILITY and not 0.0 <= score <= 1.0:
        return f"the model gave {score:g}, and its scale was declared a probability, which lies in [0, 1]"
    return score if math.isfinite(score) else "the model gave no finite number for it"


def _output(session: Any) -> int:
    names = [given.name for given in session.get_outputs()]
    return names.index("logits") if "logits" in names else 0


def _feed(session: Any, encoded: Encoding) -> dict[str, NDArray[Any]]:
    known = {
        "input_ids": encoded.ids,
        "attention_mask": encoded.attention_mask,
        "token_type_ids": encoded.type_ids,
    }
    return {
        given.name: np.array([known[given.name]], dtype=np.int32 if "int32" in given.type else np.int64)
        for given in session.get_inputs()
    }


def open_scorer(settings: ScorerSettings) -> OnnxClassifier:
    """The plugin behind ``tadasu.scorers: onnx``.

    Raises:
        SettingsInvalid: no folder is named, nobody says what the scores mean, or which label means relevant.
        ModelUnavailable: a file is missing or damaged.
    """
    if settings.path is None:
        reason = "is not set; write the folder that holds model.onnx and tokenizer.json"
        raise SettingsInvalid(where="tadasu.toml", key="scorer.path", reason=reason)
    folder = Path(settings.path)
    return OnnxClassifier(folder, read_classifier(folder, settings), threads=settings.threads)
