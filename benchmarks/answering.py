"""Real input through the real commands: jsquad passages as Markdown and covidqa articles as text, ingested and asked.

The passages are written out as files, ``tadasu ingest`` takes them in and ``tadasu ask --batch`` answers 300 questions,
half of each set, as a user would do it. A question counts as found where one of its answers stands in the evidence of
its run (folded, so that full-width and half-width agree), and as answered where it stands in the answer shown.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness import arguments, machine, report, skip, table
from tadasu.testing.datasets import DataAbsent, Part, Question, passages, questions
from tadasu.text.normalize import fold

PER_SET = 150


def tadasu(*words: str, folder: Path, allowed: Sequence[int] = (0,)) -> str:
    """Run one command in `folder` and give its standard output."""
    done = subprocess.run(
        [sys.executable, "-m", "tadasu", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode not in allowed:
        raise SystemExit(f"tadasu {' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def spread(questions: Sequence[Question], count: int) -> list[Question]:
    """`count` questions at equal distances, so that every part of the set is asked about."""
    return [questions[i * len(questions) // count] for i in range(count)]


def write_corpus(folder: Path) -> int:
    """Both sets as files, one passage or article each; returns how many."""
    written = 0
    for part, suffix in ((Part.JSQUAD_VALID, "md"), (Part.COVIDQA, "txt")):
        target = folder / part.name.lower()
        target.mkdir(parents=True)
        for row in passages(part):
            head = f"# {row.title}\n\n" if suffix == "md" else ""
            (target / f"{row.id}.{suffix}").write_text(head + row.text, encoding="utf-8")
            written += 1
    return written


def holds(texts: Sequence[str], answers: Sequence[str]) -> bool:
    """Whether any of `answers` stands in any of `texts`, folded."""
    folded = [fold(text) for text in texts]
    return any(fold(answer).strip() in text for answer in answers for text in folded if answer.strip())


def measure(part: Part, asked: Sequence[Question], lines: dict[str, dict[str, object]]) -> tuple[object, ...]:
    """One row of the table: shares over `asked`, and times."""
    found = answered = given = complete = 0
    times = []
    for question in asked:
        line = lines.get(f"{part.name}:{question.id}", {})
        complete += bool(line.get("run")) and "error" not in line
        evidence = [str(item["text"]) for item in line.get("evidence", [])]  # type: ignore[attr-defined]
        found += holds(["".join(evidence), *evidence], question.answers)
        if line.get("status") == "answered":
            given += 1
            answered += holds([str(line["answer"])], question.answers)
        times.append(float(line.get("duration_ms", 0.0)))  # type: ignore[arg-type]
    n = len(asked)
    times.sort()
    return part.name, n, complete / n, found / n, given / n, answered / n, times[n // 2], times[int(n * 0.95)]


def main() -> None:
    chosen = arguments(__doc__ or "")
    try:
        asked = {part: spread(questions(part), PER_SET) for part in (Part.JSQUAD_VALID, Part.COVIDQA)}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            files = write_corpus(folder / "corpus")
            tadasu("init", "--offline", folder=folder)
            began = time.perf_counter()
            ingested = json.loads(tadasu("ingest", "corpus", "--json", folder=folder))
            seconds = time.perf_counter() - began
            batch = [
                {"id": f"{part.name}:{question.id}", "question": question.text}
                for part, some in asked.items()
                for question in some
            ]
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in batch)
            (folder / "questions.jsonl").write_text(text, encoding="utf-8")
            out = tadasu("ask", "--batch", "questions.jsonl", "--json", folder=folder)
    except DataAbsent as absent:
        skip(str(absent))
    lines = {line["id"]: line for line in map(json.loads, out.splitlines())}
    rows = [measure(part, some, lines) for part, some in asked.items()]
    print(machine())
    print(f"{files} files, {ingested['passages']} passages ingested in {seconds:.0f} s, start of the process included")
    head = ("set", "questions", "complete", "in evidence", "answered", "in answer", "p50 ms", "p95 ms")
    print(table(head, rows))
    print("wanted: complete 1, in evidence >= .90 on JSQUAD_VALID")
    figures = {str(row[0]): dict(zip(head[1:], row[1:], strict=True)) for row in rows}
    report({"ingest_seconds": seconds, "passages": ingested["passages"], **figures}, to=chosen.json)


if __name__ == "__main__":
    main()
