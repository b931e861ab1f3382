"""The words of a question that tell its subject from a neighbour's, and quotations that are about the neighbour."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher, get_close_matches

from tadasu.answering.generation.expectation import Expected, expect, expected_units
from tadasu.answering.generation.facts import Facts, facts_of
from tadasu.answering.generation.outdated import YEAR
from tadasu.answering.generation.phrases import SAYS_NOT_WHICH, replaced
from tadasu.answering.generation.quoting import Quote, label, surroundings
from tadasu.core.answers import Evidence
from tadasu.text.normalize import fold
from tadasu.text.stopwords import ENGLISH_STOPWORDS

_LATIN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z-]+(?=[\u3041-\u30ff\u3400-\u9fff])")
_HAS_DIGIT = re.compile(r"\d")
_STEM = 4
_CODE_OR_ACRONYM = re.compile(r".*\d.*|[A-Z]{2,5}")
_ATTRIBUTE = re.compile(r"\bwhat (?:is|was|are|were) the (?P<what>[\w -]{2,40}?) (?:of|for) ")
# A question may add a name that its document takes for granted, if nearly all its other words are there; more so where
# the name tells which thing is meant, as in "the Platinum level".
_ALL_BUT_THE_NAME = 0.7
_ALL_BUT_WHICH = 0.8
_ANY_YEAR = re.compile(r"(?<![0-9A-Za-z.,-])(?:19|20)\d\d(?![\d.,-]\d|\d|-\d)")
# What another year is compared with.
_COMPARED = re.compile(
    r"\b(?:than|compared (?:with|to)|against|versus|over|from)\b(?: (?:that|those) of)?(?: in)?(?: the)?(?: year)?"
    r" (?:19|20)\d\d"
    r"|(?:19|20)\d\d年度?(?:に比べ|と比べ|比|より|に対し)"
)
# How alike two names of several words must be to be the same one misspelt.
_SAME_NAME = 0.9
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
    if any(year not in around.flat for year in YEAR.findall(fold(question))):
        return True
    everywhere = facts_of("\n".join(surroundings(piece, evidence) for piece in evidence))
    missing = [
        name
        for name in (*asked.names, *(_LATIN.findall(fold(question)) if asked.language == "ja" else ()))
        if _comparable(name, asked.language, foreign=foreign) and not _states(everywhere, name)
    ]
    known = asked.terms & (quote.facts.terms | quote.context)
    before_a_noun = any(_stands_before_a_noun(name, question) for name in missing)
    enough = _ALL_BUT_WHICH if before_a_noun else _ALL_BUT_THE_NAME
    if missing and len(known) < enough * len(asked.terms):
        return True
    if any(is_code(name) and (_HAS_DIGIT.search(name) or _begins(name, quote)) for name in missing):
        return True
    return not foreign and _rivals(question, quote)


def lacks_attribute(question: str, quote: Quote) -> bool:
    """Whether the question asks for a property by name that the quotation and what stands above it do not have."""
    if expect(question) not in (Expected.ANY, Expected.QUANTITY_LIKELY) or expected_units(question):
        return False
    if {facts_of(question).language, quote.facts.language} == {"en", "ja"}:
        return False
    match = _ATTRIBUTE.search(fold(question).casefold())
    wanted = facts_of(match["what"]).terms - SAYS_NOT_WHICH if match else frozenset()
    known = quote.facts.terms | quote.context
    return bool(wanted) and not any(get_close_matches(word, known, n=1, cutoff=_MISSPELT) for word in wanted)


def excludes(question: str, quote: Quote) -> bool:
    """Whether a quotation is about another than what is asked about, by its own words: a sister ship, another year."""
    if _of_another_year(question, quote):
        return True
    if {facts_of(question).language, quote.facts.language} == {"en", "ja"}:
        return False
    known = quote.facts.terms | quote.context
    return names_a_sibling(question, quote) or bool(replaced(question, quote.text, known=known))


def names_a_sibling(question: str, quote: Quote) -> bool:
    """Whether a quotation names another of the kind instead of the one asked about: the MV Skarv for the MV Terna.

    Of a kind: names of several words with the first or the last in common. What its title or headings name counts.
    """
    asked, above = facts_of(question), facts_of(label(quote.evidence))
    for name in asked.names:
        words = fold(name).casefold().split()
        if len(words) < 2 or quote.facts.states_name(name) or above.states_name(name):
            continue
        for other in quote.facts.names:
            theirs = fold(other).casefold().split()
            of_a_kind = len(theirs) > 1 and (words[0] == theirs[0] or words[-1] == theirs[-1])
            misspelt = SequenceMatcher(None, " ".join(words), " ".join(theirs)).ratio() >= _SAME_NAME
            if of_a_kind and not misspelt and not asked.states_name(other):
                return True
    return False


def _of_another_year(question: str, quote: Quote) -> bool:
    """Whether the question names one year and the quotation others, or this one only beside its own.

    "In 2025, 12 % less than in 2024" says nothing of 2024. What it stands under may say the year instead.
    """
    years = set(_ANY_YEAR.findall(fold(question)))
    own = set(_ANY_YEAR.findall(_COMPARED.sub(" ", quote.facts.flat)))
    if len(years) != 1 or not own or years & own:
        return False
    return not years & set(_ANY_YEAR.findall(f"{fold(label(quote.evidence))} {quote.evidence.strip.date}"))


def _rivals(question: str, quote: Quote) -> bool:
    """Whether a noun of the question stands in the quotation, or in what it stands under, with another word before it
    that tells which is meant.
    """
    known = quote.facts.terms | quote.context
    return bool(replaced(question, f"{quote.text}\n{label(quote.evidence)}", known=known))


def _stands_before_a_noun(name: str, question: str) -> bool:
    after = re.search(rf"{re.escape(name)} ([a-z]+)", fold(question))
    return after is not None and after[1] not in ENGLISH_STOPWORDS


def _states(source: Facts, name: str) -> bool:
    """Whether a source has a name, or for what is no code one of its words, or a word like it: Brazil, Brazilian."""
    if source.states_name(name) or (not name.isascii() and fold(name).casefold().lstrip("何") in source.flat):
        return True
    if is_code(name):
        return False
    words = facts_of(name).order
    if len(words) == 1 and name.isascii():
        stem = words[0]
        return any(
            word.startswith(stem[:_STEM]) or SequenceMatcher(None, stem, word).ratio() >= _MISSPELT
            for word in source.terms
            if len(stem) >= _STEM
        ) or stem in source.flat.replace(" ", "")
    return any(word in source.terms for word in words)


def _begins(name: str, quote: Quote) -> bool:
    """Whether a quotation has the name but for its last word: Parcel S for Parcel XL."""
    first = facts_of(name.rsplit(maxsplit=1)[0]).terms
    return " " in name and first <= quote.facts.terms


def is_code(name: str) -> bool:
    """Whether a name or its last word is a code or an acronym: PT-3051, Parcel XL."""
    return _CODE_OR_ACRONYM.fullmatch(name.rsplit(maxsplit=1)[-1]) is not None


def _comparable(name: str, language: str, *, foreign: bool) -> bool:
    if not foreign:
        return True
    return name.isascii() and (language == "ja" or is_code(name))
