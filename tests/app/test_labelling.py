from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tadasu.app.labelling import Asking, PairRef, pool_of_runs, read_questions
from tadasu.core.documents import Origin, Passage, Reader, Scope, Span
from tadasu.core.grades import Level
from tadasu.errors import InputInvalid
from tadasu.runtime.world import FixedWorld
from tests.cli.samples import Runs, answered, candidate, round_of


class Store:
    def __init__(self, *hidden: str) -> None:
        self.hidden = set(hidden)

    async def fetch(self, ids: Sequence[str], *, scope: Scope) -> list[Any]:
        assert scope.reader == Reader()
        return [
            SimpleNamespace(passage=Passage(id_, "d", "a.md", "A", "text", Span(0, 4), (Span(0, 4),)))
            for id_ in ids
            if id_ not in self.hidden
        ]


def container(*hidden: str, runs: Runs | None = None) -> Any:
    world = FixedWorld()
    return SimpleNamespace(store=Store(*hidden), reader=Reader(), chance=world, runs=runs or Runs())


def pool(**counts: int) -> list[PairRef]:
    return [
        PairRef(f"question {at}?", f"p-{level}-{at}", 0.5, Level(level))
        for level, count in counts.items()
        for at in range(count)
    ]


async def asked_for(asking: Asking, count: int) -> list[PairRef]:
    found = []
    for _ in range(count):
        asked = await asking.next()
        if asked is None:
            break
        asking.answered(asked)
        found.append(asked.pair)
    return found


async def test_half_come_from_where_the_grader_is_not_sure() -> None:
    asking = Asking(container(), pool(low=500, medium=60, high=80), known=())
    found = Counter(pair.level for pair in await asked_for(asking, 60))
    assert found == {Level.MEDIUM: 30, Level.HIGH: 18, Level.LOW: 12}


async def test_the_proportions_hold_over_sessions_and_no_pair_comes_twice() -> None:
    pairs = pool(low=500, medium=60, high=80)
    first = await asked_for(Asking(container(), pairs, known=()), 10)
    again = Asking(container(), pairs, known=[pair.key for pair in first])
    second = await asked_for(again, 20)
    assert not {pair.key for pair in first} & {pair.key for pair in second}
    assert Counter(pair.level for pair in first + second) == {Level.MEDIUM: 15, Level.HIGH: 9, Level.LOW: 6}
    assert again.left == 640 - 30


async def test_where_a_level_is_used_up_the_others_go_on_to_the_last() -> None:
    asking = Asking(container(), pool(low=30, medium=2), known=())
    assert len(await asked_for(asking, 100)) == 32
    assert await asking.next() is None


async def test_shares_say_how_large_each_part_is() -> None:
    asking = Asking(container(), pool(low=90, high=10), known=())
    shares = set()
    while (asked := await asking.next()) is not None:
        shares.add((asked.pair.level, asked.share))
    assert shares == {(Level.LOW, 0.9), (Level.HIGH, 0.1)}


async def test_what_the_reader_may_not_see_is_passed_over() -> None:
    asking = Asking(container("p-high-0", "p-high-2"), pool(high=3), known=())
    assert [pair.passage_id for pair in await asked_for(asking, 10)] == ["p-high-1"]


def test_pairs_of_runs_come_once_and_never_from_the_web_or_ungraded() -> None:
    runs = Runs()
    one = round_of(
        candidate("a.md"),
        candidate("b.md", level=Level.UNGRADED),
        candidate("https://x.example", origin=Origin.WEB),
    )
    for number in range(2):
        runs.save(answered("How?", run_id=f"r{number}", rounds=(one,)))
    runs.save(answered("それは?", run_id="r3", query="PHM-7の保証は?", rounds=(one,)))
    found = pool_of_runs(container(runs=runs))
    assert {(pair.question, pair.passage_id) for pair in found} == {
        ("How?", "p-a.md-0"), ("PHM-7の保証は?", "p-a.md-0"),
    }  # fmt: skip
    with pytest.raises(InputInvalid, match="no question has been asked"):
        pool_of_runs(container())


def test_questions_are_read_as_text_or_json_in_any_encoding(tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_bytes(
        '保証期間は何年ですか\r\n\r\n{"question": "修理はどこですか"}\r\n保証期間は何年ですか\r\n'.encode("cp932")
    )
    assert read_questions(path) == ["保証期間は何年ですか", "修理はどこですか"]
    path.write_text('{"question": 3}\n', encoding="utf-8")
    with pytest.raises(InputInvalid, match="line 1"):
        read_questions(path)
    path.write_text("\n\n", encoding="utf-8")
    with pytest.raises(InputInvalid, match="holds no questions"):
        read_questions(path)
    with pytest.raises(InputInvalid, match="cannot be read"):
        read_questions(tmp_path / "none.txt")
