from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tadasu.answering.grading.calibration import CorpusCalibration, made, read, write
from tadasu.answering.grading.curves import Method
from tadasu.answering.grading.fitting import ALL, Fitted, LabelledScore, Targets, chosen_for, fit_all
from tadasu.answering.grading.reliability import calibration_error, reliability, sorts
from tadasu.answering.grading.staleness import CorpusSketch, changed_share, drift, shape_of, sketch
from tadasu.answering.grading.thresholds import choose_low
from tadasu.core.grades import Thresholds
from tadasu.errors import CalibrationDamaged, LabelsTooFew


def labelled(
    count: int, *, seed: int, language: str = "en", slope: float = 0.5, offset: float = -1.0
) -> list[LabelledScore]:
    """Pairs of a grader that is too sure of itself: the truth is ``logistic(slope * logit + offset)``."""
    rng = random.Random(seed)
    rows = []
    for at in range(count):
        logit = rng.gauss(0.0, 3.0)
        truth = 1.0 / (1.0 + math.exp(-(slope * logit + offset)))
        rows.append(
            LabelledScore(
                question=f"{language} {at // 3}",
                language=language,
                source=f"docs/{at % 4}/file.md",
                probability=1.0 / (1.0 + math.exp(-logit)),
                relevant=rng.random() < truth,
            )
        )
    return rows


def test_a_grader_that_is_too_sure_is_corrected() -> None:
    fitted = fit_all(labelled(900, seed=1))[ALL]
    assert fitted.curve.method is not Method.AS_GIVEN
    assert fitted.error_before > 0.12
    assert fitted.error_after < 0.05
    assert float(fitted.curve.apply(np.array([0.5]))[0]) == pytest.approx(1 / (1 + math.e), abs=0.06)


def test_a_grader_that_is_right_is_left_alone() -> None:
    fitted = fit_all(labelled(900, seed=2, slope=1.0, offset=0.0))[ALL]
    assert fitted.curve.method is Method.AS_GIVEN
    assert fitted.error_after == fitted.error_before


def test_few_labels_never_choose_the_curve_with_the_most_freedom_for_a_hair() -> None:
    chosen = [fit_all(labelled(60, seed=seed))[ALL].curve.method for seed in range(12)]
    assert chosen.count(Method.ISOTONIC) <= 2


def test_each_language_has_its_own_curve_where_the_labels_suffice() -> None:
    rows = (
        labelled(400, seed=3) + labelled(300, seed=4, language="ja", offset=2.0) + labelled(30, seed=5, language="fr")
    )
    fitted = fit_all(rows)
    assert set(fitted) == {ALL, "en", "ja"}
    english, japanese = (float(fitted[key].curve.apply(np.array([0.5]))[0]) for key in ("en", "ja"))
    assert english < 0.4 < 0.6 < japanese
    assert (chosen_for(fitted, "ja"), chosen_for(fitted, "fr"), chosen_for(fitted, "ja>en")) == ("ja", ALL, "")


def test_passages_in_another_language_are_a_matter_of_their_own() -> None:
    rows = labelled(400, seed=3) + labelled(300, seed=4, language="ja>en", offset=2.0)
    fitted = fit_all(rows)
    assert set(fitted) == {ALL, "ja>en"}
    assert fitted[ALL].pairs == 400


def test_one_language_alone_is_fitted_once() -> None:
    assert set(fit_all(labelled(400, seed=3))) == {ALL}


@pytest.mark.parametrize("relevant", [0, 9, 51, 60])
def test_too_few_labels_of_a_kind_are_refused_with_the_counts(relevant: int) -> None:
    rows = [replace(row, relevant=at < relevant) for at, row in enumerate(labelled(60, seed=1))]
    with pytest.raises(LabelsTooFew) as caught:
        fit_all(rows)
    counts = {name: caught.value.details[name] for name in ("relevant", "irrelevant", "least")}
    assert counts == {"relevant": relevant, "irrelevant": 60 - relevant, "least": 10}
    assert "tadasu label" in caught.value.hint


