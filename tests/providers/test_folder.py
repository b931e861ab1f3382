from __future__ import annotations

import json
from pathlib import Path

import pytest

from tadasu.errors import SearchFailed, SettingsInvalid
from tadasu.ports import WebSearchSettings
from tadasu.providers.websearch.folder import FolderSearch, open_search
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld


def save(folder: Path, *pages: tuple[str, str, str]) -> FolderSearch:
    rows = []
    for name, title, text in pages:
        (folder / f"{name}.html").write_text(f"<html><body><nav>menu</nav><p>{text}</p></body></html>", "utf-8")
        rows.append({"url": f"https://{name}.example/", "title": title, "snippet": text[:20], "file": f"{name}.html"})
    (folder / "index.jsonl").write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return open_search(WebSearchSettings(folder=folder))


@pytest.mark.parametrize(
    ("query", "best"),
    [("humidity of the vault", "en"), ("保管庫の湿度は何％ですか", "ja"), ("menu", None), ("?!", None)],
)
async def test_pages_are_found_by_their_words_in_both_languages(tmp_path: Path, query: str, best: str | None) -> None:
    web = save(
        tmp_path, ("en", "Vault", "The humidity of the vault is 40 %."), ("ja", "保管庫", "保管庫の湿度は40％です。")
    )
    ledger = RunLedger(FixedWorld())
    pages = await web.search(query, limit=1, language="en", ledger=ledger)
    assert [page.url for page in pages] == ([f"https://{best}.example/"] if best else [])
    assert [call.stage.value for call in ledger.calls] == ["search"]


async def test_a_file_outside_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text("secret", "utf-8")
    web_folder = tmp_path / "web"
    web_folder.mkdir()
    row = {"url": "https://x.example/", "title": "x", "file": "../secret.html"}
    (web_folder / "index.jsonl").write_text(json.dumps(row), "utf-8")
    with pytest.raises(SearchFailed, match="outside the folder"):
        await open_search(WebSearchSettings(folder=web_folder)).search(
            "secret", limit=5, language="en", ledger=RunLedger(FixedWorld())
        )


def test_a_folder_that_is_none_is_said_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="web.folder"):
        open_search(WebSearchSettings(folder=tmp_path))
