"""The teacher is asked once a pair, about what it can judge, and its scores land where they belong."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tadasu.testing.splits import Split
from training.grader.rows import Group, Kind, RowPassage, path_of, read_groups, write_groups
from training.grader.teacher import Pair, Remembered, Teacher, TeacherAbsent, auc, taught, taught_across
from training.grader.teaching import UNSCORED, teach


class Overlap:
    """Scores by words in common."""

    def __init__(self) -> None:
        self.seen: list[Pair] = []

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        self.seen += pairs
        shared = (set(q.lower().split()) & set(f"{title} {text}".lower().split()) for q, title, text in pairs)
        return [float(len(one)) for one in shared]


def _passage(text: str, label: int, kind: Kind) -> RowPassage:
    return RowPassage("", text, ((0, len(text)),), label, (), kind)


GROUP = Group(
    "xquad_en",
    Split.TRAIN,
    "en",
    "q1",
    "when does snow fall",
    ("February",),
    (
        _passage("snow does fall in February", 1, Kind.GOLD),
        _passage("snow does fall", 0, Kind.ANSWER_REMOVED),
        _passage("snow is white", 0, Kind.TOPICAL),
        _passage("snow is cold", 0, Kind.TOPICAL),
        _passage("a lake", 0, Kind.RETRIEVED),
        _passage("a warehouse", 0, Kind.RANDOM),
    ),
)


def test_kinds_take_turns_and_what_fools_the_teacher_is_left_out() -> None:
    (first,) = taught([GROUP], Overlap(), most=4)
    assert [one.teacher for one in first.passages] == [3.0, None, 1.0, None, 0.0, 0.0]
    (everything,) = taught([first], Overlap())
    assert [one.teacher for one in everything.passages] == [3.0, None, 1.0, 1.0, 0.0, 0.0]
    assert auc([everything]) == 1.0
    assert math.isnan(auc([GROUP]))


def test_auc_counts_ties_as_halves() -> None:
    (group,) = taught([GROUP], Overlap())
    passages = tuple(one for one in group.passages if one.kind in {Kind.TOPICAL, Kind.RETRIEVED})
    changed = RowPassage("", "snow", ((0, 4),), 1, (), Kind.GOLD, teacher=1.0)
    mixed = Group("x", Split.TRAIN, "en", "q", "snow", (), (changed, *passages))
    assert auc([mixed]) == pytest.approx((0.5 + 0.5 + 1.0) / 3)


def test_scores_are_remembered_over_runs(tmp_path: Path) -> None:
    first, second = Overlap(), Overlap()
    kept = Remembered(tmp_path / "teacher.db", first)
    before = taught([GROUP], kept)
    kept.close()
    kept = Remembered(tmp_path / "teacher.db", second)
    assert taught([GROUP, GROUP], kept) == before * 2
    kept.close()
    assert len(first.seen) == 5
    assert second.seen == []


def test_questions_in_japanese_get_the_scores_of_the_english_ones() -> None:
    english = taught([GROUP], Overlap())
    japanese = Group("popqa_ja", Split.TRAIN, "ja", "q1", "雪はいつ降る", ("February",), GROUP.passages)
    (made,) = taught_across([japanese], english)
    assert made.question == japanese.question
    assert [one.teacher for one in made.passages] == [one.teacher for one in english[0].passages]


def test_pseudo_questions_become_rows_with_their_scores(tmp_path: Path) -> None:
    unknown = Group("pseudo_en", Split.TRAIN, "en", "p1", "snow", (), (_passage("snow is white", -1, Kind.RETRIEVED),))
    write_groups(path_of("pseudo_en", Split.TRAIN, where=tmp_path, state=UNSCORED), [unknown])
    write_groups(path_of("xquad_en", Split.TRAIN, where=tmp_path), [GROUP])
    teach(tmp_path, Overlap())
    (pseudo,) = read_groups(path_of("pseudo_en", Split.TRAIN, where=tmp_path))
    (labelled,) = read_groups(path_of("xquad_en", Split.TRAIN, where=tmp_path))
    assert [(one.label, one.teacher) for one in pseudo.passages] == [(-1, 1.0)]
    assert sum(one.teacher is not None for one in labelled.passages) == 5


def test_another_model_is_no_teacher(tmp_path: Path) -> None:
    with pytest.raises(TeacherAbsent, match=r"no model\.onnx"):
        Teacher(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"another")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(TeacherAbsent, match="SHA-256"):
        Teacher(tmp_path)


def test_the_teacher_prefers_what_answers() -> None:
    place = os.environ.get("TADASU_TEACHER")
    try:
        teacher = Teacher(Path(place) if place else None, threads=1)
    except TeacherAbsent as error:
        pytest.skip(str(error))
    question = "When is the festival of Sapporo held?"
    pairs = [
        (question, "Sapporo", "The festival is held in February."),
        (question, "Sapporo", "Pupils made the first statues."),
        (question, "Lake Biwa", "Its shore is 235 kilometres long. " * 20),
    ]
    scores = teacher.score(pairs)
    assert scores == sorted(scores, reverse=True)
    assert teacher.score(pairs[:1])[0] == pytest.approx(scores[0], abs=0.5)  # its integers depend on the batch
