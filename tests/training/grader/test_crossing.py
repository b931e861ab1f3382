"""The same passages, asked in Japanese."""

from __future__ import annotations

import pytest

from tadasu.testing.splits import Split
from training.grader import crossing
from training.grader.crossing import TEMPLATES, in_japanese
from training.grader.rows import Group, Kind, RowPassage

RELATIONS = {"1": ("George Rankin", "occupation"), "2": ("Antoine Richard", "place of birth")}
GROUPS = [
    Group(
        "popqa",
        Split.TRAIN,
        "en",
        "1",
        "What is George Rankin's occupation?",
        ("politician",),
        (
            RowPassage("George Rankin", "He was a politician.", ((0, 20),), 1, ((9, 19),), Kind.GOLD, teacher=7.0),
            RowPassage("George Rankin", "He lived in Australia.", ((0, 22),), 0, (), Kind.ANSWER_REMOVED),
            RowPassage("Darien Dash", "Dash is a rapper.", ((0, 17),), 0, (), Kind.RETRIEVED, teacher=-7.0),
        ),
    ),
    Group(
        "popqa",
        Split.TRAIN,
        "en",
        "2",
        "In what city was Antoine Richard born?",
        ("Fontainebleau",),
        (RowPassage("Antoine Richard", "Born in Fontainebleau.", ((0, 22),), 1, ((8, 21),), Kind.GOLD),),
    ),
]


def test_passages_labels_and_scores_stay_and_the_name_is_asked_for() -> None:
    made = [one for one in in_japanese(GROUPS, RELATIONS, name="popqa_ja") if not one.id.endswith(".swapped")]
    assert [one.passages for one in made] == [one.passages for one in GROUPS]
    for group in made:
        subject, relation = RELATIONS[group.id]
        assert (group.language, group.set) == ("ja", "popqa_ja")
        assert group.question in {template.format(subject=subject) for template in TEMPLATES[relation]}


def test_another_name_leaves_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossing, "_SWAPPED_SHARE", 1.0)
    swapped = [one for one in in_japanese(GROUPS, RELATIONS, name="popqa_ja") if one.id.endswith(".swapped")]
    assert [one.id for one in swapped] == ["1.swapped", "2.swapped"]
    assert "Antoine Richard" in swapped[0].question
    assert [one.title for one in swapped[0].passages] == ["George Rankin", "Darien Dash"]
    for group in swapped:
        assert group.answers == ()
        assert {(one.label, one.spans, one.kind, one.teacher) for one in group.passages} == {
            (0, (), Kind.OTHER_ENTITY, None)
        }


def test_every_relation_is_asked_for_with_its_subject() -> None:
    assert all("{subject}" in template for templates in TEMPLATES.values() for template in templates)
