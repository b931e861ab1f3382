"""How far the first grading tier can be believed: ``python -m benchmarks.grading_features [--json FILE]``.

The TEST splits of five sets, none of whose passages the tier was fitted on, each asked of a real index: how well it
sorts (AUC), how well its probabilities hold (ECE), what its levels and verdicts are worth. The same figures as in
``models/grader/card.md``, measured again.
"""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import asdict
from pathlib import Path

from benchmarks import harness
from tadasu.answering.grading.features import open_features
from tadasu.testing.datasets import DataAbsent
from training.feature_evaluation import Report, report
from training.feature_rows import MODELS, asked, open_encoder
from training.feature_sets import MEASURED, measured

_HEAD = (
    "set", "retrievals", "pairs", "AUC", "cosine", "ECE", "HIGH right", "missed", "there: CORRECT", "INCORRECT",
    "gone: CORRECT", "INCORRECT", "swapped: CORRECT", "INCORRECT", "strip AUC", "best strip", "kept strips",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as JSON too")
    parser.add_argument("--cache", type=Path, metavar="FILE", help="keep vectors between runs (development only)")
    options = parser.parse_args()
    print(harness.machine())
    try:
        found = asyncio.run(measure_all(cache=options.cache))
    except DataAbsent as absent:
        harness.skip(f"{absent} {absent.hint}")
    print(harness.table(_HEAD, [_row(one) for one in found]))
    print("Columns are explained in models/grader/card.md. Shares lie in [0, 1]; verdicts are by the rule any_high.")
    harness.report({"grading_features": [asdict(one) for one in found]}, to=options.json)


async def measure_all(*, cache: Path | None) -> list[Report]:
    """One report per set."""
    encoder, grader = open_encoder(MODELS, cache=cache), open_features(MODELS / "grader")
    reports = []
    for part in MEASURED:
        questions = measured(part)
        reports.append(report(questions.name, grader, await asked(questions, models=MODELS, encoder=encoder)))
    return reports


def _row(one: Report) -> tuple[object, ...]:
    return (
        one.name, one.questions, one.pairs, one.auc, one.cosine_auc, one.ece, one.precision_high, one.missed,
        one.present_correct, one.present_incorrect, one.absent_correct, one.absent_incorrect,
        one.swapped_correct, one.swapped_incorrect,
        one.strip_auc, one.strip_best, one.strip_kept,
    )  # fmt: skip


if __name__ == "__main__":
    main()
