"""Documents point at what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "models").rglob("*.md")])
_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
_PATH = re.compile(r"`((?:src|tests|docs|training|benchmarks|examples|models)/[\w./-]+)`")
_MODULE = re.compile(r"python -m ((?:training|benchmarks)\.[\w.]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_path_and_command_of_a_page_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    links = [link for link in _LINK.findall(text) if "://" not in link and not link.startswith("mailto:")]
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [path for path in _PATH.findall(text) if not (ROOT / path).exists()]
    missing += [name for name in _MODULE.findall(text) if not (ROOT / (name.replace(".", "/") + ".py")).exists()]
    assert missing == []


def test_the_two_readmes_say_the_same_things() -> None:
    english, japanese = ((ROOT / name).read_text("utf-8") for name in ("README.md", "README.ja.md"))
    assert english.count("\n## ") == japanese.count("\n## ")
    assert re.findall(r"^(?:tadasu|make) \w+", english, re.MULTILINE) == re.findall(
        r"^(?:tadasu|make) \w+", japanese, re.MULTILINE
    )
    assert "FIGURES" not in english + japanese
