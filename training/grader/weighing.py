"""Fit how features and cross-encoder are weighed, and when the second is asked: writes ``models/grader/cascade.json``.

``python -m training.grader.weighing`` after the first tier (``training.train_features``) and the student are made. All
on the CALIBRATE split, which neither has learnt from; nothing is drawn at random.

The band, outside which the features decide alone, is set by the errors that they make out there: at most `LOST` of the
passages that answer lie below it, and at most `WRONG` of those above it do not answer. Both languages get the wider of
their bands, since questions of public data share more words with their passages than users' do. Of what lies within,
at most `SHARE` of a retrieval is read, what the features think most of first, and everything where none of it is HIGH;
what is left out is weighed by the features and by how well the best one read. What all this costs against reading
everything is reported, and held to `AUC_LOSS`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from tadasu.answering.grading.cached import CachedScorer
from tadasu.answering.grading.combination import FILE, FORMAT, lead_of
from tadasu.answering.grading.cross_encoder import open_shipped
from tadasu.answering.grading.features import open_features
from tadasu.answering.grading.model import Numbers
from tadasu.answering.grading.thresholds import choose_high, choose_low
from tadasu.core.grades import Thresholds
from tadasu.ports import CacheSettings, PairScorer, ScorerSettings
from tadasu.storage.score_cache import open_cache
from tadasu.testing.splits import Split
from training.curves import calibration_curve
from training.feature_evaluation import auc
from training.feature_rows import MODELS, open_encoder
from training.feature_sets import english, japanese
from training.grader.weighing_rows import Read, read_all

VERSION = "3"
SETS = {"ja": japanese, "en": english}
LOST = 0.002
WRONG = 0.005
SHARE = 0.8
AUC_LOSS = 0.002
PRECISE = 0.86
"""Shown at 95 % confidence; about 91 of 100 HIGH passages were right where it was chosen. At .90, CORRECT came for
.52 of the English questions that have an answer instead of .62."""
MISSED = 0.10
WRONGLY_INCORRECT = 0.01
_STRENGTH = 1.0
_CERTAIN = 1e-4
_FEWEST_ABOVE = 100
EVERYTHING = {"low": -1.0, "high": 2.0}

Masks = Sequence[NDArray[np.bool_]]
"""Per retrieval, which of its passages are read."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, help="file that keeps the encoder's vectors between runs")
    parser.add_argument("--scores", type=Path, help="file that keeps the cross-encoder's scores between runs")
    parser.add_argument("--models", type=Path, default=MODELS)
    parser.add_argument("--questions", type=int, help="no more of a language than these (a trial)")
    options = parser.parse_args(arguments)
    scorer: PairScorer = open_shipped(ScorerSettings(path=options.models / "grader"))
    if options.scores:
        scorer = CachedScorer(scorer, open_cache(CacheSettings(file=options.scores)))
    asyncio.run(fit_all(options.models, scorer=scorer, cache=options.cache, questions=options.questions))


async def fit_all(models: Path, *, scorer: PairScorer, cache: Path | None, questions: int | None = None) -> None:
    """Read the CALIBRATE questions of every language, fit, and write."""
    began = time.perf_counter()
    encoder = open_encoder(models, cache=cache)
    features = open_features(models / "grader")
    read: dict[str, list[Read]] = {}
    for language, make in SETS.items():
        asked = make(Split.CALIBRATE)
        if questions:
            asked = replace(asked, asked=asked.asked[:questions])
        read[language] = await read_all(asked, models=models, encoder=encoder, features=features, scorer=scorer)
    languages = fit_read(read)
    for language, part in languages.items():
        print(f"{language}: {json.dumps(part['report'])}, band {part['band']}", file=sys.stderr, flush=True)
    written = {
        "format": FORMAT,
        "version": f"{VERSION}-{features.id}",
        "scorer": scorer.id,
        "languages": languages,
    }
    path = models / "grader" / FILE
    path.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path} in {time.perf_counter() - began:.0f} s", file=sys.stderr)


