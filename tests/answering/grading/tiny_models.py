"""Real ONNX models small enough to know every number of: a token's logit is a number of its piece, and no more."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

ENCODER = Path(__file__).resolve().parents[3] / "models" / "encoder"
BEGIN, END = 0, 2


@functools.cache
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(ENCODER / "tokenizer.json"))


def pieces(text: str) -> list[int]:
    return tokenizer().encode(text, add_special_tokens=False).ids


def numbers(*, seed: int = 0) -> np.ndarray:
    """One logit per piece, in tenths so that sums are exact enough to compare."""
    return np.random.default_rng(seed).integers(-60, 20, tokenizer().get_vocab_size()).astype(np.float32) / 10


def save(
    nodes: list[onnx.NodeProto],
    constants: dict[str, np.ndarray],
    outputs: dict[str, list[str | int]],
    to: Path,
    *,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
) -> None:
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
        initializer=[numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    to.write_bytes(model.SerializeToString())


def write_cross_encoder(folder: Path, table: np.ndarray, *, window: int = 256) -> Path:
    """As training leaves one: the passage's logit is the highest of all tokens', those of the question included."""
    grader, vocabulary = folder / "grader", folder / "encoder" / "tokenizer.json"
    grader.mkdir(parents=True, exist_ok=True)
    vocabulary.parent.mkdir(exist_ok=True)
    vocabulary.write_bytes((ENCODER / "tokenizer.json").read_bytes())
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["token_logits"]),
        helper.make_node("ReduceMax", ["token_logits"], ["passage_logit"], axes=[1], keepdims=0),
    ]
    outputs: dict[str, list[str | int]] = {"passage_logit": ["batch"], "token_logits": ["batch", "sequence"]}
    save(nodes, {"table": table}, outputs, grader / "model.onnx")
    digest = hashlib.sha256((grader / "model.onnx").read_bytes()).hexdigest()
    card = {
        "format": 1,
        "id": f"tiny-{digest[:8]}",
        "scale": "logit",
        "inputs": {"begin": BEGIN, "pad": 1, "end": END, "separator": tokenizer().token_to_id(":")},
        "lengths": {"question": 64, "title": 24, "window": window},
        "strips": {"pooling": "logsumexp"},
        "outside": -1e4,
        "tokenizer": {"of": "encoder", "file": "tokenizer.json", "sha256": _digest(vocabulary)},
        "files": {"model.onnx": digest},
    }
    (grader / "grader.json").write_text(json.dumps(card), encoding="utf-8")
    return grader


@functools.cache
def _paired() -> str:
    paired = Tokenizer.from_file(str(ENCODER / "tokenizer.json"))
    names = {"b": paired.id_to_token(BEGIN), "e": paired.id_to_token(END)}
    paired.post_processor = TemplateProcessing(
        single=f"{names['b']} $A {names['e']}",
        pair=f"{names['b']} $A {names['e']} {names['e']} $B:1 {names['e']}:1",
        special_tokens=[(names["b"], BEGIN), (names["e"], END)],
    )
    return paired.to_str()


def write_classifier(
    folder: Path,
    table: np.ndarray,
    *,
    card: Mapping[str, object] | None = None,
    config: Mapping[str, object] | None = None,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    pooled: str = "ReduceMax",
) -> Path:
    """As Hugging Face's exporters leave one: each of the model's numbers is its column pooled over the tokens.

    `table` has a row per piece and a column per label. Pairs are ``<s> question </s></s> passage </s>``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(_paired(), encoding="utf-8")
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["of_tokens"]),
        helper.make_node(pooled, ["of_tokens"], ["logits"], axes=[1], keepdims=0),
    ]
    save(nodes, {"table": table}, {"logits": ["batch", table.shape[1]]}, folder / "model.onnx", inputs=inputs)
    for name, told in (("grader.json", card), ("config.json", config)):
        if told is not None:
            (folder / name).write_text(json.dumps(told), encoding="utf-8")
    return folder


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
