"""An encoder-decoder of T5-large's size with random weights, in plain PyTorch: what the CRAG paper's grader costs.

Random weights cost what trained ones cost. The paper's grader (Yan et al. 2024) is ``T5ForSequenceClassification``:
its decoder reads the whole input once more before the score is taken. A scorer that decodes a single token would be
cheaper; both are measured. PyTorch is in the ``train`` group only.
"""

from __future__ import annotations

import importlib.util
import time
from dataclasses import dataclass
from typing import Any, Final

WIDTH, INNER, LAYERS, HEADS, PIECES = 1024, 4096, 24, 16, 32128
"""T5-large (Raffel et al. 2020): 0.74 billion parameters."""

_MILLION: Final = 1e6


@dataclass(frozen=True, slots=True)
class T5Speed:
    """Pairs a second of the paper's layout and of one that decodes a single token; size in millions of parameters."""

    classifier: float
    one_step: float
    parameters: float
    tokens: int
    threads: int


def torch_is_here() -> bool:
    """Whether PyTorch is installed."""
    return importlib.util.find_spec("torch") is not None


def measure_t5(*, tokens: int, threads: int, pairs: int = 2) -> T5Speed:
    """Time `pairs` pairs of `tokens` tokens, one batch of all, after a batch that is not counted."""
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    with torch.inference_mode():
        model = _model(torch)
        ids = torch.randint(0, PIECES, (pairs, tokens))
        seconds = []
        for decoded in (tokens, 1):
            model(ids[:1], ids[:1, :decoded])
            began = time.perf_counter()
            model(ids, ids[:, :decoded])
            seconds.append(time.perf_counter() - began)
        size = sum(part.numel() for part in model.parameters()) / _MILLION
    return T5Speed(pairs / seconds[0], pairs / seconds[1], size, tokens, threads)


def _model(torch: Any) -> Any:
    nn, attend = torch.nn, torch.nn.functional.scaled_dot_product_attention

    class Attention(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
            self.norm = nn.RMSNorm(WIDTH)

        def forward(self, x: Any, beside: Any = None, *, causal: bool = False) -> Any:
            inside = self.norm(x)
            other = inside if beside is None else beside

            def heads(part: Any) -> Any:
                return part.unflatten(-1, (HEADS, -1)).transpose(1, 2)

            found = attend(heads(self.q(inside)), heads(self.k(other)), heads(self.v(other)), is_causal=causal)
            return x + self.o(found.transpose(1, 2).flatten(2))

    class Feed(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.RMSNorm(WIDTH)
            self.up, self.down = nn.Linear(WIDTH, INNER, bias=False), nn.Linear(INNER, WIDTH, bias=False)

        def forward(self, x: Any) -> Any:
            return x + self.down(torch.relu(self.up(self.norm(x))))

    class T5(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(PIECES, WIDTH)
            self.encoder = nn.ModuleList(nn.ModuleList([Attention(), Feed()]) for _ in range(LAYERS))
            self.decoder = nn.ModuleList(nn.ModuleList([Attention(), Attention(), Feed()]) for _ in range(LAYERS))
            self.between, self.head = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, 1)

        def forward(self, read: Any, decoded: Any) -> Any:
            x = self.words(read)
            for attention, feed in self.encoder:
                x = feed(attention(x))
            x, y = self.between(x), self.words(decoded)
            for own, across, feed in self.decoder:
                y = feed(across(own(y, causal=True), x))
            return self.head(y[:, -1])

    return T5().eval()
