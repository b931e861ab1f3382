"""The teacher's scores in English rows: what labels most comes first, since the teacher is slow.

Labelled sets get a part of each group scored, then pseudo-questions, then the rest. After every stage the file is
written anew, so that training may begin with what is there; scores are remembered, so that a broken run goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tadasu.testing.splits import Split
from training.grader.rows import Group, path_of, read_groups, write_groups
from training.grader.teacher import Scorer, auc, taught, taught_across

UNSCORED = "mined"
"""State of the files of pseudo-questions as mined: only those with scores are rows to train on."""

_LABELLED = ("xquad_en", "popqa", "covidqa")
_FIRST_PASSAGES, _CHECKED_GROUPS, _SLICE = 6, 50, 200


def teach(out: Path, scorer: Scorer) -> None:
    """Put the teacher's scores into the English files of `out`."""
    for name in _LABELLED:
        _teach_file(out, name, Split.TRAIN, scorer, passages=_FIRST_PASSAGES)
    for name in (*_LABELLED, "topical_en"):
        _teach_file(out, name, Split.CALIBRATE, scorer, passages=_FIRST_PASSAGES, groups=_CHECKED_GROUPS)
    for split in (Split.TRAIN, Split.CALIBRATE):
        _teach_pseudo(out, split, scorer)
    for name in (*_LABELLED, "topical_en"):
        for split in (Split.TRAIN, Split.CALIBRATE):
            _teach_file(out, name, split, scorer)


def _teach_file(
    out: Path, name: str, split: Split, scorer: Scorer, *, passages: int | None = None, groups: int | None = None
) -> None:
    """Score at most `passages` of each of the first `groups`; what was scored before stays."""
    path = path_of(name, split, where=out)
    if not path.is_file():
        return
    before = list(read_groups(path))
    count = len(before) if groups is None else groups
    after = [*taught(before[:count], scorer, most=passages), *before[count:]]
    if after != before:
        write_groups(path, after)
    print(f"{path.name}: teacher's AUC {auc(after):.4f} on {scored(after)} pairs", file=sys.stderr, flush=True)
    if name == "popqa":
        _teach_across(out, split, after)


def _teach_across(out: Path, split: Split, english: Sequence[Group]) -> None:
    path = path_of("popqa_ja", split, where=out)
    if path.is_file():
        write_groups(path, taught_across(list(read_groups(path)), english))


def _teach_pseudo(out: Path, split: Split, scorer: Scorer) -> None:
    """A slice at a time: the file grows by what is scored."""
    path = path_of("pseudo_en", split, where=out)
    source = path_of("pseudo_en", split, where=out, state=UNSCORED)
    if not source.is_file():
        return
    groups = list(read_groups(source))
    done: list[Group] = []
    for start in range(0, len(groups), _SLICE):
        done += taught(groups[start : start + _SLICE], scorer)
        write_groups(path, done)
        print(f"{path.name}: {len(done)} of {len(groups)} groups", file=sys.stderr, flush=True)


def scored(groups: Sequence[Group]) -> int:
    """Number of labelled passages with a score."""
    return sum(one.teacher is not None and one.label >= 0 for group in groups for one in group.passages)
