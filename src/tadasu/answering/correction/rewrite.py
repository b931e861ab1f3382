"""Other ways to ask the same thing: rules that keep entities, numbers, quoted terms and the language.

The question itself is never replaced: what is made here is searched for and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tadasu.core.runs import SearchMode
from tadasu.text.analyze import content_terms
from tadasu.text.language import detect
from tadasu.text.names import proper_names
from tadasu.text.normalize import fold
from tadasu.text.numbers import numbers


@dataclass(frozen=True, slots=True)
class Probe:
    """One search to make: the query, how, how many candidates at the most, and what differs from the one before."""

    query: str
    mode: SearchMode
    k: int
    changed: str = ""


_SCAFFOLD_EN = re.compile(
    r"\b(?:please|can you|could you|would you|i (?:want|need|would like) to know|tell me|explain|do you know|"
    r"what(?:'s| is| are| was| were| does| do| did)?|which|who(?:'s| is| was)?|whom|whose|when|where|why|how"
    r"(?: many| much| long| far| often| do i| can i| does| do| is| are)?|is there|are there|"
    r"does|do|did|is|are|was|were|"
    r"the|an?|of|our|my|your|its|it|should|must|may|can|i|we|you|to|for|in|on|at|by|with|from|about|exactly|currently)\b",
    re.IGNORECASE,
)
_SCAFFOLD_JA = re.compile(
    r"(?:を|について|に関して)?(?:教えて(?:ください|下さい|もらえますか)?|知りたい(?:です)?|説明して(?:ください|下さい)?)"
    r"|(?:とは)?(?:何|なに|なん|どこ|誰|だれ|いつ|どれ|どの(?:よう(?:に|な)?|くらい|ぐらい)?|いくら|いくつ|どう|なぜ)"
    r"(?:です|でした|でしょう|になり|があり|であり|をし|すれば(?:よい|いい))?(?:ます|ました)?(?:か)?"
    r"|(?:です|でした|でしょう|ます|ました|ません|ください|下さい)か?(?=[。？?、\s]|$)|(?:は|が|を|に|で|の)(?=[。？?\s]|$)"
)
_QUOTED = re.compile(r"[\"“「『]([^\"”」』]{1,80})[\"”」』]")
_EDGES = re.compile(r"^[\s?？。.!！、,:：]+|[\s?？。.!！、,:：]+$")


def keywords_only(question: str) -> str:
    """`question` without the words that only make it a question; the whole of it where nothing would be left.

    >>> keywords_only("What is the warranty period for the PT-300?")
    'warranty period PT-300'
    >>> keywords_only("保証期間は何年ですか？")
    '保証期間 年'
    """
    text = fold(question)
    scaffold = _SCAFFOLD_JA if detect(text) == "ja" else _SCAFFOLD_EN
    kept = re.sub(r"\s+", " ", scaffold.sub(" ", text))
    kept = re.sub(r"(?<=[^\x00-\x7f])は(?= |$)", "", _EDGES.sub("", re.sub(r"\s*[?？]\s*", " ", kept)))
    return kept.strip() or text.strip()


def anchors_only(question: str) -> str:
    """Names, codes, quoted terms and numbers of `question`, then its content terms: what must occur word for word."""
    text = fold(question)
    found = [match.group(1) for match in _QUOTED.finditer(text)]
    found += proper_names(text)
    found += [number.raw for number in numbers(text)]
    found += content_terms(text)
    unique = list(dict.fromkeys(term for term in found if term.strip()))
    return " ".join(unique) or text.strip()


def probes(question: str, *, k: int) -> Iterator[Probe]:
    """Searches of the own documents, in the order in which they are tried; each differs from all before.

    First the question as it is; then only its keywords, over more candidates; then only its anchors, by keywords.
    """
    seen = {(question, SearchMode.HYBRID)}
    yield Probe(question, SearchMode.HYBRID, k)
    for query, mode, wider, changed in (
        (
            keywords_only(question),
            SearchMode.HYBRID,
            2 * k,
            "only the keywords of the question, twice as many candidates",
        ),
        (anchors_only(question), SearchMode.LEXICAL, 2 * k, "only names, numbers and terms, by keywords alone"),
    ):
        if (query, mode) not in seen:
            seen.add((query, mode))
            yield Probe(query, mode, wider, changed)


def web_query(question: str) -> str:
    """The query that leaves for the web: from the question only, without what makes it a question."""
    return keywords_only(question)
