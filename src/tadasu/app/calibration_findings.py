"""What doctor says of the calibration: whose labels the grades rest on, whether they still hold, and the way out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tadasu.app.findings import Finding, ok, warning
from tadasu.core.grades import Calibration, Grade

if TYPE_CHECKING:
    from tadasu.answering.grading.calibration import CorpusCalibration
    from tadasu.answering.grading.staleness import Staleness
    from tadasu.app.container import Container

_ADVICE = "Label 60 pairs with `tadasu label` (ten minutes), then run `tadasu calibrate`."
_AGAIN = "Run `tadasu calibrate` again; label a few new pairs with `tadasu label` before."


async def calibration_finding(container: Container, grades: Sequence[Grade]) -> Finding | None:
    """Of the `grades` of one search; None where there is nothing to say (nothing was graded)."""
    calibration = container.calibration
    if calibration is not None:
        stale = await _staleness(container, calibration)
        return _of_corpus(calibration) if stale is None else _stale(stale)
    known = [grade for grade in grades if grade.probability is not None]
    if not known:
        return None
    if any(grade.calibration is Calibration.PUBLIC for grade in known):
        return ok(
            "calibration",
            "Grades are calibrated on public data, not on these documents. "
            "60 labels, ten minutes: `tadasu label`, then `tadasu calibrate`.",
        )
    return warning("calibration", "The grades of {name} are not calibrated.", _ADVICE, name=container.grader.id)


async def _staleness(container: Container, calibration: CorpusCalibration) -> Staleness | None:
    """The grader, then the documents, then the scores of the latest runs."""
    from tadasu.answering.grading.calibrated import CalibratedGrader
    from tadasu.app.calibration import LATEST_RUNS, score_drift

    grader = container.grader
    stale = await grader.staleness() if isinstance(grader, CalibratedGrader) else None
    if stale is not None or not container.workspace.state_file.exists():
        return stale
    return score_drift(container.runs.latest(limit=LATEST_RUNS, reader=container.reader), calibration)


def _of_corpus(calibration: CorpusCalibration) -> Finding:
    return ok(
        "calibration",
        "Grades are calibrated on {pairs} labels of these documents ({relevant} relevant), on {date}; ECE {error}.",
        pairs=calibration.pairs,
        relevant=calibration.relevant,
        date=calibration.made_at[:10],
        error="–" if math.isnan(calibration.error) else f"{calibration.error:.3f}",
    )


def _stale(stale: Staleness) -> Finding:
    from tadasu.answering.grading.staleness import Stale

    details = stale.details
    if stale.why is Stale.GRADER:
        text = "The calibration was made for the grader {made_for}, and this is {now}: it is not used."
        return warning("calibration", text, _AGAIN, made_for=details["made_for"], now=details["now"])
    if stale.why is Stale.CORPUS:
        text = "Since the calibration {share} of the documents changed, came or went: it may no longer hold."
        return warning("calibration", text, _AGAIN, share=f"{_number(details['share']):.0%}")
    text = (
        "Since the calibration the scores have drifted (population stability index {index} over {questions} "
        "questions): other questions are asked, or the documents are others."
    )
    values = {"index": f"{_number(details['index']):.2f}", "questions": details["questions"]}
    return warning("calibration", text, _AGAIN, **values)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
