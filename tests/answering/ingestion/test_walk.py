"""Which files of a folder are taken, how they are called, and who may see them."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from tadasu.answering.ingestion.sources import is_below, source_of
from tadasu.answering.ingestion.walk import FoundFile, Refused, roots_of, walk
from tadasu.errors import InputInvalid
from tests.answering.ingestion.making import write


def sources(folder: Path, **kwargs: Path) -> list[str]:
    return [found.source for root in roots_of(folder, **kwargs) for found in walk(root)]


def groups(folder: Path) -> dict[str, set[str] | None]:
    """Groups by source, None where no access file says any."""
    found = [item for root in roots_of(folder) for item in walk(root)]
    return {item.source: set(item.groups) if item.ruled else None for item in found if isinstance(item, FoundFile)}


def test_hidden_files_lock_files_and_our_own_are_passed_over(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", ".hidden.md", ".git/config.txt", "~$report.docx", ".tadasu/index.db", "sub/c.txt"):
        write(tmp_path / "docs" / name, "x")
    assert sources(tmp_path / "docs") == ["docs/a.md", "docs/b.md", "docs/sub/c.txt"]


def test_sources_are_the_same_from_any_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "docs" / "sub" / "a.md", "x")
    absolute = sources(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    assert sources(Path("docs")) == absolute
    monkeypatch.chdir(tmp_path / "docs" / "sub")
    assert sources(Path("..")) == absolute == ["docs/sub/a.md"]


def test_inside_the_workspace_a_source_is_the_path_from_there(tmp_path: Path) -> None:
    write(tmp_path / "work" / "docs" / "sub" / "a.md", "x")
    base = tmp_path / "work"
    assert sources(base / "docs", base=base) == sources(base / "docs" / "sub", base=base) == ["docs/sub/a.md"]
    assert sources(base / "docs" / "sub" / "a.md", base=base) == sources(base, base=base) == ["docs/sub/a.md"]


@pytest.mark.parametrize("inside", ["", "ws"])
def test_a_file_has_one_source_whichever_way_it_is_ingested(tmp_path: Path, inside: str) -> None:
    base = tmp_path / "ws"
    file = write(tmp_path / inside / "d" / "x" / "資料.md", "x")
    write(base / "tadasu.toml", "")
    expected = "d/x/資料.md" if inside else "../d/x/資料.md"
    (tmp_path / "shortcut").symlink_to(file.parent)
    ways = [file, file.parent, file.parent.parent, tmp_path, tmp_path / "shortcut", file.parent / ".." / "x"]
    assert [sources(way, base=base) for way in ways] == [[expected]] * len(ways)


def test_a_root_far_above_the_workspace_calls_files_as_the_workspace_does(tmp_path: Path) -> None:
    base = tmp_path / "a" / "b" / "ws"
    for name in ("a/b/ws/docs/1.md", "a/b/2.md", "a/3.md", "a/c/4.md", "5.md"):
        write(tmp_path / name, "x")
    assert set(sources(tmp_path, base=base)) == {
        "docs/1.md", "../2.md", "../../3.md", "../../c/4.md", "../../../5.md",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["docs/1.md", "../2.md", "../../x/4.md", "../d/e.md", "f.jsonl#g"])
def test_a_source_is_below_exactly_the_folders_above_it(name: str) -> None:
    base = Path("/a/b/c/ws")
    path = Path(os.path.normpath(base / name.partition("#")[0]))
    for folder in (*path.parents, Path("/a/b/c/other"), base / "doc", base / "docs"):
        assert is_below(name, source_of(folder, base)) == path.is_relative_to(folder), folder


def test_names_are_in_normal_form_c(tmp_path: Path) -> None:
    name = "データ.md"
    write(tmp_path / "docs" / unicodedata.normalize("NFD", name), "x")
    assert sources(tmp_path / "docs") == [f"docs/{name}"]


def test_a_name_that_is_no_utf8_is_shown_and_read(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path / "docs") + b"/\x83e.txt")).write_text("x")
    assert sources(tmp_path / "docs") == ["docs/\\udc83e.txt"]


def test_a_link_as_root_keeps_its_name(tmp_path: Path) -> None:
    write(tmp_path / "v2" / "a.md", "x")
    (tmp_path / "docs").symlink_to(tmp_path / "v2")
    assert sources(tmp_path / "docs") == ["docs/a.md"]


def test_roots_inside_another_are_walked_once(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "sub" / "a.md", "x")
    roots = roots_of([tmp_path / "docs", tmp_path / "docs" / "sub", tmp_path / "docs" / ".." / "docs"])
    assert [root.source for root in roots] == ["docs"]


def test_two_roots_of_one_name_are_refused_rather_than_mixed(tmp_path: Path) -> None:
    for side in ("left", "right"):
        write(tmp_path / side / "docs" / "a.md", "x")
    with pytest.raises(InputInvalid, match="could not be told apart"):
        roots_of([tmp_path / "left" / "docs", tmp_path / "right" / "docs"])


def test_a_root_that_is_not_there_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(InputInvalid, match="there is no such file or folder"):
        roots_of(tmp_path / "nowhere")


def test_links_inside_the_folder_are_followed_without_reading_anything_twice_or_for_ever(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    write(folder / ".data" / "now" / "a.md", "x")
    write(folder / "real" / "b.md", "x")
    (folder / "shown").symlink_to(folder / ".data" / "now")  # as Kubernetes mounts its volumes
    (folder / "again").symlink_to(folder / "real")
    (folder / "real" / "up").symlink_to(folder)
    assert sources(folder) == ["docs/real/b.md", "docs/shown/a.md"]


def test_the_nearest_access_file_holds(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs / "open.md", "x")
    write(docs / "board" / ".tadasu-access.toml", 'groups = ["board"]\n[files]\n"minutes-*.md" = ["secretaries"]\n')
    write(docs / "board" / "plan.md", "x")
    write(docs / "board" / "minutes-1.md", "x")
    write(docs / "board" / "deep" / "er" / "minutes-2.md", "x")
    write(docs / "board" / "public" / ".tadasu-access.toml", "groups = []\n")
    write(docs / "board" / "public" / "news.md", "x")
    assert groups(docs) == {
        "docs/board/deep/er/minutes-2.md": {"board"},
        "docs/board/minutes-1.md": {"secretaries"},
        "docs/board/plan.md": {"board"},
        "docs/board/public/news.md": set(),
        "docs/open.md": None,
    }


def test_an_access_file_above_the_root_holds_too(tmp_path: Path) -> None:
    write(tmp_path / "docs" / ".tadasu-access.toml", 'groups = ["board"]')
    inside = write(tmp_path / "docs" / "a" / "b" / "plan.md", "x")
    assert groups(tmp_path / "docs" / "a") == {"a/b/plan.md": {"board"}}
    assert groups(inside) == {"plan.md": {"board"}}


def test_a_link_does_not_open_what_its_target_s_folder_closes(tmp_path: Path) -> None:
    secret = write(tmp_path / "docs" / ".board" / "plan.md", "x")
    write(tmp_path / "docs" / ".board" / ".tadasu-access.toml", 'groups = ["board"]')
    (tmp_path / "docs" / "plan.md").symlink_to(secret)
    assert groups(tmp_path / "docs") == {"docs/plan.md": {"board"}}


def test_a_linked_file_is_taken_once_where_it_lies(tmp_path: Path) -> None:
    latest = write(tmp_path / "docs" / "versions" / "v3.md", "x")
    (tmp_path / "docs" / "latest.md").symlink_to(latest)
    assert sources(tmp_path / "docs") == ["docs/versions/v3.md"]


@pytest.mark.parametrize(
    "content",
    [
        "groups = board",
        "groups = [1]",
        'groups = "board"',
        "group = ['a']",
        "groups = ['a']\nextra = 1",
        "files = 3\ngroups = []",
        b"\xff\xfe",
        "",
    ],
)
def test_an_access_file_that_cannot_be_understood_closes_its_folder(tmp_path: Path, content: str | bytes) -> None:
    write(tmp_path / "docs" / "closed" / ".tadasu-access.toml", content)
    write(tmp_path / "docs" / "closed" / "deep" / "a.md", "x")
    write(tmp_path / "docs" / "open.md", "x")
    found = [item for root in roots_of(tmp_path / "docs") for item in walk(root)]
    refused = [item for item in found if isinstance(item, Refused)]
    assert [(item.source, item.error.code, item.keep, item.closes) for item in refused] == [
        ("docs/closed", "access_invalid", False, "docs/closed")
    ]
    assert [item.source for item in found if isinstance(item, FoundFile)] == ["docs/open.md"]
