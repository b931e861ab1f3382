"""What orders to a language model look like, by kind, in English and Japanese: the rules that `injection` applies.

They stand in ``data/orders.txt``. CERTAIN is what no page says to its readers; SUSPECT is what some pages do say, and
counts only beside something certain.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Final

_PIECE = re.compile(r"%([A-Z_]+)%")


class Kind(enum.Enum):
    """What a sentence does that speaks to a model."""

    OVERRIDE = "override"
    """Cancels or replaces instructions."""
    ROLE = "role"
    """Gives the model another role or mode, or plays a turn of the chat."""
    ADDRESS = "address"
    """Turns to a model as its reader."""
    FORMAT = "format"
    """Orders a form or wording of the answer, or forbids citations and other sources."""
    GRADE = "grade"
    """Grades itself."""
    BREAK = "break"
    """Plays the end of the quoted material, or another piece of it."""
    LEAK = "leak"
    """Asks for secrets, or for data to be sent away."""
    TEMPLATE = "template"
    """A filled-in form of a machine's reply."""


class Weight(enum.Enum):
    """How much a rule counts by itself."""

    CERTAIN = "certain"
    SUSPECT = "suspect"


MARKS: Final = re.compile(
    r"\s*(?:</?\s*(?:system|context|instructions?|assistant|evidence|prompt|user|passages?|documents?|doc"
    r"|sources?|data|quote|untrusted"
    r"|input|sys|s|文書|資料|参考資料)\b[^>\n]{0,40}>|<{1,3}/?(?:SYS|END|BEGIN)\b[^>\n]{0,60}>{0,3}|<\|[^"
    r"|<>\n]{1,30}\|>|\[/?INST\])",
    re.IGNORECASE,
)
"""A mark of a chat's turns, or of the borders between pieces of a prompt."""

MENTIONED: Final = re.compile(
    r"\b(?:such as|example|e\.g\.|like|sentences?|phrases?|strings?|words?|wording|prompt|attacks?"
    r"|attackers?|says?|said|typed?|wrote|writes?|written"
    r"|called|known as|inputs?|injections?|titled|reads?|asked|tells?|told|found|lines?)\b"
    r"|例えば|たとえば|といった|という|などの?|と(?:入力|書|記|言)|のような|ような文|攻撃|文言|フレーズ"
    r"|一文|文を|入力(?:す|し|され)",
    re.IGNORECASE,
)
"""What stands around an order that is only talked about."""


@cache
def rules(weight: Weight) -> re.Pattern[str]:
    """All rules of one weight, as one pattern for one sentence, folded."""
    return re.compile("|".join(f"(?:{pattern})" for heavy, _, pattern in _read() if heavy is weight), re.IGNORECASE)


@cache
def rules_by_kind() -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    """Every rule by itself with its kind."""
    return tuple((kind, re.compile(pattern, re.IGNORECASE)) for _, kind, pattern in _read())


def _read() -> Iterator[tuple[Weight, Kind, str]]:
    pieces: dict[str, str] = {}
    for line in resources.files(__package__).joinpath("data", "orders.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        first, _, rest = line.partition(" ")
        if named := _PIECE.fullmatch(first):
            pieces[named[1]] = _filled(rest, pieces)
        else:
            kind, _, pattern = rest.partition(" ")
            yield Weight(first), Kind(kind), _filled(pattern, pieces)


def _filled(pattern: str, pieces: dict[str, str]) -> str:
    return _PIECE.sub(lambda match: pieces[match[1]], pattern)
