"""Sentences and table rows of the evidence, made readable as quotations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tadasu.answering.generation.citations import defuse
from tadasu.answering.generation.expectation import Expected, can_answer, expect, expected_units
from tadasu.answering.generation.facts import Facts, facts_of
from tadasu.core.answers import Evidence
from tadasu.core.documents import Strip
from tadasu.text.faq import asks, question_of, without_label
from tadasu.text.normalize import fold
from tadasu.text.segment import segment

_SPACES = re.compile(r"\s+")
_BLOCK_MARK = re.compile(r"^\s*(?:#{1,6}\s+|[-*•・]\s+|>\s+)+")
_ITEM = re.compile(r"\s*(?:[-*•・]|\(?\d{1,2}[.)）]|[①-⑳])\s*\S")
_RULE = re.compile(r"[\s|:=_-]*")
_LABEL = re.compile(r"[^:：]{1,40}[:：]\s?\S")
_LABELLED = re.compile(r"^[^:：]{1,40}[:：]\s?")
_CODE = re.compile(r"[a-z]+[-_/ ]?\d|\d[-_]?[a-z]", re.IGNORECASE)
_STEM = re.compile(r"[a-z]+", re.IGNORECASE)
_YES_NO = re.compile(r"(?:yes|no|はい|いいえ|ええ)[,，、.。!！]\s*(?=\S)", re.IGNORECASE)
# Share of a question's words that a sentence must have for its yes or no to answer it.
_SAME_QUESTION = 0.75
_STOP = re.compile(r"[.!?。！？」』)）:：]$")


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence or table row of one piece of evidence, as it will be shown.

    `numbers` are the evidence numbers to cite (a table's head row too, where its words are shown); `context` are terms
    of the title and of the headings above; `about` are the codes in the passage's evidence and title, where the
    question has any; `at` is the place within the strip; `penalty` lowers scraps;
    `cells` are all values of a table row, without the names of their columns; `item` marks an
    item of a list.
    """

    text: str
    evidence: Evidence
    numbers: tuple[int, ...]
    facts: Facts
    context: frozenset[str]
    about: frozenset[str]
    at: int
    last: bool = True
    penalty: float = 0.0
    cells: tuple[str, ...] = ()
    item: bool = False


def quotes_of(piece: Evidence, evidence: Sequence[Evidence], question: str) -> list[Quote]:
    """The quotations that one piece of evidence offers; headings, titles and questions are none."""
    strip = piece.strip
    above = (
        strip.title,
        *strip.headings,
        *(other.strip.text for other in _heads(piece, evidence)),
        _asked(piece, evidence),
    )
    context = frozenset[str]().union(*(facts_of(text).terms for text in above))
    about = codes(surroundings(piece, evidence)) if codes(question) else frozenset()
    head = _table_head(strip, evidence)
    headings = {bare(text) for text in (strip.title, *strip.headings)}
    found = []
    units = [strip.text[start:end] for start, end in unit_spans(strip.text)]
    for at, unit in enumerate(units):
        if _RULE.fullmatch(unit) or unit.lstrip().startswith("#") or bare(unit) in headings or asks(unit):
            continue
        cells = cells_of(unit)
        if cells and head is piece:
            continue
        numbers: tuple[int, ...] = (piece.number,)
        if cells and is_labelled(cells):
            text = "; ".join(cell for cell in cells if cell)
        elif cells:
            text, named = _row(cells, cells_of(head.strip.text) if head else _columns(strip), question)
            numbers = (piece.number, head.number) if head and named else numbers
        else:
            said = without_label(_BLOCK_MARK.sub("", _SPACES.sub(" ", unit)).strip())
            text = _without_yes_no(said, question, context)
        text = defuse(text)
        if text:
            facts = facts_of(text)
            found.append(
                Quote(
                    text,
                    piece,
                    numbers,
                    facts,
                    context,
                    about,
                    at,
                    last=at == len(units) - 1,
                    penalty=_penalty(unit, facts),
                    cells=_values(cells),
                    item=not cells and _ITEM.match(unit) is not None,
                )
            )
    return found


def _without_yes_no(text: str, question: str, context: frozenset[str]) -> str:
    """`text` without a yes or no that answers another question than this one, as those of FAQs do."""
    match = _YES_NO.match(text)
    if match is None:
        return text
    asked = facts_of(question).terms
    said = facts_of(text).terms | context
    if expect(question) is Expected.YES_NO and len(asked & said) >= _SAME_QUESTION * len(asked):
        return text
    rest = text[match.end() :]
    return rest[:1].upper() + rest[1:]


def bare(text: str) -> str:
    """`text` as headings are compared: folded, without marks and end."""
    return _SPACES.sub(" ", _BLOCK_MARK.sub("", fold(text))).strip(" #:").casefold()


def cells_of(line: str) -> tuple[str, ...]:
    """The cells of a table row written with bars or tabs; nothing where `line` is no row."""
    line = line.strip()
    if "\n" in line:
        line = next((one for one in line.splitlines() if not _RULE.fullmatch(one)), "")
    separator = "\t" if "\t" in line else "|"
    cells = tuple(cell.strip() for cell in line.strip("|").split(separator)) if separator in line.strip("|") else ()
    return cells if len(cells) > 1 else ()


