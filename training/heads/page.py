"""The page about the heads: what they are, what they were trained on, how well they do."""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tadasu.testing.splits import Split
from training.heads.claims import read_rows

_LICENCES = {
    "jaquad": "JaQuAD, CC BY-SA 3.0",
    "xquad_en": "XQuAD en, CC BY-SA 4.0",
    "popqa": "PopQA, MIT",
    "wiki_en": "Wikipedia paragraphs of HippoRAG, MIT",
    "covidqa": "COVID-QA, Apache-2.0",
    "jnli": "JNLI of JGLUE, CC BY-SA 4.0",
    "jsts": "JSTS of JGLUE, CC BY-SA 4.0",
}
_FILES = ("heads.json", "support.onnx", "heads_fitted_on.txt")


def write(path: Path, told: Mapping[str, Any], *, claims: Path, command: str, notes: Path) -> None:
    """Write the page beside the files it is about; `notes` is a list of a run's own limits, where there is one."""
    lines = _lines(path.parent, told, claims, command)
    if notes.is_file():
        lines += notes.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _lines(folder: Path, told: Mapping[str, Any], claims: Path, command: str) -> list[str]:
    plan, progress, parity = told["plan"], told["progress"], told["parity"]
    shape = plan["shape"]
    return [
        "# Heads of the second grading tier: what supports a sentence, and where an answer stands",
        "",
        *_wrapped(
            f"""Made by `{command}` over `model.onnx`, whose own numbers stay as they are. English and Japanese.
            Licence: MIT, as that of the weights it was made from."""
        ),
        "",
        *_wrapped(
            f"""- `support.onnx`, {told["bytes"] / 1e6:.2f} MB: nodes, and matrices of rank {shape["rank"]} beside those
            of the grader's layers {shape["start"]} to {shape["stop"] - 1}; all else is borrowed from `model.onnx`."""
        ),
        "- `heads.json`: which bytes are borrowed, lengths, curves to probabilities, the rule of the span reader.",
        f"- `{_FILES[2]}`: fingerprints of the {told['fitted_on']:,} passages of its TRAIN and CALIBRATE rows.",
        "",
        "SHA-256:",
        "",
        *[f"- `{name}`: `{_sha256(folder / name)}`" for name in _FILES],
        "",
        "## Support",
        "",
        *_wrapped(_WHAT),
        "",
        *_wrapped(
            f"""Trained for {progress["seconds"] / 60:.0f} minutes on {plan["threads"]} thread(s):
            {progress["pairs"]:,} pairs, seed {plan["seed"]}; what the clock cuts off is not the same twice.
            {_begun(told["before"])} {_ROWS}"""
        ),
        "",
        "| rows | right | wrong | made from |",
        "|---|--:|--:|---|",
        *_sets(claims),
        "",
        "### On CALIBRATE rows",
        "",
        *_wrapped(_MEASURED),
        "",
        "| rows | number | AUC | balanced |",
        "|---|--:|--:|--:|",
        *[
            f"| {name} | {one['rows']:,.0f} | {one['auc']:.3f} | {one['balanced']:.3f} |"
            for name, one in told["figures"].items()
            if "auc" in one
        ],
        "",
        *_wrapped(
            f"""int8 against float32 on {parity["pairs"]:.0f} pairs: correlation {parity["correlation"]:.4f}, mean
            difference {parity["mean_apart"]:.3f}, largest {parity["most_apart"]:.2f}. A pair of 150 tokens took
            {told["milliseconds"]} ms on one thread when this was written."""
        ),
        *_spans(told["spans"]),
        *_LIMITS,
    ]


_WHAT = (
    "Reads a claim (a question, if there is one, and a sentence) and a source, and gives the logit of support, "
    "which a curve per language makes a probability. Every token of the claim has a logit of its own that says "
    '"this is not what the source says"; it is trained on which words were replaced.'
)
_ROWS = (
    "Rows are made from the TRAIN splits of `tadasu.testing.splits`; HaluEval is not trained on, because its "
    "right and wrong answers differ in length and punctuation. Full stops, polite forms, widths of digits and "
    "cuts are drawn alike for right and wrong claims."
)
_MEASURED = (
    "AUC, and balanced accuracy at a probability of one half (int8). By kind: wrong claims of that kind against "
    "the right ones of the sets where it occurs. CALIBRATE rows chose between trials and made the curves, so these "
    "flatter a little."
)
_READER = (
    "No numbers of its own in the file: the best run of the grader's token logits, and a probability from the "
    "logits of the text and of the run, fitted per language on CALIBRATE rows of the grader. *touches*: the span "
    "has a character in common with an answer; *in common*: F1 of characters; *sentence*: its sentence holds the "
    "answer; *among*: with the right passage among up to four others; *AUC*: passages with the answer against "
    "others."
)


def _begun(before: Mapping[str, Any] | None) -> str:
    if not before:
        return ""
    return f"It began with the numbers of a run of {before['pairs']:,} pairs in {before['seconds'] / 60:.0f} minutes."


def _wrapped(text: str) -> list[str]:
    told = " ".join(text.split())
    return textwrap.wrap(told, 116, subsequent_indent="  " if told.startswith("- ") else "", break_on_hyphens=False)


def _sets(claims: Path) -> list[str]:
    lines = []
    for path in sorted(claims.glob(f"claims_*_{Split.TRAIN.value}.jsonl.gz")):
        rows = list(read_rows(path))
        right = sum(row.label for row in rows)
        name = path.name.removeprefix("claims_").removesuffix(f"_{Split.TRAIN.value}.jsonl.gz")
        sets = sorted({row.set for row in rows})
        licences = "; ".join(dict.fromkeys(_LICENCES.get(one, one) for one in sets))
        lines.append(f"| {name} | {right:,} | {len(rows) - right:,} | {licences} |")
    return lines


def _spans(figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    if not figures:
        return []
    return [
        "",
        "## Spans",
        "",
        *_wrapped(_READER),
        "",
        "| set | questions | touches | in common | sentence | among: touches | among: sentence | AUC |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
        *[
            f"| {name} | {one['questions']:.0f} | {one['touches']:.3f} | {one['common']:.3f} | {one['sentence']:.3f} |"
            f" {one['among touches']:.3f} | {one['among sentence']:.3f} | {one['auc']:.3f} |"
            for name, one in figures.items()
        ],
    ]


_LIMITS = [
    "",
    "## Limits",
    "",
    "- A claim that puts two sentences of a source together, counts or calculates, was hardly seen in training.",
    "- Wrong claims were made by rules: somebody's real mistakes are subtler, and rarer.",
    "- Claims and sources of two languages were not seen at all.",
    "- It is a light second opinion after rules on numbers, dates, names and negation, not in their place.",
]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "absent"
