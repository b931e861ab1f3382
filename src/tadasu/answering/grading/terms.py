"""What a question asks for, in a form that can be looked up in a passage without analysing the passage again.

Analysing ten Japanese passages takes about six milliseconds; looking for the question's few terms in folded text takes
a tenth of that. So a term carries the spellings it may have there: its stem at the start of a Latin word, its
normalised form, and the ideographs that an inflected word begins with.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from tadasu.text.analyze import content_terms, tokens
from tadasu.text.japanese import tagged
from tadasu.text.normalize import fold
from tadasu.text.stopwords import ENGLISH_STOPWORDS, QUESTION_WORDS

_NOT_LATIN = re.compile(r"[^0-9a-z\u00e0-\u00f6\u00f8-\u024f]+")
_DECIMAL_TERM = re.compile(r"(?<=\d)d(?=\d)")
_IDEOGRAPHS = re.compile(r"[\u3005-\u3007\u3400-\u9fff\uf900-\ufaff]+")
# Where a code is written with a hyphen or a space as often as not: KPT-340, KPT340.
_SEAM = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])")
_NUMBER = re.compile(r"(?<![a-z\d.,-])\d+(?:[.,]\d+)*|(?<=\d-)\d+")
_LEADING_ZERO = re.compile(r"^ 0(?=\d $)")
_LATIN_NAME = re.compile(r"(?<![\w.!?。])(?<!^)\s*\b([A-Z][\w'.-]*[\w]|[A-Z])")
_JAPANESE_NAME = re.compile(r"[\u30a1-\u30fa\u30fc]{2,}|[A-Za-z][A-Za-z0-9.-]+|「([^」]{1,30})」|『([^』]{1,30})』")
_JAPANESE_RUN = re.compile(r"[\u3005-\u3007\u3041-\u3096\u30a1-\u30fc\u3400-\u9fff0-9a-z]+")
_RUN = re.compile(r"[\u3005\u3400-\u9fff]{2,}|[\u30a1-\u30fa\u30fc]{2,}|[a-z0-9][a-z0-9.-]+")
_KATAKANA_OR_LATIN = re.compile(r"[\u30a1-\u30fa\u30fc]{2,}|[A-Za-z][\w.-]*")
_WANTS_NUMBER = re.compile(
    r"\b(?:when|how (?:many|much|long|old|far|tall|large|big|often)|(?:what|which) (?:year|date|day|month|age|century|"
    r"percent(?:age)?|number|decade))\b"
    r"|いつ|何[年月日時分秒人回個本枚台件度割万億歳世紀代位番名カヶか国%％]|何(?:メートル|キロ|パーセント|センチ|トン|グラム)"
    r"|いくつ|いくら|(?:どの|どれ)(?:くらい|ぐらい)|何歳",
    re.IGNORECASE,
)
DIGIT = re.compile(r"[0-9一二三四五六七八九十百千万億]")
# A stem of three letters begins too many words to be looked for by its beginning.
_SHORT_STEM = 3
_ENDINGS = ("", "s", "e", "es", "ed", "ing")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing looked for: spellings in running text, spellings in the ``words`` view, and its weight (> 0)."""

    plain: tuple[str, ...]
    words: tuple[str, ...]
    weight: float

    def occurs(self, text: FoldedText) -> bool:
        """Whether any spelling is in `text`."""
        for form in self.plain:
            if form in text.plain:
                return True
        for form in self.words:  # noqa: SIM110 - called some thousand times a question; `any` costs three times as much
            if form in text.words:
                return True
        return False


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text for looking things up: `plain` is NFKC and case-folded, `words` its Latin words and numbers alone, each

    between single spaces.
    """

    plain: str
    words: str


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What is looked for: weighted terms, neighbouring pairs, names, numbers, and whether a number is the answer.

    `told` says of each term whether it belongs to a name or a number; `runs` are the unbroken words of a Japanese
    question (札幌倉庫 as one), empty in other languages.
    """

    terms: tuple[Term, ...]
    pairs: tuple[Term, ...]
    names: tuple[Term, ...]
    numbers: tuple[Term, ...]
    wants_number: bool
    told: tuple[bool, ...] = ()
    runs: tuple[Term, ...] = ()

    def written_alike(self) -> AskedFor:
        """Without the names that another language spells in its own script."""
        return replace(self, names=tuple(name for name in self.names if name.words))


def fold_text(text: str) -> FoldedText:
    """`text` as `Term.occurs` reads it."""
    plain = text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return FoldedText(plain, f" {_NOT_LATIN.sub(' ', plain)} ")


