"""All rows of a small world: made once, of one split each, and every passage written down."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadasu.testing.splits import Split, fingerprint, read_fitted_on
from tests.training.grader.conftest import world
from training.grader import questions, sets
from training.grader.build_rows import Options, build
from training.grader.rows import Kind, read_groups
from training.grader.sets import SMOKE


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Options:
    monkeypatch.setattr(sets, "japanese", lambda split, size: world("ja"))
    monkeypatch.setattr(sets, "english", lambda split, size: world("en"))
    monkeypatch.setattr(questions, "open_questions", lambda split: [])
    monkeypatch.setattr(sets, "relations", dict)
    monkeypatch.setattr(sets, "training_passages", lambda: [*world("ja").rows, *world("en").rows])
    return Options(out=tmp_path / "rows", cache=tmp_path / "vectors.db", sizes=SMOKE)


async def test_files_are_made_once_and_missing_ones_again(options: Options) -> None:
    await build(options)
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in options.out.glob("*.jsonl.gz")}
    names = {path.name for path in before}
    assert {
        "rows_jaquad_train.jsonl.gz",
        "rows_xquad_en_calibrate.jsonl.gz",
        "rows_topical_ja_calibrate.jsonl.gz",
    } <= names
    gone = options.out / "rows_topical_en_calibrate.jsonl.gz"
    gone.unlink()
    await build(options)
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in options.out.glob("*.jsonl.gz")}
    assert {path for path in before if after[path] != before[path]} == {gone}
    assert after[gone][1] == before[gone][1]


async def test_a_file_holds_its_split_and_every_passage_is_written_down(options: Options) -> None:
    await build(options)
    marks = read_fitted_on(options.out / "fitted_on.txt")
    for path in options.out.glob("rows_*.jsonl.gz"):
        split = Split(path.name.removesuffix(".jsonl.gz").rpartition("_")[2])
        for group in read_groups(path):
            assert group.split is split
            whole = [one.text for one in group.passages if one.kind is not Kind.ANSWER_REMOVED]
            assert {fingerprint(text) for text in whole} <= marks


async def test_a_passage_that_is_no_training_data_is_refused(options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "training_passages", lambda: list(world("ja").rows))
    with pytest.raises(ValueError, match="not training data"):
        await build(options)
