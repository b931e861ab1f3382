"""The words of a question that tell its subject from a neighbour's, and quotations that are about the neighbour."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise

from tadasu.answering.generation.expectation import Expected, expect, expected_units
from tadasu.answering.generation.facts import Facts, facts_of
from tadasu.answering.generation.quoting import Quote, surroundings
from tadasu.core.answers import Evidence
from tadasu.text.normalize import fold
from tadasu.text.stopwords import ENGLISH_STOPWORDS, QUESTION_WORDS

_RUN = re.compile(r"[a-z][a-z'-]*(?: [a-z][a-z'-]*)+|[\u3400-\u9fff々ァ-ヺー]{3,}", re.IGNORECASE)
_LATIN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z-]+(?=[\u3041-\u30ff\u3400-\u9fff])")
_YEAR = re.compile(r"(?<![\w.-])(?:19|20)\d\d(?![\d.-])")
_CODE_OR_ACRONYM = re.compile(r".*\d.*|[A-Z]{2,5}")
# Words that stand beside a noun without saying which of its kind is meant.
_SAYS_NOT_WHICH = facts_of(
    "current total main general new kind type sort number amount name many much get level one two first last exactly "
    "called known official maximum minimum average usual standard whole full other latest present "
    "現在 全体 合計 主 種類 名前 名称 数 人 物 年 月 日 目 一番 最大 最小 平均 標準 通常 正式 最新"
).terms
_NO_NOUNS = ENGLISH_STOPWORDS | QUESTION_WORDS
_ATTRIBUTE = re.compile(r"\bwhat (?:is|was|are|were) the (?P<what>[\w -]{2,40}?) (?:of|for) ")
# A question may add a name that its document takes for granted, if all its other words are there.
_ALL_BUT_THE_NAME = 0.8
# How alike two words must be to be the same one misspelt.
_MISSPELT = 0.8


def other_subject(question: str, quote: Quote, evidence: Sequence[Evidence]) -> bool:
    """Whether a quotation is about a neighbour of what the question asks about.

    It is where the question's name, code or year stands nowhere around it, or where another word has the place of the
    one that tells which is meant: "electric vans" for a diesel van, 川崎倉庫 for 札幌倉庫.
    """
    asked = facts_of(question)
    foreign = {asked.language, quote.facts.language} == {"en", "ja"}
    around = facts_of("\n".join((surroundings(quote.evidence, evidence), quote.evidence.strip.date)))
    if any(year not in around.flat for year in _YEAR.findall(fold(question))):
        return True
    everywhere = facts_of("\n".join(surroundings(piece, evidence) for piece in evidence))
    missing = [
        name
        for name in (*asked.names, *(_LATIN.findall(fold(question)) if asked.language == "ja" else ()))
        if _comparable(name, asked.language, foreign=foreign) and not _states(everywhere, name)
    ]
    known = asked.terms & (quote.facts.terms | quote.context)
    if missing and (len(known) < _ALL_BUT_THE_NAME * len(asked.terms) or any(map(_is_code, missing))):
        return True
    return not foreign and _rivals(question, quote)


def lacks_attribute(question: str, quote: Quote) -> bool:
    """Whether the question asks for a property by name that the quotation and what stands above it do not have."""
    if expect(question) not in (Expected.ANY, Expected.QUANTITY_LIKELY) or expected_units(question):
        return False
    match = _ATTRIBUTE.search(fold(question).casefold())
    wanted = facts_of(match["what"]).terms - _SAYS_NOT_WHICH if match else frozenset()
    known = quote.facts.terms | quote.context
    return bool(wanted) and not any(get_close_matches(word, known, n=1, cutoff=_MISSPELT) for word in wanted)


@lru_cache(maxsize=4096)
def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Neighbouring terms of one noun phrase: nothing but a space, in Japanese nothing at all, between them."""
    found = []
    for run in _RUN.findall(fold(text)):
        order: list[str] = []
        for word in run.split():
            order.extend("" if term in _NO_NOUNS else term for term in facts_of(word).order)
        found += [(a, b) for a, b in pairwise(order) if a and b and a != b]
    return tuple(found)


def _rivals(question: str, quote: Quote) -> bool:
    """Whether a noun of the question stands in the quotation with another word before it that tells which is meant."""
    asked = facts_of(question).terms
    known = quote.facts.terms | quote.context
    for telling, noun in _pairs(question):
        if (
            noun in quote.facts.terms
            and telling in asked
            and noun in asked
            and telling not in known
            and _tells(telling)
        ):
            others = [before for before, after in _pairs(quote.text) if after == noun]
            if others and all(_tells(word) and word not in asked for word in others):
                return True
    return False


def _tells(word: str) -> bool:
    return word not in _SAYS_NOT_WHICH and not word.isdigit()


def _states(source: Facts, name: str) -> bool:
    if source.states_name(name) or (not name.isascii() and fold(name).casefold().lstrip("何") in source.flat):
        return True
    words = facts_of(name).order
    return not _is_code(name) and len(words) > 1 and any(word in source.terms for word in words)


def _is_code(name: str) -> bool:
    """Whether a name or its last word is a code or an acronym: PT-3051, Parcel XL."""
    return _CODE_OR_ACRONYM.fullmatch(name.rsplit(maxsplit=1)[-1]) is not None


def _comparable(name: str, language: str, *, foreign: bool) -> bool:
    if not foreign:
        return True
    return name.isascii() and (language == "ja" or _is_code(name))
