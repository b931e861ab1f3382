"""Make all rows of the second tier: ``python -m training.grader.build_rows [--smoke | --first]``.

Every file is made by a recipe and is left alone where it already was (`rows.is_made`), so a broken run goes on where it
stopped. Labelled rows come first, the teacher's scores are added to them afterwards. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tadasu.answering.retrieval.fusion import load_weights
from tadasu.answering.retrieval.hybrid import HybridSearch
from tadasu.ports import Encoder
from tadasu.testing.datasets import Part
from tadasu.testing.splits import Split, write_fitted_on
from training.feature_rows import MODELS, indexed, open_encoder
from training.feature_sets import QuestionSet
from training.grader import sets
from training.grader.crossing import in_japanese
from training.grader.negatives import Mining, labelled, mining, topical
from training.grader.questions import pseudo_groups
from training.grader.rows import Group, Kind, folder, is_made, path_of, read_groups, write_groups
from training.grader.teacher import Remembered, Teacher
from training.grader.teaching import UNSCORED, teach

_VERSION = 1
_TOPICAL_QUESTIONS, _TOPICAL_PASSAGES = 600, 6
_SPLITS = (Split.TRAIN, Split.CALIBRATE)


@dataclass(frozen=True, slots=True)
class _File:
    """One file to be made from an index."""

    name: str
    recipe: Mapping[str, Any]
    make: Callable[[Mining], Coroutine[Any, Any, list[Group]]]
    state: str = "rows"

    def path(self, out: Path, split: Split) -> Path:
        """Where it is written."""
        return path_of(self.name, split, where=out, state=self.state)


@dataclass(frozen=True, slots=True)
class Options:
    """Where to write, what to remember vectors in, how much of each split."""

    out: Path
    cache: Path | None
    sizes: Mapping[Split, sets.Size]
    models: Path = MODELS


async def build(options: Options) -> None:
    """Make the labelled rows that are not there yet, and the list of passages they hold."""
    encoder = open_encoder(options.models, cache=options.cache)
    for split in _SPLITS:
        await _from_index(options, split, encoder, sets.japanese, _japanese(split, options.sizes[split]))
    for split in _SPLITS:
        await _from_index(options, split, encoder, sets.english, _english(split, options.sizes[split]))
    write_marks(options.out)


def write_marks(out: Path) -> int:
    """Write the fingerprints of every passage in the files of `out`, papers whole; give their number.

    Pseudo-questions that wait for their scores count: a row made of them later holds nothing new. A passage without its
    answer is none of its set's; its whole stands in the same group.
    """
    groups = (group for path in sorted(out.glob("*.jsonl.gz")) for group in read_groups(path))
    texts = {one.text for group in groups for one in group.passages if one.kind is not Kind.ANSWER_REMOVED}
    half = out / ".fitted_on.txt"
    number = write_fitted_on(half, sets.whole_texts(texts))
    half.replace(out / "fitted_on.txt")
    return number


def _japanese(split: Split, size: sets.Size) -> list[_File]:
    files = [_labelled_file("jaquad", sets.JAPANESE["jaquad"], size.jaquad_questions, split, size)]
    if split is Split.CALIBRATE:
        files.append(_topical_file("topical_ja", split, size))
    return files


def _english(split: Split, size: sets.Size) -> list[_File]:
    files = [_labelled_file(name, part, size.english_questions, split, size) for name, part in sets.ENGLISH.items()]
    files.append(
        _File("pseudo_en", _recipe(split, size, "en"), lambda mine: _pseudo(mine, size.pseudo), state=UNSCORED)
    )
    files.append(_File("popqa_ja", _recipe(split, size, "en"), lambda mine: _crossing(mine, size.english_questions)))
    if split is Split.CALIBRATE:
        files.append(_topical_file("topical_en", split, size))
    return files


def _labelled_file(name: str, part: Part, limit: int, split: Split, size: sets.Size) -> _File:
    async def make(mine: Mining) -> list[Group]:
        return await labelled(mine, sets.asked_of(mine.questions, part, limit=limit), name=name)

    return _File(name, _recipe(split, size, _language(name)), make)


def _topical_file(name: str, split: Split, size: sets.Size) -> _File:
    async def make(mine: Mining) -> list[Group]:
        asked = [one for one in mine.questions.asked if one.question.part is not Part.POPQA]
        return list(topical(mine, asked[:_TOPICAL_QUESTIONS], name=name, limit=_TOPICAL_PASSAGES))

    return _File(name, _recipe(split, size, _language(name)), make)


async def _crossing(mine: Mining, limit: int) -> list[Group]:
    asked = sets.asked_of(mine.questions, Part.POPQA, limit=limit)
    groups = await labelled(mine, asked, name="popqa")
    return in_japanese([one for one in groups if not one.id.endswith(".swapped")], sets.relations(), name="popqa_ja")


async def _pseudo(mine: Mining, limit: int) -> list[Group]:
    return await pseudo_groups(mine, limit=limit, name="pseudo_en")


def _language(name: str) -> str:
    return "ja" if name in {*sets.JAPANESE, "topical_ja"} else "en"


def _recipe(split: Split, size: sets.Size, language: str) -> dict[str, Any]:
    ours = {name: number for name, number in asdict(size).items() if name.startswith("jaquad") == (language == "ja")}
    return {"version": _VERSION, "split": split.value, "size": ours}


async def _from_index(
    options: Options,
    split: Split,
    encoder: Encoder,
    questions: Callable[[Split, sets.Size], QuestionSet],
    files: Sequence[_File],
) -> None:
    missing = [one for one in files if not is_made(one.path(options.out, split), recipe=one.recipe)]
    if not missing:
        return
    async with _mined(options, split, encoder, questions(split, options.sizes[split])) as mine:
        for file in missing:
            groups = await file.make(mine)
            path = file.path(options.out, split)
            write_groups(path, groups, recipe=file.recipe)
            print(f"{path.name}: {described(groups)}", file=sys.stderr, flush=True)


@asynccontextmanager
async def _mined(options: Options, split: Split, encoder: Encoder, questions: QuestionSet) -> AsyncIterator[Mining]:
    print(f"{questions.name}: {len(questions.rows)} passages", file=sys.stderr, flush=True)
    async with indexed(questions, encoder) as store:
        weights = load_weights(options.models / "fusion.json")
        search = HybridSearch(search=store, terms=store, encoder=encoder, weights=weights)
        yield mining(questions, split, search=search, encoder=encoder)


def described(groups: Sequence[Group]) -> str:
    """Numbers of groups and of passages by kind, for people."""
    kinds = Counter(passage.kind.value for one in groups for passage in one.passages)
    return f"{len(groups)} groups, " + ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and make what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a dozen questions of each set")
    parser.add_argument("--first", action="store_true", help="a part of the Japanese rows, soon")
    parser.add_argument("--cache", type=Path, help="file that remembers vectors")
    parser.add_argument("--out", type=Path, help="folder of the rows; $TADASU_TRAINING, else build/grader")
    parser.add_argument("--teacher", type=Path, help="wheel or folder of the teacher; else the installed package")
    parser.add_argument("--threads", type=int, default=2, help="of the teacher")
    parser.add_argument("--only-mine", action="store_true", help="leave the teacher for later")
    parser.add_argument("--only-teach", action="store_true", help="the rows are there")
    given = parser.parse_args(arguments)
    out = given.out or folder()
    sizes = sets.SMOKE if given.smoke else sets.FIRST if given.first else sets.FULL
    options = Options(out=out, cache=given.cache, sizes=sizes)
    if not given.only_teach:
        asyncio.run(build(options))
    if not given.only_mine:
        scorer = Remembered(out / "teacher.db", Teacher(given.teacher, threads=given.threads))
        teach(out, scorer)
        scorer.close()


if __name__ == "__main__":
    main()
