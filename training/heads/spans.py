"""What the span reader's rule is fitted on, and how well it finds answers: the grader's token logits of CALIBRATE rows.

The rule has few numbers: how far below the highest logit a token may lie and still belong to the answer, chosen from a
short list by the characters in common with the answer; and per language the weights that make a probability.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from tadasu.providers.spans import SpanRule, best_run, run_logit, whole_words
from training.feature_evaluation import auc
from training.grader.batches import PairEncoder
from training.grader.evaluate import Scorer
from training.grader.rows import Group, RowPassage, Span

_BELOW = (1.0, 2.0, 3.0, 4.0, 6.0)
_CAP, _MOST = 2.0, 30
_UNFITTED: Mapping[str, tuple[float, float, float]] = {"en": (0.0, 0.5, 0.5), "ja": (0.0, 0.5, 0.5)}


@dataclass(frozen=True, slots=True)
class Read:
    """One question and passage as the grader reads them without a title: per window its logit, tokens and places."""

    group: Group
    passage: RowPassage
    windows: tuple[tuple[float, NDArray[np.float64], NDArray[np.int64]], ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The span that a rule takes, with the logits of its text and of itself."""

    read: Read
    span: Span
    text: float
    run: float

    @property
    def hits(self) -> bool:
        """Whether it touches an answer."""
        return any(a < self.span[1] and b > self.span[0] for a, b in self.read.passage.spans)

    @property
    def common(self) -> float:
        """F1 of the characters in common with the nearest answer."""
        return max((_f1(self.span, one) for one in self.read.passage.spans), default=0.0)

    @property
    def in_sentence(self) -> bool:
        """Whether the sentences that it touches hold an answer whole."""
        touched = [s for s in self.read.passage.strips if s[0] < self.span[1] and s[1] > self.span[0]]
        return bool(touched) and any(touched[0][0] <= a and b <= touched[-1][1] for a, b in self.read.passage.spans)


def _f1(one: Span, other: Span) -> float:
    shared = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return 2 * shared / ((one[1] - one[0]) + (other[1] - other[0]))


def read(groups: Sequence[Group], scorer: Scorer, encoder: PairEncoder) -> Iterator[Read]:
    """Every known passage of every group, one window a run."""
    for group in groups:
        for passage in group.passages:
            if passage.label < 0 or (passage.label == 1 and not passage.spans):
                continue
            windows = []
            for pair in encoder.windows(group.question, "", passage.text):
                logits, tokens = scorer(pair.ids[None])
                own = tokens[0, pair.start : pair.start + len(pair.offsets)].astype(np.float64)
                if len(own):
                    windows.append((float(logits[0]), own, pair.offsets))
            if windows:
                yield Read(group, passage, tuple(windows))


def found(one: Read, rule: SpanRule) -> Found:
    """The span of the likeliest window."""
    best: Found | None = None
    for logit, tokens, places in one.windows:
        first, end = best_run(tokens, rule)
        span = whole_words(one.passage.text, int(places[first, 0]), int(places[end - 1, 1]))
        this = Found(one, span, logit, run_logit(tokens, first, end))
        if best is None or _likely(rule, this) > _likely(rule, best):
            best = this
    assert best is not None
    return best


def _likely(rule: SpanRule, one: Found) -> float:
    return rule.probability(one.read.group.language, text=one.text, run=one.run)


def fit(reads: Sequence[Read]) -> SpanRule:
    """The rule, fitted."""
    right = [one for one in reads if one.passage.label == 1]
    rules = [SpanRule(below, _CAP, _MOST, _UNFITTED) for below in _BELOW]
    best = max(rules, key=lambda rule: _by_language([found(one, rule) for one in right]))
    weights = dict(_UNFITTED)
    for language in weights:
        taken = [found(one, best) for one in reads if one.group.language == language]
        inputs = np.array([[one.text, one.run] for one in taken])
        labels = np.array([one.hits for one in taken])
        if len(set(labels.tolist())) == 2:
            model = LogisticRegression(C=10.0).fit(inputs, labels)
            of_text, of_run = (round(float(x), 4) for x in model.coef_[0])
            weights[language] = (round(float(model.intercept_[0]), 4), of_text, of_run)
    return replace(best, weights=weights)


def _by_language(taken: Sequence[Found]) -> float:
    """The mean over languages of the characters in common."""
    languages = {one.read.group.language for one in taken}
    return float(np.mean([np.mean([o.common for o in taken if o.read.group.language == la]) for la in languages]))


def figures(reads: Sequence[Read], rule: SpanRule) -> dict[str, dict[str, float]]:
    """Per set: with the right passage given, with it among others, and whether answerable passages are told apart."""
    told: dict[str, dict[str, float]] = {}
    for name in sorted({one.group.set for one in reads}):
        taken = [found(one, rule) for one in reads if one.group.set == name]
        right = [one for one in taken if one.read.passage.label == 1]
        if not right:
            continue
        likely = np.array([_likely(rule, one) for one in taken])
        labels = np.array([one.read.passage.label for one in taken], dtype=np.int8)
        among = list(_first_of_groups(taken, likely))
        told[name] = {
            "questions": float(len(right)),
            "touches": float(np.mean([one.hits for one in right])),
            "common": float(np.mean([one.common for one in right])),
            "sentence": float(np.mean([one.in_sentence for one in right])),
            "among": float(len(among)),
            "among touches": float(np.mean([one.hits for one in among])) if among else float("nan"),
            "among sentence": float(np.mean([one.in_sentence for one in among])) if among else float("nan"),
            "auc": auc(likely, labels),
        }
    return {name: {k: round(v, 3) for k, v in one.items()} for name, one in told.items()}


def _first_of_groups(taken: Sequence[Found], likely: NDArray[np.float64]) -> Iterator[Found]:
    """The likeliest span of each question that has a right passage and others."""
    groups: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for index, one in enumerate(taken):
        groups.setdefault((one.read.group.set, one.read.group.id), []).append((float(likely[index]), index))
    for members in groups.values():
        labels = {taken[index].read.passage.label for _, index in members}
        if labels == {0, 1}:
            yield taken[max(members)[1]]


def card_of(rule: SpanRule) -> dict[str, Any]:
    """What ``heads.json`` says of the rule."""
    weights = {language: list(one) for language, one in rule.weights.items()}
    return {"below": rule.below, "cap": rule.cap, "most": rule.most, "weights": weights}
