"""A classifier of entailment from elsewhere as a checker: ``tadasu.checkers: onnx``.

The folder holds `model.onnx`, `tokenizer.json` and `config.json`, as Hugging Face's exporters write them. The model
reads the source as premise and the sentence as hypothesis. Which of its numbers means that the one follows from the
other is declared by the folder: see `read_nli`. Pairs are read one at a time, so that neighbours change nothing.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from tokenizers import Encoding, Tokenizer

from tadasu.core.ids import digest
from tadasu.core.scores import ScoreScale
from tadasu.core.usage import Stage
from tadasu.errors import ModelUnavailable, SettingsInvalid
from tadasu.ports import CheckerSettings, Claim, Ledger
from tadasu.runtime.ledger import timed
from tadasu.runtime.onnx_models import Workers, open_session, open_tokenizer, read_bytes, sound
from tadasu.runtime.pair_card import MODEL, TOKENIZER, read_json
from tadasu.runtime.pair_windows import windows_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

CARD = "checker.json"
_FOLLOWS = frozenset(("entailment", "entailed", "entails", "supported", "supports", "consistent", "含意"))
_ENDLESS = 1_000_000
_NO_BORDERS = np.empty(0, dtype=np.int64)
_ATTEMPTS = 6
_READS = {"input_ids", "attention_mask", "token_type_ids"}


@dataclass(frozen=True, slots=True)
class NliCard:
    """How the classifier is read.

    `labels` are the meanings of its numbers in order (one for a model with one number), `follows` which of them says
    that the source supports the sentence, `window` the most tokens of one pair, special ones included.
    """

    id: str
    labels: tuple[str, ...]
    follows: int
    scale: ScoreScale
    window: int


def read_nli(folder: Path, *, longest: int) -> NliCard:
    """What the folder says: ``checker.json`` where it is there, else ``id2label`` of ``config.json``.

    ``checker.json`` may hold ``labels`` (their order), ``supported`` (the name of the one that counts), ``scale``
    (``logit``, the default, or ``probability``) and ``window``.

    Raises:
        ModelUnavailable: a file is missing or damaged.
        SettingsInvalid: the order of the labels, or which of them counts, is not declared.
    """
    for name in (MODEL, TOKENIZER):
        if not (folder / name).is_file():
            raise ModelUnavailable(path=folder / name, reason="no such file")
    card, config = (read_json(path) if (path := folder / name).is_file() else {} for name in (CARD, "config.json"))
    labels = _labels(card, config, folder)
    if len(labels) == 1 and "scale" not in card:
        reason = 'is not set, and the model gives one number; write "logit" (any number) or "probability" (from 0 to 1)'
        raise _wrong(folder, "scale", reason)
    follows = _follows(card, labels, folder)
    try:
        scale = ScoreScale(card.get("scale", "logit"))
    except ValueError:
        raise _wrong(folder, "scale", f'is {card["scale"]!r}; write "logit" or "probability"') from None
    told = [card.get("window"), config.get("max_position_embeddings"), longest]
    window = min(int(one) for one in told if isinstance(one, (int, float)) and 0 < one < _ENDLESS)
    read = json.dumps([labels, follows, scale.value, window])
    return NliCard(f"{folder.resolve().name}@{digest(read, *_sizes(folder))[:12]}", labels, follows, scale, window)


def _labels(card: Mapping[str, Any], config: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    told = card.get("labels")
    if isinstance(told, list) and told:
        return tuple(map(str, told))
    named = config.get("id2label")
    if isinstance(named, Mapping) and named and all(str(key).isdigit() for key in named):
        return tuple(str(named[key]) for key in sorted(named, key=int))
    reason = 'is not set, and config.json names no labels; write them in order, such as ["contradiction", "entailment"]'
    raise _wrong(folder, "labels", reason)


def _follows(card: Mapping[str, Any], labels: Sequence[str], folder: Path) -> int:
    wanted = card.get("supported")
    if wanted is not None and str(wanted) in labels:
        return labels.index(str(wanted))
    if wanted is None and len(labels) == 1:
        return 0
    listed = ", ".join(labels)
    if wanted is not None:
        raise _wrong(folder, "supported", f"is {wanted!r}; write one of the labels ({listed})")
    named = [number for number, label in enumerate(labels) if label.strip().lower() in _FOLLOWS]
    if len(named) != 1:
        reason = f"is not set, and the labels ({listed}) do not tell which one means that the source says it; name it"
        raise _wrong(folder, "supported", reason)
    return named[0]


def _wrong(folder: Path, key: str, reason: str) -> SettingsInvalid:
    return SettingsInvalid(where=str(folder / CARD), key=key, reason=reason)


def _sizes(folder: Path) -> list[str]:
    """What tells two versions of the files apart without reading gigabytes: their sizes and times."""
    files = (file for file in sorted(folder.iterdir()) if file.name.startswith(MODEL) or file.name == TOKENIZER)
    return [f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files]


class NliChecker:
    """The `SupportModel` port over such a folder; loaded at the first use. Safe to call from several tasks and threads.

    A source that is longer than the window is read in overlapping windows, and the best counts; of a sentence that
    fills more than half of it, read in parts, the worst counts. The question is not shown: the model knows none.
    """

    def __init__(self, folder: Path, card: NliCard, *, threads: int = 2) -> None:
        self._folder, self._card = folder, card
        self._workers = Workers(threads, name="checker")
        self._lock = threading.Lock()
        self._opened: tuple[Any, Tokenizer] | None = None

    @property
    def id(self) -> str:
        """The folder's name, and a digest of its files and of how they are read."""
        return self._card.id

    async def support(self, claims: Sequence[Claim], *, ledger: Ledger) -> Sequence[float]:
        """One probability per claim, in order; 0 for a sentence or a source without words.

        Raises ModelUnavailable where the model fails or gives no number. Cancelling stops the work after the pairs
        being read.
        """
        stop = threading.Event()
        with timed(ledger, Stage.CHECK, provider="local", model=self.id, items=len(claims)):
            try:
                return await asyncio.to_thread(self.support_now, claims, stop=stop)
            finally:
                stop.set()

    def support_now(self, claims: Sequence[Claim], *, stop: threading.Event | None = None) -> list[float]:
        """`support` in the caller's thread, without a ledger."""
        session, tokenizer = self._loaded()
        pairs = [
            (number, part, encoded)
            for number, one in enumerate(claims)
            if one.sentence.strip() and one.source.strip()
            for part, read in enumerate(_pairs(tokenizer, one, self._card.window))
            for encoded in read
        ]

        def run(pair: tuple[int, int, Encoding]) -> float:
            return 0.0 if stop is not None and stop.is_set() else self._run(session, pair[2])

        best: list[dict[int, float]] = [{} for _ in claims]
        for (number, part, _), found in zip(pairs, self._workers.map(run, pairs), strict=True):
            best[number][part] = max(best[number].get(part, 0.0), found)
        return [min(parts.values(), default=0.0) for parts in best]

    def _run(self, session: Any, encoded: Encoding) -> float:
        known = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        feed = {
            given.name: np.array([known[given.name]], dtype=np.int32 if "int32" in given.type else np.int64)
            for given in session.get_inputs()
        }
        names = [given.name for given in session.get_outputs()]
        try:
            given = session.run(["logits" if "logits" in names else names[0]], feed)[0]
        except Exception as error:  # the library's errors have no base of their own
            raise ModelUnavailable(path=self._folder / MODEL, reason=f"it failed ({error})") from error
        return self._probability(np.asarray(given, dtype=np.float64).reshape(-1))

    def _probability(self, numbers: Floats) -> float:
        card, path = self._card, self._folder / MODEL
        if len(numbers) != len(card.labels):
            reason = f"it gives {len(numbers)} numbers, and {len(card.labels)} labels are declared"
            raise ModelUnavailable(path=path, reason=reason)
        if not np.isfinite(numbers).all():
            raise ModelUnavailable(path=path, reason="it gave no finite number")
        found = float(numbers[card.follows])
        if card.scale is ScoreScale.PROBABILITY:
            if not 0.0 <= found <= 1.0:
                raise ModelUnavailable(path=path, reason=f"it gave {found:g}, and its scale is declared a probability")
            return found
        others = np.delete(numbers, card.follows)
        against = float(np.logaddexp.reduce(others)) if len(others) else 0.0
        return float(1.0 / (1.0 + np.exp(min(60.0, max(-60.0, against - found)))))

    def _loaded(self) -> tuple[Any, Tokenizer]:
        with self._lock:
            if self._opened is None:
                path = self._folder / TOKENIZER
                tokenizer = open_tokenizer(read_bytes(path), path)
                # Words of a source that look like special tokens stay words.
                tokenizer.encode_special_tokens = True
                session = open_session(self._folder / MODEL, self._folder / MODEL)
                asked = {given.name for given in session.get_inputs()}
                if "input_ids" not in asked or asked - _READS:
                    names = ", ".join(sorted(asked - _READS)) or "no input_ids"
                    raise ModelUnavailable(path=self._folder / MODEL, reason=f"it wants {names}: it is no classifier")
                self._opened = (session, tokenizer)
            return self._opened


