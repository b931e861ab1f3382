"""stats, doctor and `cache clear`: what a user sees of the score cache."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from tadasu.app.tadasu import Tadasu
from tadasu.cli.run_tree import _call
from tadasu.core import usage
from tadasu.core.usage import DOLLARS
from tests.cli.conftest import Call
from tests.storage.valkey import Server


@pytest.fixture
def workspace(call: Call, tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    assert call("init", root, "--offline").code == 0
    return root


def engine(workspace: Path, text: str) -> None:
    toml = workspace / "tadasu.toml"
    written = toml.read_text(encoding="utf-8")
    assert written.count("[cache]\n") == 1
    toml.write_text(written.replace("[cache]\n", f"[cache]\n{text}\n"), encoding="utf-8")


def fill(workspace: Path) -> None:
    async def work() -> None:
        async with Tadasu.open(workspace) as tadasu:
            cache = tadasu.container.cache
            assert cache is not None
            await cache.put({"a": b"1", "b": b"2"})
            await cache.get(["a", "b", "a", "c"])
            await cache.get(["a"])

    asyncio.run(work())


def cache_line(call: Call, workspace: Path, *options: str) -> dict[str, str]:
    findings = call("-w", workspace, "doctor", "--offline", "--json", *options).json["findings"]
    [line] = [one for one in findings if one["check"] == "cache"]
    return {name: str(value) for name, value in line.items()}


def test_stats_and_doctor_say_how_the_cache_does(call: Call, workspace: Path) -> None:
    empty = call("-w", workspace, "stats", "--json").json["cache"]
    assert (empty["entries"], empty["hit_rate"]) == (0, None)
    assert "nothing was looked up yet" in cache_line(call, workspace)["message"]
    fill(workspace)
    cache = call("-w", workspace, "stats", "--json").json["cache"]
    assert (cache["entries"], cache["hits"], cache["misses"], cache["hit_rate"]) == (2, 3, 1, 0.75)
    assert 0 < cache["bytes"] < 1000
    assert "score cache: 2 scores, 0.0 MB; 75% of 4 look-ups found" in call("-w", workspace, "stats").out
    japanese = call("-w", workspace, "stats", "--lang", "ja").out
    assert "スコアキャッシュ: 2 件、0.0 MB。4 回の参照のうち 75% が見つかりました" in japanese
    line = cache_line(call, workspace)
    assert (line["status"], "sqlite: 2 scores, 75% of 4" in line["message"]) == ("ok", True)


def test_clearing_forgets_scores_and_counts_and_nothing_else(call: Call, workspace: Path) -> None:
    fill(workspace)
    shown = call("-w", workspace, "cache", "clear")
    assert (shown.code, shown.out) == (0, "Forgotten: 2 scores.\n")
    assert call("-w", workspace, "cache", "clear", "--lang", "ja").out == "0 件のスコアを忘れました。\n"
    assert call("-w", workspace, "cache", "clear", "--json").json == {"engine": "sqlite", "removed": 0}
    counts = call("-w", workspace, "stats", "--json").json["cache"]
    assert (counts["entries"], counts["hits"], counts["misses"]) == (0, 0, 0)


def test_without_a_cache_there_is_nothing_to_say(call: Call, workspace: Path) -> None:
    engine(workspace, 'engine = ""')
    assert call("-w", workspace, "stats", "--json").json["cache"] is None
    assert "score cache" not in call("-w", workspace, "stats").out
    assert call("-w", workspace, "cache", "clear").out == "The score cache is off.\n"
    assert call("-w", workspace, "cache", "clear", "--json").json == {"engine": None, "removed": 0}
    assert (cache_line(call, workspace)["status"]) == "ok"


def test_a_file_that_cannot_be_used_is_a_warning_and_not_an_error(call: Call, workspace: Path) -> None:
    (workspace / ".tadasu" / "scores.db").mkdir()
    assert call("-w", workspace, "stats").code == 0
    line = cache_line(call, workspace)
    assert line["status"] == "warning"
    assert "every passage is scored anew" in line["message"]
    assert "the folder and the disk" in line["advice"]
    shown = call("-w", workspace, "cache", "clear")
    assert shown.code == 6
    assert "[store_unwritable]" in shown.err


def test_a_server_is_shared_and_its_absence_is_a_warning(
    call: Call, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(workspace, 'engine = "redis"')
    monkeypatch.delenv("TADASU_REDIS_URL", raising=False)
    line = cache_line(call, workspace)
    assert line["status"] == "error"
    assert "TADASU_REDIS_URL" in line["message"]
    with Server() as server:
        monkeypatch.setenv("TADASU_REDIS_URL", server.url)
        fill(workspace)
        assert call("-w", workspace, "stats", "--json").json["cache"]["hit_rate"] == 0.75
        assert "redis: 2 scores, 75% of 4" in cache_line(call, workspace)["message"]
        assert call("-w", workspace, "cache", "clear").out == "Forgotten: 2 scores.\n"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("TADASU_REDIS_URL", f"redis://127.0.0.1:{taken.getsockname()[1]}/0")
        line = cache_line(call, workspace)
        assert line["status"] == "warning"
        assert "Start its server" in line["advice"]
        assert "サーバーを起動する" in cache_line(call, workspace, "--lang", "ja")["advice"]
        assert call("-w", workspace, "stats").code == 0
        shown = call("-w", workspace, "cache", "clear")
        assert "[provider_unreachable]" in shown.err


def test_a_run_says_what_it_was_spared() -> None:
    spared = usage.Call(usage.Stage.GRADE, "cache", "student-1", duration_ms=0.4, items=7, cached=7)
    scored = usage.Call(usage.Stage.GRADE, "local", "student-1", duration_ms=40.0, items=3)
    assert "cache/student-1" in str(_call(spared, DOLLARS))
    assert "7 items · 7 from the cache · $0" in str(_call(spared, DOLLARS))
    assert "from the cache" not in str(_call(scored, DOLLARS))
