"""Documents into passages: at the borders of sentences, rows and sections, within a budget of tokens."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tadasu.core.documents import Block, BlockKind, Document, Passage, Span
from tadasu.core.ids import digest, passage_id
from tadasu.ports import TokenCounter
from tadasu.text.language import detect
from tadasu.text.segment import segment

VERSION = "2"
"""Changes whenever the same document would be cut in another way: an index then reads it anew."""
_SHORTEST_CUT = 16


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Budgets in tokens of the encoder: the largest passage, and the size below which a section may join a foreign one.

    A document of at most 1.5 × `max_tokens` stays whole. `strip_length` is the longest strip in code points.
    """

    max_tokens: int = 256
    min_tokens: int = 48
    strip_length: int = 400

    @property
    def whole_tokens(self) -> int:
        """Up to here a document is one passage."""
        return self.max_tokens * 3 // 2


@dataclass(frozen=True, slots=True)
class _Unit:
    """A strip on its way into a passage; `part` numbers the top-level sections, `columns` are those of its table."""

    span: Span
    tokens: int
    kind: BlockKind
    page: int | None
    path: tuple[str, ...]
    part: int
    columns: str = ""


def passages_of(document: Document, counter: TokenCounter, *, settings: ChunkSettings | None = None) -> list[Passage]:
    """The passages of `document`, in order.

    Passages do not overlap, and ``document.text[p.span.start:p.span.end] == p.text``. Strips of a passage are
    contiguous from 0 to its length. A heading stays with what follows it, a passage leaves its top-level section only
    where it or the next one is tiny, tables part between rows.
    """
    settings = settings or ChunkSettings()
    units = list(_units(document, counter, settings))
    if not units:
        return []
    groups = [units] if sum(unit.tokens for unit in units) <= settings.whole_tokens else _packed(units, settings)
    return [_passage(document, group, ordinal) for ordinal, group in enumerate(groups)]


def _units(document: Document, counter: TokenCounter, settings: ChunkSettings) -> Iterator[_Unit]:
    text = document.text
    blocks = document.blocks or (Block(BlockKind.PARAGRAPH, Span(0, len(text))),)
    top = _top_level(blocks)
    path: list[tuple[int, str]] = []
    part = 0
    for block in blocks:
        content = block.span.of(text)
        if block.kind is BlockKind.HEADING:
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, _heading_name(content)))
            part += block.level <= top
        names = tuple(name for _, name in path)
        columns = _columns(content) if block.kind is BlockKind.TABLE and document.media_type == "text/markdown" else ""
        for at, (start, end, tokens) in enumerate(_fitted(content, counter, settings, language=document.language)):
            if content[start:end].strip():
                yield _Unit(
                    span=Span(start, end).shift(block.span.start),
                    tokens=tokens,
                    kind=block.kind,
                    page=block.page,
                    path=names,
                    part=part,
                    columns=columns if at else "",
                )


def _top_level(blocks: Sequence[Block]) -> int:
    """The level that parts a document: the highest, or the one below where a single heading tops it as its title."""
    levels = Counter(block.level for block in blocks if block.kind is BlockKind.HEADING)
    ordered = sorted(levels)
    if len(ordered) > 1 and levels[ordered[0]] == 1:
        return ordered[1]
    return ordered[0] if ordered else 0


def _heading_name(content: str) -> str:
    lines = [line for line in content.splitlines() if line.strip(" =-~\t")]
    return " ".join(lines[0].strip().lstrip("#").rstrip("# ").split()) if lines else ""


def _columns(content: str) -> str:
    """The head of a Markdown table as one line, for passages that begin below it."""
    return " | ".join(cell.strip() for cell in content.partition("\n")[0].strip().strip("|").split("|"))