def test_the_borders_keep_their_promises_or_stay_where_they_were() -> None:
    rows = labelled(1500, seed=6, slope=2.0, offset=0.0)
    fitted = fit_all(rows, borders=lambda _: Thresholds(0.66, 0.05))[ALL]
    assert fitted.low.promised
    assert fitted.high.promised
    missed, relevant = fitted.missed
    assert missed / relevant <= 0.1
    assert fitted.thresholds.low <= 0.5 <= fitted.thresholds.high
    few = fit_all(rows[:40], borders=lambda _: Thresholds(0.66, 0.05))[ALL]
    assert not few.low.promised
    assert few.thresholds == Thresholds(0.66, 0.05)
    assert few.low.needed
    assert few.low.needed > 0


BORDERS = {"en": Thresholds(0.676, 0.014), "ja": Thresholds(0.62, 0.09)}


def test_a_border_that_is_not_promised_stays_the_own_one_of_each_language() -> None:
    # As given is best for a grader that is right; so few labels promise nothing.
    rows = labelled(24, seed=2, slope=1.0, offset=0.0) + labelled(24, seed=5, language="ja", slope=1.0, offset=0.0)
    fitted = fit_all(rows, borders=lambda language: BORDERS[language])[ALL]
    assert (fitted.low.promised, fitted.high.promised) == (False, False)
    assert fitted.borders == BORDERS
    told = [
        (row.probability if fitted.curve.method is Method.AS_GIVEN else None, BORDERS[row.language], row.relevant)
        for row in rows
    ]
    if fitted.curve.method is Method.AS_GIVEN:
        assert fitted.missed[0] == sum(right and (p or 0.0) < own.low for p, own, right in told)
    kept = calibration({ALL: fitted}).languages[ALL]
    assert (kept.high, kept.low) == (None, None)
    assert [kept.thresholds(own) for own in BORDERS.values()] == list(BORDERS.values())


def test_a_file_of_an_earlier_version_forces_no_border_that_was_not_promised(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    fitted = fit_all(labelled(24, seed=2, slope=1.0, offset=0.0), borders=lambda language: BORDERS[language])
    write(calibration(fitted), fitted, Targets(), path)
    raw = json.loads(path.read_text(encoding="utf-8"))
    assert (raw["languages"]["*"]["tau_high"], raw["languages"]["*"]["tau_low"]) == (None, None)
    raw["languages"]["*"] |= {"tau_high": 0.676, "tau_low": 0.014}
    path.write_text(json.dumps(raw), encoding="utf-8")
    again = read(path)
    assert again is not None
    assert again.languages[ALL].thresholds(BORDERS["ja"]) == BORDERS["ja"]


def test_a23_scores_without_spread_are_called_so() -> None:
    rows = [replace(row, probability=0.5 + row.probability / 20) for row in labelled(200, seed=7)]
    assert fit_all(rows)[ALL].flat
    assert not fit_all(labelled(200, seed=7))[ALL].flat


def test_weights_undo_that_some_were_likelier_to_be_labelled() -> None:
    # The middle was labelled four times as often as its share, so that the low ones seem fewer than they are.
    low, middle = [0.01 + at / 2000 for at in range(60)], [0.3 + at / 2000 for at in range(400)]
    weights = [1.0] * 60 + [0.25] * 400
    careful = choose_low(low + middle, weights=weights)
    careless = choose_low(low + middle)
    assert careful.promised
    assert careful.value < careless.value
    below = sum(w for score, w in zip(low + middle, weights, strict=True) if score < careful.value)
    assert below / sum(weights) < 0.1 < sum(score < careless.value for score in low) / sum(weights)


def test_reliability_counts_every_pair_once() -> None:
    rng = np.random.default_rng(1)
    probabilities = rng.random(1003)
    labels = (rng.random(1003) < probabilities).astype(np.float64)
    bins = reliability(probabilities, labels)
    assert len(bins) == 10
    assert sum(one.count for one in bins) == 1003
    assert [one.said for one in bins] == sorted(one.said for one in bins)
    assert all(one.low <= one.found <= one.high for one in bins)
    assert calibration_error(probabilities, labels) < 0.05
    assert calibration_error(1 - probabilities, labels) > 0.3
    assert sorts(probabilities, labels) == pytest.approx(5 / 6, abs=0.03)
    assert math.isnan(calibration_error(np.array([]), np.array([])))


# --- the file ------------------------------------------------------------------------------------


def calibration(fitted: dict[str, Fitted]) -> CorpusCalibration:
    return made(
        fitted,
        grader="features-2",
        made_at="2026-11-30T21:00:00+00:00",
        corpus=sketch({f"a/{at}.md": str(at) for at in range(300)}),
        scores=shape_of([at / 500 for at in range(500)], questions=50),
    )


@pytest.fixture(scope="module")
def fitted() -> dict[str, Fitted]:
    return fit_all(labelled(400, seed=3) + labelled(300, seed=4, language="ja", offset=2.0))


def test_a_calibration_is_read_as_it_was_written(tmp_path: Path, fitted: dict[str, Fitted]) -> None:
    path = tmp_path / "calibration.json"
    before = calibration(fitted)
    write(before, fitted, Targets(), path)
    after = read(path)
    assert after is not None
    assert after.id == before.id
    assert after.corpus == before.corpus
    assert after.scores == before.scores
    assert {key: (one.high, one.low) for key, one in after.languages.items()} == {
        key: (one.high, one.low) for key, one in before.languages.items()
    }
    assert [file.name for file in tmp_path.iterdir()] == ["calibration.json"]
    text = path.read_text(encoding="utf-8")
    write(before, fitted, Targets(), path)
    assert path.read_text(encoding="utf-8") == text


def test_no_file_is_no_calibration(tmp_path: Path) -> None:
    assert read(tmp_path / "calibration.json") is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": 9}, "format is 9"),
        ({"languages": {}}, "has no"),
        ({"corpus": {"documents": "many", "smallest": ""}}, "ValueError"),
        ({"scores": {"edges": [0.1], "shares": [1.0], "count": 3, "questions": 1}}, "share"),
        ({"grader": None, "labels": None}, "TypeError"),
    ],
)
def test_a_damaged_file_is_named_with_what_is_wrong(
    tmp_path: Path, fitted: dict[str, Fitted], change: dict[str, object], reason: str
) -> None:
    path = tmp_path / "calibration.json"
    write(calibration(fitted), fitted, Targets(), path)
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(CalibrationDamaged, match=reason) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert "tadasu calibrate" in caught.value.hint


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', "\ufeff{}", '{"format": 1, "languages": 3}'])
def test_what_is_no_calibration_at_all_is_damaged(tmp_path: Path, text: str) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CalibrationDamaged):
        read(path)


