"""Rows come back as they were written, and a file is made once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tadasu.testing.splits import Split
from training.grader.rows import Group, Kind, RowPassage, is_made, path_of, read_groups, write_groups

PASSAGES = (
    RowPassage("札幌", "雪は2月に降る。町は白い。", ((0, 8), (8, 13)), 1, ((2, 4),), Kind.GOLD),
    RowPassage("", "Snow falls in February.", ((0, 23),), 0, (), Kind.RANDOM, teacher=-3.25),
)
JAPANESE = Group("jaquad", Split.TRAIN, "ja", "q1", "雪はいつ降りますか", ("2月",), PASSAGES)
ENGLISH = replace(JAPANESE, set="xquad_en", split=Split.CALIBRATE, language="en", question="When does it snow?")


@pytest.mark.parametrize("group", [JAPANESE, ENGLISH])
def test_groups_come_back_as_they_were(group: Group, tmp_path: Path) -> None:
    path = path_of(group.set, group.split, where=tmp_path)
    assert write_groups(path, [group, group]) == 2
    assert list(read_groups(path)) == [group, group]


def test_the_same_groups_are_the_same_bytes_and_leave_no_half_file(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"
    write_groups(first, [JAPANESE, ENGLISH])
    write_groups(second, [JAPANESE, ENGLISH])
    assert first.read_bytes() == second.read_bytes()
    assert sorted(tmp_path.iterdir()) == [first, second]


def test_only_the_recipe_it_was_made_by_counts_as_made(tmp_path: Path) -> None:
    path = path_of("jaquad", Split.TRAIN, where=tmp_path)
    recipe = {"size": 3}
    assert not is_made(path, recipe=recipe)
    write_groups(path, [JAPANESE], recipe=recipe)
    assert is_made(path, recipe=recipe)
    assert not is_made(path, recipe={"size": 4})
    write_groups(path, [ENGLISH])  # scores are added to a file without making it anew
    assert is_made(path, recipe=recipe)
    path.unlink()
    assert not is_made(path, recipe=recipe)
    assert json.loads((tmp_path / "rows_jaquad_train.recipe.json").read_text()) == recipe
