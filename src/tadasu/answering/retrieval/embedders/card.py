"""What a folder with an encoder in it says about itself: `card.json` beside `model.onnx` and `tokenizer.json`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tadasu.errors import ModelUnavailable
from tadasu.runtime.onnx_models import read_bytes

CARD = "card.json"
MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"

_SHORTEST_WINDOW = 32


@dataclass(frozen=True, slots=True)
class EncoderCard:
    """How an encoder wants to be fed.

    `window` is the most tokens it reads at once, special ones included. `begin` and `end` are the ids of the special
    tokens around every input. The prefixes are put in front of queries and passages, with a space between. `files`
    holds the SHA-256 of the model and the tokenizer; `revision` is made of them.
    """

    name: str
    revision: str
    dimensions: int
    window: int
    begin: int
    end: int
    query_prefix: str
    passage_prefix: str
    files: Mapping[str, str]

    @property
    def id(self) -> str:
        """Name and version, as an index remembers it."""
        return f"{self.name}@{self.revision}"


def revision_of(files: Mapping[str, str]) -> str:
    """Twelve characters that change with the model or its tokenizer.

    >>> revision_of({"model.onnx": "ab", "tokenizer.json": "cd"})
    '88d4266fd4e6'
    """
    joined = "".join(files[name] for name in (MODEL, TOKENIZER))
    return hashlib.sha256(joined.encode("ascii")).hexdigest()[:12]


def read_card(folder: Path) -> EncoderCard:
    """Read and check the card; raises ModelUnavailable with what is wrong."""
    path = folder / CARD
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelUnavailable(path=path, reason="no such file") from error
    except (OSError, ValueError) as error:
        raise ModelUnavailable(path=path, reason=str(error)) from error
    try:
        files = {name: str(told["files"][name]) for name in (MODEL, TOKENIZER)}
        card = EncoderCard(
            name=str(told["name"]),
            revision=revision_of(files),
            dimensions=int(told["dimensions"]),
            window=int(told["window"]),
            begin=int(told["begin"]),
            end=int(told["end"]),
            query_prefix=str(told.get("query_prefix", "")),
            passage_prefix=str(told.get("passage_prefix", "")),
            files=files,
        )
    except (KeyError, TypeError, ValueError) as error:
        reason = f"its card lacks or breaks a field: {error}"
        raise ModelUnavailable(path=path, reason=reason) from error
    if card.window < _SHORTEST_WINDOW or card.dimensions < 1:
        raise ModelUnavailable(path=path, reason="its window or its dimensions are too small")
    return card


def read_checked(folder: Path, name: str, card: EncoderCard) -> bytes:
    """The bytes of one file of the model, once they are the bytes that the card promises."""
    return read_bytes(folder / name, sha256=card.files[name])
