"""The page about the student: what it is, what it was trained on, its figures on CALIBRATE rows, its limits."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from training.grader import evaluate, finish
from training.grader.batches import PairEncoder
from training.grader.build_rows import write_marks
from training.grader.export import CARD, MODEL
from training.grader.loop import LOG
from training.grader.rows import read_groups

_WIDTH = 120
PAGE, FITTED_ON = "student.md", "student_fitted_on.txt"
_MARKS = "fitted_on.txt"
_NOTES = "notes.md"
"""In the folder of a run: what its log does not tell, as lines of a list."""

_INTRODUCTION = """# Second grading tier: a cross-encoder for English and Japanese

Reads a question and a passage together. One pass gives a logit of the passage ("the answer is in here") and one of
every token ("it is this"), from which strips get theirs. Logits, not probabilities: what reads them calibrates them.
Made by `{command}` from the weights of `models/encoder`'s original, multilingual-e5-small (MIT), of which it keeps the
layers {layers} of twelve and the pieces of `models/encoder/tokenizer.json`.

- `model.onnx`: {megabytes:.1f} MB, matrices and word embeddings in int8. Inputs `input_ids`, `attention_mask`; outputs
  `passage_logit` (batch), `token_logits` (batch, sequence).
- `grader.json`: id `{id}`, lengths, special pieces, pooling, SHA-256.
- `student_fitted_on.txt`: the first 64 bits of the SHA-256 of every passage of its TRAIN and CALIBRATE rows.

Licence: MIT, as that of the weights it was made from.

## Trained on

TRAIN rows, as `tadasu.testing.splits` decides them by article: {groups:,} questions of {pairs:,} pairs were read in
{minutes:.0f} minutes on {threads} ({steps:,} steps, seed {seed}; PyTorch on a CPU, bf16). What the clock cuts
off is not the same twice, so a second run is alike, not equal. Passages without the answer: what our own search brings
back, others of the same article, the right passage without the sentence of the answer or with another name in it, and a
few at random; a question with another name, number or attribute in it has no right passage at all.{before}
Losses: the passages of a group against each other, every passage by itself, the place of the answer, every token, every
strip, and in English a teacher's scores. CALIBRATE rows chose between trials and are the figures below; TEST rows were
not read.

| rows | questions | licence |
|---|--:|---|
"""

_LICENCES = {
    "jaquad": "JaQuAD, CC BY-SA 3.0",
    "xquad_en": "XQuAD en, CC BY-SA 4.0",
    "popqa": "PopQA, MIT",
    "popqa_ja": "PopQA's questions put in Japanese by pattern, MIT",
    "covidqa": "COVID-QA, Apache-2.0",
    "pseudo_en": "made from COVID-QA (Apache-2.0) and Wikipedia paragraphs of HippoRAG (MIT); NQ-open (CC BY-SA 3.0)",
}
_TEACHER = """
Teacher of English pairs: ms-marco-MiniLM-L-12-v2 (Apache-2.0), only in training. Distractors: Wikipedia paragraphs of
HippoRAG (MIT). No text of these sets is in the weights' files or in the list of fingerprints.
"""
_LIMITS = """
## Limits

