"""Fit the first grading tier and write ``models/grader``: ``python -m training.train_features``.

Per language: questions of the TRAIN split are asked of a real index (`feature_rows`), a logistic regression is fitted
for every view of the signals, its curve and the thresholds come from the CALIBRATE split, and the model card from the
TEST splits. Nothing is drawn at random: the same data and encoder give the same file. The fusion weights must have been
fitted before (``python -m training.fit_fusion``), since they decide what is retrieved.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from tadasu.answering.grading.features import FeatureGrader
from tadasu.answering.grading.model import FORMAT, Numbers, load
from tadasu.answering.grading.views import PASSAGE_SIGNALS, PASSAGE_VIEWS, STRIP_SIGNALS, STRIP_VIEWS
from tadasu.ports import Encoder
from tadasu.testing.splits import Split, write_fitted_on
from training.curves import calibration_curve, choose_thresholds
from training.feature_card import write_card
from training.feature_evaluation import Labels, Report, report
from training.feature_rows import MODELS, Asking, asked, open_encoder
from training.feature_sets import MEASURED, QuestionSet, english, japanese, measured

VERSION = "2"
SETS = {"ja": japanese, "en": english}
# About as many answerable questions are called CORRECT as before swapped questions were learnt from.
PRECISE = 0.90
# Strong enough that two signals which say the same share the weight, instead of pulling in opposite directions.
_STRENGTH = 0.3
_CLIP = 6.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, help="file that keeps vectors between runs")
    parser.add_argument("--models", type=Path, default=MODELS)
    options = parser.parse_args()
    asyncio.run(train(options.models, encoder=open_encoder(options.models, cache=options.cache)))


async def train(models: Path, *, encoder: Encoder) -> None:
    """Fit, calibrate, measure, write."""
    began = time.perf_counter()
    languages: dict[str, Any] = {}
    fitted_on: list[str] = []
    sources: dict[str, tuple[QuestionSet, Sequence[Asking]]] = {}
    for language, make in SETS.items():
        askings = {}
        for split in (Split.TRAIN, Split.CALIBRATE):
            questions = make(split)
            askings[split] = await asked(questions, models=models, encoder=encoder)
            sources[f"{language} {split.value}"] = (questions, askings[split])
            fitted_on += [row.text for row in questions.fitted_on]
        # Swapped questions are learnt from, but how many of them a user asks is not known: probabilities and borders
        # are for questions as they come.
        as_they_come = [asking for asking in askings[Split.CALIBRATE] if not asking.swapped]
        languages[language] = fit(askings[Split.TRAIN], as_they_come, precise=PRECISE)
    folder = models / "grader"
    folder.mkdir(parents=True, exist_ok=True)
    written = {
        "format": FORMAT,
        "version": VERSION,
        "languages": languages,
    }
    (folder / "features.json").write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    write_fitted_on(folder / "fitted_on.txt", fitted_on)
    grader = FeatureGrader(load(folder / "features.json"))
    reports: dict[str, tuple[Report, Sequence[Asking]]] = {}
    for part in MEASURED:
        questions = measured(part)
        found = await asked(questions, models=models, encoder=encoder)
        reports[questions.name] = (report(questions.name, grader, found), found)
        print(reports[questions.name][0], file=sys.stderr, flush=True)
    write_card(folder / "card.md", grader=grader, sources=sources, reports=reports, encoder=encoder.id)
    print(f"written to {folder} in {time.perf_counter() - began:.0f} s", file=sys.stderr)


def fit(train: Sequence[Asking], calibrate: Sequence[Asking], *, precise: float) -> dict[str, Any]:
    """One language: a model per view for passages and for strips, and the thresholds."""
    fitted = {
        "passages": fit_views(PASSAGE_VIEWS, PASSAGE_SIGNALS, passage_rows(train), passage_rows(calibrate)),
        "strips": fit_views(STRIP_VIEWS, STRIP_SIGNALS, strip_rows(train), strip_rows(calibrate)),
    }
    # Borders are for what the product meets, in whatever view it meets it.
    views = [view for asking in calibrate for view in asking.measured.views]
    signals = np.concatenate([asking.measured.passages for asking in calibrate])
    probabilities = np.zeros(len(views))
    for view in set(views):
        rows = np.array([index for index, one in enumerate(views) if one == view])
        probabilities[rows] = apply(fitted["passages"][view], signals[rows], PASSAGE_SIGNALS)
    high, low = choose_thresholds(calibrate, probabilities, precise=precise)
    return {"thresholds": {"high": high, "low": low}, **fitted}


def passage_rows(askings: Sequence[Asking]) -> tuple[Numbers, Labels]:
    """Signals and labels of all passages whose label is known."""
    signals = np.concatenate([asking.measured.passages for asking in askings])
    labels = np.concatenate([asking.labels for asking in askings])
    return signals[labels >= 0], labels[labels >= 0]


def strip_rows(askings: Sequence[Asking]) -> tuple[Numbers, Labels]:
    """Signals and labels of the strips of passages that hold the answer in one strip at least."""
    signals, labels = [], []
    for asking in askings:
        bounds = asking.measured.bounds
        for start, end in pairwise(bounds):
            if end > start and asking.strip_labels[start:end].max() == 1:
                signals.append(asking.measured.strips[start:end])
                labels.append(asking.strip_labels[start:end])
    return np.concatenate(signals), np.concatenate(labels)


def fit_views(
    views: Mapping[str, Sequence[str]],
    order: Sequence[str],
    train: tuple[Numbers, Labels],
    calibrate: tuple[Numbers, Labels],
) -> dict[str, Any]:
    """A calibrated logistic regression for each view, fitted on the rows where its signals are known."""
    return {name: fit_one([*dict.fromkeys(signals)], order, train, calibrate) for name, signals in views.items()}


def fit_one(
    names: list[str], order: Sequence[str], train: tuple[Numbers, Labels], calibrate: tuple[Numbers, Labels]
) -> dict[str, Any]:
    columns = [order.index(name) for name in names]
    signals, labels = train
    known = ~np.isnan(signals[:, columns]).any(axis=1)
    inputs, labels = signals[known][:, columns], labels[known]
    mean, scale = inputs.mean(axis=0), inputs.std(axis=0)
    scale[scale < 1e-9] = 1.0
    regression = LogisticRegression(C=_STRENGTH, max_iter=2000)
    regression.fit(np.clip((inputs - mean) / scale, -_CLIP, _CLIP), labels)
    model = {
        "signals": names,
        "mean": rounded(mean),
        "scale": rounded(scale),
        "weights": rounded(regression.coef_[0]),
        "bias": round(float(regression.intercept_[0]), 6),
        "pairs": len(labels),
    }
    signals, labels = calibrate
    known = ~np.isnan(signals[:, columns]).any(axis=1)
    knots, heights = calibration_curve(logits(model, signals[known], order), labels[known])
    return model | {"knots": rounded(knots), "heights": rounded(heights)}


def logits(model: Mapping[str, Any], signals: Numbers, order: Sequence[str]) -> Numbers:
    columns = [order.index(name) for name in model["signals"]]
    standard = (signals[:, columns] - np.array(model["mean"])) / np.array(model["scale"])
    found: Numbers = np.clip(standard, -_CLIP, _CLIP) @ np.array(model["weights"]) + model["bias"]
    return found


def apply(model: Mapping[str, Any], signals: Numbers, order: Sequence[str]) -> Numbers:
    found: Numbers = np.interp(logits(model, signals, order), model["knots"], model["heights"])
    return found


def rounded(values: Numbers) -> list[float]:
    return [round(float(value), 6) for value in values]


if __name__ == "__main__":
    main()
