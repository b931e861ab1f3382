"""A workspace with one document in each language, for tests of whole answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadasu import Tadasu
from tadasu.app.workspace import create_workspace


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the PT-300's and the LD-90's warranties are; no settings of its own."""
    root = tmp_path_factory.mktemp("warranties")
    create_workspace(root, "")
    (root / "docs").mkdir()
    (root / "docs" / "pt.md").write_text("# The PT-300\n\nThe warranty of the PT-300 is 36 months.\n", "utf-8")
    (root / "docs" / "ld.md").write_text("# LD-90\n\nLD-90の保証期間は24か月です。\n", "utf-8")
    tadasu = Tadasu.open(root)
    tadasu.sync.ingest(root / "docs")
    tadasu.sync.close()
    return root
