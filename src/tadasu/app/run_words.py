"""What is told about a run outside, in a few stable words: no question, no id, no host, no file."""

from __future__ import annotations

import re
from typing import Final

from tadasu.core.runs import Run, SearchMode
from tadasu.core.usage import Call, Stage

OTHER: Final = "other"
"""What is none of the few words."""
_WORD: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def asked_the_web(run: Run) -> bool:
    """Whether the own documents did not do: the share that `tadasu stats` gives and that an alert watches."""
    return any(one.mode is SearchMode.WEB for one in run.rounds)


def stop_of(run: Run) -> str:
    """Why the loop ended, as a stable word."""
    return run.stop.value


def provider_of(call: Call) -> str:
    """Who was called, as one of a few names: pages are fetched from hosts without end."""
    return "web" if call.stage is Stage.FETCH else word(call.provider)


def word(text: str) -> str:
    """`text` where it is a short stable word, else ``other``.

    >>> word("cookie_wall"), word("https://example.org/?q=x")
    ('cookie_wall', 'other')
    """
    return text if _WORD.fullmatch(text) else OTHER