def _pairs(tokenizer: Tokenizer, claim: Claim, window: int) -> list[list[Encoding]]:
    """For each part of the sentence, its pairs with every window of the source."""
    sentence, source = sound(claim.sentence), sound(claim.source)
    parts = _cut(tokenizer, sentence, room=max(1, window // 2))
    return [_windows(tokenizer, part, source, window) for part in parts]


def _windows(tokenizer: Tokenizer, sentence: str, source: str, window: int) -> list[Encoding]:
    room = window - len(tokenizer.encode("", sentence).ids)
    for _ in range(_ATTEMPTS):
        made = tokenizer.encode_batch([(text, sentence) for text in _cut(tokenizer, source, room=max(1, room))])
        # A stretch may have more tokens alone than it had within its source.
        over = max(len(one.ids) for one in made) - window
        if over <= 0:
            break
        room -= over
    return list(made)


def _cut(tokenizer: Tokenizer, text: str, *, room: int) -> list[str]:
    offsets = tokenizer.encode(text, add_special_tokens=False).offsets
    if len(offsets) <= room:
        return [text]
    windows = windows_of(len(offsets), room=room, borders=_NO_BORDERS)
    return [text[offsets[first][0] : offsets[last - 1][1]] for first, last in windows]


def open_checker(settings: CheckerSettings) -> NliChecker:
    """The plugin behind ``tadasu.checkers: onnx``; raises SettingsInvalid and ModelUnavailable as `read_nli` does."""
    if settings.path is None:
        reason = "is not set; write the folder that holds model.onnx, tokenizer.json and config.json"
        raise SettingsInvalid(where="tadasu.toml", key="checking.path", reason=reason)
    card = read_nli(settings.path, longest=settings.max_tokens)
    return NliChecker(settings.path, card, threads=settings.threads)
