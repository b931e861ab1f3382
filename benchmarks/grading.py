"""How good, how honest and how fast grading is: ``python -m benchmarks.grading [--smoke] [--json FILE]``.

TEST splits only. Every grader sees exactly the same pairs, which are mined once with our own hybrid search and kept in
the file that ``--cache`` names. ``--teacher`` names a folder or wheel with the public cross-encoder that is compared
with, ``--grader`` another folder with our models than the shipped one. Nothing may be tuned on what this prints.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks import harness
from benchmarks.grading_groups import GroupFile
from benchmarks.grading_mining import Mined, Miner
from benchmarks.grading_promise import Promise, promise
from benchmarks.grading_rows import CosineRow, KeywordRow, OurRows, Row, our_rows
from benchmarks.grading_said import Speeds, goals, say_goals, say_promises, say_sets, say_speed, say_table, say_verdicts
from benchmarks.grading_sets import PairSet, pair_sets
from benchmarks.grading_speed import (
    PASSAGES,
    TOKENS,
    latency,
    our_fitter,
    our_speed,
    same_length,
    serving_memory,
    teacher_speed,
)
from benchmarks.grading_t5 import measure_t5, torch_is_here
from benchmarks.grading_table import Measured, compared, measure, pooled
from benchmarks.grading_teacher import TeacherRow, load
from benchmarks.grading_verdicts import Verdicts, measure_verdicts
from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.ports import Encoder
from tadasu.testing.articles import CachedEncoder
from tadasu.testing.datasets import DataAbsent
from training.grader.teacher import TeacherAbsent

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "models"
THREADS = 2
_PROMISED_ON = {"en": ("xquad_en", "popqa", "covidqa"), "ja": ("jsquad",)}
_TIMED_ON = ("xquad_en", "popqa", "covidqa", "jsquad")


@dataclass(frozen=True, slots=True)
class Options:
    """The command line; `smoke` is a few questions of each set, to see that everything works."""

    json: Path | None
    cache: Path
    vectors: Path | None
    teacher: Path | None
    grader: Path
    smoke: bool


def main() -> None:
    options = _options()
    print(f"{harness.machine()}; {THREADS} threads")
    try:
        sets = pair_sets(smoke=options.smoke)
        mined = asyncio.run(_mined(sets, options))
    except DataAbsent as absent:
        harness.skip(f"{absent} {absent.hint}")
    ours, teacher = our_rows(options.grader, threads=THREADS), _teacher(options)
    print(say_sets(sets))
    if ours.reason:
        print(f"note: {ours.reason}")
    found = _lines(sets, mined, ours, teacher, smoke=options.smoke)
    lines = [one.line for one in found]
    comparisons = compared(lines, shipped="cascade (shipped)", full="full grader")
    pools = pooled(found)
    print(say_table(lines, pools, comparisons))
    verdicts = _verdicts(mined["popqa"], ours)
    print(say_verdicts(verdicts))
    promises = _promises(found, ours)
    print(say_promises(promises))
    speeds = _speeds(mined, ours, teacher, options)
    print(say_speed(speeds))
    reached = goals(lines, pools, comparisons=comparisons, verdicts=verdicts, promises=promises, speeds=speeds)
    print("\nA smoke run says nothing of the goals." if options.smoke else say_goals(reached))
    harness.report(
        {
            "grading": [asdict(line) for line in lines],
            "pooled": [asdict(one) for one in pools],
            "comparisons": [asdict(one) for one in comparisons],
            "verdicts": [asdict(one) for one in verdicts],
            "promises": [asdict(one) for one in promises],
            "speed": asdict(speeds),
            "goals": [asdict(one) for one in reached],
            "made": {one.name: one.made for one in sets},
        },
        to=options.json,
    )


def _options() -> Options:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as JSON too")
    parser.add_argument("--cache", type=Path, metavar="FILE", help="where mined pairs are kept")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="keep vectors between runs (development only)")
    parser.add_argument("--teacher", type=Path, metavar="PATH", help="folder or wheel with ms-marco-MiniLM-L-12 int8")
    parser.add_argument("--grader", type=Path, default=MODELS / "grader", metavar="FOLDER", help="our models")
    parser.add_argument("--smoke", action="store_true", help="a few questions of each set")
    given = vars(parser.parse_args())
    kept = ROOT / "build" / "benchmarks" / ("grading_smoke.sqlite" if given["smoke"] else "grading.sqlite")
    return Options(**given | {"cache": given["cache"] or kept})


async def _mined(sets: Sequence[PairSet], options: Options) -> dict[str, Mined]:
    encoder: Encoder = OnnxEncoder.load(MODELS / "encoder")
    if options.vectors:
        encoder = CachedEncoder(encoder, options.vectors)
    miner = Miner(models=MODELS, encoder=encoder, file=GroupFile(options.cache))
    return {one.name: await miner.mined(one, verdicts=one.name == "popqa") for one in sets}


def _teacher(options: Options) -> TeacherRow | None:
    try:
        return load(options.teacher, threads=THREADS)
    except TeacherAbsent as absent:
        print(f"skipped: ms-marco MiniLM-L12 int8: {absent}")
        return None


def _lines(
    sets: Sequence[PairSet], mined: dict[str, Mined], ours: OurRows, teacher: TeacherRow | None, *, smoke: bool
) -> list[Measured]:
    rows: list[Row] = [CosineRow(), KeywordRow(), *([teacher] if teacher else []), *ours.rows]
    found = []
    for one in sets:
        for row in rows:
            if row.reads(one.language) and mined[one.name].pairs:
                print(f"{one.name}: {row.name}", file=sys.stderr, flush=True)
                resamples = 50 if smoke else 500
                found.append(measure(one.name, one.language, row, mined[one.name].pairs, resamples=resamples))
    return found


def _verdicts(popqa: Mined, ours: OurRows) -> list[Verdicts]:
    rows = [row for row in (ours.features, ours.full, ours.cascade) if row is not None]
    return [measure_verdicts(row, popqa.present, popqa.absent) for row in rows]


def _promises(found: Sequence[Measured], ours: OurRows) -> list[Promise]:
    row = ours.cascade or ours.features
    promises = []
    for language, names in _PROMISED_ON.items():
        own = [one for one in found if one.line.grader == row.name and one.line.set in names]
        starts = np.cumsum([0, *(one.line.questions for one in own)])
        probabilities = [one.probabilities for one in own if one.probabilities is not None]
        if not probabilities:
            continue
        borders = row.borders(language)
        promises.append(
            promise(
                language,
                np.concatenate(probabilities),
                np.concatenate([one.labels for one in own]),
                np.concatenate([one.places + start for one, start in zip(own, starts[:-1], strict=True)]),
                high=borders.high,
                low=borders.low,
            )
        )
    return promises


def _speeds(mined: dict[str, Mined], ours: OurRows, teacher: TeacherRow | None, options: Options) -> Speeds:
    each = 2 if options.smoke else 25
    groups = []
    for name in _TIMED_ON:
        groups += [one for one in mined[name].pairs if len(one.labels) >= PASSAGES][:each]
    english = [group for group in groups if group.language == "en"]
    print("speed", file=sys.stderr, flush=True)
    fitted = same_length(groups, our_fitter(options.grader)) if ours.reader else []
    t5 = measure_t5(tokens=TOKENS, threads=THREADS) if torch_is_here() and not options.smoke else None
    files = {"grader": options.grader / "model.onnx", "encoder": MODELS / "encoder" / "model.onnx"}
    return Speeds(
        ours=our_speed(ours.reader, fitted) if ours.reader else None,
        teacher=teacher_speed(teacher, english) if teacher else None,
        t5=t5,
        t5_reason="" if t5 else "left out of a smoke run" if options.smoke else "PyTorch is not installed",
        latencies=[latency(row, fitted) for row in (ours.cascade, ours.full) if row is not None],
        memory_mb=serving_memory(options.grader)["peak_mb"],
        files_mb={name: path.stat().st_size / 1e6 for name, path in files.items() if path.is_file()},
    )


if __name__ == "__main__":
    main()
