"""Questions that stand in documents, and the lines that answer them: frequent questions, interviews, minutes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tadasu.text.normalize import fold

_LABELLED_QUESTION = re.compile(
    r"\s*(?:[-*・]\s*)?(?:(?:q(?:uestion)?\s?\d{0,3}|[問質]問?\s?\d{0,3})\s*[:：.．、)]|問\s?\d{1,3}\s)", re.IGNORECASE
)
_LABELLED_ANSWER = re.compile(
    r"\s*(?:[-*・]\s*)?(?:a(?:nswer)?\s?\d{0,3}|(?:回答|答え?)\s?\d{0,3})\s*[:：.．、)]\s*", re.IGNORECASE
)
_ASKS = re.compile(
    r"\?[\s\"'”’」』)]*$|(?:です|ます|ません|でしょう|だろう|でした|ました|たい|ない|よい|いい|ある|いる|する)か[。.]?\s*$"
)
_FARTHEST = 4


def asks(text: str) -> bool:
    """Whether a line is a question: marked as one, or ending as one.

    >>> asks("Q: Opening hours"), asks("送料はいくらですか。"), asks("It costs 5 euros."), asks("Quality: good")
    (True, True, False, False)
    """
    flat = fold(text).strip()
    return bool(_LABELLED_QUESTION.match(flat) or _ASKS.search(flat))


def question_of(texts: Sequence[str], index: int) -> int | None:
    """Which of `texts` (in order) asks what the one at `index` answers; None where none does.

    Marked as an answer, that is the nearest question before, with other lines of the answer between; without a mark,
    the line right before.

    >>> question_of(["Q: Is it free?", "A: For members it is.", "Others pay."], 1), question_of(["It is.", "Yes."], 1)
    (0, None)
    """
    if asks(texts[index]):
        return None
    marked = _LABELLED_ANSWER.match(fold(texts[index])) is not None
    before = [i for i in range(index - 1, -1, -1) if texts[i].strip()]
    for i in before[: _FARTHEST if marked else 1]:
        if asks(texts[i]):
            return i
    return None


def without_label(text: str) -> str:
    """A line without the mark that it is an answer.

    >>> without_label("A: Yes."), without_label("A 1: Yes."), without_label("Albert said so.")
    ('Yes.', 'Yes.', 'Albert said so.')
    """
    match = _LABELLED_ANSWER.match(text)
    return text[match.end() :] if match else text
