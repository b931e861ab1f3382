"""Mined pairs come back from their file as they went in, and only under the key that they were written with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.grading_groups import Group, GroupFile, key_of
from tests.benchmarks.groups import group


@pytest.mark.parametrize(
    ("question", "language"), [("How high is the tower?", "en"), ("塔の高さはどれくらいですか。", "ja")]
)
def test_groups_come_back_as_they_were(tmp_path: Path, question: str, language: str) -> None:
    file = GroupFile(tmp_path / "deep" / "pairs.sqlite")
    written = group([1, 0, -1], question=question, language=language)
    file.write("set", [written, written], key="k1")
    found = file.read("set", key="k1")
    assert found is not None
    assert len(found) == 2
    _same(found[0], written)


def test_another_key_or_name_finds_nothing_and_writing_again_replaces(tmp_path: Path) -> None:
    file = GroupFile(tmp_path / "pairs.sqlite")
    file.write("set", [group([1, 0])], key="k1")
    assert file.read("set", key="k2") is None
    assert file.read("other", key="k1") is None
    file.write("set", [group([0])], key="k2")
    assert file.read("set", key="k1") is None
    found = file.read("set", key="k2")
    assert found is not None
    assert [one.labels.tolist() for one in found] == [[0]]


def test_keys_tell_apart_what_they_are_made_of() -> None:
    assert key_of(1, "a") == key_of(1, "a") != key_of(1, "b")


def test_candidates_can_be_left_out() -> None:
    rest = group([1, 0, 0]).without(frozenset({"p0"}))
    assert [one.passage.id for one in rest.retrieval.candidates] == ["p1", "p2"]
    assert rest.labels.tolist() == [0, 0]
    assert rest.keyword.tolist() == [1.0, 2.0]


def _same(found: Group, written: Group) -> None:
    assert (found.id, found.language, found.question, found.answerable) == (
        written.id, written.language, written.question, written.answerable,
    )  # fmt: skip
    assert found.labels.tolist() == written.labels.tolist()
    assert found.keyword.tolist() == written.keyword.tolist()
    assert found.retrieval.term_weights == written.retrieval.term_weights
    assert found.retrieval.query_vector is not None
    assert written.retrieval.query_vector is not None
    assert np.array_equal(found.retrieval.query_vector, written.retrieval.query_vector)
    for one, other in zip(found.retrieval.candidates, written.retrieval.candidates, strict=True):
        assert (one.passage.id, one.passage.title, one.passage.text, one.passage.strips, one.passage.language) == (
            other.passage.id, other.passage.title, other.passage.text, other.passage.strips, other.passage.language,
        )  # fmt: skip
        assert (one.dense, one.dense_rank, one.lexical, one.lexical_rank) == (0.5, other.dense_rank, None, None)
        assert one.vector is not None
        assert other.vector is not None
        assert np.array_equal(one.vector, other.vector)
        assert one.strip_vectors is not None
        assert other.strip_vectors is not None
        assert np.array_equal(one.strip_vectors, other.strip_vectors)