def asked_for(question: str, *, weights: Mapping[str, float], language: str) -> AskedFor:
    """Read `question`; `weights` are inverse document frequencies, by analysed term, of those that are known.

    A term without a weight counts as the median of the known ones.
    """
    folded = fold_text(question)
    terms = list(dict.fromkeys(term for term in content_terms(question, language) if term.strip()))
    known = [weights[term] for term in terms if weights.get(term, 0.0) > 0.0]
    usual = median(known) if known else 1.0
    spellings = _latin_spellings(folded)
    return AskedFor(
        terms=tuple(
            _term(term, folded.plain, spellings, max(weights.get(term, usual), 0.05 * usual)) for term in terms
        ),
        pairs=_pairs(folded, language),
        names=_names(question, language),
        numbers=tuple(_number(number) for number in dict.fromkeys(_NUMBER.findall(folded.plain))),
        wants_number=_WANTS_NUMBER.search(question) is not None,
        told=_told(question, terms, language),
        runs=tuple(_plain(run) for run in dict.fromkeys(_RUN.findall(folded.plain))) if language == "ja" else (),
    )


def _latin_spellings(folded: FoldedText) -> Sequence[str]:
    return [word for word in folded.words.split() if word]


def _term(term: str, question: str, spellings: Sequence[str], weight: float) -> Term:
    if term.isascii():
        if term[0].isdigit() or not term.isalpha():
            code = _DECIMAL_TERM.sub(" ", term)
            return Term((), tuple(dict.fromkeys((f" {code}", f" {_SEAM.sub(' ', code)}"))), weight)
        return Term((), _stem_forms(term, spellings), weight)
    forms = [term]
    leading = _IDEOGRAPHS.match(term)
    if leading and leading.end() < len(term):
        forms.append(leading.group())
    if term.endswith("ー"):
        forms.append(term[:-1])
    return Term(tuple(form for form in dict.fromkeys(forms) if len(form) > 1 or form in question), (), weight)


def _stem_forms(stem: str, spellings: Sequence[str]) -> tuple[str, ...]:
    if len(stem) <= _SHORT_STEM:
        whole = {stem, *(word for word in spellings if word.startswith(stem) and len(word) <= len(stem) + 2)}
        forms = {f"{word}{end}" for word in whole for end in _ENDINGS}
        if stem.endswith("e"):
            forms |= {f"{stem[:-1]}{end}" for end in _ENDINGS[2:]}
        return tuple(f" {form} " for form in sorted(forms))
    return (f" {stem}", f" {stem[:-1]}y") if stem.endswith("i") else (f" {stem}",)


def _pairs(folded: FoldedText, language: str) -> tuple[Term, ...]:
    """Neighbouring words of an English question, neighbouring characters of a Japanese one; asking words left out."""
    if language == "ja":
        found = [
            run[at : at + 2] for run in _JAPANESE_RUN.findall(folded.plain) for at in range(len(run) - 1)
            if not _all_kana(run[at : at + 2])
        ]  # fmt: skip
        return tuple(Term((pair,), (), 1.0) for pair in dict.fromkeys(found))
    words = [word for word in folded.words.split() if word not in QUESTION_WORDS]
    pairs = [
        f" {one} {two} " for one, two in pairwise(words)
        if not (one in ENGLISH_STOPWORDS and two in ENGLISH_STOPWORDS)
    ]  # fmt: skip
    return tuple(Term((), (pair,), 1.0) for pair in dict.fromkeys(pairs))


def _all_kana(pair: str) -> bool:
    return all("\u3041" <= character <= "\u3096" for character in pair)


def _names(question: str, language: str) -> tuple[Term, ...]:
    if language == "ja":
        found = [next(filter(None, match.groups()), match.group()) for match in _JAPANESE_NAME.finditer(question)]
        return tuple(_latin(name) if name.isascii() else _plain(name) for name in dict.fromkeys(found))
    return tuple(_latin(name) for name in dict.fromkeys(_LATIN_NAME.findall(question)))


def _told(question: str, terms: Sequence[str], language: str) -> tuple[bool, ...]:
    """Of each term, whether it is part of a name or a number: what is least often said in other words."""
    found = [*_NUMBER.findall(fold_text(question).plain)]
    if language == "ja":
        for surface, levels, _ in tagged(fold(question)):
            if levels[1] in {"固有名詞", "数詞"} or _KATAKANA_OR_LATIN.fullmatch(surface):
                found.append(surface)
    else:
        found += _LATIN_NAME.findall(question)
    names = {term for surface in found for term in tokens(surface)}
    return tuple(term in names for term in terms)


def _number(surface: str) -> Term:
    written = fold_text(surface).words.rstrip() + " "
    return Term((), tuple(dict.fromkeys((written, _LEADING_ZERO.sub(" ", written)))), 1.0)


def _plain(surface: str) -> Term:
    return Term((fold_text(surface).plain,), (), 1.0)


def _latin(surface: str) -> Term:
    return Term((), (fold_text(surface).words.rstrip() + " ",), 1.0)
