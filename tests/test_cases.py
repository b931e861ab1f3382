"""Every case of the shared list that this version must hold is a test by its name, somewhere in this tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
HELD = [
    "a01",
    "a02",
    "a03",
    "a06",
    "a07",
    "a08",
    "a10",
    "a11",
    "a12",
    "a14",
    "a15",
    "a16",
    "a18",
    "a19",
    "a20",
    "a22",
    "a23",
    "a25",
    "a27",
    "a28",
    "a29",
    "a30",
    "a32",
    "a34",
    "a35",
    "a36",
    "a39",
    "a41",
    "a42",
    "a44",
    "a45",
    "a46",
    "a48",
    "a49",
    "a50",
    "a51",
    "a53",
    "a54",
    "a55",
    "a56",
    "a58",
    "a59",
    "a60",
    "a62",
    "a63",
    "a64",
    "a65",
    "a67",
    "a68",
    "a69",
    "a74",
]


@pytest.fixture(scope="module")
def names() -> str:
    files = [file.read_text("utf-8") for file in TESTS.rglob("test_*.py")]
    shipped = (TESTS.parent / "src" / "tadasu" / "testing").rglob("*.py")
    return "\n".join(line for text in [*files, *(f.read_text("utf-8") for f in shipped)] for line in _names(text))


def _names(text: str) -> list[str]:
    return re.findall(r"^\s*(?:async )?def (test_\w+)", text, re.MULTILINE)


@pytest.mark.parametrize("case", HELD)
def test_each_case_is_a_test(case: str, names: str) -> None:
    assert re.search(rf"^test_(?:\w+_)?{case}_", names, re.MULTILINE), f"no test is named test_{case}_…"
