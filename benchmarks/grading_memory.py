"""A serving process with encoder and grader loaded: ``python -m benchmarks.grading_memory FOLDER``, run by `grading`.

It reads the demo corpus, answers questions about it, grades twenty long retrievals with every passage read, and prints
its peak memory in MB as JSON.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
from pathlib import Path

from benchmarks.grading_rows import our_rows
from tadasu.app.assets import demo_folder
from tadasu.app.tadasu import Tadasu
from tadasu.app.workspace import create_workspace
from tadasu.core.documents import Passage, Span
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock

_SENTENCE = "The warranty of the PT-300 is three years, and its battery is replaced free of charge. "


def main() -> None:
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(serve(Path(name), folder))
    print(json.dumps({"peak_mb": peak_mb()}))


def peak_mb() -> float:
    """The most memory that this process has held. On Linux, `ru_maxrss` begins with what the starting process held."""
    status = Path("/proc/self/status")
    if status.is_file():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        return float(lines["VmHWM"].split()[0]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


async def serve(workspace: Path, folder: Path) -> None:
    """Everything that a serving process keeps in memory at once."""
    create_workspace(workspace / "demo", "")
    asked = [
        json.loads(line)["question"]
        for name in ("questions.jsonl", "more_questions.jsonl")
        for line in (demo_folder() / name).read_text("utf-8").splitlines()
    ]
    ours = our_rows(folder, threads=2)
    async with Tadasu.open(workspace / "demo") as tadasu:
        await tadasu.ingest(demo_folder() / "documents")
        for question in asked:
            await tadasu.ask(question)
        for turn in range(20):
            grader = (ours.full or ours.features).grader
            await grader.grade(asked[0], _retrieval(asked[0], sentences=4 + turn), ledger=RunLedger(SystemClock()))


def _retrieval(question: str, *, sentences: int) -> Retrieval:
    text = _SENTENCE * sentences
    strips = tuple(Span(n * len(_SENTENCE), (n + 1) * len(_SENTENCE)) for n in range(sentences))
    passages = [
        Passage(f"p{n}", f"d{n}", f"{n}.md", f"Title {n}", text, Span(0, len(text)), strips, language="en")
        for n in range(10)
    ]
    return Retrieval(
        question, tuple(Candidate(one, fused=0.1, dense=0.8, dense_rank=n) for n, one in enumerate(passages, 1))
    )


if __name__ == "__main__":
    main()
