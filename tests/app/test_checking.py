"""Which checker a workspace has, as its settings say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tadasu.answering.generation.llm_checking import LlmChecker
from tadasu.app.container import Container
from tadasu.app.settings import Settings
from tadasu.app.workspace import Workspace
from tadasu.errors import PluginUnknown, SettingsInvalid
from tadasu.ports import Claim
from tadasu.providers.nli import NliChecker
from tadasu.providers.support import SupportHead
from tadasu.runtime.ledger import RunLedger
from tests.answering.grading.tiny_models import numbers, write_classifier


def container(root: Path, **tables: dict[str, object]) -> Container:
    return Container(Workspace(root), Settings.model_validate(tables))


def test_the_shipped_head_is_the_default_and_can_be_left_out(tmp_path: Path) -> None:
    assert isinstance(container(tmp_path).support_model, SupportHead)
    assert container(tmp_path, checking={"model": ""}).support_model is None


async def test_a_classifier_in_a_folder_of_the_workspace(tmp_path: Path) -> None:
    labels = {"id2label": {"0": "entailment", "1": "neutral"}}
    write_classifier(tmp_path / "models" / "nli", np.zeros((len(numbers()), 2), np.float32), config=labels)
    opened = container(tmp_path, checking={"model": "onnx", "path": "models/nli"})
    model = opened.support_model
    assert isinstance(model, NliChecker)
    assert await model.support([Claim("It is.", "It is.")], ledger=RunLedger(opened.clock)) == [0.5]


def test_a_chat_model_checks_by_the_role_check(tmp_path: Path) -> None:
    roles = {"check": {"provider": "openai", "model": "small", "base_url": "http://127.0.0.1:9/v1"}}
    chat: dict[str, object] = {"provider": "scripted", "model": "large", "roles": roles}
    model = container(tmp_path, checking={"model": "llm"}, chat=chat).support_model
    assert isinstance(model, LlmChecker)
    assert "openai/small" in model.id


@pytest.mark.parametrize(
    ("checking", "error", "told"),
    [
        ({"model": "llm"}, SettingsInvalid, "chat.provider"),
        ({"model": "onnx"}, SettingsInvalid, "checking.path"),
        ({"model": "oracle"}, PluginUnknown, "llm, onnx, shipped"),
    ],
)
def test_what_cannot_be_opened_says_what_to_set(
    tmp_path: Path, checking: dict[str, object], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told.replace(".", r"\.")):
        _ = container(tmp_path, checking=checking).support_model
