"""What ships under `models/` is what its cards say, and stays small: git keeps every version for ever."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

MODELS = Path(__file__).resolve().parents[1] / "models"
CARDS = sorted(MODELS.rglob("card.json"))

TOTAL_LIMIT = 100_000_000
ENCODER_LIMIT = 42_000_000


def test_the_encoder_ships() -> None:
    assert MODELS / "encoder" / "card.json" in CARDS


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.parent.name)
def test_every_file_is_the_one_its_card_names(path: Path) -> None:
    card = json.loads(path.read_text(encoding="utf-8"))
    assert card["files"]
    for name, digest in card["files"].items():
        assert hashlib.sha256((path.parent / name).read_bytes()).hexdigest() == digest, name


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.parent.name)
def test_every_card_has_a_page_with_licence_and_command(path: Path) -> None:
    card = json.loads(path.read_text(encoding="utf-8"))
    page = path.with_name("card.md").read_text(encoding="utf-8")
    assert card["licence"]
    assert card["licence"] in page
    assert card["command"] in page


def test_models_are_small() -> None:
    assert (MODELS / "encoder" / "model.onnx").stat().st_size <= ENCODER_LIMIT
    assert sum(path.stat().st_size for path in MODELS.rglob("*") if path.is_file()) < TOTAL_LIMIT


def test_the_encoder_was_measured_and_lost_less_than_a_point() -> None:
    card = json.loads((MODELS / "encoder" / "card.json").read_text(encoding="utf-8"))
    sets = card["figures"]["retrieval"]
    assert len(sets) == 3
    for name, both in sets.items():
        assert both["original"]["recall_5"] - both["derived"]["recall_5"] <= 0.01, name
    assert card["pieces"]["kept"] <= 48_000
