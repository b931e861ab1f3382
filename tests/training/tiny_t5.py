"""T5 checkpoints small enough to make in a test, in the layout that Hugging Face gives them."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

PIECES = ("<pad>", "</s>", "<unk>", "▁", "▁true", "▁false", "▁who", "▁lady", "▁court", "▁[", "S", "E", "P", "]", "▁Query",
          ":", "▁Document", "▁Relevant", "紫", "式", "部", "誰", "？", "。", "a", "e", "o", "w", "h", "l", "d", "y", "c", "u",
          "r", "t", "Q", "D", "R", "n")  # fmt: skip
WORDS = 48
HIDDEN, HEADS, HEAD, WIDE, ENCODER, DECODER = 16, 2, 6, 20, 2, 2


def config(*, gated: bool = False, labels: int = 1) -> dict[str, Any]:
    return {
        "model_type": "t5",
        "vocab_size": WORDS,
        "d_model": HIDDEN,
        "d_kv": HEAD,
        "d_ff": WIDE,
        "num_heads": HEADS,
        "num_layers": ENCODER,
        "num_decoder_layers": DECODER,
        "feed_forward_proj": "gated-gelu" if gated else "relu",
        "relative_attention_num_buckets": 32,
        "relative_attention_max_distance": 128,
        "layer_norm_epsilon": 1e-6,
        "decoder_start_token_id": 0,
        "eos_token_id": 1,
        "pad_token_id": 0,
        "tie_word_embeddings": not gated,
        "id2label": {str(index): f"LABEL_{index}" for index in range(labels)},
    }


def shapes(*, gated: bool, labels: int) -> dict[str, tuple[int, ...]]:
    """Every tensor of a classifier, by name."""
    inner = HEADS * HEAD
    found: dict[str, tuple[int, ...]] = {"shared.weight": (WORDS, HIDDEN)}
    for stack, layers in (("encoder", ENCODER), ("decoder", DECODER)):
        found[f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"] = (32, HEADS)
        found[f"{stack}.final_layer_norm.weight"] = (HIDDEN,)
        kinds = ("SelfAttention",) if stack == "encoder" else ("SelfAttention", "EncDecAttention")
        for index in range(layers):
            for number, kind in enumerate(kinds):
                at = f"{stack}.block.{index}.layer.{number}"
                found |= {f"{at}.{kind}.{part}.weight": (inner, HIDDEN) for part in "qkv"}
                found |= {f"{at}.{kind}.o.weight": (HIDDEN, inner), f"{at}.layer_norm.weight": (HIDDEN,)}
            at = f"{stack}.block.{index}.layer.{len(kinds)}"
            wide = ("wi_0", "wi_1") if gated else ("wi",)
            found |= {f"{at}.DenseReluDense.{part}.weight": (WIDE, HIDDEN) for part in wide}
            found |= {f"{at}.DenseReluDense.wo.weight": (HIDDEN, WIDE), f"{at}.layer_norm.weight": (HIDDEN,)}
    named = {f"transformer.{name}": shape for name, shape in found.items()}
    sizes = {"dense": (HIDDEN, HIDDEN), "out_proj": (labels, HIDDEN)}
    for part, (rows, columns) in sizes.items():
        named[f"classification_head.{part}.weight"] = (rows, columns)
        named[f"classification_head.{part}.bias"] = (rows,)
    return named


def tensors(*, gated: bool = False, labels: int = 1, seed: int = 5) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(seed)
    return {
        name: (chance.integers(-50, 51, shape) / 100 + (1.0 if "norm" in name else 0.0)).astype(np.float32)
        for name, shape in sorted(shapes(gated=gated, labels=labels).items())
    }


def ids() -> tuple[np.ndarray, np.ndarray]:
    """Three inputs, longer than the farthest distance and shorter, padded; and their mask."""
    chance = np.random.default_rng(6)
    rows = chance.integers(3, WORDS, (3, 150))
    for row, length in enumerate((150, 90, 12)):
        rows[row, length - 1], rows[row, length:] = 1, 0
    return rows, (rows != 0).astype(np.int64)


def safetensors(values: dict[str, np.ndarray], *, kind: str = "F32") -> bytes:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, value in values.items():
        raw = value.astype("<f2").tobytes() if kind == "F16" else value.astype("<f4").tobytes()
        if kind == "BF16":
            raw = (value.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
        header[name] = {"dtype": kind, "shape": list(value.shape), "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header).encode("utf-8")
    return struct.pack("<Q", len(text)) + text + body


def sentencepiece() -> bytes:
    """A `spiece.model` of `PIECES`, without a table of characters."""
    kinds = {"<pad>": 3, "</s>": 3, "<unk>": 2}
    model = b""
    for index, piece in enumerate(PIECES):
        text = piece.encode("utf-8")
        score = struct.pack("<f", 0.0 if index < 3 else -1.0 - index / 100)
        inner = b"\x0a" + bytes([len(text)]) + text + b"\x15" + score + b"\x18" + bytes([kinds.get(piece, 1)])
        model += b"\x0a" + bytes([len(inner)]) + inner
    return model


def write_checkpoint(folder: Path, *, gated: bool = False, labels: int = 1, seed: int = 5) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config(gated=gated, labels=labels)), encoding="utf-8")
    (folder / "model.safetensors").write_bytes(safetensors(tensors(gated=gated, labels=labels, seed=seed)))
    (folder / "spiece.model").write_bytes(sentencepiece())
    return folder
