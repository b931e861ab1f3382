"""Search terms of a text, alike for documents and questions, in Japanese, English and any mixture.

The script of each run decides how it is read: Latin words and codes by rules and the English Snowball stemmer,
Japanese by Sudachi's normalised forms (short units, mode A), so 引越し meets 引っ越し, and 京都 does not meet 東京都.
Without SudachiPy, Japanese becomes character bigrams: recall holds, but then 京都 does hit 東京都 and spelling variants
meet only where their characters do. Terms consist of letters and digits only, as FTS5's ``unicode61`` keeps them.
"""

from __future__ import annotations

import importlib.metadata
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from tadasu.text import japanese
from tadasu.text.codes import code_terms
from tadasu.text.normalize import fold
from tadasu.text.stopwords import ENGLISH_STOPWORDS, QUESTION_WORDS

_LATIN_CHARACTER = r"A-Za-z\u00aa\u00ba\u00c0-\u024f\u0370-\u03ff\u1e00-\u1eff"  # and Greek: μm, α
_CJK_CHARACTER = (
    r"\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
    r"\U00020000-\U000323af"
)
_MARKS = r"\u0300-\u036f\u0900-\u0dff\u0e31\u0e34-\u0e4e\u1000-\u109f\u1780-\u17ff"
_RUN = re.compile(
    # A code or word with a Latin letter in it, joined by the signs that codes are written with.
    rf"(?P<latin>[0-9][0-9.,/-]*(?=[{_LATIN_CHARACTER}])[{_LATIN_CHARACTER}0-9]+(?:['._/+-][{_LATIN_CHARACTER}0-9]+)*"
    rf"|[{_LATIN_CHARACTER}][{_LATIN_CHARACTER}0-9]*(?:['._/+-][{_LATIN_CHARACTER}0-9]+)*(?:\+\+|#)?)"
    # Japanese with the figures in it, for its counters and number units.
    rf"|(?P<cjk>(?:[0-9][0-9.,]*)?[{_CJK_CHARACTER}](?:[{_CJK_CHARACTER}、。「」・!?ー]|[0-9][0-9.,]*+(?![{_LATIN_CHARACTER}]))*)"
    r"|(?P<number>[0-9][0-9.,:/-]*)"
    rf"|(?P<other>\w(?:[^\W_0-9{_LATIN_CHARACTER}{_CJK_CHARACTER}]|[{_MARKS}])*)"
)
_LONGEST_WORD = 64
_DIGIT_GROUPS = re.compile(r"(?<![0-9.])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])")
_NOT_STOPWORDS = frozenset(("US", "U.S", "IT", "WHO", "CAN"))
_NO_SPACES_SCRIPT = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


def tokens(text: str, *, language: str | None = None) -> list[str]:
    """Search terms in order of appearance; stop words, particles and punctuation are left out.

    A text that holds word characters never comes back empty: where everything was left out, everything is kept.

    Args:
        text: a passage, a title or a question.
        language: accepted for symmetry with `segment`; scripts decide, so that both sides of a search meet.

    >>> tokens("How do I connect the PT-3051S?")
    ['connect', 'pt3051s', 'pt3051', 'pt', '3051']
    """
    del language
    folded = _DIGIT_GROUPS.sub(lambda m: m.group().replace(",", ""), fold(text))
    return _terms(folded, drop=True) or _terms(folded, drop=False)


def content_terms(text: str, language: str | None = None) -> list[str]:
    """`tokens` without the words that only ask (何, いつ, what, how, please): what a question is about.

    Falls back to `tokens` where nothing else was said.
    """
    found = tokens(text, language=language)
    return [term for term in found if term not in QUESTION_WORDS] or found


def analyzer_id() -> str:
    """Names the analyser and its dictionary, such as ``sudachi-0.7.0/core-20261015/en-snowball-3.1.1/v1``.

    Stored with an index: terms of two analysers must not be mixed.
    """
    return f"{japanese.version()}/en-snowball-{importlib.metadata.version('snowballstemmer')}/v1"


def _terms(folded: str, *, drop: bool) -> list[str]:
    found: list[str] = []
    for match in _RUN.finditer(folded):
        kind, run = match.lastgroup, match.group()
        if len(run) > _LONGEST_WORD and kind != "cjk":
            found.extend(term for piece in _pieces(run) for term in code_terms(piece))
        elif kind == "cjk":
            found.extend(_japanese_terms(run, drop=drop))
        elif kind == "other":
            found.extend(_other_terms(run))
        else:
            found.extend(
                term
                for term in code_terms(run)
                if not (drop and term in ENGLISH_STOPWORDS and run not in _NOT_STOPWORDS)
            )
    return found


def _pieces(run: str) -> Iterator[str]:
    """A run that is no word (encoded data, a ruler line) in pieces, so that none becomes a term of its own size."""
    return (run[at : at + _LONGEST_WORD] for at in range(0, len(run), _LONGEST_WORD))


def _japanese_terms(run: str, *, drop: bool) -> Iterator[str]:
    for form in japanese.forms(run, drop=drop):
        if form.isalnum() and not form.isascii():
            yield form
        else:
            yield from code_terms(form)


@lru_cache(maxsize=4096)
def _other_terms(run: str) -> tuple[str, ...]:
    """A word of another script: lower case, marks dropped; character bigrams where the script writes no spaces."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", run.casefold()) if c.isalnum())
    plain = unicodedata.normalize("NFC", plain)
    if not plain:
        return ()
    if _NO_SPACES_SCRIPT.match(plain) and len(plain) > 2:
        return tuple(plain[at : at + 2] for at in range(len(plain) - 1))
    return (plain,)
