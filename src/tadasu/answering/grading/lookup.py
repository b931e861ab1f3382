"""How much of what a question asks for stands in passages and in their strips: the signals made of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tadasu.answering.grading.model import Numbers
from tadasu.answering.grading.terms import DIGIT, AskedFor, FoldedText, Term, fold_text
from tadasu.answering.grading.views import PASSAGE_COLUMN as _P
from tadasu.answering.grading.views import STRIP_COLUMN as _S
from tadasu.core.documents import Passage


@dataclass(frozen=True, slots=True)
class Reading:
    """A passage folded for looking things up: one text per strip (the passage as one text where it has no strips)."""

    texts: tuple[FoldedText, ...]
    heading: FoldedText
    strips: int
    row: int = 0
    first_strip: int = 0


def read(passage: Passage) -> Reading:
    """Fold `passage`; raises ValueError where it is empty."""
    if not passage.text.strip():
        raise ValueError("the passage is empty")
    texts = tuple(fold_text(span.of(passage.text)) for span in passage.strips) or (fold_text(passage.text),)
    return Reading(texts, fold_text(" ".join((passage.title, *passage.headings))), len(passage.strips))


def measure_names(asked: AskedFor, reading: Reading, row: Numbers, strips: Numbers) -> None:
    """Minus the share of the question's names, and of its numbers, that are not there."""
    for name, terms in (("names", asked.names), ("numbers", asked.numbers)):
        missing, here = 0, [0] * len(reading.texts)
        for term in terms:
            hits = [term.occurs(text) for text in reading.texts]
            missing += not (any(hits) or term.occurs(reading.heading))
            here = [count + hit for count, hit in zip(here, hits, strict=True)]
        row[_P[name]] = -missing / len(terms) if terms else 0.0
        strips[:, _S[name]] = [count / len(terms) - 1.0 for count in here[: len(strips)]] if terms else 0.0


def measure_words(asked: AskedFor, readings: Sequence[Reading], passages: Numbers, strips: Numbers) -> None:
    """Fill in the word signals of every reading: rows of `passages`, and of `strips` from `first_strip` on."""
    rows = [reading.row for reading in readings]
    starts = np.cumsum([0, *(len(reading.texts) for reading in readings)])[:-1]
    weights = np.array([term.weight for term in asked.terms])
    weights /= weights.sum()
    found = _occurrences(asked.terms, readings)
    covers = weights @ found
    in_text = np.maximum.reduceat(found, starts, axis=1)
    best_cover = np.maximum.reduceat(covers, starts)
    found_pairs = _occurrences(asked.pairs, readings) if asked.pairs else np.zeros((1, len(covers)))
    pairs = found_pairs.mean(axis=0)
    best_pairs = np.maximum.reduceat(pairs, starts)
    kinds = _kinds(asked, readings)
    passages[rows, _P["cover"]] = weights @ in_text
    passages[rows, _P["strip_cover"]] = best_cover
    passages[rows, _P["rarest"]] = in_text[int(weights.argmax())]
    passages[rows, _P["title"]] = [_in_heading(asked, reading, weights) for reading in readings]
    _measure_lacking(asked, readings, passages, in_text)
    passages[rows, _P["pairs"]] = np.maximum.reduceat(found_pairs, starts, axis=1).mean(axis=0)
    passages[rows, _P["strip_pairs"]] = best_pairs
    passages[rows, _P["kind"]] = np.maximum.reduceat(kinds, starts)
    for start, reading, cover, pair in zip(starts.tolist(), readings, best_cover, best_pairs, strict=True):
        here = slice(start, start + reading.strips)
        own = strips[reading.first_strip : reading.first_strip + reading.strips]
        own[:, _S["cover"]] = covers[here]
        own[:, _S["cover_gap"]] = covers[here] - cover
        own[:, _S["pairs"]] = pairs[here]
        own[:, _S["pairs_gap"]] = pairs[here] - pair
        own[:, _S["kind"]] = kinds[here]
        own[:, _S["neighbour_cover"]] = 0.0
        own[1:, _S["neighbour_cover"]] = covers[here][:-1]
        own[:-1, _S["neighbour_cover"]] = np.maximum(own[:-1, _S["neighbour_cover"]], covers[here][1:])


def _measure_lacking(asked: AskedFor, readings: Sequence[Reading], passages: Numbers, in_text: Numbers) -> None:
    """What neither the text nor its headings have: the mark of a neighbour of what is asked for."""
    rows = [reading.row for reading in readings]
    share = np.array([term.weight for term in asked.terms])
    share /= share.max()
    heading = np.array([[term.occurs(reading.heading) for reading in readings] for term in asked.terms])
    missing = ~((in_text > 0) | heading)
    elsewhere = missing & (~missing).any(axis=1)[:, None]
    told = np.array(asked.told or (False,) * len(asked.terms))[:, None]
    passages[rows, _P["lacks"]] = (share[:, None] * missing).max(axis=0)
    passages[rows, _P["lacks_beside"]] = (share[:, None] * elsewhere).max(axis=0)
    passages[rows, _P["lacks_name"]] = (share[:, None] * (missing & told)).max(axis=0)
    passages[rows, _P["names_lacking"]] = (missing & told).sum(axis=0)
    for reading in readings:
        absent = [
            not (run.occurs(reading.heading) or any(run.occurs(text) for text in reading.texts)) for run in asked.runs
        ]
        passages[reading.row, _P["runs_absent"]] = sum(absent) / len(absent) if absent else 0.0
        passages[reading.row, _P["runs_lacking"]] = sum(absent)


def _in_heading(asked: AskedFor, reading: Reading, weights: Numbers) -> float:
    return float(sum(weight for term, weight in zip(asked.terms, weights, strict=True) if term.occurs(reading.heading)))


def _occurrences(terms: Sequence[Term], readings: Sequence[Reading]) -> Numbers:
    """(terms, texts of all readings in order) of 0 and 1."""
    found = np.zeros((len(terms), sum(len(reading.texts) for reading in readings)))
    start = 0
    for reading in readings:
        texts = reading.texts
        whole = FoldedText("\n".join([text.plain for text in texts]), "\n".join([text.words for text in texts]))
        for row, term in enumerate(terms):
            # Most terms are nowhere in a passage, and one look tells.
            if term.occurs(whole):
                found[row, start : start + len(texts)] = [term.occurs(text) for text in texts]
        start += len(texts)
    return found


def _kinds(asked: AskedFor, readings: Sequence[Reading]) -> Numbers:
    """Of every text: 1 where a number is asked for and there, -1 where it is not there, 0 where none is asked for."""
    texts = [text for reading in readings for text in reading.texts]
    if not asked.wants_number:
        return np.zeros(len(texts))
    return np.array([1.0 if DIGIT.search(text.plain) else -1.0 for text in texts])
