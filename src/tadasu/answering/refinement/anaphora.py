"""Strips that cannot be read without an earlier one: they begin with a word that points back."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LEAD = re.compile(r"(?:\s|[-*•・>「『（(\"'“‘]|\d{1,2}[.)]\s)*")
# What a pronoun stands for may lie several sentences back: all between speak of the same thing.
_PRONOUN = re.compile(
    r"(?:(?:it|its|they|their|them|he|she|his|her|him|both|the (?:former|latter))\b"
    r"|(?:彼女?|同(?:氏|社|人物|名)|当該|両者|前者|後者)(?![一-龯々]{2}))",
    re.IGNORECASE,
)
_OF_THE_SAME = (
    "年|月|日|国|市|県|府|都|町|村|区|郡|州|島|校|大学|高校|大会|局|番組|作品?|書|誌|紙|曲|賞|線|駅|路線|空港|港|寺|城|館|施設"
    "|制度|法|条|項|機関?|艦|車|型|隊|軍|党|団体?|地域?|地区|チーム|クラブ|球団|シリーズ|店|製品|装置|規程|契約"
)
# What a demonstrative stands for was just said.
_DEMONSTRATIVE = re.compile(
    r"(?:(?:(?:in|at|from|by|for|since|after|with|to) )?(?:this|that|these|those)\b|such\b|the same\b"
    r"|この|その|これ(?!まで)|それ(?!ぞれ)|[こそ]う(?:した|して|いった)|そこで|ここで|以上の|上記"
    rf"|同(?:{_OF_THE_SAME})(?![一-龯々]{{2}}))",
    re.IGNORECASE,
)
_FARTHEST = 6


def antecedents(texts: Sequence[str], index: int) -> tuple[int, ...]:
    """Which of `texts` (strips of one passage, in order) the text at `index` points back to; none where it does not.

    After a demonstrative it is the one before. After a pronoun it is the nearest one that does not begin with a
    pronoun itself, at most six back. What that one points to is found by asking again.

    >>> antecedents(["The pump failed in May.", "It was old.", "It was sold."], 2)
    (0,)
    >>> antecedents(["上限は10 MPaである。", "この値は変更できない。"], 1), antecedents(["色は青い。", "形は丸い。"], 1)
    ((0,), ())
    """
    before = [i for i in range(index - 1, -1, -1) if texts[i].strip()]
    if not before:
        return ()
    if _begins(_DEMONSTRATIVE, texts[index]):
        return (before[0],)
    if not _begins(_PRONOUN, texts[index]):
        return ()
    near = before[:_FARTHEST]
    return (next((i for i in near if not _begins(_PRONOUN, texts[i])), near[0]),)


def _begins(pattern: re.Pattern[str], text: str) -> bool:
    lead = _LEAD.match(text)
    return pattern.match(text, lead.end() if lead else 0) is not None
