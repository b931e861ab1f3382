"""What Tadasu itself costs: our own work per question, imports, help, and a warm question over the demo corpus.

Own work is measured with models, stores and graders that answer at once, at k = 10, with the run committed to SQLite
and visible to another connection when the clock stops.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import arguments, machine, milliseconds, percentile, report, table
from tadasu.answering.conversation import restate_by_rules
from tadasu.answering.correction.loop import CorrectionLoop
from tadasu.answering.correction.policy import CorrectionSettings
from tadasu.answering.generation.compose import AnswerComposer
from tadasu.answering.generation.extractive import ExtractiveWriter
from tadasu.answering.pipeline import Inquiry, Pipeline
from tadasu.answering.refinement import RefinementSettings
from tadasu.answering.refinery import Refinery
from tadasu.app.assets import demo_folder
from tadasu.app.tadasu import Tadasu
from tadasu.app.workspace import create_workspace
from tadasu.core.documents import Passage, Scope, Span
from tadasu.core.grades import Calibration, Grade, Thresholds
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.core.runs import SearchMode
from tadasu.ports import Ledger
from tadasu.runtime.budget import Limits
from tadasu.runtime.world import SystemChance, SystemClock, SystemIds
from tadasu.storage.runs import SqlRunBook

QUESTION = "How long is the warranty of the PT-300?"


class _Counter:
    def count(self, text: str) -> int:
        return len(text) // 4


class _Search:
    """Ten passages of five sentences, at once."""

    def __init__(self) -> None:
        sentences = [f"Sentence {n} says that the warranty of the PT-30{n} is {n} years. " for n in range(5)]
        text = "".join(sentences)
        borders = [sum(map(len, sentences[:n])) for n in range(6)]
        strips = tuple(Span(a, b) for a, b in itertools.pairwise(borders))
        self.candidates = tuple(
            Candidate(
                Passage(f"p{n}", f"d{n}", f"{n}.md", f"Title {n}", text, Span(0, len(text)), strips, ordinal=n),
                fused=1.0 / (n + 1),
                dense_rank=n + 1,
                dense=0.8,
                queries=(QUESTION,),
            )
            for n in range(10)
        )

    async def search(self, query: str, *, k: int, scope: Scope, mode: SearchMode, ledger: Ledger) -> Retrieval:
        return Retrieval(query, self.candidates[:k])


class _Grader:
    id = "stub@1"

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> list[Grade]:
        return [
            Grade(
                c.passage.id,
                Thresholds().level(p),
                p,
                "stub",
                self.id,
                calibration=Calibration.PUBLIC,
                strip_scores=(p,) * 5,
            )
            for c, p in zip(retrieval.candidates, (0.9, 0.8, 0.6, 0.5, 0.4, 0.2, 0.2, 0.1, 0.1, 0.0), strict=True)
        ]


def own_work(folder: Path, *, questions: int) -> list[float]:
    """Milliseconds per question, each followed by a look through another connection."""
    runs = SqlRunBook.open(folder / "state.db")
    pipeline = Pipeline(
        restate=restate_by_rules,
        correction=CorrectionLoop(search=_Search(), grader=_Grader(), outside=None, settings=CorrectionSettings()),
        composer=AnswerComposer(ExtractiveWriter()),
        refinery=Refinery(_Counter(), RefinementSettings()),
        limits=Limits(),
        runs=runs,
        clock=SystemClock(),
        ids=SystemIds(),
        chance=SystemChance(),
    )
    other = sqlite3.connect(folder / "state.db")
    taken = []

    async def ask() -> None:
        for turn in range(questions + 20):
            began = time.perf_counter()
            run = await pipeline.answer(Inquiry(QUESTION))
            ended = time.perf_counter()
            assert run.answer.citations
            assert other.execute("select count(*) from runs where id = ?", (run.id,)).fetchone() == (1,)
            if turn >= 20:
                taken.append((ended - began) * 1000.0)

    asyncio.run(ask())
    runs.close()
    return taken


def fresh_process(*command: str, times: int = 9) -> list[float]:
    """Wall milliseconds of a command as a whole process."""
    return milliseconds(lambda: subprocess.run(command, check=True, capture_output=True), times=times, warm_up=2)


def warm_ask(folder: Path) -> list[float]:
    """Milliseconds per question over the demo corpus, extractive, one process, after one question to warm up."""
    create_workspace(folder / "demo", f'[web]\nprovider = "folder"\nfolder = "{(demo_folder() / "web").as_posix()}"\n')
    asked = [
        json.loads(line)["question"]
        for name in ("questions.jsonl", "more_questions.jsonl")
        for line in (demo_folder() / name).read_text("utf-8").splitlines()
    ]
    taken = []

    async def go() -> None:
        async with Tadasu.open(folder / "demo") as tadasu:
            await tadasu.ingest(demo_folder() / "documents")
            await tadasu.ask(asked[0])
            for question in asked * 3:
                began = time.perf_counter()
                await tadasu.ask(question)
                taken.append((time.perf_counter() - began) * 1000.0)

    asyncio.run(go())
    return taken


def main() -> None:
    chosen = arguments(__doc__ or "")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measured = {
            "own work per question": (own_work(folder, questions=400), "p50 <= 2, p95 <= 5"),
            "python -c pass": (fresh_process(sys.executable, "-c", "pass"), ""),
            "import tadasu": (fresh_process(sys.executable, "-c", "import tadasu"), "median <= 200"),
            "tadasu --help": (fresh_process(sys.executable, "-m", "tadasu", "--help"), "median <= 400"),
            "warm ask, demo corpus": (warm_ask(folder), "p95 <= 300"),
        }
    print(machine())
    rows = [
        (name, len(times), percentile(times, 0.5), percentile(times, 0.95), wanted)
        for name, (times, wanted) in measured.items()
    ]
    print(table(("what, in milliseconds", "runs", "p50", "p95", "wanted"), rows))
    report({name: {"p50": p50, "p95": p95, "runs": n} for name, n, p50, p95, _ in rows}, to=chosen.json)


if __name__ == "__main__":
    main()
