"""Signals compare candidates, and are NaN exactly where nothing is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.answering.grading.signals import Measured, measure
from tadasu.answering.grading.views import PASSAGE_SIGNALS, PASSAGE_VIEWS, STRIP_VIEWS
from tests.answering.grading.made import bare, candidate, passage, retrieval

ENGLISH = "The warranty lasts three years. It covers parts and labour."
JAPANESE = "保証期間は3年間です。部品代と作業費を含みます。"


def signal(measured: Measured, name: str) -> list[float]:
    found: list[float] = measured.passages[:, PASSAGE_SIGNALS.index(name)].tolist()
    return found


@pytest.mark.parametrize(("question", "text"), [("How long is the warranty?", ENGLISH), ("保証期間は？", JAPANESE)])
def test_what_is_known_names_the_view(question: str, text: str) -> None:
    full = retrieval(question, [candidate(passage(text, number=n), cosine=0.9 - n / 10, lexical=2.0) for n in range(2)])
    assert measure(question, full).views == ("words+keywords+cosine+strips",) * 2
    assert measure(question, bare(full)).views == ("words",) * 2
    unsearched = replace(full, candidates=tuple(replace(one, lexical=None) for one in full.candidates))
    assert measure(question, unsearched).views == ("words+cosine+strips",) * 2
    assert all(view in PASSAGE_VIEWS for view in measure(question, full).views)
    assert all(view in STRIP_VIEWS for view in measure(question, full).strip_views)


def test_words_of_another_language_are_not_compared() -> None:
    found = retrieval("保証期間は？", [candidate(passage(ENGLISH), cosine=0.9)])
    assert measure("保証期間は？", found).views == ("names+cosine+strips",)


def test_a_model_code_is_written_alike_in_both_languages() -> None:
    texts = ["The warranty of the KPT-340 lasts three years.", "The warranty of the FLW-80 lasts three years."]
    question = "ミズナラのKPT-340の保証期間は？"
    found = retrieval(question, [candidate(passage(text, number=n), cosine=0.9) for n, text in enumerate(texts)])
    assert signal(measure(question, found), "names") == [0.0, -1.0]


def test_a_code_takes_the_language_of_what_was_found() -> None:
    found = retrieval("3051", [candidate(passage(JAPANESE), cosine=0.9)])
    assert measure("3051", found).language == "ja"


def test_covers_weigh_telling_words_more() -> None:
    texts = ["Everything about the warranty.", "Everything about the KPT."]
    found = retrieval(
        "warranty of the KPT",
        [candidate(passage(text, number=n), cosine=None) for n, text in enumerate(texts)],
        weights={"warranti": 1.0, "kpt": 3.0},
    )
    assert signal(measure("warranty of the KPT", found), "cover") == pytest.approx([0.25, 0.75])


@given(st.lists(st.floats(0.5, 1.0), min_size=1, max_size=8))
def test_a_lead_is_over_the_third_best_other(cosines: list[float]) -> None:
    found = retrieval("warranty", [candidate(passage(ENGLISH, number=n), cosine=c) for n, c in enumerate(cosines)])
    leads = signal(measure("warranty", found), "cosine_lead")
    for index, lead in enumerate(leads):
        others = sorted((c for n, c in enumerate(cosines) if n != index), reverse=True)
        assert lead == pytest.approx(cosines[index] - others[min(2, len(others) - 1)] if others else 0.0, abs=1e-6)


def test_a_spread_of_one_candidate_is_not_flat() -> None:
    one = measure("warranty", retrieval("warranty", [candidate(passage(ENGLISH), cosine=0.8)]))
    assert np.isnan(one.spreads).all()
    assert "ranks" not in one.views[0]