def fit_read(read: Mapping[str, Sequence[Read]]) -> dict[str, Any]:
    """Every language: the widest of their bands for all, then each one's numbers within it."""
    bands = [band_of(*_known(rows)) for rows in read.values()]
    band = {"low": min(one["low"] for one in bands), "high": max(one["high"] for one in bands)}
    # What is left out answers so seldom that only all languages together have enough of it.
    unread = fit_unread([row for rows in read.values() for row in rows], share=SHARE)
    languages = {language: fit_language(rows, band, unread=unread) for language, rows in read.items()}
    for language, part in languages.items():
        part["report"] |= costs(read[language], part)
    return languages


def _known(rows: Sequence[Read]) -> tuple[Numbers, NDArray[np.int8]]:
    counted = np.concatenate([row.counted for row in rows])
    read = np.concatenate([row.read for row in rows])
    labels = np.concatenate([row.labels for row in rows])
    known = (labels >= 0) & np.isfinite(counted) & np.isfinite(read)
    return counted[known], labels[known]


def fit_language(
    rows: Sequence[Read], band: dict[str, float], *, unread: dict[str, Any], share: float = SHARE
) -> dict[str, Any]:
    """One language, at most `share` of what lies within `band` being read: weights, curves, borders, what was seen."""
    masks = chosen(rows, band, share=share)
    counted = np.concatenate([row.counted for row in rows])
    read = np.concatenate([row.read for row in rows])
    labels = np.concatenate([row.labels for row in rows])
    inputs = np.stack([logits_of(counted), read, leads(rows, masks)], axis=1)
    known = (labels >= 0) & np.isfinite(inputs[:, :2]).all(axis=1)
    led_by = known & np.isfinite(inputs[:, 2])
    led = weigh(inputs[led_by], labels[led_by])
    both = weigh(inputs[known, :2], labels[known])
    alone = weigh(read[known][:, None], labels[known])
    fitted = {"led": led, "both": both, "alone": alone, "unread": unread, "band": band, "share": share}
    probabilities = weighed(fitted, inputs)
    thresholds, evidence = borders(rows, decided(rows, fitted, chosen(rows, EVERYTHING, share=1.0)))
    strips = [np.concatenate([getattr(row, name) for row in rows]) for name in ("strips_counted", "strips_read")]
    strip_labels = np.concatenate([row.strip_labels for row in rows])
    strip_inputs = np.stack([logits_of(strips[0]), strips[1]], axis=1)
    return {
        **fitted,
        "strips": weigh(strip_inputs, strip_labels),
        "strips_alone": weigh(strips[1][:, None], strip_labels),
        "thresholds": {"high": thresholds.high, "low": thresholds.low},
        "report": {
            "retrievals": len(rows),
            "pairs": int(known.sum()),
            "with the answer": int((labels == 1).sum()),
            "auc features": round(auc(counted[known], labels[known]), 4),
            "auc reader": round(auc(read[known], labels[known]), 4),
            "auc both": round(auc(apply(both, inputs[:, :2])[known], labels[known]), 4),
            "auc led": round(auc(probabilities[known], labels[known]), 4),
            **evidence,
        },
    }


def logits_of(probabilities: Numbers) -> Numbers:
    """Logits of probabilities, clipped as the cascade clips them; NaN stays."""
    clipped = np.clip(probabilities, _CERTAIN, 1.0 - _CERTAIN)
    found: Numbers = np.log(clipped / (1.0 - clipped))
    return found


def weigh(inputs: Numbers, labels: NDArray[np.int8]) -> dict[str, Any]:
    """A logistic regression over `inputs` (n, columns) and the calibration curve of its logits."""
    regression = LogisticRegression(C=_STRENGTH, max_iter=2000)
    regression.fit(inputs, labels)
    weights, bias = regression.coef_[0], float(regression.intercept_[0])
    knots, heights = calibration_curve(inputs @ weights + bias, labels)
    return {
        "weights": rounded(weights),
        "bias": round(bias, 6),
        "knots": rounded(knots),
        "heights": rounded(heights),
    }


def apply(weighing: Mapping[str, Any], inputs: Numbers) -> Numbers:
    """Probabilities of (n, columns) inputs; NaN where an input is."""
    logits = inputs @ np.array(weighing["weights"]) + weighing["bias"]
    found: Numbers = np.interp(logits, weighing["knots"], weighing["heights"])
    found[np.isnan(logits)] = np.nan
    return found


