from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_reference", DOCS / "generate_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["cli", "settings", "errors"])
def test_the_reference_is_up_to_date(generator: ModuleType, page: str) -> None:
    written = (DOCS / "reference" / f"{page}.md").read_text(encoding="utf-8")
    assert getattr(generator, f"{page}_page")() == written, "run: python docs/generate_reference.py"
