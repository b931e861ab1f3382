"""What a folder with our cross-encoder says about itself: `grader.json` beside `model.onnx`, as training writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tadasu.core.scores import ScoreScale
from tadasu.errors import ModelUnavailable

CARD = "grader.json"
MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
FORMAT = 1
POOLING = "logsumexp"
_SHORTEST_WINDOW = 64


@dataclass(frozen=True, slots=True)
class PairCard:
    """How the cross-encoder wants to be fed.

    `begin`, `end` and `separator` are ids; `question`, `title` and `window` are the most tokens that it was trained on
    of a question, a title and a passage's text; all three fit its positions together. `outside` is the logit of a token
    that is no word of the passage. `tokenizer` is a file that may belong to the encoder; both files come with their
    SHA-256.
    """

    id: str
    scale: ScoreScale
    begin: int
    end: int
    separator: int
    question: int
    title: int
    window: int
    outside: float
    model: Path
    model_sha256: str
    tokenizer: Path
    tokenizer_sha256: str


def read_card(folder: Path) -> PairCard:
    """Read and check the card; raises ModelUnavailable with what is wrong."""
    path = folder / CARD
    told = read_json(path)
    try:
        card = _card_of(told, folder)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelUnavailable(path=path, reason=f"its card lacks or breaks a field: {error}") from error
    if min(card.question, card.window) < _SHORTEST_WINDOW or card.title < 0:
        raise ModelUnavailable(path=path, reason="its windows are too short")
    return card


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; raises ModelUnavailable."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelUnavailable(path=path, reason="no such file") from error
    except (OSError, ValueError) as error:
        raise ModelUnavailable(path=path, reason=str(error)) from error
    if not isinstance(told, dict):
        raise ModelUnavailable(path=path, reason="it holds no JSON object")
    return told


def _card_of(told: Mapping[str, Any], folder: Path) -> PairCard:
    if told["format"] != FORMAT:
        raise ValueError(f"its format is {told['format']}, this version reads {FORMAT}")
    if told["strips"]["pooling"] != POOLING:
        raise ValueError(f"strips are pooled by {told['strips']['pooling']}, this version knows {POOLING}")
    lengths, inputs, vocabulary = told["lengths"], told["inputs"], told["tokenizer"]
    own = folder / TOKENIZER
    return PairCard(
        id=str(told["id"]),
        scale=ScoreScale(told["scale"]),
        begin=int(inputs["begin"]),
        end=int(inputs["end"]),
        separator=int(inputs["separator"]),
        question=int(lengths["question"]),
        title=int(lengths["title"]),
        window=int(lengths["window"]),
        outside=float(told["outside"]),
        model=folder / MODEL,
        model_sha256=str(told["files"][MODEL]),
        # The shipped one has the encoder's vocabulary, which lies beside it once for both.
        tokenizer=own if own.is_file() else folder.parent / str(vocabulary["of"]) / str(vocabulary["file"]),
        tokenizer_sha256=str(vocabulary["sha256"]),
    )
