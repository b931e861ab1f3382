"""The scheduler as the settings make it, and what goes through it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadasu.app.container import Container
from tadasu.app.scheduling import open_scheduler, rations
from tadasu.app.settings import load_settings
from tadasu.app.workspace import Workspace
from tadasu.core.limits import Ration
from tadasu.errors import SettingsInvalid
from tadasu.providers.billing import BilledChat
from tadasu.runtime.scheduling.wrappers import ScheduledChat, ScheduledWebSearch
from tadasu.runtime.world import FixedWorld

TOML = """
[limits]
in_flight = 3
per_second = 0
tokens_per_minute = 1000

[limits.providers.openai]
in_flight = 1
per_second = 2.5

[limits.providers]
brave = { tokens_per_minute = 0 }
"en.wikipedia.org" = { per_second = 1 }
"""


def _container(folder: Path, text: str) -> Container:
    (folder / "tadasu.toml").write_text(text, "utf-8")
    return Container(Workspace(folder), load_settings(folder / "tadasu.toml"))


def test_what_a_provider_does_not_say_is_as_for_all_and_0_is_no_limit(tmp_path: Path) -> None:
    (tmp_path / "tadasu.toml").write_text(TOML, "utf-8")
    limits = rations(load_settings(tmp_path / "tadasu.toml").limits)
    assert limits.of("tavily") == Ration(3, None, 1000)
    assert limits.of("openai") == Ration(1, 2.5, 1000)
    assert limits.of("brave") == Ration(3, None, None)
    assert limits.of("en.wikipedia.org") == Ration(3, 1.0, 1000)


def test_limits_for_nobody_are_a_mistake_that_is_named(tmp_path: Path) -> None:
    settings = load_settings(None, limits={"providers": {"opnai": {"in_flight": 2}}})
    world = FixedWorld()
    with pytest.raises(SettingsInvalid, match=r"limits\.providers\.opnai is no provider .* openai"):
        open_scheduler(settings, clock=world, chance=world)


def test_a_server_to_share_limits_through_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    world, settings = FixedWorld(), load_settings(None, limits={"engine": "redis", "url_variable": "TADASU_NOWHERE"})
    monkeypatch.delenv("TADASU_NOWHERE", raising=False)
    with pytest.raises(SettingsInvalid, match="not set"):
        open_scheduler(settings, clock=world, chance=world)


async def test_chat_and_web_go_through_one_scheduler_and_what_is_our_own_does_not(tmp_path: Path) -> None:
    container = _container(
        tmp_path,
        '[chat]\nprovider = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'
        '[web]\nprovider = "searxng"\nfall_back = ["brave"]\n[web.searxng]\nbase_url = "http://127.0.0.1:9"\n',
    )
    assert isinstance(container.chat, ScheduledChat)
    assert container.web is not None
    assert all(isinstance(one, ScheduledWebSearch) for one in container.web._providers)
    assert container.scheduler is container.scheduler
    await container.close()


async def test_a_scripted_model_needs_no_turn(tmp_path: Path) -> None:
    container = _container(tmp_path, '[chat]\nprovider = "scripted"\nmodel = "m"\n')
    assert isinstance(container.chat, BilledChat)
    await container.close()