- Figures are on CALIBRATE rows and flatter a little: trials were chosen by them, a sample of them at a time.
- Trained for {minutes:.0f} minutes on {threads}: more time and more questions would make it better.
- Reads at most {question} tokens of a question, {title} of a title, and windows of {window} tokens of a text.
- Questions were written by people who saw the passage, or by patterns; users' share fewer words with the answer.
- English has few labelled questions here: much of what it knows of English is the teacher's.
- A question in another language than its passage was seen in training only as PopQA's patterns.
"""


def write(
    rows: Path, run: Path, model: Path, *, encoder: Path, say: Callable[[str], None], groups: int, threads: int
) -> dict[str, dict[str, float]]:
    """Measure the graph in `model` on at most `groups` CALIBRATE groups of every set; write page and fingerprints."""
    sample = evaluate.thinned(evaluate.sample(rows, groups=groups), passages=8)
    say(f"scoring {sum(len(group.passages) for group in sample):,} passages of {len(sample):,} questions")
    scored = evaluate.score(
        sample, evaluate.onnx_scorer(str(model / MODEL)), PairEncoder.load(encoder), rows=1, workers=threads
    )
    found = evaluate.figures(scored)
    say(f"on CALIBRATE:\n{evaluate.brief(found)}")
    (run / "figures.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    (model / PAGE).write_text(page(rows, run, model, encoder=encoder, figures=found), encoding="utf-8")
    say(f"{write_marks(rows):,} passages in {FITTED_ON}")
    (model / FITTED_ON).write_bytes((rows / _MARKS).read_bytes())
    return found


def page(rows: Path, run: Path, model: Path, *, encoder: Path, figures: Mapping[str, Mapping[str, float]]) -> str:
    """The page in Markdown."""
    _, kept = finish.load(run, encoder=encoder)
    plan, progress = kept["plan"], kept["progress"]
    about = json.loads((model / CARD).read_text(encoding="utf-8"))
    facts = {
        "command": "tadasu-train all",
        "layers": ", ".join(str(layer) for layer in plan["layers"]),
        "megabytes": (model / MODEL).stat().st_size / 1e6,
        "id": about["id"],
        "minutes": progress["seconds"] / 60,
        "threads": "one thread" if plan["threads"] == 1 else f"{plan['threads']} threads",
        "seed": plan["seed"],
    }
    counts = {name: progress[name] for name in ("groups", "pairs", "steps")}
    lines = [
        _INTRODUCTION.format(**facts, **counts, before=_before(kept["before"], kept["averaged_with"])).rstrip("\n")
    ]
    for path in sorted(rows.glob("rows_*_train.jsonl.gz")):
        name = path.name.removeprefix("rows_").removesuffix("_train.jsonl.gz")
        lines.append(f"| {name} | {sum(1 for _ in read_groups(path)):,} | {_LICENCES.get(name, 'see its set')} |")
    lines += [_TEACHER, "## Figures on CALIBRATE rows", "", *_table(figures), "", *_checks(run, model)]
    lines += [*_curve(run), _LIMITS.format(**facts, **about["lengths"]).rstrip("\n")]
    if (run / _NOTES).is_file():
        lines.append((run / _NOTES).read_text(encoding="utf-8"))
    text = "\n".join(lines).rstrip("\n") + "\n"
    return "\n\n".join(_filled(part) for part in text.split("\n\n"))


def _before(progress: Mapping[str, Any] | None, averaged: Mapping[str, Any] | None) -> str:
    """Sentences on the student whose weights were the beginning, and on the one it was averaged with, if any."""
    return _begun(progress) + (" Its weights were averaged with that one's in the end." if averaged else "")


def _begun(progress: Mapping[str, Any] | None) -> str:
    if not progress:
        return ""
    minutes = progress["seconds"] / 60
    return (
        f" It began with the weights of a student that had read {progress['pairs']:,} pairs in {minutes:.0f} minutes."
    )


def _filled(part: str) -> str:
    """A paragraph whose lines are too long, filled anew; headings, lists and tables as they are."""
    if part[0] in "#|-" or all(len(line) <= _WIDTH for line in part.split("\n")):
        return part
    return textwrap.fill(part, width=_WIDTH, break_long_words=False, break_on_hyphens=False)


_COLUMNS = (
    ("pairs", "pairs"),
    ("auc", "AUC"),
    ("auc retrieved", "retrieved"),
    ("auc topical", "topical"),
    ("auc answer_removed", "answer removed"),
    ("auc unanswered", "unanswered"),
    ("first", "first"),
    ("strips", "strips"),
)


def _table(figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    lines = [
        "AUC of the passage logit over all pairs of a set, then against one kind of passages that do not answer;",
        "*unanswered*: against passages of questions that nothing answers; *first*: how often the highest passage of a",
        "question with a right one is right; *strips*: AUC of strips within right passages.",
        "",
        f"| set | {' | '.join(title for _, title in _COLUMNS)} |",
        f"|---|{'--:|' * len(_COLUMNS)}",
    ]
    for name, values in figures.items():
        cells = [f"{values[key]:,.0f}" if key == "pairs" else _number(values.get(key)) for key, _ in _COLUMNS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}".removeprefix("0")


def _checks(run: Path, model: Path) -> list[str]:
    path = run / "int8.json"
    check: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    lines = [
        f"Speed: {finish.speed(model / MODEL):.1f} pairs of 190 tokens a second on one thread when this was written."
    ]
    if check:
        lines.append("")
        passages, strips = check["passages"], check["strips"]
        lines += [
            f"int8 against float32 on {passages['number']} CALIBRATE pairs: correlation of passage logits"
            f" {passages['correlation']:.4f}, mean difference {passages['mean_apart']:.3f}, largest"
            f" {passages['most_apart']:.2f}; of strip logits {strips['correlation']:.4f}. AUC float32 → int8: "
            + ", ".join(f"{name} {_number(one['float32'])} → {_number(one['int8'])}" for name, one in _areas(check))
            + ".",
        ]
    return lines


def _areas(check: Mapping[str, Any]) -> list[tuple[str, Mapping[str, float]]]:
    return [(name, one) for name, one in check["auc"].items() if one["float32"] is not None]


def _curve(run: Path) -> list[str]:
    path = run / LOG
    if not path.is_file():
        return []
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    names = [name for name in ("all ja", "all en", "topical_ja", "topical_en") if name in entries[-1]["figures"]]
    lines = ["", "While it was trained (a small sample of CALIBRATE rows, the same each time), AUC:", ""]
    lines += [f"| minutes | pairs | {' | '.join(names)} |", f"|--:|--:|{'--:|' * len(names)}"]
    return lines + [_row(entry, names) for entry in entries]


def _row(entry: Mapping[str, Any], names: Sequence[str]) -> str:
    cells = [_number(entry["figures"].get(name, {}).get("auc")) for name in names]
    return f"| {entry['seconds'] / 60:.0f} | {entry['pairs']:,} | {' | '.join(cells)} |"
