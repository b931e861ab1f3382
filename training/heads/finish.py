"""From a trained head to the shipped files: ``support.onnx``, `heads.json`, the page about them, what was fitted on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from tadasu.providers.heads import read_heads
from tadasu.testing.datasets import passages
from tadasu.testing.splits import Split, split_of, write_fitted_on
from training.encoder_calibration import session
from training.grader import evaluate
from training.grader.batches import PAD, PairEncoder
from training.grader.export import CARD as GRADER_CARD
from training.grader.export import MODEL
from training.grader.student import Student
from training.heads import page, spans
from training.heads.claims import ClaimRow
from training.heads.export import OUTPUT, SUPPORT, graph_of, whole_bytes, write_card, write_part
from training.heads.loop import CHECKPOINT, Scorer, figures, sample, scored
from training.heads.make_claims import CAPTIONS, SETS
from training.heads.network import HeadShape, SupportNetwork, restore
from training.heads.pairs import LONGEST, QUESTION, SENTENCE, ClaimEncoder
from training.heads.trunk import read_student

_PARITY = 120
FITTED_ON = "heads_fitted_on.txt"
COMMAND = "tadasu-train heads"


@dataclass(frozen=True, slots=True)
class Trained:
    """A network, the student it stands on, and what its checkpoint says besides."""

    network: SupportNetwork
    student: Student
    told: dict[str, Any]


def load(run: Path, *, model: Path, encoder: Path) -> Trained:
    """The head of a run; raises FileNotFoundError where there is none."""
    path = run / CHECKPOINT
    if not path.is_file():
        raise FileNotFoundError(f"There is no checkpoint {path}. Train the head first: {COMMAND}")
    kept = torch.load(path, weights_only=True)
    student = read_student(model, encoder=encoder)
    network = SupportNetwork(student, HeadShape(**kept["network"]["shape"]))
    restore(network, kept["network"])
    return Trained(network.eval(), student, {name: kept.get(name) for name in ("plan", "progress", "before")})


def onnx_scorer(model: bytes) -> Scorer:
    """A graph of the support head, on one thread."""
    running = session(model)

    def score(ids: NDArray[np.int64]) -> NDArray[np.float32]:
        feed = {"input_ids": ids, "attention_mask": (ids != PAD).astype(np.int64)}
        found: NDArray[np.float32] = running.run([OUTPUT], feed)[0]
        return found

    return score


def curves_of(rows: Sequence[ClaimRow], logits: NDArray[np.float64]) -> dict[str, list[float]]:
    """Per language bias and factor that make a probability of a logit (Platt 1999), right and wrong weighing alike.

    Captions are left out: no answer is made of them.
    """
    curves = {}
    for language in ("en", "ja"):
        here = np.array([row.language == language and row.set not in CAPTIONS for row in rows])
        labels = np.array([row.label for row in rows])[here]
        curves[language] = [0.0, 1.0]
        if len(set(labels.tolist())) == 2:
            model = LogisticRegression(C=10.0, class_weight="balanced").fit(logits[here][:, None], labels)
            curves[language] = [round(float(model.intercept_[0]), 4), round(float(model.coef_[0, 0]), 4)]
    return curves


def parity(trained: Trained, rows: Sequence[ClaimRow], encoder: ClaimEncoder, whole: bytes) -> dict[str, float]:
    """How far int8 is from float32 on some rows."""
    exact = onnx_scorer(graph_of(trained.network, trained.student, quantised=False).SerializeToString())
    chosen = rows[:: max(1, len(rows) // _PARITY)]
    one, other = (scored(chosen, encoder, scorer, at_once=1)[1] for scorer in (exact, onnx_scorer(whole)))
    apart = np.abs(one - other)
    told = {"pairs": float(len(one)), "correlation": float(np.corrcoef(one, other)[0, 1])}
    told |= {"mean_apart": float(apart.mean()), "most_apart": float(apart.max())}
    return {name: round(value, 4) for name, value in told.items()}


def speed(scorer: Scorer, *, tokens: int = 150, runs: int = 30) -> float:
    """Milliseconds of a pair of `tokens` tokens on one thread."""
    ids = np.random.default_rng(1).integers(4, 40_000, (1, tokens))
    ids[0, 0], ids[0, tokens // 4 : tokens // 4 + 2], ids[0, -1] = 0, 2, 2
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        scorer(ids)
        times.append(time.perf_counter() - began)
    return round(1000 * float(np.median(times)), 1)


def support(
    run: Path, claims: Path, model: Path, *, encoder: Path, version: str, say: Callable[[str], None], rows: int
) -> dict[str, Any]:
    """Write ``support.onnx`` and its part of the card; give figures of int8 on CALIBRATE rows."""
    trained = load(run, model=model, encoder=encoder)
    told = write_part(trained.network, trained.student, model)
    whole = whole_bytes(model, told)
    pairs = ClaimEncoder.load(encoder)
    scorer = onnx_scorer(whole)
    chosen = sample(claims, rows=rows)
    known, logits = scored(chosen, pairs, scorer, at_once=1)
    curves = curves_of(known, logits)
    told |= {
        "version": version,
        "pair": "begin question separator sentence end end source end; question and separator are left out without one",
        "lengths": {"question": QUESTION, "sentence": SENTENCE, "longest": LONGEST},
        "curves": curves,
    }
    write_card(model, support=told)
    shifted = np.array(
        [curves[row.language][0] + curves[row.language][1] * x for row, x in zip(known, logits, strict=True)]
    )
    found = figures(known, shifted)
    say(f"wrote {model / SUPPORT}: {(model / SUPPORT).stat().st_size / 1e6:.2f} MB")
    seen = write_fitted_on(model / FITTED_ON, _read())
    return {
        "figures": found,
        "parity": parity(trained, known, pairs, whole),
        "milliseconds": speed(scorer),
        "bytes": (model / SUPPORT).stat().st_size,
        "fitted_on": seen,
        **trained.told,
    }


def _read() -> Iterator[str]:
    """Every passage that rows of TRAIN and CALIBRATE are made from."""
    for part, _ in SETS.values():
        yield from (row.text for row in passages(part) if split_of(part, row.key) is not Split.TEST)


def span_rule(
    rows: Path, model: Path, *, encoder: Path, say: Callable[[str], None], groups: int, passages: int = 5
) -> dict[str, Any]:
    """Fit the span reader's rule on CALIBRATE rows of the grader; its part of the card, and figures.

    Where there are no such rows, the rule that is in the card stays.
    """
    grader = json.loads((model / GRADER_CARD).read_text(encoding="utf-8"))
    chosen = evaluate.thinned(evaluate.sample(rows, groups=groups), passages=passages)
    chosen = [group for group in chosen if any(one.spans for one in group.passages)]
    if not chosen:
        say("no CALIBRATE rows of the grader: the span reader's rule stays as it is")
        read_heads(model)
        return {}
    reads = list(spans.read(chosen, evaluate.onnx_scorer(str(model / MODEL)), PairEncoder.load(encoder)))
    rule = spans.fit(reads)
    write_card(model, grader=grader["id"], spans=spans.card_of(rule))
    return spans.figures(reads, rule)


def write(
    run: Path,
    model: Path,
    *,
    claims: Path,
    rows: Path,
    encoder: Path,
    version: str,
    say: Callable[[str], None],
    smoke: bool = False,
) -> dict[str, Any]:
    """All files of the heads, and the page; give what was measured."""
    write_card(model, version=version)
    told = support(run, claims, model, encoder=encoder, version=version, say=say, rows=40 if smoke else 400)
    told["spans"] = span_rule(rows, model, encoder=encoder, say=say, groups=4 if smoke else 120)
    (run / "heads_figures.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    page.write(model / "heads.md", told, claims=claims, command=COMMAND, notes=run / "notes.md")
    return told
