"""An ingest that is killed and run again ends with the ids, terms and vectors of one that was not."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.answering.ingestion.making import word, write

CHILD = Path(__file__).with_name("ingest_child.py")
FILES = 23


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    docs = tmp_path_factory.mktemp("kill") / "docs"
    for number in range(FILES - 3):
        body = f"装置{number}の圧力は{number}〜{number + 10} barです。保証期間は2年です。" * (1 + number % 3)
        text = f"# Device {number}\n\nDevice {number} weighs {number} kg. It is tested twice.\n\n## 仕様\n\n{body}\n"
        write(docs / f"{number:02}.md", text)
    write(docs / "98.jsonl", "".join(f'{{"id": "{n}", "text": "Row {n} of many rows."}}\n' for n in range(8)))
    write(docs / "95.txt", "A long article. It has many sentences in it, all of them alike. " * 60)
    write(docs / "96.docx", word())
    return docs


@pytest.fixture(scope="module")
def undisturbed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    index = tmp_path_factory.mktemp("whole") / "index.db"
    subprocess.run([sys.executable, str(CHILD), str(folder), str(index)], check=True, stdout=subprocess.DEVNULL)
    return contents(index)


def contents(index: Path) -> list[tuple[object, ...]]:
    """Everything in an index but the numbers of its rows."""
    with sqlite3.connect(index) as connection:
        return connection.execute(
            "SELECT d.id, d.source, d.title, d.text, d.content_hash, d.blocks, d.language, d.metadata, p.id, p.ordinal,"
            " c.title, c.text, c.start, c.strips, c.headings, c.tokens, v.vector, v.strips"
            " FROM documents d JOIN passages p ON p.document = d.number JOIN contents c ON c.row = p.row"
            " JOIN vectors v ON v.row = p.row ORDER BY d.source, p.ordinal"
        ).fetchall()


def kill_after(folder: Path, index: Path, *, files: int, seconds: float) -> None:
    """Start an ingest and kill it some time after it has said that a number of files are done."""
    child = subprocess.Popen([sys.executable, str(CHILD), str(folder), str(index)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for line in child.stdout:
        if int(line) >= files:
            break
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


def check(folder: Path, index: Path, undisturbed: list[tuple[object, ...]], seed: int, *, times: int) -> None:
    chance = random.Random(seed)
    for kill in range(times):
        kill_after(folder, index, files=chance.randint(1, 4), seconds=chance.uniform(0, 0.15))
        left = contents(index)
        # What a killed ingest left is a part of the whole, and never half of a document.
        sources = {row[1] for row in left}
        assert left == [row for row in undisturbed if row[1] in sources]
        assert kill or 0 < len(left) < len(undisturbed)
    subprocess.run([sys.executable, str(CHILD), str(folder), str(index)], check=True, stdout=subprocess.DEVNULL)
    assert contents(index) == undisturbed


def test_killed_four_times_and_run_again_the_index_is_the_same(
    folder: Path, undisturbed: list[tuple[object, ...]], tmp_path: Path
) -> None:
    check(folder, tmp_path / "index.db", undisturbed, seed=1, times=4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_killed_at_twenty_points_and_run_again_the_index_is_the_same(
    folder: Path, undisturbed: list[tuple[object, ...]], tmp_path: Path, seed: int
) -> None:
    check(folder, tmp_path / "index.db", undisturbed, seed, times=2)
