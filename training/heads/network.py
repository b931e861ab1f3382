"""The support head: the student's frozen layers, moved by small matrices beside theirs, and a head that says "wrong".

A pair is `<s> question : sentence </s></s> source </s>`, read as the grader reads its pairs. Every matrix of the layers
from `start` on gets two narrow ones beside it (LoRA, Hu et al. 2021), so that the head costs little room in the file
and the grader's own numbers stay as they are. A claim's token says "this is not what the source says"; the pair's
logit of support is minus the weighted logarithm of their summed exponentials, plus what the first token and the tokens
near the wrong place say of the pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.grader.student import HEADS, OUTSIDE, Student, _Layer

MATRICES = ("qkv", "mix", "widen", "narrow")
_PRIOR = -4.0


@dataclass(frozen=True, slots=True)
class HeadShape:
    """Layers from `start` to before `stop` have matrices of rank `rank` beside them; later ones are not run."""

    start: int = 2
    stop: int = 6
    rank: int = 24


@dataclass(frozen=True, slots=True)
class Support:
    """Logits of a batch: `pairs` (batch,), high where supported; `tokens` (batch, sequence), high where wrong."""

    pairs: Tensor
    tokens: Tensor


class _Beside(nn.Module):
    """Two narrow matrices; nothing at first."""

    def __init__(self, wide: int, out: int, rank: int) -> None:
        super().__init__()
        self.down = nn.Parameter(torch.randn(wide, rank) / wide**0.5)
        self.up = nn.Parameter(torch.zeros(rank, out))

    def forward(self, values: Tensor) -> Tensor:
        return (values @ self.down) @ self.up


class _Moved(nn.Module):
    """The narrow matrices of one layer."""

    def __init__(self, hidden: int, feed_forward: int, rank: int) -> None:
        super().__init__()
        sizes = {"qkv": (hidden, 3 * hidden), "mix": (hidden, hidden)}
        sizes |= {"widen": (hidden, feed_forward), "narrow": (feed_forward, hidden)}
        self.beside = nn.ModuleDict({name: _Beside(*sizes[name], rank) for name in MATRICES})

    def run(self, layer: _Layer, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """The layer with the matrices beside its own."""
        beside = self.beside
        batch, length, width = hidden.shape
        qkv = layer.qkv(hidden) + beside["qkv"](hidden)
        parts = qkv.view(batch, length, 3, layer.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], attn_mask=mask)
        mixed = mixed.transpose(1, 2).reshape(batch, length, width)
        hidden = layer.norm_mix(hidden + layer.mix(mixed) + beside["mix"](mixed))
        active = functional.gelu(layer.widen(hidden) + beside["widen"](hidden))
        result: Tensor = layer.norm_out(hidden + layer.narrow(active) + beside["narrow"](active))
        return result


class SupportNetwork(nn.Module):
    """Whether a source supports a claim: a head over a trained `student`, whose own numbers are frozen."""

    def __init__(self, student: Student, shape: HeadShape, *, seed: int = 1) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.shape = shape
        self.trunk = student.requires_grad_(requires_grad=False)
        sizes = student.shape
        count = shape.stop - shape.start
        self.moved = nn.ModuleList(_Moved(sizes.hidden, sizes.feed_forward, shape.rank) for _ in range(count))
        self.head = nn.Linear(sizes.hidden, HEADS)
        self.share = nn.Parameter(torch.ones(1))
        with torch.no_grad():
            self.head.weight.normal_(0.0, 0.02)
            self.head.bias.copy_(torch.tensor([_PRIOR, 0.0, 0.0]))

    def forward(self, ids: Tensor) -> Support:
        """Logits of a batch of pairs; `ids` as the student takes them."""
        trunk = self.trunk
        seen = ids != trunk.shape.pad
        mask = None if bool(seen.all()) else seen[:, None, None, :]
        with torch.no_grad():
            segment, _ = trunk.parts(ids)
            flags = trunk.match_flags(ids, segment)
            hidden = trunk.words(ids) + trunk.positions[: ids.shape[1]]
            hidden = trunk.norm(hidden + trunk.segments[segment] + trunk.matches[flags])
            for layer in trunk.layers[: self.shape.start]:
                hidden = layer(hidden, mask)
        for moved, layer in zip(self.moved, trunk.layers[self.shape.start : self.shape.stop], strict=True):
            hidden = cast("Any", moved).run(layer, hidden, mask)
        return self.pooled(self.head(hidden).float(), (segment == 0) & (ids > trunk.shape.last_special))

    def pooled(self, heads: Tensor, claimed: Tensor) -> Support:
        """Logits from the three numbers that the head gives per token."""
        tokens = heads[..., 0].masked_fill(~claimed, OUTSIDE)
        near = (tokens.softmax(dim=1) * heads[..., 1]).sum(dim=1)
        return Support(-(self.share * tokens.logsumexp(dim=1) + near + heads[:, 0, 2]), tokens)

    def trained(self) -> dict[str, Tensor]:
        """What is trained, by name."""
        return {name: one for name, one in self.named_parameters() if not name.startswith("trunk.")}


def saved(network: SupportNetwork) -> dict[str, Any]:
    """What `torch.save` keeps: the shape and the numbers that are trained."""
    return {"shape": asdict(network.shape), "state": {n: v.detach().clone() for n, v in network.trained().items()}}


def restore(network: SupportNetwork, kept: Mapping[str, Any]) -> None:
    """Take over the numbers that `saved` kept; raises ValueError where they are of another shape."""
    if kept["shape"] != asdict(network.shape):
        raise ValueError(f"the checkpoint is of another shape: {kept['shape']}")
    network.load_state_dict(kept["state"], strict=False)
