"""Where the structure of a text, not its punctuation, puts a border: lists, tables, headings, code, short lines.

Knows plain text and Markdown as they are written; needs no parser, so it works on a passage cut out of a document.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass


class Shape(enum.Enum):
    """How a block is to be cut."""

    PROSE = "prose"
    ITEM = "item"
    HEADING = "heading"
    ROW = "row"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """Stretch ``[start, end)`` of one shape, with the blank lines after it."""

    start: int
    end: int
    shape: Shape


_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(
    r"[ \t]{0,3}#{1,6}(?:\s|$)|[ \t]*[■◆●▼]\s*[^。.]{1,40}$"
    r"|第[0-9０-９一二三四五六七八九十百]{1,4}[章節条編部]\s[^。]*$"
)
_BULLET = re.compile(
    r"\s*(?:[-*+–—]\s|[•‣◦●○◎■□◆◇▪▫▶►➤✓✔※・⦁⁃]|[①-⑳⓪㉑-㉟❶-❿➀-➓]"
    r"|[(（\[［](?:[0-9０-９]{1,3}|[a-zA-Z]|[ivx]{1,4}|[ア-ンｱ-ﾝあ-ん一二三四五六七八九十])[)）\]］]"
    r"|(?:[0-9０-９]{1,3}|[a-zA-Z]|[ivx]{1,4}|[アイウエオカキクケコ])\.?[)）])"
)
_NUMBERED = re.compile(
    r"\s*(?:[0-9０-９]{1,3}(?:[.．][0-9０-９]{1,3}){0,3}[.．、](?=\s|[^\x00-\x7f０-９])|[ivx]{1,4}\.\s|[a-z]\.\s|[アイウエオ][.．、])"
)
# A label or a time of day in front: a field, a log line, a line of dialogue.
_LABEL = re.compile(
    r"\s*(?:[A-Z][\w./()-]*(?: [\w./()-]+){0,2}|[^\s:：。、「」.!?]{1,14})\s?[:：](?!//)\s*\S"
    r"|\[?(?:[0-9]{4}[-/])?[0-9]{1,2}[-/:][0-9]{2}[\sT:\]]"
)
_ROW = re.compile(r"[ \t]*\||[^|\n]+\s\|\s|[ \t]*:?-{3,}:?[ \t]*\||(?![^\n]*(?:。|[.!?] ))[^\t\n]+\t[^\n]*\S")
_WIDE = re.compile(r"[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff]")
_RUNS_ON = re.compile(r"[、，,・（(「『-]\s*$")
# A Japanese line that was wrapped: it ends within a clause, or the next one begins with what ends a word.
_UNFINISHED_JA = re.compile(r"(?:[はがを]|[ぁ-ん一-龠ァ-ヺ]の|.{9,}[にと])\s*$")
_REST_JA = re.compile(
    r"\s*(?:でき(?:ません|ます)|られ|れ[、るた]|んだ|った|して|します|ません|です|ます|を|ない[。、])"
)
_POLITE_END = re.compile(r"(?:です|ます|ました|でした|ません|ください)\s*$")
_LINKS_JA = re.compile(r"\s*(?:が|ので|から|けれど|と|し|、)")
# Lines of a terminal, indented below the text that speaks of them.
_PROMPT = re.compile(r"(?: {4,}|\t)\s*[$>%]\s")
_ENDED = re.compile(r"[。．.！？!?:：」』）)\"”]\s*$")
_LOWER_START = re.compile(r"\s*[a-zà-öø-ÿ]")
_INLINE_ITEM = re.compile(r"(?:^|(?<=[\s。；;、]))[(（]?([0-9０-９]{1,2})(?:[)）]|[.．][)）])|([①-⑳])")
# Narrower lines are lines on purpose; wider ones may have been wrapped.
_WRAP_WIDTH = 30
_WRAP_SHARE = 0.6


def blocks(text: str) -> list[Block]:
    """Blocks of `text` in order; contiguous, together the whole text."""
    if "\n" not in text and "\t" not in text and "|" not in text:
        shape = _shape(text) if text else Shape.PROSE
        return [Block(0, len(text), shape)] if text else []
    found: list[Block] = []
    prose: list[tuple[int, int]] = []
    for start, end, shape in _shaped_lines(text):
        if shape is Shape.PROSE:
            prose.append((start, end))
            continue
        found.extend(_paragraphs(text, prose))
        prose = []
        found.append(Block(start, end, shape))
    found.extend(_paragraphs(text, prose))
    return found


def _shaped_lines(text: str) -> Iterator[tuple[int, int, Shape]]:
    """Lines with their shape; a fenced block and a wrapped list item come as one."""
    pending: tuple[int, int, Shape] | None = None
    lines = [(m.start(), m.end()) for m in _LINE.finditer(text)]
    at = 0
    unfinished = False
    while at < len(lines):
        start, end = lines[at]
        at += 1
        line = text[start:end]
        if not line.strip():
            unfinished = False
            pending = (pending[0] if pending else start, end, pending[2] if pending else Shape.PROSE)
            continue
        fence = _FENCE.match(line)
        if fence:
            while at < len(lines):
                end = lines[at][1]
                closing = text[lines[at][0] : end].strip()
                at += 1
                if closing.startswith(fence[1]) and not closing.strip(fence[1][0]):
                    break
            shape = Shape.CODE
        elif _PROMPT.match(line) and (pending is None or pending[2] is not Shape.ITEM):
            while at < len(lines) and _PROMPT.match(text, *lines[at]):
                end = lines[at][1]
                at += 1
            shape = Shape.CODE
        else:
            shape = _shape(line, after_unfinished=unfinished)
        if pending and shape is Shape.PROSE and pending[2] is Shape.ITEM and _continues_item(text, pending, line):
            pending = (pending[0], end, Shape.ITEM)
            continue
        if pending:
            yield pending
        pending = (start, end, shape)
        unfinished = shape is Shape.PROSE and _width(line) >= _WRAP_WIDTH and not _ENDED.search(line)
    if pending:
        yield pending


def _shape(line: str, *, after_unfinished: bool = False) -> Shape:
    if _ROW.match(line):
        return Shape.ROW
    if _HEADING.match(line):
        return Shape.HEADING
    if _BULLET.match(line) or (not after_unfinished and _NUMBERED.match(line)):
        return Shape.ITEM
    return Shape.PROSE


def _continues_item(text: str, item: tuple[int, int, Shape], line: str) -> bool:
    """Whether a line without a marker belongs to the list item before it: indented, and no blank line between."""
    before = text[item[0] : item[1]]
    return line[0] in " \t\u3000" and not before.endswith(("\n\n", "\n\r\n")) and not _ENDED.search(before)


def _paragraphs(text: str, lines: list[tuple[int, int]]) -> list[Block]:
    """Consecutive plain lines as blocks: wrapped lines joined, lines that stand for themselves apart."""
    if not lines:
        return []
    contents = [text[start:end] for start, end in lines]
    widths = [_width(content) for content in contents]
    wrapped = max(_WRAP_WIDTH, _WRAP_SHARE * max(widths))
    found: list[Block] = []
    first = lines[0][0]
    for at in range(1, len(lines)):
        if not _runs_on(contents[at - 1], contents[at], wide=widths[at - 1] >= wrapped):
            found.append(Block(first, lines[at - 1][1], Shape.PROSE))
            first = lines[at][0]
    found.append(Block(first, lines[-1][1], Shape.PROSE))
    return found


def _runs_on(line: str, following: str, *, wide: bool) -> bool:
    if line.endswith(("\n\n", "\n\r\n")) or line.count("\n") > 1:
        return False
    if _LABEL.match(following):
        return False
    if _POLITE_END.search(line) and not _LINKS_JA.match(following):
        return False
    wrapped = _UNFINISHED_JA.search(line) or _REST_JA.match(following)
    return wide or bool(_RUNS_ON.search(line) or _LOWER_START.match(following) or wrapped)


def _width(line: str) -> int:
    """Columns that a line takes on a terminal, about."""
    stripped = line.strip()
    return len(stripped) + (0 if stripped.isascii() else len(_WIDE.findall(stripped)))


def items_on_one_line(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """An item as the items that were written in one line: 1) open 2) close; ①開ける②閉める. Numbers must follow on."""
    borders = [start]
    wanted = 0
    for match in _INLINE_ITEM.finditer(text, start, end):
        number = int(match[1]) if match[1] else ord(match[2]) - ord("①") + 1
        if not wanted and text[start : match.start()].strip():
            break
        if wanted and number != wanted:
            continue
        if wanted:
            borders.append(match.start())
        wanted = number + 1
    return list(zip(borders, [*borders[1:], end], strict=True))