def fit_unread(rows: Sequence[Read], *, share: float) -> dict[str, Any]:
    """How the features' logit and the best logit of what was read weigh, for passages that `share` leaves out."""
    masks = chosen(rows, EVERYTHING, share=share)
    labels = np.concatenate([row.labels for row in rows])
    inputs = beside(rows, masks)
    known = (labels >= 0) & np.isfinite(inputs).all(axis=1) & ~np.concatenate(masks)
    return weigh(inputs[known], labels[known])


def chosen(rows: Sequence[Read], band: Mapping[str, float], *, share: float) -> list[NDArray[np.bool_]]:
    """What the cascade reads of each retrieval: what lies within `band`, at most `share` of all, likeliest first.

    What the features could not grade is read in any case.
    """
    found = []
    for row in rows:
        inside = _inside(row.counted, band)
        promise = np.where(inside, np.where(np.isnan(row.counted), 2.0, row.counted), -1.0)
        order = np.argsort(-promise, kind="stable")
        first = np.zeros(len(promise), dtype=bool)
        first[order[: math.ceil(share * len(promise))]] = True
        found.append(inside & (first | (promise > 1.0)))
    return found


def helped_twice(rows: Sequence[Read], fitted: Mapping[str, Any]) -> list[NDArray[np.bool_]]:
    """What the cascade reads in the end: all of a retrieval where nothing of the first helping is HIGH."""
    masks = chosen(rows, fitted["band"], share=fitted["share"])
    probabilities = np.split(decided(rows, fitted, masks), np.cumsum([len(mask) for mask in masks])[:-1])
    high = fitted["thresholds"]["high"]
    return [
        mask if (found[mask] >= high).any() else np.ones(len(mask), dtype=bool)
        for mask, found in zip(masks, probabilities, strict=True)
    ]


def leads(rows: Sequence[Read], masks: Masks) -> Numbers:
    """`lead_of` for every passage, over those of its retrieval that are read; NaN without any."""
    found = [lead_of(float(logit), rivals) for logit, rivals in _with_rivals(rows, masks)]
    return np.array([np.nan if lead is None else lead for lead in found])


def beside(rows: Sequence[Read], masks: Masks) -> Numbers:
    """For every passage (n, 2): the features' logit and the best logit among the others that are read, or NaN."""
    best = [max(rivals, default=np.nan) for _, rivals in _with_rivals(rows, masks)]
    return np.stack([logits_of(np.concatenate([row.counted for row in rows])), np.array(best)], axis=1)


def _with_rivals(rows: Sequence[Read], masks: Masks) -> Iterator[tuple[float, list[float]]]:
    for row, mask in zip(rows, masks, strict=True):
        counts = np.isfinite(row.read) & mask
        for at, logit in enumerate(row.read):
            rivals = np.flatnonzero(counts)
            yield float(logit), row.read[rivals[rivals != at]].tolist()


def weighed(fitted: Mapping[str, Any], inputs: Numbers) -> Numbers:
    """Probabilities of (n, 3) inputs as the cascade gives them: by `led`, and by `both` where there is no lead."""
    return np.where(np.isnan(inputs[:, 2]), apply(fitted["both"], inputs[:, :2]), apply(fitted["led"], inputs))


def borders(rows: Sequence[Read], probabilities: Numbers) -> tuple[Thresholds, dict[str, float]]:
    """Thresholds with their promises; LOW is also kept where few answerable questions have nothing better."""
    labels = np.concatenate([row.labels for row in rows])
    known = (labels >= 0) & ~np.isnan(probabilities)
    right = probabilities[known & (labels == 1)]
    low = choose_low(right.tolist(), target=MISSED)
    high = choose_high(probabilities[known].tolist(), (labels[known] == 1).tolist(), target=PRECISE)
    best: list[float] = []
    at = 0
    for row in rows:
        here = probabilities[at : at + len(row.labels)]
        at += len(row.labels)
        if row.answerable and (row.labels == 1).any():
            best.append(float(np.nanmax(here)))
    safe = float(np.quantile(best, WRONGLY_INCORRECT))
    chosen = min(low.value, safe)
    thresholds = Thresholds(high=round(high.value, 3), low=round(min(chosen, high.value), 3))
    return thresholds, {
        "low by false negatives": round(low.value, 4),
        "low by lost questions": round(safe, 4),
        "missed at low": round(float((right < thresholds.low).mean()), 4),
        "precision at high": round(float((labels[known & (probabilities >= thresholds.high)] == 1).mean()), 4),
        "recall at high": round(float((right >= thresholds.high).mean()), 4),
    }


