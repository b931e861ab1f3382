"""What a language model replied, as a program may read it: objects, rows, a plain yes or no (and never the prompt).

Models wrap JSON in prose, fences and thoughts, slip in its grammar, and are cut off in the middle. Reading is tolerant
about the form and strict about the rest: what is not there in full is not there.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tadasu.text.loose_json import find_objects
from tadasu.text.normalize import fold

_THOUGHT_NAMES = "think|thinking|thought|reasoning"
_THOUGHT = re.compile(rf"^\s*<({_THOUGHT_NAMES})>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(rf"</(?:{_THOUGHT_NAMES})>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)
_LEAD = re.compile(r"^[\s>*_#・•|-]*(?:\(?\d{1,3}[.)](?=\s))?[\s>*_#・•|-]*")
_PAIR = re.compile(r"^[\"'`]?([^\W\d][\w /-]{0,40}?)[\"'`*_]*\s*[:=]\s*(\S.*)$")
_SEPARATORS = re.compile(r"\s*[,;|\t、]\s*")


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply without what the model thought aloud.

    `text` is all of it, `objects` are its complete JSON objects in order (one inside another follows it) and blocks of
    ``key: value`` lines, `lines` the other lines, folded and without bullets and fences.
    """

    text: str
    objects: tuple[Mapping[str, object], ...]
    lines: tuple[str, ...]


def read_reply(said: str) -> Reply:
    """`said` taken apart.

    >>> read_reply("<think>{}</think>Here:\\n```json\\n{'id': 'a', 'score': ０．５,}\\n```").objects
    ({'id': 'a', 'score': 0.5},)
    """
    text = aloud(said)
    found = find_objects(text)
    prose, at = [], 0
    for one in found:
        if one.start >= at:
            prose.append(text[at : one.start])
            at = one.end
    prose.append(text[at:])
    lines = tuple(line for line in map(_bare, _FENCE.sub("", "\n".join(prose)).splitlines()) if line)
    return Reply(text, (*(one.value for one in found), *_blocks(lines)), lines)


def aloud(said: str) -> str:
    """`said` without marks of byte order and without a ``<think>`` block, also one that is cut off or lost its tag."""
    text = _THOUGHT.sub("", said.replace("\ufeff", ""), count=1)
    ends = list(_THOUGHT_END.finditer(text))
    # Some servers send the end of the thought and keep its beginning.
    return text[ends[-1].end() :].strip() if ends else text.strip()


def fields(line: str) -> list[str]:
    """The parts of a row that is written as a line: between commas, semicolons, pipes, tabs.

    >>> fields("a1 | 0.5 | use |"), fields("a1、0.5")
    (['a1', '0.5', 'use'], ['a1', '0.5'])
    """
    return [part for part in _SEPARATORS.split(line) if part]


def number_in_unit(value: object) -> float | None:
    """`value` as a number in [0, 1], or None: it is not clipped, and no word is guessed to be a number.

    Percentages and shares of 5, 10 and 100 are read.

    >>> number_in_unit(1), number_in_unit("０．７５"), number_in_unit("80%"), number_in_unit("4/5")
    (1.0, 0.75, 0.8, 0.8)
    >>> number_in_unit(1.2), number_in_unit("high"), number_in_unit(True), number_in_unit(float("nan"))
    (None, None, None, None)
    """
    if isinstance(value, str):
        match = _WRITTEN_NUMBER.fullmatch(unicodedata.normalize("NFKC", value).strip(" *_`\"'"))
        if match is None:
            return None
        number = float(match["number"]) / (100.0 if match["percent"] else float(match["of"] or 1))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        number = float(value) if abs(value) <= 1.0 else math.nan
    else:
        return None
    return number if 0.0 <= number <= 1.0 else None


_WRITTEN_NUMBER = re.compile(
    r"(?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+))\s*(?:(?P<percent>%)|/\s*(?P<of>1(?:\.0)?|5|10|100))?", re.ASCII
)


