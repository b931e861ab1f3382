"""An encoder in ONNX Runtime: the shipped one, or any other whose folder holds a card (see `card.py`).

Each window is a run of its own, several runs at a time on `threads` threads. Padded batches were measured: they are
slower on a CPU (29.5 against 28 ms a passage of 150 tokens), and the int8 model scales its activations over the whole
input, so that in a batch the vector of a passage would depend on its neighbours. Alone, the same text always gives the
same bytes: an ingest that is killed and run again ends with the vectors it would have had.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from tadasu.answering.retrieval.embedders.card import MODEL, TOKENIZER, EncoderCard, read_card, read_checked
from tadasu.answering.retrieval.embedders.windows import Window, normalised, owners, pool_strips, windows_of
from tadasu.core.vectors import PassageText, PassageVectors
from tadasu.runtime.onnx_models import Workers, open_session, open_tokenizer, sound

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatMatrix, FloatVector

# A title says what a passage is about; more of it than this would crowd the passage out of its window.
TITLE_TOKENS = 48
# Passages whose token vectors are held at once: 0.8 MB for a full window.
_CHUNK = 64


@dataclass(frozen=True, slots=True)
class _Input:
    """A text as tokens: `lead` (prefix and title) comes first in every window, `ids` are cut into windows."""

    lead: list[int]
    ids: list[int]
    offsets: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Pooled:
    """The vector of a whole text, and the vectors of its own tokens (t, d), in order."""

    vector: FloatVector
    tokens: FloatMatrix


class OnnxEncoder:
    """The `Encoder` and `TokenCounter` ports over a folder with `model.onnx`, `tokenizer.json` and `card.json`.

    Model and tokenizer are loaded, and checked against the card's SHA-256, at the first use. Safe to call from several
    threads. The model gives `last_hidden_state` (batch, sequence, d) as its first output; vectors are means over it.

    >>> encoder = OnnxEncoder.load(Path("models/encoder"))
    >>> query, passages = encoder.encode_queries(["日本の首都は？"]), [PassageText("東京は日本の首都です。")]
    >>> float(query[0] @ encoder.encode_passages(passages)[0].passage) > 0.8
    True
    """

    def __init__(self, folder: Path, card: EncoderCard, *, threads: int) -> None:
        self._folder = folder
        self._card = card
        self._workers = Workers(threads, name="encoder")
        self._lock = threading.Lock()
        self._session: Any = None
        self._tokenizer: Tokenizer | None = None

    @classmethod
    def load(cls, path: Path, *, threads: int = 2) -> OnnxEncoder:
        """Read the card in folder `path`; raises ModelUnavailable. The model itself is loaded at the first use."""
        folder = Path(path)
        return cls(folder, read_card(folder), threads=threads)

    @property
    def id(self) -> str:
        """Name and version, as an index remembers it."""
        return self._card.id

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._card.dimensions

    def count(self, text: str) -> int:
        """Tokens of `text`, without special ones, prefix or title."""
        return len(self._tokens().encode(sound(text), add_special_tokens=False).ids)

    def encode_queries(self, queries: Sequence[str]) -> FloatMatrix:
        """(n, d) float32, L2-normalised, in order; a query longer than the window is read in windows, as passages."""
        vectors = np.zeros((len(queries), self.dimensions), dtype=np.float32)
        if not queries:
            return vectors
        lead = self._lead(self._card.query_prefix, "")
        inputs = self._read([(lead, query) for query in queries])
        for index, vector in enumerate(self._workers.map(lambda item: self._pool_tokens(item).vector, inputs)):
            vectors[index] = vector
        return vectors

    def encode_passages(self, passages: Sequence[PassageText]) -> list[PassageVectors]:
        """One result per passage, in order; nothing is cut.

        A passage longer than the window is read in overlapping windows, each led by prefix and title. Strip vectors
        are pooled from the token vectors of the same pass; a strip without tokens gets the passage's vector.
        """
        results: list[PassageVectors] = []
        for start in range(0, len(passages), _CHUNK):
            chunk = passages[start : start + _CHUNK]
            inputs = self._read([(self._lead(self._card.passage_prefix, p.title), p.text) for p in chunk])
            results.extend(self._workers.map(self._encode_passage, list(zip(chunk, inputs, strict=True))))
        return results

    def _encode_passage(self, pair: tuple[PassageText, _Input]) -> PassageVectors:
        passage, item = pair
        pooled = self._pool_tokens(item)
        owner = owners(item.offsets, passage.strips)
        strips = pool_strips(pooled.tokens, owner, strips=len(passage.strips), fallback=pooled.vector)
        return PassageVectors(pooled.vector, strips)

    def _pool_tokens(self, item: _Input) -> _Pooled:
        room = self._card.window - 2 - len(item.lead)
        total = np.zeros(self.dimensions, dtype=np.float32)
        tokens = np.empty((len(item.ids), self.dimensions), dtype=np.float32)
        for window in windows_of(len(item.ids), room=room):
            hidden = self._run([self._card.begin, *item.lead, *item.ids[window.start : window.end], self._card.end])
            own = _own(hidden, window, lead=1 + len(item.lead))
            tokens[window.first : window.last] = own
            total += hidden[: 1 + len(item.lead)].sum(axis=0) + own.sum(axis=0) + hidden[-1]
        return _Pooled(normalised(total), tokens)

    def _run(self, ids: list[int]) -> FloatMatrix:
        session = self._loaded()
        row = np.asarray([ids], dtype=np.int64)
        values = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        feed = {given.name: values[given.name] for given in session.get_inputs()}
        hidden: FloatMatrix = session.run(None, feed)[0][0]
        return hidden

    def _read(self, texts: Sequence[tuple[list[int], str]]) -> list[_Input]:
        encoded = self._tokens().encode_batch([sound(text) for _, text in texts], add_special_tokens=False)
        return [_Input(lead, one.ids, one.offsets) for (lead, _), one in zip(texts, encoded, strict=True)]

    def _lead(self, prefix: str, title: str) -> list[int]:
        tokenizer = self._tokens()
        lead: list[int] = tokenizer.encode(prefix.rstrip(), add_special_tokens=False).ids if prefix else []
        if title.strip():
            lead = lead + tokenizer.encode(sound(title.strip()), add_special_tokens=False).ids[:TITLE_TOKENS]
        return lead

    def _tokens(self) -> Tokenizer:
        with self._lock:
            if self._tokenizer is None:
                data = read_checked(self._folder, TOKENIZER, self._card)
                self._tokenizer = open_tokenizer(data, self._folder / TOKENIZER)
            return self._tokenizer

    def _loaded(self) -> Any:
        with self._lock:
            if self._session is None:
                data = read_checked(self._folder, MODEL, self._card)
                self._session = open_session(data, self._folder / MODEL)
            return self._session


def _own(hidden: FloatMatrix, window: Window, *, lead: int) -> FloatMatrix:
    first = lead + window.first - window.start
    return hidden[first : first + window.last - window.first]
