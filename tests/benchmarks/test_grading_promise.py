"""The promise of tau_low on random halves, on scores whose law is known."""

from __future__ import annotations

import numpy as np

from benchmarks.grading_promise import promise


def test_the_promise_is_kept_more_often_than_a_border_without_one() -> None:
    chance = np.random.default_rng(1)
    questions = 600
    labels = np.tile(np.array([1, 0, 0], dtype=np.int8), questions)
    probabilities = 1.0 / (1.0 + np.exp(-(4.0 * labels - 2.0 + chance.normal(0.0, 1.5, len(labels)))))
    found = promise("en", probabilities, labels, np.repeat(np.arange(questions), 3), high=0.9, low=0.05, splits=40)
    assert found.promised == found.splits == 40
    assert found.kept >= 38
    assert found.kept_without < found.kept
    assert found.missed < 0.10
    assert (found.positives, found.questions) == (600, 600)
    # Promising means putting the border lower, and leaving more questions between the borders.
    assert found.ambiguous >= found.ambiguous_without


def test_with_few_positives_nothing_is_promised() -> None:
    labels = np.tile(np.array([1, 0], dtype=np.int8), 10)
    found = promise("ja", np.linspace(0.1, 0.9, 20), labels, np.repeat(np.arange(10), 2), high=0.7, low=0.3, splits=5)
    assert (found.promised, found.kept) == (0, 0)
    assert np.isnan(found.ambiguous)
