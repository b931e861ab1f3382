"""Terms of Latin words, numbers, units, versions and model codes."""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from typing import Protocol

import snowballstemmer

_PLAIN_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*\Z")
_CLITIC = re.compile(r"'(?:s|t|re|ve|ll|d|m)?\Z")
_VERSION = re.compile(r"(?:v|ver|rev)?\.?([0-9]+(?:\.[0-9]+){2,})\Z|(?:v|ver|rev)\.?([0-9]+(?:\.[0-9]+)*)\Z")
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)([a-zμω]{1,12})\Z")
_RANGE = re.compile(r"([0-9]+(?:\.[0-9]+)?)-([0-9]+(?:\.[0-9]+)?)([a-z]{1,12})\Z")
_DECIMAL = re.compile(r"[0-9]+(?:\.[0-9]+)?\Z")
_PARTS = re.compile(r"[0-9]+\.[0-9]+(?![.0-9])|[0-9]+|[^\W\d_]+")
_LANGUAGE = re.compile(r"([a-z]{1,12})(\+\+|#)\Z")
_LANGUAGE_SIGNS = {"++": "plusplus", "#": "sharp"}
_SHORT = 7
_SERIES = re.compile(r"[a-z]+[0-9]+[a-z]{1,3}\Z")
# A decimal point must survive in letters and digits: 3.5 and 35 are different terms.
_POINT = "d"


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


_local = threading.local()


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """English stem of a lower-case word."""
    stemmer: _Stemmer | None = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = snowballstemmer.stemmer("english")
    return stemmer.stemWord(word)


@lru_cache(maxsize=65536)
def code_terms(run: str) -> tuple[str, ...]:
    """Terms of one run without spaces: a word gives its stem; a code gives itself without separators, and its parts.

    >>> code_terms("Transmitters"), code_terms("PT-3051S"), code_terms("3.5MPa"), code_terms("v2.4.1")
    (('transmitt',), ('pt3051s', 'pt3051', 'pt', '3051'), ('3d5mpa', '3d5', 'mpa'), ('2d4d1', '2d4'))
    """
    low = _without_accents(run.casefold()).strip(".,:/'-_")
    if _PLAIN_WORD.match(low):
        return (stem(_CLITIC.sub("", low).replace("'", "")),)
    language = _LANGUAGE.match(low)
    if language:
        return (language[1] + _LANGUAGE_SIGNS[language[2]],)
    version = _VERSION.match(low)
    if version:
        numbers = (version[1] or version[2]).split(".")
        whole = _POINT.join(numbers)
        return (whole, _POINT.join(numbers[:2])) if len(numbers) > 2 else (whole,)
    if _DECIMAL.match(low):
        return (low.replace(".", _POINT),)
    quantity = _QUANTITY.match(low)
    if quantity:
        number = quantity[1].replace(".", _POINT)
        return _unique((number + quantity[2], number, quantity[2] if len(quantity[2]) > 1 else ""))
    span = _RANGE.match(low)
    if span:
        return _unique((*_compound(low), *code_terms(span[2] + span[3])))
    return _compound(low)


def _compound(low: str) -> tuple[str, ...]:
    parts = [part.replace(".", _POINT) for part in _PARTS.findall(low)]
    lettered = any(part.isalpha() for part in parts)
    numbered = any(part[0].isdigit() for part in parts)
    whole = "".join(parts) if lettered and ("/" not in low or len(low) <= _SHORT) else ""
    if not lettered:  # a date, a time, a telephone number
        return _unique(tuple(part.lstrip("0") or "0" for part in parts))
    series = "".join(parts[:-1]) if len(parts) == 3 and _SERIES.match("".join(parts)) else ""
    if not numbered and len(parts) > 1:
        whole = stem(whole)
    return _unique(
        (whole, series, *(stem(part) for part in parts if len(part) > 1 or part.isdigit() or len(parts) == 1))
    )


def _unique(terms: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term for term in terms if term))


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
