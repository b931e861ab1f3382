"""How evidence is counted for the answering model, what its window leaves, and what doctor says of both."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tadasu.app.assets import models_folder
from tadasu.app.container import Container
from tadasu.app.evidence import LEAST, evidence_finding, refinement_settings
from tadasu.app.findings import Health
from tadasu.app.settings import load_settings
from tadasu.app.workspace import Workspace
from tadasu.core.refining import EvidenceOrder
from tadasu.core.usage import estimated_tokens
from tadasu.errors import ModelUnavailable, SettingsInvalid
from tadasu.testing.chat_dialects import LlamaCppDialect
from tadasu.testing.chat_server import ChatServer

JAPANESE = "上限は10 MPaである。"


def container(folder: Path, text: str = "") -> Container:
    file = folder / "tadasu.toml"
    file.write_text(text, encoding="utf-8")
    return Container(Workspace(folder), load_settings(file))


def test_without_a_chat_model_the_encoder_counts_and_no_window_binds(tmp_path: Path) -> None:
    one = container(tmp_path)
    assert one.prompt_space.counted_by == f"tokenizer {one.encoder.id}"
    assert one.prompt_space.count(JAPANESE) == one.encoder.count(JAPANESE)


async def test_a_chat_model_without_a_tokenizer_is_counted_by_an_estimate(tmp_path: Path) -> None:
    one = container(tmp_path, '[chat]\nprovider = "scripted"\nmodel = "m"\n')
    assert one.prompt_space.counted_by == "estimate"
    assert one.prompt_space.count(JAPANESE) == estimated_tokens(JAPANESE) - estimated_tokens("")
    assert one.prompt_space.count("") == 0
    assert await one.prompt_space.room("q", "en") is None


def test_a_tokenizer_of_its_own_counts(tmp_path: Path) -> None:
    own = tmp_path / "house-model"
    own.mkdir()
    shutil.copy(models_folder() / "encoder" / "tokenizer.json", own)
    one = container(
        tmp_path,
        '[chat]\nprovider = "scripted"\nmodel = "m"\n[refinement]\ntokenizer = "house-model/tokenizer.json"\n',
    )
    assert one.prompt_space.counted_by == "tokenizer house-model"
    assert one.prompt_space.count(JAPANESE) == one.encoder.count(JAPANESE)
    assert one.prompt_space.count("\ud83d") >= 0


def test_a_tokenizer_that_cannot_be_read_is_an_error_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    for name in ("broken.json", "absent.json"):
        one = container(tmp_path, f'[refinement]\ntokenizer = "{name}"\n')
        with pytest.raises(ModelUnavailable, match=name):
            one.prompt_space.count("a")


async def test_the_window_less_prompt_and_reply_is_the_room(tmp_path: Path) -> None:
    text = (
        '[chat]\nprovider = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\ncontext_window = 4096\n'
        "max_tokens = 500\n"
    )
    space = container(tmp_path, text).prompt_space
    short, long = await space.room("q", "en"), await space.room("q" * 3000, "en")
    japanese = await space.room("質問", "ja")
    assert short is not None
    assert long is not None
    assert japanese is not None
    assert 2000 < short < 4096 - 500
    assert short - long == pytest.approx(1000, abs=2)
    assert 1000 < japanese < short
    assert await container(tmp_path, text.replace("4096", "600")).prompt_space.room("q", "en") == LEAST


async def test_doctor_says_who_counts_and_warns_of_a_narrow_window(tmp_path: Path) -> None:
    found = await evidence_finding(container(tmp_path), network=False)
    assert (found.check, found.health) == ("evidence", Health.OK)
    assert found.details["strength"] == "mild"
    narrow = '[chat]\nprovider = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\ncontext_window = 2048\n'
    found = await evidence_finding(container(tmp_path, narrow), network=False)
    assert found.health is Health.WARNING
    room = found.details["room"]
    assert isinstance(room, int)
    assert LEAST <= room < 1024
    assert "max_tokens" in found.advice_template


async def test_the_window_that_a_server_tells_is_the_one_that_counts(tmp_path: Path) -> None:
    rooms = []
    for window in (2000, 3000):
        with ChatServer([], dialect=LlamaCppDialect(window=window)) as server:
            one = container(tmp_path, f'[chat]\nprovider = "llamacpp"\nmodel = "m"\nbase_url = "{server.base_url}"\n')
            rooms.append(await one.prompt_space.room("q", "en"))
            await one.close()
    small, large = rooms
    assert small is not None
    assert large is not None
    assert large - small == 1000


def test_strength_and_what_goes_before_it(tmp_path: Path) -> None:
    mild, strong, own, edges = (
        refinement_settings(container(tmp_path, f"[refinement]\n{text}\n").settings)
        for text in ("", 'strength = "strong"', 'strength = "strong"\nstrip_threshold = 0.01', 'order = "edges"')
    )
    assert strong.share("en") > mild.share("en") > 0
    assert (own.strip_threshold, own.share("en")) == (0.01, 0.0)
    assert own.neighbours == strong.neighbours
    assert edges.order is EvidenceOrder.EDGES
    with pytest.raises(SettingsInvalid, match="strength"):
        container(tmp_path, '[refinement]\nstrength = "brutal"\n')