# --- whether it still holds ----------------------------------------------------------------------


def corpus(start: int, end: int, *, version: str = "1") -> CorpusSketch:
    return sketch({f"docs/{at}.md": version for at in range(start, end)})


def test_the_share_of_changed_documents_is_exact_for_small_corpora() -> None:
    assert changed_share(corpus(0, 100), corpus(0, 100)) == 0.0
    assert changed_share(corpus(0, 100), corpus(0, 125)) == pytest.approx(0.2)
    assert changed_share(corpus(0, 100), corpus(30, 100)) == pytest.approx(0.3)
    half = sketch({f"docs/{at}.md": "1" if at < 50 else "2" for at in range(100)})
    assert changed_share(corpus(0, 100), half) == pytest.approx(0.5)
    assert changed_share(corpus(0, 100), corpus(0, 100, version="2")) == 1.0
    assert changed_share(corpus(0, 0), corpus(0, 0)) == 0.0
    assert changed_share(corpus(0, 0), corpus(0, 10)) == 1.0


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.6])
def test_the_share_is_close_for_large_corpora(share: float) -> None:
    before, now = corpus(0, 5000), corpus(int(5000 * share), int(5000 * share) + 5000)
    assert len(before.smallest) == 256
    assert changed_share(before, now) == pytest.approx(share, abs=0.08)


def test_drift_is_told_from_chance() -> None:
    rng = random.Random(4)
    before = shape_of([rng.betavariate(0.5, 2) for _ in range(400)], questions=40)
    for seed in range(20):
        again = random.Random(seed)
        assert drift(before, [again.betavariate(0.5, 2) for _ in range(300)], questions=30) < 0.1
    assert drift(before, [rng.betavariate(2, 2) for _ in range(300)], questions=30) > 0.25


def test_too_few_scores_say_nothing_of_drift() -> None:
    before = shape_of([at / 400 for at in range(400)], questions=40)
    assert math.isnan(drift(before, [0.5] * 100, questions=30))
    assert math.isnan(drift(before, [0.5] * 300, questions=5))
    assert math.isnan(drift(shape_of([], questions=0), [0.5] * 300, questions=30))
    assert drift(before, [0.5] * 300, questions=30) > 1.0
