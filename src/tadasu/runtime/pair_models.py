"""The cross-encoder's folder, opened once for all who read with it: the grader, and the heads over the same pass."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from tokenizers import Tokenizer

from tadasu.runtime.onnx_models import open_session, open_tokenizer, read_bytes
from tadasu.runtime.pair_card import PairCard


@dataclass(frozen=True, slots=True, weakref_slot=True)
class PairModel:
    """A session and its tokenizer, safe to be used from several threads."""

    session: Any
    tokenizer: Tokenizer


_opened: WeakValueDictionary[tuple[Path, str, str], PairModel] = WeakValueDictionary()
_lock = threading.Lock()


def open_pair_model(card: PairCard) -> PairModel:
    """The model of `card`, its files checked against the card's SHA-256; raises ModelUnavailable.

    Whoever opens the same files while somebody still holds the model gets that one: it lies in memory once.
    """
    key = (card.model.resolve(), card.model_sha256, card.tokenizer_sha256)
    with _lock:
        found = _opened.get(key)
        if found is None:
            words = read_bytes(card.tokenizer, sha256=card.tokenizer_sha256)
            model = read_bytes(card.model, sha256=card.model_sha256)
            found = PairModel(open_session(model, card.model), open_tokenizer(words, card.tokenizer))
            _opened[key] = found
        return found
