"""What labels on one's own documents say of a grader, as a file: written by `tadasu calibrate`, read at every start."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tadasu.answering.grading.curves import Curve, read_curve
from tadasu.answering.grading.fitting import ALL, Fitted, Targets, chosen_for
from tadasu.answering.grading.staleness import CorpusSketch, ScoreShape
from tadasu.answering.grading.thresholds import Border
from tadasu.core.grades import Thresholds
from tadasu.core.ids import digest
from tadasu.errors import CalibrationDamaged

FORMAT = 1
_PLACES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageCalibration:
    """The curve and the borders for pairs of one language; `error` is the held-out calibration error (NaN: unknown).

    A border that is None was not promised by the labels: the grader's own of the question's language stays.
    """

    curve: Curve
    high: float | None
    low: float | None
    pairs: int
    relevant: int
    error: float

    def thresholds(self, own: Thresholds) -> Thresholds:
        """The borders in force for a language whose own are `own`; where they cross, fewer are called LOW."""
        high = own.high if self.high is None else self.high
        return Thresholds(high=high, low=min(own.low if self.low is None else self.low, high))


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusCalibration:
    """A calibration: of which grader, on which documents, made when and from how many labels.

    `languages` maps a language, or ``ja>en`` for passages in another language than the question's, or ``*``, to what
    was fitted. `id` is a digest of all that changes grades.
    """

    grader: str
    made_at: str
    pairs: int
    relevant: int
    questions: int
    corpus: CorpusSketch
    scores: ScoreShape
    languages: Mapping[str, LanguageCalibration]

    @property
    def id(self) -> str:
        """Eight hexadecimal digits."""
        parts = [self.grader]
        for language, one in sorted(self.languages.items()):
            parts += [language, json.dumps(one.curve.written()), f"{one.high} {one.low}"]
        return digest(*parts)[:8]

    @property
    def error(self) -> float:
        """The held-out calibration error over all pairs; NaN where unknown."""
        return self.languages[ALL].error

    def of(self, language: str) -> LanguageCalibration | None:
        """What applies to pairs of `language`; None where nothing does (a passage in another language)."""
        name = chosen_for(self.languages, language)
        return self.languages[name] if name else None


def made(
    fitted: Mapping[str, Fitted], *, grader: str, made_at: str, corpus: CorpusSketch, scores: ScoreShape
) -> CorpusCalibration:
    """The calibration that `fitted` amounts to; numbers as they will be in the file."""
    whole = fitted[ALL]
    return CorpusCalibration(
        grader=grader,
        made_at=made_at,
        pairs=whole.pairs,
        relevant=whole.relevant,
        questions=whole.questions,
        corpus=corpus,
        scores=scores,
        languages={
            language: LanguageCalibration(
                curve=one.curve,
                high=min(1.0, max(0.0, one.high.value)) if one.high.promised else None,
                low=min(1.0, max(0.0, one.low.value)) if one.low.promised else None,
                pairs=one.pairs,
                relevant=one.relevant,
                error=one.error_after,
            )
            for language, one in fitted.items()
        },
    )


def write(calibration: CorpusCalibration, fitted: Mapping[str, Fitted], targets: Targets, path: Path) -> None:
    """Write the file whole or not at all: sorted keys, one number a line, so that two of them can be compared."""
    raw = {
        "format": FORMAT,
        "grader": calibration.grader,
        "made_at": calibration.made_at,
        "targets": {"missed": targets.missed, "precision": targets.precision, "confidence": targets.confidence},
        "labels": {"pairs": calibration.pairs, "relevant": calibration.relevant, "questions": calibration.questions},
        "corpus": {"documents": calibration.corpus.documents, "smallest": " ".join(calibration.corpus.smallest)},
        "scores": {
            "edges": list(calibration.scores.edges),
            "shares": list(calibration.scores.shares),
            "count": calibration.scores.count,
            "questions": calibration.scores.questions,
        },
        "languages": {language: _written(one, calibration.languages[language]) for language, one in fitted.items()},
    }
    text = json.dumps(raw, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n"
    beside = path.with_name(f"{path.name}.new")
    with beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def read(path: Path) -> CorpusCalibration | None:
    """The calibration in the file at `path`, None where there is no such file; raises CalibrationDamaged."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["format"] != FORMAT:
            raise CalibrationDamaged(path=path, reason=f"its format is {raw['format']}, not {FORMAT}")
        return _read(raw)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CalibrationDamaged(path=path, reason=f"{type(error).__name__}: {error}") from error


def _read(raw: Mapping[str, Any]) -> CorpusCalibration:
    languages = {
        str(language): LanguageCalibration(
            curve=read_curve(one["curve"]),
            high=_border(one, "high"),
            low=_border(one, "low"),
            pairs=int(one["pairs"]),
            relevant=int(one["relevant"]),
            error=math.nan if one["error_after"] is None else float(one["error_after"]),
        )
        for language, one in raw["languages"].items()
    }
    if ALL not in languages:
        raise ValueError(f"languages has no {ALL!r}")
    shape = raw["scores"]
    scores = ScoreShape(
        edges=tuple(map(float, shape["edges"])),
        shares=tuple(map(float, shape["shares"])),
        count=int(shape["count"]),
        questions=int(shape["questions"]),
    )
    if len(scores.shares) != len(scores.edges) + 1:
        raise ValueError("scores has not one share more than edges")
    return CorpusCalibration(
        grader=str(raw["grader"]),
        made_at=str(raw["made_at"]),
        pairs=int(raw["labels"]["pairs"]),
        relevant=int(raw["labels"]["relevant"]),
        questions=int(raw["labels"]["questions"]),
        corpus=CorpusSketch(int(raw["corpus"]["documents"]), tuple(str(raw["corpus"]["smallest"]).split())),
        scores=scores,
        languages=languages,
    )


def _border(one: Mapping[str, Any], name: str) -> float | None:
    # Files of earlier versions hold a number for a border that is not promised too: the one of another language, maybe.
    value = one[f"tau_{name}"]
    if value is None or not one[name]["promised"]:
        return None
    if not 0.0 <= float(value) <= 1.0:
        raise ValueError(f"tau_{name} is {value}, not between 0 and 1")
    return float(value)


def _written(one: Fitted, kept: LanguageCalibration) -> dict[str, Any]:
    return {
        "curve": one.curve.written(),
        "tau_high": kept.high,
        "tau_low": kept.low,
        "low": border_object(one.low),
        "high": border_object(one.high),
        "pairs": one.pairs,
        "relevant": one.relevant,
        "questions": one.questions,
        "held_out_loss": {method.value: _number(loss) for method, loss in one.losses.items()},
        "error_before": _number(one.error_before),
        "error_after": _number(one.error_after),
    }


def border_object(border: Border) -> dict[str, Any]:
    """A border as JSON."""
    return {
        "promised": border.promised,
        "target": border.target,
        "confidence": border.confidence,
        "hits": border.hits,
        "counted": border.counted,
        "interval": [_number(end) for end in border.interval],
        "bound": _number(border.bound),
        "needed": border.needed,
    }


def _number(value: float) -> float | None:
    return round(value, _PLACES) if math.isfinite(value) else None
