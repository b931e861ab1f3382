"""Where an answer stands in a text, and whether a text says it in any form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from tadasu.testing.datasets import holds_answer, normal
from training.grader.rows import Span

_AROUND = " \t\n.,;:!?'\"“”‘’()[]{}「」『』【】（）〈〉《》［］、。・，．：；？！"
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)
_PAREN = re.compile(r"\s*[(（][^()（）]*[)）]\s*")
_LONG = 3


def aliases(answers: Sequence[str]) -> tuple[str, ...]:
    """The answers and their bare forms: without marks around them, a leading article, or what stands in brackets.

    >>> aliases(("『鉄腕アトム』",)), aliases(("the Panthers.",))
    (('『鉄腕アトム』', '鉄腕アトム'), ('the Panthers.', 'the Panthers', 'Panthers'))
    """
    found: dict[str, None] = {}
    for answer in answers:
        bare = answer.strip(_AROUND)
        for form in (answer.strip(), bare, _ARTICLE.sub("", bare), _PAREN.sub("", bare)):
            if form and (form == answer.strip() or len(form) >= 2 or form.isdigit()):
                found.setdefault(form)
    return tuple(found)


def says(text: str, answers: Sequence[str]) -> bool:
    """Whether `text` holds any form of any answer."""
    forms = aliases(answers)
    return holds_answer(text, forms) or any(
        len(form) >= _LONG and not form.isascii() and _together(form) in _together(text) for form in forms
    )


def answer_spans(text: str, answers: Sequence[str]) -> tuple[Span, ...]:
    """Where the answers stand in `text`, compared as `holds_answer` does, sorted and merged.

    >>> answer_spans("高さ約１５メートル。", ("約15メートル",))
    ((2, 9),)
    """
    folded, starts, ends = _folded(text)
    found: list[Span] = []
    for answer in answers:
        wanted = normal(answer)
        at = folded.find(wanted) if wanted else -1
        while at >= 0:
            end = at + len(wanted)
            if _apart(wanted, folded, at, end):
                found.append((starts[at], ends[end - 1]))
            at = folded.find(wanted, at + 1)
    return _merged(found)


def without_answer(text: str, strips: Sequence[Span], answers: Sequence[str]) -> str:
    """`text` without the strips that say an answer; empty where nothing is left or what is left still says it."""
    hit = answer_spans(text, answers)
    kept = [
        text[start:end]
        for start, end in strips
        if not says(text[start:end], answers) and not any(first < end and last > start for first, last in hit)
    ]
    left = "".join(kept).strip()
    return "" if says(left, answers) else left


def _together(text: str) -> str:
    return normal(text).replace(" ", "")


def _folded(text: str) -> tuple[str, list[int], list[int]]:
    """`text` as `normal` writes it, and for each of its characters where that begins and ends in `text`."""
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for at, character in enumerate(text):
        for piece in unicodedata.normalize("NFKC", character).replace("_", " ").casefold():
            if piece.isspace() and (not out or out[-1] == " "):
                continue
            out.append(" " if piece.isspace() else piece)
            starts.append(at)
            ends.append(at + 1)
    return "".join(out), starts, ends


def _apart(answer: str, text: str, at: int, end: int) -> bool:
    """A Latin word or a number counts only where no other Latin letter or digit goes on with it."""
    before, after = text[at - 1 : at], text[end : end + 1]
    joined_before = bool(before) and _latin(before) and _latin(answer[0])
    joined_after = bool(after) and _latin(after) and _latin(answer[-1])
    return not joined_before and not joined_after


def _latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