def _fitted(
    content: str, counter: TokenCounter, settings: ChunkSettings, *, language: str
) -> Iterator[tuple[int, int, int]]:
    """Strips of a block with their tokens; those of too many are cut again."""
    limit = max(1, settings.max_tokens * 3 // 4)
    for start, end in segment(content, language=language, max_length=settings.strip_length):
        yield from _cut(content, start, end, counter, limit)


def _cut(content: str, start: int, end: int, counter: TokenCounter, limit: int) -> Iterator[tuple[int, int, int]]:
    tokens = counter.count(content[start:end])
    if tokens <= limit or end - start <= _SHORTEST_CUT:
        yield start, end, tokens
        return
    for s, e in segment(content[start:end], max_length=max(_SHORTEST_CUT, (end - start + 1) // 2)):
        yield from _cut(content, start + s, start + e, counter, limit)


def _packed(units: Sequence[_Unit], settings: ChunkSettings) -> list[list[_Unit]]:
    groups: list[list[_Unit]] = []
    current: list[_Unit] = []
    for section in _sections(units):
        if current and _may_join(current, section, settings):
            current += section
            continue
        if current:
            groups.append(current)
        *full, current = _balanced(section, settings.max_tokens)
        groups += full
    return [*groups, current]


def _may_join(current: Sequence[_Unit], section: Sequence[_Unit], settings: ChunkSettings) -> bool:
    before, after = _tokens(current), _tokens(section)
    if before + after > settings.max_tokens:
        return False
    return current[-1].part == section[0].part or min(before, after) < settings.min_tokens


def _sections(units: Sequence[_Unit]) -> list[list[_Unit]]:
    """Stretches that begin with their headings, or have none."""
    sections: list[list[_Unit]] = []
    for unit in units:
        heading = unit.kind is BlockKind.HEADING
        if not sections or (heading and sections[-1][-1].kind is not BlockKind.HEADING):
            sections.append([])
        sections[-1].append(unit)
    return sections


def _balanced(section: Sequence[_Unit], limit: int) -> list[list[_Unit]]:
    """A section in as few pieces as fit, of about one size, so that none is a left-over sentence."""
    total = _tokens(section)
    target = total / math.ceil(total / limit) if total else 0
    pieces: list[list[_Unit]] = [[]]
    size = 0
    for unit in section:
        only_headings = all(u.kind is BlockKind.HEADING for u in pieces[-1])
        if pieces[-1] and (size + unit.tokens > limit or (not only_headings and size + unit.tokens / 2 > target)):
            pieces.append([])
            size = 0
        pieces[-1].append(unit)
        size += unit.tokens
    return pieces


def _tokens(units: Sequence[_Unit]) -> int:
    return sum(unit.tokens for unit in units)


def _passage(document: Document, units: Sequence[_Unit], ordinal: int) -> Passage:
    start = units[0].span.start
    text = document.text[start : units[-1].span.end].rstrip()
    borders = [0, *(unit.span.start - start for unit in units[1:]), len(text)]
    strips = tuple(Span(a, b) for a, b in itertools.pairwise(borders))
    body = [unit for unit in units if unit.kind is not BlockKind.HEADING] or units
    weight: Counter[BlockKind] = Counter()
    for unit in body:
        weight[unit.kind] += unit.tokens
    headings = _common([unit.path for unit in body]) + ((units[0].columns,) if units[0].columns else ())
    language = detect(text)
    return Passage(
        id=passage_id(document.id, document.content_hash, ordinal),
        document_id=document.id,
        source=document.source,
        title=document.title,
        text=text,
        span=Span(start, start + len(text)),
        strips=strips,
        ordinal=ordinal,
        headings=headings,
        page=units[0].page,
        language=document.language if language == "und" else language,
        date=document.date,
        content_hash=digest(document.title, *headings, text),
        kind=weight.most_common(1)[0][0],
        origin=document.origin,
        access=document.access,
    )


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    shared = paths[0]
    for path in paths[1:]:
        length = next(
            (at for at, (a, b) in enumerate(zip(shared, path, strict=False)) if a != b), min(len(shared), len(path))
        )
        shared = shared[:length]
    return shared
