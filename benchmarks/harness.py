"""What every benchmark shares: the machine's name, timing, tables, and figures as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

Figures = dict[str, object]


def machine() -> str:
    """Processor, cores, memory and Python of this machine, for the line above every table."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}"


def arguments(description: str, **flags: str) -> argparse.Namespace:
    """The command line of a benchmark: ``--json FILE`` and a switch per flag, with its help."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as JSON too")
    for name, text in flags.items():
        parser.add_argument(f"--{name.replace('_', '-')}", action="store_true", help=text)
    return parser.parse_args()


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (in [0, 1]) of `values` lie, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def milliseconds(work: Callable[[], object], *, times: int, warm_up: int = 3) -> list[float]:
    """Wall time of `work`, `times` times after `warm_up` uncounted ones."""
    for _ in range(warm_up):
        work()
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append((time.perf_counter() - began) * 1000.0)
    return taken


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """`rows` under `head` in aligned columns."""
    cells = [[_cell(value) for value in row] for row in [head, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def report(figures: Figures, *, to: Path | None) -> None:
    """Write `figures`, with the machine's name, as JSON to the file where one is asked for."""
    if to is not None:
        to.write_text(json.dumps({"machine": machine(), **figures}, indent=2, ensure_ascii=False) + "\n", "utf-8")


def skip(reason: str) -> None:
    """End the benchmark without figures, saying why; not a failure."""
    print(f"skipped: {reason}")
    sys.exit(0)