def is_labelled(cells: Sequence[str]) -> bool:
    """Whether a row names its columns itself, as rows of CSV files do: ``Model: A-1 | Price: 3``.

    >>> is_labelled(("Model: A-1", "Price: 3")), is_labelled(("A-1", "3"))
    (True, False)
    """
    written = [cell for cell in cells if cell]
    return bool(written) and all(_LABEL.match(cell) for cell in written)


def _values(cells: Sequence[str]) -> tuple[str, ...]:
    if not is_labelled(cells):
        return tuple(cells)
    return tuple(_LABELLED.sub("", cell) for cell in cells)


@lru_cache(maxsize=2048)
def codes(text: str) -> frozenset[str]:
    """The names in `text` that are codes: letters and figures together, such as PT-3051."""
    facts = facts_of(text)
    if not _CODE.search(facts.flat):
        return frozenset()
    return frozenset(name for name in facts.names if _CODE.search(fold(name)))


def surroundings(piece: Evidence, evidence: Sequence[Evidence]) -> str:
    """All that the evidence says of the passage that `piece` comes from: its strips, title, headings and source."""
    passage = (other.strip.text for other in evidence if other.strip.passage_id == piece.strip.passage_id)
    return "\n".join((*passage, label(piece)))


def label(piece: Evidence) -> str:
    """What a piece of evidence stands under: title, headings, source."""
    strip = piece.strip
    return "\n".join((strip.title, *strip.headings, strip.source))


def code_stem(code: str) -> str:
    """What a family of codes has in common: the letters that it begins with, in lower case."""
    match = _STEM.match(fold(code))
    return match.group().lower() if match else ""


@lru_cache(maxsize=4096)
def unit_spans(text: str) -> tuple[tuple[int, int], ...]:
    """The sentences and lines of a strip as ``[start, end)``, in the order that `Quote.at` counts them."""
    return segment(text)


def _heads(piece: Evidence, evidence: Sequence[Evidence]) -> list[Evidence]:
    """Short strips without a full stop that stand before the piece in its passage: its headings, a row's head row."""
    row = bool(cells_of(piece.strip.text))
    return [
        other
        for other in evidence
        if other.strip.passage_id == piece.strip.passage_id
        and other.strip.index < piece.strip.index
        and not _STOP.search(other.strip.text.strip())
        and len(other.strip.text) < 80
        and (row or not cells_of(other.strip.text))
    ]


def _asked(piece: Evidence, evidence: Sequence[Evidence]) -> str:
    """The question of the same passage that the piece answers; empty where there is none."""
    passage = sorted(
        (other.strip for other in evidence if other.strip.passage_id == piece.strip.passage_id),
        key=lambda strip: strip.index,
    )
    texts = [strip.text for strip in passage]
    at = next(i for i, strip in enumerate(passage) if strip.index == piece.strip.index)
    asked = question_of(texts, at)
    return texts[asked] if asked is not None else ""


def _table_head(strip: Strip, evidence: Sequence[Evidence]) -> Evidence | None:
    """The first row of the table that `strip` is a row of, if it is among the evidence."""
    cells = cells_of(strip.text)
    width = 0 if is_labelled(cells) else len(cells)
    rows = [
        other
        for other in evidence
        if other.strip.passage_id == strip.passage_id and width and len(cells_of(other.strip.text)) == width
    ]
    first = min(rows, key=lambda other: other.strip.index, default=None)
    if first is None or first.strip.index > strip.index:
        return None
    # Without its head (left out for its length, say) a table begins with a row of figures.
    figures = sum(any(c.isdigit() for c in cell) for cell in cells_of(first.strip.text))
    return first if 2 * figures < width else None


def _columns(strip: Strip) -> tuple[str, ...]:
    """The head of the table that a passage begins below of, as ingestion keeps it: the last heading, with bars."""
    return cells_of(strip.headings[-1]) if strip.headings else ()


def _row(cells: Sequence[str], head: Sequence[str], question: str) -> tuple[str, bool]:
    """A table row as "first cell: head cell; head cell", only the columns asked for where some are."""
    if len(head) != len(cells) or head == cells:
        return " / ".join(cell for cell in cells if cell), False
    asked = facts_of(question).terms
    pairs = [(h, c) for h, c in zip(head[1:], cells[1:], strict=True) if c]
    named = [(h, c) for h, c in pairs if facts_of(h).terms & asked]
    wanted = pairs if not named or _lacks_kind(named, question) else named
    told = "; ".join(f"{h} {c}" if h else c for h, c in wanted)
    return (f"{cells[0]}: {told}" if told else cells[0]), True


def _lacks_kind(pairs: Sequence[tuple[str, str]], question: str) -> bool:
    """Whether the question tells what it asks for, and none of these cells holds such a thing."""
    asked, kind, units = facts_of(question), expect(question), expected_units(question)
    return not any(can_answer(kind, facts_of(cell), asked, units=units) for _, cell in pairs)


def _penalty(unit: str, facts: Facts) -> float:
    text = unit.strip()
    scrap = len(facts.terms) < 2
    return 0.3 * scrap + 0.15 * (not _STOP.search(text))
