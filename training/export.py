"""Make a folder for the scorer ``onnx`` from a T5: ``python -m training.export CHECKPOINT OUT --layout crag``.

The checkpoint is a folder of Hugging Face's layout: `config.json`, `model.safetensors` or `pytorch_model.bin`, and
`tokenizer.json` or `spiece.model`. Layouts:

crag    T5ForSequenceClassification with one number, as the CRAG paper's evaluator (T5-large): "question [SEP] passage",
        a score in [-1, 1], which becomes a probability from 0 to 1.
monot5  T5ForConditionalGeneration that answers "true" or "false": the score is the log-odds of "true".
pair    T5ForSequenceClassification over pairs as its tokenizer makes them; say what its scores mean with --scale.

With --int8 the matrices are stored in seven bits and multiplied as integers: a quarter of the size, and faster. Compare
the scores before you trust them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from tokenizers import Tokenizer

from training import sentencepiece_file, t5_graph
from training.checkpoints import CheckpointError, read_config, read_tensors

MODEL, WEIGHTS, TOKENIZER, CARD = "model.onnx", "model.onnx.data", "tokenizer.json", "grader.json"
WINDOW = 512
LARGEST_FILE = 1_500_000_000
"""Bytes of tensors beyond which they go into a file of their own: a graph in one file cannot have two gigabytes."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What a layout's card says, and the words whose odds are the score (none: the classification head)."""

    card: Mapping[str, Any]
    words: tuple[str, ...] = ()


LAYOUTS = {
    "crag": Layout({"scale": "probability", "range": [-1.0, 1.0], "template": "{question} [SEP] {passage}"}),
    "monot5": Layout(
        {"scale": "logit", "positive": 1, "template": "Query: {question} Document: {passage} Relevant:"},
        ("▁false", "▁true"),
    ),
    "pair": Layout({}),
}


def export(
    checkpoint: Path, out: Path, layout: Layout, *, quantised: bool = False, largest_file: int = LARGEST_FILE
) -> None:
    """Write `out`; raises CheckpointError where the checkpoint is not of this layout."""
    config = read_config(checkpoint)
    shape = t5_graph.shape_of(config)
    tokenizer = _tokenizer(checkpoint)
    tensors = read_tensors(checkpoint)
    if layout.words:
        ids = [id_ for word in layout.words if (id_ := tokenizer.token_to_id(word)) is not None]
        if len(ids) < len(layout.words):
            raise CheckpointError(f"its tokenizer lacks one of {', '.join(layout.words)}")
        model = t5_graph.next_words(shape, tensors, ids, quantised=quantised)
    else:
        model = t5_graph.classifier(shape, tensors, quantised=quantised)
    labels = model.graph.output[0].type.tensor_type.shape.dim[1].dim_value
    if layout is LAYOUTS["crag"] and labels != 1:
        raise CheckpointError(f"it has {labels} labels; the layout crag has one number")
    out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(out / TOKENIZER))
    _save(model, out, largest_file=largest_file)
    if not layout.words and labels > 1 and "id2label" in config:
        _write(out / "config.json", {"id2label": config["id2label"]})
    files = {path.name: _digest(path) for path in sorted(out.glob(f"{MODEL}*"))} | {TOKENIZER: _digest(out / TOKENIZER)}
    _write(out / CARD, {**layout.card, "window": WINDOW, "files": files})


def _tokenizer(checkpoint: Path) -> Tokenizer:
    if (checkpoint / TOKENIZER).is_file():
        try:
            return Tokenizer.from_file(str(checkpoint / TOKENIZER))
        except Exception as error:  # the library raises plain Exception
            raise CheckpointError(f"{checkpoint / TOKENIZER} cannot be read: {error}") from error
    return sentencepiece_file.read_tokenizer(checkpoint / "spiece.model")


def _save(model: onnx.ModelProto, out: Path, *, largest_file: int) -> None:
    for old in out.glob(f"{MODEL}*"):
        old.unlink()
    apart = sum(len(tensor.raw_data) for tensor in model.graph.initializer) > largest_file
    if apart:
        onnx.save_model(model, str(out / MODEL), save_as_external_data=True, location=WEIGHTS)
    else:
        (out / MODEL).write_bytes(model.SerializeToString(deterministic=True))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(path: Path, told: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(told, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training.export", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", type=Path, help="folder of the checkpoint")
    parser.add_argument("out", type=Path, help="folder to write")
    parser.add_argument("--layout", choices=sorted(LAYOUTS), required=True)
    parser.add_argument("--scale", choices=("logit", "probability"), help="what the scores mean, for the layout pair")
    parser.add_argument("--int8", action="store_true", help="small integers in place of floats")
    options = parser.parse_args(arguments)
    layout = LAYOUTS[options.layout]
    if options.layout == "pair":
        if options.scale is None:
            parser.error("the layout pair needs --scale: nobody can guess what the scores mean")
        layout = Layout({"scale": options.scale})
    elif options.scale is not None:
        parser.error("--scale goes with the layout pair; the others know their scale")
    try:
        export(options.checkpoint, options.out, layout, quantised=options.int8)
    except CheckpointError as error:
        print(f"{error}; nothing was made.", file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in options.out.glob(f"{MODEL}*"))
    print(f'{size / 1e6:,.1f} MB in {options.out}; use it with grading.scorer = "onnx" and scorer.path.')
    return 0


if __name__ == "__main__":
    sys.exit(main())
