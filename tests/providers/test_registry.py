from __future__ import annotations

import importlib
import sys

import pytest

from tadasu.errors import ExtraMissing, PluginUnknown
from tadasu.providers.registry import ChatSettings, load_plugin, plugin_names


def test_built_in_chat_providers_are_plugins() -> None:
    assert {"openai", "scripted"} <= set(plugin_names("tadasu.chat"))
    assert load_plugin("tadasu.chat", "scripted")(ChatSettings(model="x")).id == "scripted/script"


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(PluginUnknown) as caught:
        load_plugin("tadasu.chat", "opneai")
    assert "opneai" in str(caught.value)
    assert "openai, scripted" in str(caught.value)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.delitem(sys.modules, "tadasu.providers.openai", raising=False)
    with pytest.raises(ExtraMissing) as caught:
        load_plugin("tadasu.chat", "openai")
    assert "tadasu[openai]" in caught.value.hint
    monkeypatch.undo()
    importlib.import_module("tadasu.providers.openai")
