"""`spiece.model`, the tokenizer file of T5 checkpoints, as a `tokenizer.json`.

The file is a protocol buffer of two kinds of field that matter here: the pieces with their scores, and the table of the
normaliser. It is read field by field, so that the package is not needed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram

from training.checkpoints import CheckpointError

END = "</s>"
_SPACE = "▁"
_UNKNOWN, _CONTROL, _UNIGRAM = 2, 3, 1


def read_tokenizer(path: Path) -> Tokenizer:
    """A tokenizer that ends every text, and every text of a pair, with `</s>`; raises CheckpointError."""
    try:
        return _tokenizer(path.read_bytes())
    except (OSError, ValueError, IndexError, struct.error) as error:
        raise CheckpointError(f"{path} cannot be read as a SentencePiece model: {error}") from error


def _tokenizer(data: bytes) -> Tokenizer:
    pieces: list[tuple[str, float]] = []
    kinds: list[int] = []
    table = b""
    kind_of_model = _UNIGRAM
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            piece, score, kind = _piece(value)
            pieces.append((piece, score))
            kinds.append(kind)
        elif number == 2 and isinstance(value, bytes):
            told = dict(_fields(value)).get(3, _UNIGRAM)
            kind_of_model = told if isinstance(told, int) else _UNIGRAM
        elif number == 3 and isinstance(value, bytes):
            found = dict(_fields(value)).get(2, b"")
            table = found if isinstance(found, bytes) else b""
    names = [piece for piece, _ in pieces]
    if kind_of_model != _UNIGRAM or _UNKNOWN not in kinds or END not in names:
        raise ValueError("it is no Unigram model with an unknown piece and an end mark")
    tokenizer = Tokenizer(Unigram(pieces, unk_id=kinds.index(_UNKNOWN), byte_fallback=False))
    spaces = [normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), _SPACE)]
    tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(table), *spaces] if table else spaces)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=_SPACE, prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement=_SPACE, prepend_scheme="always")
    tokenizer.add_special_tokens([name for name, kind in zip(names, kinds, strict=True) if kind == _CONTROL])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {END}", pair=f"$A {END} $B {END}", special_tokens=[(END, names.index(END))]
    )
    return tokenizer


def _piece(data: bytes) -> tuple[str, float, int]:
    text, score, kind = "", 0.0, 1
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            text = value.decode("utf-8")
        elif number == 2 and isinstance(value, bytes):
            score = struct.unpack("<f", value)[0]
        elif number == 3 and isinstance(value, int):
            kind = value
    return text, score, kind


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of every field: an integer, or bytes for what has a length or four or eight bytes."""
    at = 0
    while at < len(data):
        key, at = _integer(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _integer(data, at)
            yield key >> 3, value
            continue
        if kind == 2:
            length, at = _integer(data, at)
        elif kind in {1, 5}:
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if at + length > len(data):
            raise ValueError("it ends in the middle of a field")
        yield key >> 3, data[at : at + length]
        at += length


def _integer(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
