"""Files that are shipped with the package: models and the demo corpus.

In a wheel they lie inside the package, in a checkout at its root.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def _shipped(inside: str, in_checkout: str) -> Path:
    packed = _PACKAGE / inside
    return packed if packed.is_dir() else _PACKAGE.parent.parent / in_checkout


def models_folder() -> Path:
    """Folder of the shipped models; each has a card."""
    return _shipped("models", "models")


def demo_folder() -> Path:
    """Folder of the demo corpus: ``documents``, ``web``, ``questions.jsonl``."""
    return _shipped("demo", "examples/demo")
