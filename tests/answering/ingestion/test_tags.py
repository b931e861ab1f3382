"""Who may see a document after a second ingest that says nothing, something else, or is broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tadasu.answering.ingestion.pipeline import Ingestion
from tadasu.answering.ingestion.report import IngestReport
from tadasu.answering.ingestion.tags import TagMemory, Tags
from tadasu.core.documents import Reader
from tadasu.errors import InputInvalid, StoreUnwritable
from tadasu.runtime.world import FixedWorld
from tadasu.testing.memory_store import MemoryStore
from tests.answering.ingestion.making import LetterEncoder, WordCounter, memory_store, write

BOARD = frozenset({"board"})
NOBODY_SAID = None
OPEN = frozenset[str]()


class Place:
    """A workspace with one index, ingested into again and again."""

    def __init__(self, folder: Path) -> None:
        self.base = folder
        self.store: MemoryStore = memory_store()
        self.memory = folder / "groups.json"
        write(folder / "tadasu.toml", "")

    async def ingest(
        self, *names: str, groups: frozenset[str] | None = NOBODY_SAID, prune: bool = True
    ) -> IngestReport:
        ingestion = Ingestion(
            index=self.store, encoder=LetterEncoder(), counter=WordCounter(), clock=FixedWorld(),
            memory=TagMemory(self.memory),
        )  # fmt: skip
        return await ingestion.run([self.base / name for name in names], groups=groups, base=self.base, prune=prune)

    async def seen(self, *groups: str) -> set[str]:
        return {source for _, source in await self.store.sources(reader=Reader(groups=frozenset(groups)))}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path / "ws")
    write(place.base / "docs" / "a.md", "Open.")
    write(place.base / "docs" / "board" / "b.md", "Secret.")
    write(place.base / "docs" / "board" / "報酬.jsonl", '{"id": "x", "text": "秘密です。"}\n')
    return place


ROWS = "docs/board/報酬.jsonl#x"


@pytest.mark.parametrize("again", ["docs/board", "docs", "docs/board/b.md", "", ".."])
async def test_groups_stay_until_somebody_says_otherwise(place: Place, again: str) -> None:
    await place.ingest("docs/board", groups=BOARD)
    assert await place.seen() == set()
    report = await place.ingest(again)
    assert report.updated == 0
    assert report.kept_files == (1 if again.endswith("b.md") else 2)
    assert report.kept_groups == ("board",)
    assert await place.seen() <= {"docs/a.md"}
    assert await place.seen("board") >= {"docs/board/b.md", ROWS}


@pytest.mark.parametrize(
    ("said", "everybody", "audit"), [(OPEN, True, True), (frozenset({"audit"}), False, True), (BOARD, False, False)]
)
async def test_only_saying_so_changes_groups(place: Place, said: frozenset[str], everybody: bool, audit: bool) -> None:
    await place.ingest("docs/board", groups=BOARD)
    report = await place.ingest("docs", groups=said)
    assert report.kept_files == 0
    for _ in range(2):
        assert ("docs/board/b.md" in await place.seen()) is everybody
        assert ("docs/board/b.md" in await place.seen("audit")) is audit
        assert (await place.ingest("docs")).updated == 0


async def test_an_access_file_opens_what_was_restricted_by_hand(place: Place) -> None:
    await place.ingest("docs/board", groups=BOARD)
    write(place.base / "docs" / "board" / ".tadasu-access.toml", "groups = []")
    report = await place.ingest("docs")
    assert (report.updated, report.kept_files) == (2, 0)
    assert ROWS in await place.seen()


@pytest.mark.parametrize("emptied", [False, True])
async def test_a_new_file_takes_the_groups_of_the_folder(place: Place, emptied: bool) -> None:
    await place.ingest("docs/board", groups=BOARD)
    if emptied:
        (place.base / "docs" / "board" / "b.md").unlink()
        (place.base / "docs" / "board" / "報酬.jsonl").unlink()
        await place.ingest("docs")
    write(place.base / "docs" / "board" / "2027" / "new.md", "New and secret.")
    await place.ingest("docs")
    assert await place.seen() == {"docs/a.md"}
    assert "docs/board/2027/new.md" in await place.seen("board")


async def test_the_groups_outlive_the_index(place: Place) -> None:
    await place.ingest("docs/board", groups=BOARD)
    place.store = memory_store()
    await place.ingest("docs")
    assert await place.seen() == {"docs/a.md"}


async def test_a_part_of_a_restricted_folder_can_be_opened_for_good(place: Place) -> None:
    await place.ingest("docs", groups=BOARD)
    await place.ingest("docs/board/b.md", groups=OPEN)
    place.store = memory_store()
    await place.ingest("docs")
    assert await place.seen() == {"docs/board/b.md"}


async def test_a_lost_access_file_opens_nothing(place: Place) -> None:
    rule = write(place.base / "docs" / "board" / ".tadasu-access.toml", 'groups = ["board"]')
    await place.ingest("docs")
    rule.unlink()
    write(place.base / "docs" / "board" / "c.md", "New beside the others.")
    report = await place.ingest("docs")
    assert (report.added, report.updated, report.kept_files) == (1, 0, 3)
    assert await place.seen() == {"docs/a.md"}


async def test_a_file_outside_the_workspace_keeps_its_groups_whichever_way_it_comes(place: Place) -> None:
    write(place.base.parent / "d" / "x" / "a.md", "Secret.")
    await place.ingest("../d/x", groups=BOARD)
    for way in ("../d", "../d/x/a.md", "../d/x"):
        assert (await place.ingest(way)).unchanged == 1
    assert await place.seen("board") == {"../d/x/a.md"}
    assert await place.seen() == set()
    (place.base.parent / "d" / "x" / "a.md").unlink()
    assert (await place.ingest("../d")).removed == 1


@pytest.mark.parametrize("prune", [True, False])
@pytest.mark.parametrize("again", ["docs/board", "docs", "docs/board/b.md", "docs/board/deep"])
async def test_a_broken_access_file_hides_all_below_it_until_it_is_mended(
    place: Place, again: str, prune: bool
) -> None:
    write(place.base / "docs" / "board" / "deep" / "d.md", "Secret too.")
    rule = place.base / "docs" / "board" / ".tadasu-access.toml"
    write(rule, 'groups = ["board"]')
    await place.ingest("docs")
    write(rule, 'groups = "board"')
    report = await place.ingest(again, prune=prune)
    assert [failure.code for failure in report.failed] == ["access_invalid"]
    assert "nobody is shown anything of this folder" in report.failed[0].message
    assert report.removed == 3
    assert await place.seen("board") == {"docs/a.md"}
    write(rule, 'groups = ["board"]')
    await place.ingest("docs")
    assert await place.seen("board") == {"docs/a.md", "docs/board/b.md", "docs/board/deep/d.md", ROWS}
    assert await place.seen() == {"docs/a.md"}


async def test_what_cannot_be_read_back_stops_the_ingest_before_it_opens_anything(place: Place) -> None:
    await place.ingest("docs/board", groups=BOARD)
    for broken in ("{", "[]", '{"default": {"docs": "board"}}', '{"default": {"docs": [1]}}'):
        place.memory.write_text(broken)
        with pytest.raises(InputInvalid, match="cannot be read back"):
            await place.ingest("docs")
    assert await place.seen() == set()


def test_the_latest_word_replaces_what_was_said_below(tmp_path: Path) -> None:
    memory = TagMemory(tmp_path / "groups.json")
    memory.say("default", ["docs/a", "docs/b/c", "other"], BOARD)
    memory.say("two", ["docs"], BOARD)
    memory.say("default", ["docs"], OPEN)
    memory.say("default", ["../beside"], frozenset({"監査", "audit"}))
    assert json.loads((tmp_path / "groups.json").read_text(encoding="utf-8")) == {
        "default": {"docs": [], "other": ["board"], "../beside": ["audit", "監査"]},
        "two": {"docs": ["board"]},
    }
    memory.say("default", [""], BOARD)
    assert memory.of("default") == {"": BOARD, "../beside": frozenset({"監査", "audit"})}
    assert [path.name for path in tmp_path.iterdir()] == ["groups.json"]


def test_a_memory_without_its_folder_makes_it_and_says_where_it_cannot(tmp_path: Path) -> None:
    TagMemory(tmp_path / "new" / "groups.json").say("default", ["docs"], BOARD)
    assert TagMemory(tmp_path / "new" / "groups.json").of("default") == {"docs": BOARD}
    write(tmp_path / "file", "x")
    with pytest.raises((StoreUnwritable, InputInvalid)):
        TagMemory(tmp_path / "file" / "groups.json").say("default", ["docs"], BOARD)


def test_the_nearest_word_holds_and_rows_speak_for_their_file() -> None:
    tags = Tags(
        known={
            "faq#1.jsonl#a": BOARD,
            "faq#1.jsonl#b": OPEN,
            "open/x.md": OPEN,
            "mixed/1.md": BOARD,
            "mixed/2.md": OPEN,
        },
        remembered={"docs": BOARD, "docs/press": OPEN, "..": frozenset({"staff"}), "../x": OPEN},
    )
    assert tags.of("docs/press/new.md").groups == OPEN
    assert tags.of("docs/new.md").groups == BOARD
    assert tags.of("../x/1.md").groups == OPEN
    assert tags.of("../y/1.md").groups == {"staff"}
    assert tags.of("faq#1.jsonl").groups == BOARD
    without = Tags(known={"open/x.md": OPEN, "mixed/1.md": BOARD, "mixed/2.md": OPEN, "all/1.md": BOARD})
    assert [without.of(name).groups for name in ("open/n.md", "mixed/n.md", "all/n.md")] == [OPEN, OPEN, BOARD]
