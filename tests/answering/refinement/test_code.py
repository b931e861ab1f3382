from __future__ import annotations

import pytest

from tadasu.answering.refinement import RefinementSettings, refine
from tadasu.answering.refinement.code import MOST_PIECES
from tadasu.core.documents import BlockKind
from tests.answering.writing import Words, graded, passage

EN = ["Restart it like this:\n\n", "```sh\nsystemctl stop a\n", "sleep 3\n", "systemctl start a\n```\n\n", "Then wait."]
JA = ["次のように再起動する。\n\n", "```sh\nsystemctl stop a\n", "sleep 3\n", "systemctl start a\n```\n\n", "待つ。"]


def kept(texts: list[str], scores: list[float], *, kind: BlockKind = BlockKind.PARAGRAPH) -> list[int]:
    one = graded(passage(texts, kind=kind), 0.9, scores)
    refined = refine([one], counter=Words(), settings=RefinementSettings(neighbours=0))
    return [piece.strip.index for piece in refined.evidence]


@pytest.mark.parametrize("text", [EN, JA])
def test_a_block_of_code_goes_on_whole_with_any_part_of_it(text: list[str]) -> None:
    assert kept(text, [0.0, 0.0, 0.9, 0.0, 0.0]) == [1, 2, 3]


@pytest.mark.parametrize("text", [EN, JA])
def test_a_block_of_code_that_a_kept_sentence_announces_goes_on(text: list[str]) -> None:
    assert kept(text, [0.9, 0.0, 0.0, 0.0, 0.0]) == [0, 1, 2, 3]
    assert kept([text[0], "```\nls\n```\n", text[4]], [0.9, 0.0, 0.0]) == [0, 1]


def test_a_block_whose_end_the_passage_cuts_off_reaches_to_its_end() -> None:
    assert kept(["Text. ", "~~~\na = 1\n", "b = 2\n"], [0.0, 0.9, 0.0]) == [1, 2]


def test_text_between_two_blocks_is_no_code() -> None:
    text = ["```\na\n", "b\n```\n", "Between them. ", "```\nc\n", "d\n```\n"]
    assert kept(text, [0.9, 0.0, 0.0, 0.0, 0.0]) == [0, 1]
    assert kept(text, [0.0, 0.0, 0.9, 0.0, 0.0]) == [2]


def test_a_passage_of_code_alone_is_one_block_and_a_long_one_is_cut() -> None:
    lines = [f"line {n}\n" for n in range(MOST_PIECES)]
    assert kept(lines, [0.9, *[0.0] * (len(lines) - 1)], kind=BlockKind.CODE) == list(range(MOST_PIECES))
    lines.append("one more\n")
    assert kept(lines, [0.9, *[0.0] * (len(lines) - 1)], kind=BlockKind.CODE) == [0]
