"""How fast a folder becomes an index, and how much memory that takes, with the real parts.

Writes the jsquad passages as Markdown and the covidqa articles as text into a temporary folder, ingests them into a
SQLite index, then ingests again with nothing changed. `--many` takes 10,000 passages of jsquad and jaquad instead;
`--stub-encoder` takes the model out, to see what the rest costs.

    python -m benchmarks.ingest
    python -m benchmarks.ingest --many --json ingest.json
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.harness import arguments, machine, report, skip, table
from tadasu.answering.ingestion.pipeline import Ingestion
from tadasu.answering.ingestion.reading import IngestionSettings
from tadasu.answering.ingestion.report import Progress
from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.answering.retrieval.stores.sqlite import open_store
from tadasu.core.vectors import PassageText, PassageVectors
from tadasu.runtime.world import SystemClock
from tadasu.testing.datasets import DataAbsent, Part, passages
from tadasu.text.analyze import analyzer_id

ROOT = Path(__file__).resolve().parents[1]
MANY = 10_000


@dataclass(frozen=True, slots=True)
class Figures:
    """One ingest: what it wrote, how fast, and the peak memory of this process and its parser process in MB."""

    documents: int
    passages: int
    tokens_per_passage: float
    seconds: float
    passages_per_second: float
    again_seconds: float
    peak_mb: float
    parser_peak_mb: float
    failed: int
    cpu_seconds_per_passage: float


class StubEncoder:
    """An encoder that costs nothing."""

    id = "stub"
    dimensions = 384

    def encode_queries(self, queries: Sequence[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        """The same vector for every query."""
        return np.ones((len(queries), 384), dtype=np.float32) / np.float32(384**0.5)

    def encode_passages(self, texts: Sequence[PassageText]) -> list[PassageVectors]:
        """The same vectors for every passage."""
        unit = np.ones(384, dtype=np.float32) / np.float32(384**0.5)
        return [PassageVectors(unit, np.tile(unit, (len(text.strips), 1))) for text in texts]


def write_folder(folder: Path, wanted: int | None) -> None:
    """The files: about `wanted` of them, or jsquad and covidqa where it is None."""
    (folder / "jsquad").mkdir(parents=True)
    (folder / "covidqa").mkdir()
    written = 0
    for row in passages(Part.JSQUAD_VALID):
        (folder / "jsquad" / f"{row.id}.md").write_text(f"# {row.title}\n\n{row.text}\n", encoding="utf-8")
        written += 1
    if wanted is None:
        for row in passages(Part.COVIDQA):
            (folder / "covidqa" / f"{row.id}.txt").write_text(row.text, encoding="utf-8")
        return
    (folder / "jaquad").mkdir()
    for part in (Part.JAQUAD_TRAIN, Part.JAQUAD_DEV):
        for row in passages(part):
            if written >= wanted:
                return
            (folder / "jaquad" / f"{row.id}.md").write_text(f"# {row.title}\n\n{row.text}\n", encoding="utf-8")
            written += 1


async def measure(folder: Path, database: Path, *, stub: bool) -> Figures:
    encoder = OnnxEncoder.load(ROOT / "models" / "encoder")
    used = StubEncoder() if stub else encoder
    store = open_store(database, encoder_id=used.id, dimensions=used.dimensions, analyzer_id=analyzer_id())
    counted: list[int] = []

    class Counter:
        def count(self, text: str) -> int:
            tokens = encoder.count(text)
            counted.append(tokens)
            return tokens

    began, spent = time.perf_counter(), time.process_time()

    def show(progress: Progress) -> None:
        if progress.done % 200 == 0:
            seconds = time.perf_counter() - began
            print(
                f"  {progress.done}/{progress.total} files, {progress.passages} passages, {seconds:.0f} s",
                file=sys.stderr,
            )

    clock = SystemClock()
    ingestion = Ingestion(index=store, encoder=used, counter=Counter(), clock=clock, settings=IngestionSettings())
    first = await ingestion.run(folder, on_progress=show)
    cpu = time.process_time() - spent
    tokens = sum(counted)
    again = await ingestion.run(folder)
    await store.close()
    if again.added or again.updated or again.removed:
        raise SystemExit("the second ingest was not a no-op")
    return Figures(
        documents=first.added,
        passages=first.passages,
        tokens_per_passage=tokens / max(1, first.passages),
        seconds=first.seconds,
        passages_per_second=first.passages / first.seconds,
        again_seconds=again.seconds,
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        parser_peak_mb=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
        failed=len(first.failed),
        cpu_seconds_per_passage=cpu / max(1, first.passages),
    )


def main() -> int:
    options = arguments(
        (__doc__ or "").partition("\n")[0],
        many="10,000 passages of jsquad and jaquad, for memory",
        stub_encoder="no model: what the rest costs",
    )
    with tempfile.TemporaryDirectory() as temporary:
        try:
            write_folder(Path(temporary) / "corpus", MANY if options.many else None)
        except DataAbsent as absent:
            skip(f"{absent} {absent.hint}")
        corpus, database = Path(temporary) / "corpus", Path(temporary) / "index.db"
        figures = asdict(asyncio.run(measure(corpus, database, stub=options.stub_encoder)))
    print(machine())
    print(table(["figure", "value"], list(figures.items())))
    report(figures, to=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
