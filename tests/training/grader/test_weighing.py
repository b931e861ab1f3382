"""How two tiers are weighed, on made-up scores: what is fitted holds on both, and the file that comes out can be read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tadasu.answering.grading.combination import FORMAT, lead_of, load
from tadasu.core.grades import Thresholds
from training.grader.weighing import (
    EVERYTHING,
    LOST,
    WRONG,
    apply,
    band_of,
    beside,
    chosen,
    costs,
    decided,
    fit_language,
    fit_unread,
    helped_twice,
    leads,
    levels_of,
    logits_of,
)
from training.grader.weighing_rows import Read


def rows(count: int = 400, *, seed: int = 1) -> list[Read]:
    """Retrievals of ten passages, one right; the reader sees more than the features do."""
    chance = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        labels = np.zeros(10, dtype=np.int8)
        labels[chance.integers(10)] = 1
        counted = 1 / (1 + np.exp(-(chance.normal(-4.0, 1.5, 10) + 3.0 * labels)))
        strips = np.array([1, 0, 0], dtype=np.int8)
        made.append(
            Read(
                counted=counted,
                read=chance.normal(-2.0, 1.5, 10) + 6.0 * labels,
                labels=labels,
                strips_counted=np.clip(0.4 * strips + chance.uniform(0.1, 0.4, 3), 0.0, 1.0),
                strips_read=chance.normal(-1.0, 1.0, 3) + 3.0 * strips,
                strip_labels=strips,
                answerable=True,
            )
        )
    return made


def fitted(made: list[Read], *, band: dict[str, float] = EVERYTHING, share: float = 0.6) -> dict[str, Any]:
    return fit_language(made, band, unread=fit_unread(made, share=0.3), share=share)


def test_both_together_sort_better_than_either() -> None:
    report = fitted(rows())["report"]
    assert report["auc led"] > report["auc both"] > report["auc reader"] > report["auc features"]


def test_a_lead_is_over_those_that_are_read_only() -> None:
    (row,) = rows(1)
    row = replace(row, read=np.array([3.0, 1.0, 9.0, *[np.nan] * 7]), counted=np.array([0.5, 0.5, 0.001, *[0.5] * 7]))
    inside = chosen([row], {"low": 0.01, "high": 1.0}, share=1.0)
    assert leads([row], inside)[:3].tolist() == [2.0, -2.0, 6.0]
    assert beside([row], inside)[:3, 1].tolist() == [1.0, 3.0, 3.0]
    assert np.isnan(leads([row], chosen([row], {"low": 0.6, "high": 1.0}, share=1.0))).all()


def test_the_likeliest_share_of_what_is_uncertain_is_read_first_and_what_has_no_grade_always() -> None:
    (row,) = rows(1)
    row = replace(row, counted=np.array([0.1, 0.9, 0.3, np.nan, 0.2, 0.001, 0.4, 0.05, 0.6, 0.7]))
    (mask,) = chosen([row], {"low": 0.01, "high": 0.8}, share=0.4)
    assert np.flatnonzero(mask).tolist() == [3, 6, 8, 9]
    (alone,) = chosen([row], {"low": 0.95, "high": 0.99}, share=0.1)
    assert np.flatnonzero(alone).tolist() == [3]


def test_all_is_read_where_nothing_of_the_first_helping_is_high() -> None:
    made = rows()
    part = fitted(made, share=0.3)
    masks, first = helped_twice(made, part), chosen(made, EVERYTHING, share=0.3)
    probabilities = np.split(decided(made, part, first), len(made))
    high = [
        bool((found[mask] >= part["thresholds"]["high"]).any())
        for mask, found in zip(first, probabilities, strict=True)
    ]
    assert {int(mask.sum()) for mask, sure in zip(masks, high, strict=True) if sure} == {3}
    assert {int(mask.sum()) for mask, sure in zip(masks, high, strict=True) if not sure} == {10}


@pytest.mark.parametrize(("logit", "rivals", "lead"), [(1.0, [], None), (9.0, [-9.0], 6.0), (0.0, [-1.0, 2.5], -2.5)])
def test_a_lead_has_its_bounds(logit: float, rivals: list[float], lead: float | None) -> None:
    assert lead_of(logit, rivals) == lead


def test_the_band_keeps_its_promise_where_it_was_fitted() -> None:
    counted = np.concatenate([row.counted for row in rows(2000)])
    labels = np.concatenate([row.labels for row in rows(2000)])
    band = band_of(counted, labels)
    right = counted[labels == 1]
    above = labels[counted >= band["high"]]
    assert (right <= band["low"]).mean() <= LOST
    assert not len(above) or (above != 1).mean() <= WRONG
    assert ((counted <= band["low"]) & (labels == 0)).mean() > 0.1


def test_without_enough_sure_ones_nothing_is_decided_above() -> None:
    band = band_of(np.linspace(0.01, 0.9, 50), np.array([0, 1] * 25, dtype=np.int8))
    assert band["high"] == 1.0


def test_what_is_outside_the_band_keeps_the_features_word_and_what_is_left_out_hears_of_the_others() -> None:
    made = rows()
    part = fitted(made, band={"low": 0.05, "high": 0.9}, share=0.2)
    masks = chosen(made, part["band"], share=0.2)
    found, counted = decided(made, part, masks), np.concatenate([row.counted for row in made])
    outside = (counted <= 0.05) | (counted >= 0.9)
    assert (found[outside] == counted[outside]).all()
    left_out = ~outside & ~np.concatenate(masks) & np.isfinite(beside(made, masks)[:, 1])
    assert left_out.any()
    assert found[left_out] == pytest.approx(apply(part["unread"], beside(made, masks)[left_out]))
    itself, others = part["unread"]["weights"]
    assert others < 0.0 < itself
    assert levels_of(np.array([0.05, 0.1, 0.69, 0.7]), Thresholds(0.7, 0.1)).tolist() == [0, 1, 1, 2]


def test_a_band_that_costs_too_much_is_refused() -> None:
    made = rows()
    part = fitted(made, share=1.0)
    assert costs(made, part)["share read"] == 1.0
    # Anything is HIGH, so that one passage is read and all others are left out.
    with pytest.raises(ValueError, match="below that of reading everything"):
        costs(made, part | {"share": 0.1, "thresholds": {"low": 0.0, "high": 0.0}})


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    made = rows()
    part = fitted(made)
    raw = {
        "format": FORMAT,
        "version": "t",
        "scorer": "s",
        "languages": {"en": part, "ja": part},
    }
    path = tmp_path / "cascade.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    table = load(path)
    inputs = np.stack([logits_of(made[0].counted), made[0].read], axis=1)
    probabilities = table.of("ja").both.probabilities(inputs)
    assert probabilities.argmax() == made[0].labels.argmax()
    inputs = np.stack([*inputs.T, leads(made[:1], chosen(made[:1], EVERYTHING, share=1.0))], axis=1)
    assert [table.of("ja").most_read(count) for count in (10, 1, 0, 5)] == [6, 1, 0, 3]
    assert table.of("ja").led.probabilities(inputs).argmax() == made[0].labels.argmax()
