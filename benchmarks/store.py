"""The embedded index at size: ``python -m benchmarks.store [--passages 100000]``.

Prints one JSON object: seconds to fill and to open, the first question (caches cold) and the median of later ones, in
milliseconds, for dense and keyword search, with and without filters, and for fetching ten passages; `cpu` is processor
time, which a busy machine does not stretch. Vectors are drawn at random and words by a Zipf law; questions hold one
word of the thirty commonest and seven others, as content terms do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np

from tadasu.answering.retrieval.stores.sqlite import SqliteStore, open_store
from tadasu.core.documents import Access, Document, Passage, Reader, Scope, Span
from tadasu.core.ids import document_id, passage_id
from tadasu.core.vectors import PassageVectors
from tadasu.ports import IndexedPassage

DIMENSIONS = 384
PER_DOCUMENT = 10
WORDS = 80
STRIPS = 5


def main() -> None:
    """Fill an index, ask it, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--index", type=Path, help="keep the index here, and use it again if it is there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.index or Path(folder) / "index.db"
        figures = asyncio.run(measure(path, options.passages, options.questions))
    print(json.dumps(figures, indent=1))


async def measure(path: Path, passages: int, questions: int) -> dict[str, float]:
    """All figures for an index of `passages` passages."""
    figures: dict[str, float] = {"passages": passages}
    started = time.perf_counter()
    store = opened(path)
    have = await store.fingerprints(tenant="default")
    for number in range(passages // PER_DOCUMENT):
        if f"{number}.md" not in have:
            await store.put(*document(number))
        if number % 1000 == 999:
            print(f"{(number + 1) * PER_DOCUMENT} passages", file=sys.stderr, flush=True)
    await store.close()
    figures["fill_s"] = round(time.perf_counter() - started, 2)
    figures["index_mb"] = round((await asyncio.to_thread(path.stat)).st_size / 2**20, 1)
    started = time.perf_counter()
    store = opened(path)
    figures["open_s"] = round(time.perf_counter() - started, 4)
    for name, ask in questions_of(store).items():
        times = [await timed(ask, number) for number in range(questions + 1)]
        figures[f"{name}_first_ms"] = round(times[0][0], 2)
        figures[f"{name}_p50_ms"] = round(statistics.median(wall for wall, _ in times[1:]), 2)
        figures[f"{name}_cpu_ms"] = round(statistics.median(cpu for _, cpu in times[1:]), 2)
    await store.close()
    return figures


def questions_of(store: SqliteStore) -> dict[str, Callable[[int], Awaitable[object]]]:
    """What is timed, by name."""
    everything = Scope()
    third = Scope(language="ja")
    grouped = Scope(Reader(groups=frozenset({"red"})), source_prefix="1")
    vectors = np.random.default_rng(1).standard_normal((100, DIMENSIONS)).astype(np.float32)
    words = 30 + np.random.default_rng(2).zipf(1.2, (100, 8)) % 29_000
    words[:, 0] %= 30
    ids = [item.passage.id for number in range(100) for item in document(number)[1]]

    def terms(number: int) -> list[str]:
        return [f"w{word}" for word in words[number]]

    return {
        "dense": lambda number: store.dense(vectors[number], k=50, scope=everything),
        "dense_language": lambda number: store.dense(vectors[number], k=50, scope=third),
        "dense_group_and_prefix": lambda number: store.dense(vectors[number], k=50, scope=grouped),
        "keywords": lambda number: store.lexical(terms(number), k=50, scope=everything),
        "term_weights": lambda number: store.term_weights(terms(number), reader=Reader()),
        "fetch_10": lambda number: store.fetch(ids[number * 10 : number * 10 + 10], scope=everything),
    }


async def timed(ask: Callable[[int], Awaitable[object]], number: int) -> tuple[float, float]:
    """Milliseconds of one question: on the wall, and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    await ask(number)
    return (time.perf_counter() - wall) * 1000.0, (time.process_time() - cpu) * 1000.0


def opened(path: Path) -> SqliteStore:
    return open_store(path, encoder_id="random/1", dimensions=DIMENSIONS, analyzer_id="words/1")


def document(number: int) -> tuple[Document, list[IndexedPassage]]:
    """Document `number` with its passages; every fifth is for a group, every third is Japanese."""
    draw = np.random.default_rng(number)
    source = f"{number}.md"
    access = Access(groups=frozenset({"red"})) if number % 5 == 0 else Access()
    made = Document(
        id=document_id("default", source),
        source=source,
        title=source,
        text="",
        content_hash=str(number),
        language="ja" if number % 3 == 0 else "en",
        access=access,
    )
    vectors = draw.standard_normal((PER_DOCUMENT, 1 + STRIPS, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    words = draw.zipf(1.2, (PER_DOCUMENT, WORDS)) % 30_000
    return made, [indexed(made, ordinal, words[ordinal].tolist(), vectors[ordinal]) for ordinal in range(PER_DOCUMENT)]


def indexed(
    document: Document, ordinal: int, words: list[int], vectors: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
) -> IndexedPassage:
    tokens = tuple(f"w{word}" for word in words)
    text = " ".join(tokens)
    size = len(text) // STRIPS
    cuts = [number * size for number in range(STRIPS)] + [len(text)]
    passage = Passage(
        id=passage_id(document.id, document.content_hash, ordinal),
        document_id=document.id,
        source=document.source,
        title=document.title,
        text=text,
        span=Span(0, len(text)),
        strips=tuple(Span(cuts[number], cuts[number + 1]) for number in range(STRIPS)),
        ordinal=ordinal,
        language=document.language,
        access=document.access,
    )
    return IndexedPassage(passage, tokens, PassageVectors(vectors[0], vectors[1:]))


if __name__ == "__main__":
    main()
