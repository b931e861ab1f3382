"""The encoder-decoder of T5-large's size, made small."""

from __future__ import annotations

import pytest

from benchmarks import grading_t5


def test_it_has_the_layers_of_t5_and_is_timed_in_both_layouts(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="PyTorch is in the train group only")
    for name, value in {"WIDTH": 32, "INNER": 64, "LAYERS": 2, "HEADS": 4, "PIECES": 100}.items():
        monkeypatch.setattr(grading_t5, name, value)
    found = grading_t5.measure_t5(tokens=12, threads=1)
    attention, feed, norm = 4 * 32 * 32, 2 * 32 * 64, 32
    layer = 3 * attention + 2 * feed + 5 * norm
    assert found.parameters * 1e6 == pytest.approx(100 * 32 + 2 * layer + norm + 32 + 1)
    assert found.classifier > 0
    assert found.one_step > 0


def test_the_real_one_is_of_the_papers_size() -> None:
    width, inner = grading_t5.WIDTH, grading_t5.INNER
    layers = grading_t5.LAYERS * (3 * 4 * width * width + 2 * 2 * width * inner)
    assert (grading_t5.PIECES * width + layers) / 1e9 == pytest.approx(0.74, abs=0.005)