def band_of(counted: Numbers, labels: NDArray[np.int8]) -> dict[str, float]:
    """The narrowest band that loses no more than `LOST` of the positives below and has `WRONG` negatives above."""
    right = np.sort(counted[labels == 1])
    low = float(right[int(len(right) * LOST)])
    order = np.argsort(-counted, kind="stable")
    wrong = np.cumsum(labels[order] != 1) / np.arange(1, len(order) + 1)
    fine = np.flatnonzero(wrong <= WRONG)
    enough = fine[fine >= _FEWEST_ABOVE]
    high = float(counted[order][enough[-1]]) if len(enough) else 1.0
    return {"low": round(low * 0.999, 5), "high": round(min(1.0, high + 1e-5), 5)}


def costs(rows: Sequence[Read], fitted: Mapping[str, Any]) -> dict[str, float]:
    """What not reading everything costs, and what it saves.

    Raises ValueError where the cascade sorts worse than is allowed.
    """
    counted = np.concatenate([row.counted for row in rows])
    labels = np.concatenate([row.labels for row in rows])
    everything = chosen(rows, EVERYTHING, share=1.0)
    masks = helped_twice(rows, fitted)
    probabilities, found = decided(rows, fitted, everything), decided(rows, fitted, masks)
    known = (labels >= 0) & ~np.isnan(probabilities)
    thresholds = Thresholds(**fitted["thresholds"])
    full, cascade = auc(probabilities[known], labels[known]), auc(found[known], labels[known])
    if full - cascade > AUC_LOSS:
        raise ValueError(f"the cascade's AUC is {full - cascade:.4f} below that of reading everything")
    levels, others = levels_of(probabilities[known], thresholds), levels_of(found[known], thresholds)
    inside, taken = _inside(counted[known], fitted["band"]), np.concatenate(masks)[known]
    return {
        "auc everything read": round(full, 4),
        "auc cascade": round(cascade, 4),
        "share in the band": round(float(inside.mean()), 4),
        "share read": round(float(taken.mean()), 4),
        "answers left out": round(float((labels[known][~taken] == 1).sum() / (labels[known] == 1).sum()), 4),
        "other levels": round(float((levels != others).mean()), 4),
    }


def decided(rows: Sequence[Read], fitted: Mapping[str, Any], masks: Masks) -> Numbers:
    """What the cascade says: both tiers where `masks` read, else the features, and `unread` within the band."""
    counted, read = (np.concatenate([getattr(row, name) for row in rows]) for name in ("counted", "read"))
    both = weighed(fitted, np.stack([logits_of(counted), read, leads(rows, masks)], axis=1))
    unread = apply(fitted["unread"], beside(rows, masks))
    left_out = _inside(counted, fitted["band"]) & ~np.isnan(unread)
    return np.where(np.concatenate(masks), both, np.where(left_out, unread, counted))


def _inside(counted: Numbers, band: Mapping[str, float]) -> NDArray[np.bool_]:
    """Which passages need reading; what the features could not grade does."""
    return ~((counted <= band["low"]) | (counted >= band["high"]))


def levels_of(probabilities: Numbers, thresholds: Thresholds) -> NDArray[np.intp]:
    """0 LOW, 1 MEDIUM, 2 HIGH."""
    return np.searchsorted([thresholds.low, thresholds.high], probabilities, side="right")


def rounded(values: Numbers) -> list[float]:
    return [round(float(value), 6) for value in values]


if __name__ == "__main__":
    main()