def yes_or_no(said: object) -> bool | None:
    """Whether `said` is a plain yes or a plain no, perhaps with its grounds after it; None where it is neither.

    A hedge ("yes, but"), both at once, or a word of another meaning ("No. 5 pump") is neither.

    >>> yes_or_no("**No** - off topic"), yes_or_no("はい。関連しています。"), yes_or_no("Yes, but it is old.")
    (False, True, None)
    """
    if isinstance(said, bool):
        return said
    if not isinstance(said, str):
        return None
    lines = [line for line in map(_bare, _FENCE.sub("", said).splitlines()) if line]
    if not lines or (first := _plain(lines[0])) is None:
        return None
    return None if any(_plain(line) is not None and _plain(line) is not first for line in lines[1:]) else first


_LABEL = re.compile(
    r"^(?:(?:the|this)\s+)?(?:passage|document|answer|verdict|relevan(?:t|ce)|judge?ment|grade|score|label)"
    r"\s*(?:is\s|[:=])\s*"
    r"|^(?:関連性?|関連度|判定|評価|回答|答え)\s*[:=は]\s*"
    r"|^[この]{0,2}(?:パッセージ|文章|文書|段落|資料|内容)は,?\s?(?:この|その)?(?:質問)?(?:には|とは|に|と)?",
    re.IGNORECASE,
)
_NO = (
    r"no|nope|false|irrelevant|not\s+relevant|unrelated|off[- ]topic|いいえ|いえ"
    r"|関連(?:性)?[はが]?(?:なし|無し|ない|ありません|なく)|関連して(?:いない|いません|おりません)"
    r"|無関係|関係[はが]?(?:ない|ありません|なし)|該当(?:しない|しません|なし)"
)
_YES = (
    r"yes|yep|true|relevant|はい|関連(?:性)?[はが]?(?:あり|有り|ある|あります)|関連して(?:いる|います|おります)"
    r"|関係[はが]?(?:ある|あります|あり)|該当(?:する|します|あり)"
)
_AFTER = r"(?=\s*$|\s*[.!;:)(\u2014。」](?!\s*\d)|\s+-+\s|-\s|\s*[,、]|\s+(?:because|since|as|to)\s|です|ます)"
_VERDICT = re.compile(rf"(?:(?P<no>{_NO})|(?P<yes>{_YES})){_AFTER}", re.IGNORECASE)
# "Yes, happy to help!" is no verdict; a wrong yes costs more than one that is asked for again.
_PLEASANTRY = re.compile(
    r"\s*[,、!]\s*+(?!$)(?!(?:it|the|this|that|its|because|since|as|relevant|so)\b)"
    r"(?!.{0,24}(?:関連|該当|関係|記載|書かれ|述べ|含|答え|あり))",
    re.IGNORECASE,
)
_HEDGE = re.compile(r"\b(?:but|however|although|though|partly|partially)\b|しかし|ただし|一方で|部分的", re.IGNORECASE)


def _plain(line: str) -> bool | None:
    line = _LABEL.sub("", line.strip(" \"'`「」*_").strip(), count=1).lstrip("*_ \"'`")
    match = _VERDICT.match(line)
    if match is None or _HEDGE.search(line, match.end()):
        return None
    if match["yes"] is None:
        return False
    return None if _PLEASANTRY.match(line, match.end()) else True


def _bare(line: str) -> str:
    """A line folded, without bullets, quote marks, emphasis and numbering."""
    return _LEAD.sub("", fold(line)).replace("**", "").replace("__", "").strip()


def _blocks(lines: tuple[str, ...]) -> Iterator[Mapping[str, object]]:
    """Objects written as ``key: value`` lines; a key that comes again begins the next."""
    block: dict[str, object] = {}
    for line in (*lines, ""):
        pair = _PAIR.match(line)
        if pair is None or pair[1].lower() in block:
            if len(block) > 1:
                yield block
            block = {}
        if pair is not None:
            block[pair[1].lower()] = pair[2].strip(" ,\"'`")
