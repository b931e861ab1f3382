"""From logits to calibrated probabilities, and from those to thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from sklearn.isotonic import IsotonicRegression

from tadasu.answering.grading.model import Numbers
from training.feature_evaluation import Labels
from training.feature_rows import Asking

_KNOTS = 14
_MISSED = 0.08
_WRONGLY_INCORRECT = 0.005


def calibration_curve(logits: Numbers, labels: Labels, *, knots: int = _KNOTS) -> tuple[Numbers, Numbers]:
    """Knots and heights of a rising curve: isotonic regression, made smooth by bins.

    Half of the borders lie at equal masses of the positives and half at equal masses of all, so that both ends are
    resolved though positives are few. Each bin is pulled a little towards the overall share (one pseudo-pair).
    """
    steps = np.linspace(0.0, 1.0, knots // 2 + 1)[1:-1]
    borders = np.unique(np.concatenate([np.quantile(logits, steps), np.quantile(logits[labels == 1], steps)]))
    bins = np.searchsorted(borders, logits)
    overall = labels.mean()
    found = sorted(set(bins.tolist()))
    centres = np.array([logits[bins == one].mean() for one in found])
    shares = np.array([(labels[bins == one].sum() + overall) / ((bins == one).sum() + 1.0) for one in found])
    weights = np.array([(bins == one).sum() for one in found])
    heights = IsotonicRegression(y_min=0.0, y_max=1.0).fit_transform(centres, shares, sample_weight=weights)
    keep = np.concatenate([[True], np.diff(centres) > 1e-5])
    return centres[keep], heights[keep]


def choose_thresholds(
    askings: Sequence[Asking], probabilities: Numbers, *, precise: float = 0.92
) -> tuple[float, float]:
    """(high, low) from the probabilities of all passages of `askings`, in order.

    `high` is the lowest border at or above which the share `precise` of passages holds the answer. `low` is the highest
    border below which at most eight of a hundred passages that hold the answer fall, and at most five of a thousand
    questions whose answer was in the index have nothing else (they would be called INCORRECT). `low` is never above
    `high`.
    """
    labels = np.concatenate([asking.labels for asking in askings])
    bounds = np.cumsum([0, *(len(asking.labels) for asking in askings)])
    best = np.array(
        [
            probabilities[start:end].max(initial=0.0)
            for asking, (start, end) in zip(askings, pairwise(bounds), strict=True)
            if asking.answerable
        ]
    )
    known, right = labels >= 0, probabilities[labels == 1]
    grid = np.round(np.arange(0.02, 0.96, 0.01), 2)
    reaching = [
        border
        for border in grid
        if (above := labels[known & (probabilities >= border)]).size and above.mean() >= precise
    ]
    safe = [
        border for border in grid if (right < border).mean() <= _MISSED and (best < border).mean() <= _WRONGLY_INCORRECT
    ]
    high = float(reaching[0]) if reaching else 0.95
    low = float(safe[-1]) if safe else 0.02
    return high, min(low, high)
