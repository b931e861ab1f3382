"""A question about several things as one question for each: comparisons, lists, two questions in one.

By rules, which find the pattern and leave all else in place, so that names, numbers and quoted terms stay.
"""

from __future__ import annotations

import re

from tadasu.answering.correction.rewrite import keywords_only, same_query
from tadasu.text.language import detect
from tadasu.text.names import proper_names
from tadasu.text.normalize import fold

MOST_PARTS = 4
"""More sub-questions than that are not searched for in one round."""

_AND_EN = r"(?:,? (?:and|or|vs\.?|versus|than|compared (?:to|with)|as well as) (?:the |an? )?|, (?:the |an? )?)"
_AND_JA = r"(?: ?(?:と|や|および|及び|または|又は|あるいは|ならびに|並びに|、|,|・|・?vs\.?) ?)"
_COMPARES = re.compile(
    r"\b(?:the )?(?:main |key )?(?:differences?|distinction|comparison) (?:in (?P<aspect>.+?) )?between\b"
    r"|\bcompar(?:e|ed|ing|ison of)\b|\b(?:versus|vs)\b\.?"
    r"|\b(?:both|either|respectively|each)\b"
    r"|の?(?:違い|相違点?|差異?)(?:は|を|が|に(?=つ))?|を?比較(?:して|する(?:と)?|すると)?|(?:どちら|どっち)(?:が|の(?:方|ほう)が)?|それぞれの?",
    re.IGNORECASE,
)
_THINGS_EN = re.compile(
    r"\b(?:differences?|distinction|comparison) (?:in .+? )?between (?:the |an? )?(?P<a>.+?)"
    r" and (?:the |an? )?(?P<b>.+?)"
    r"(?= (?:in|with|regarding|when|for|on|at)\b|[?.!,;]|$)"
    r"|\bcompare (?:the |an? )?(?P<c>.+?) (?:and|with|to) (?:the |an? )?(?P<d>.+?)"
    r"(?= (?:in|regarding|when|for|on|at)\b|[?.!,;]|$)",
    re.IGNORECASE,
)
_THINGS_JA = re.compile(
    r"(?:^|(?<=[、。]))(?P<a>[^、。？?「」]{1,30}?)(?:と|および|及び)(?P<b>[^、。？?「」]{1,30}?)(?:と)?"
    r"(?=の(?:違い|相違|差|比較)|を比較|では、?(?:どちら|どっち))"
)
_ASPECTS_EN = re.compile(
    r"\b(?:the |an? )?(?P<a>[a-z]+(?: [a-z]+)?),? and (?:the |an? )?(?P<b>[a-z]+(?: [a-z]+)?)"
    r"(?= (?:of|for) (?:the |an? )?[\w-])",
    re.IGNORECASE,
)
_ASPECTS_JA = re.compile(
    r"(?<=の)(?P<a>[一-鿿々ァ-ヺーA-Za-z0-9]{2,12})(?:と|および|及び|や|、)(?P<b>[一-鿿々ァ-ヺーA-Za-z0-9]{2,12})"
    r"(?=は|を|が|に|について|の(?!違い|差|比較)|[？?。]|$)"
)
_TWO_QUESTIONS = re.compile(
    r"[?？]\s*(?=\S)|,? and (?=(?:what|who|when|where|why|how|which)\b)"
    r"|(?:。|、)(?:また|さらに|そして|それから|あわせて|加えて)、?|(?<=[ですますか])。(?=.{6})",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:and|or|both|versus|vs|compare|compared|between|respectively|each|as well as)\b"
    r"|[、,;；]|違い|比較|それぞれ|および|及び|また|(?<=[一-鿿ァ-ヺーA-Za-z0-9])[とや](?=[一-鿿ァ-ヺーA-Za-z0-9])|[?？].*[?？]",
    re.IGNORECASE,
)


def may_have_parts(question: str) -> bool:
    """Whether `question` holds a word that joins things: only then is a model asked to take it apart."""
    return bool(_SEVERAL.search(fold(question)))


def parts_of(question: str) -> list[str]:
    """Queries for what `question` asks about, one for each; nothing where it asks about one thing.

    >>> parts_of("What is the difference between the PT-300 and the PT-500?")
    ['PT-300', 'PT-500']
    >>> parts_of("PT-300の保証期間と重量を教えてください")
    ['PT-300の保証期間', 'PT-300の重量']
    """
    text = fold(question).strip()
    japanese = detect(text) == "ja"
    for found in (_of_named(text, japanese=japanese), _of_pattern(text, japanese=japanese), _of_clauses(text)):
        distinct = list({same_query(part): part for part in found if same_query(part)}.values())
        if len(distinct) > 1:
            return distinct[:MOST_PARTS]
    return []


def _asked(text: str) -> str:
    return keywords_only(re.sub(r"\s+", " ", _COMPARES.sub(lambda m: m["aspect"] or " ", text)).strip(" のはを、,"))


def _of_named(text: str, *, japanese: bool) -> list[str]:
    """Names or codes side by side, each in the place of all of them."""
    names = sorted(proper_names(text), key=text.find)
    if len(names) < 2:
        return []
    one = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    joined = re.search(rf"(?:{one})(?:{_AND_JA if japanese else _AND_EN}(?:{one}))+", text)
    if joined is None:
        return []
    each = re.findall(one, joined.group())
    return [_asked(text[: joined.start()] + name + text[joined.end() :]) for name in each]


def _of_pattern(text: str, *, japanese: bool) -> list[str]:
    """Two things that are compared, or two properties of one thing."""
    for pattern in (_THINGS_JA, _ASPECTS_JA) if japanese else (_THINGS_EN, _ASPECTS_EN):
        if match := pattern.search(text):
            pair = [value for value in match.groupdict().values() if value]
            shared = match.group()[: match.group().find(pair[0])]
            return [_asked(text[: match.start()] + shared + thing + text[match.end() :]) for thing in pair]
    return []


def _of_clauses(text: str) -> list[str]:
    """Two questions one after the other; what names the first's subject is said again with the second."""
    clauses = [clause.strip(" 、,?？。") for clause in _TWO_QUESTIONS.split(text)]
    clauses = [clause for clause in clauses if len(re.findall(r"\w", clause)) > 3]
    if len(clauses) < 2:
        return []
    names = proper_names(clauses[0])
    queries = [keywords_only(clause) for clause in clauses]
    return [
        query if place == 0 or proper_names(clauses[place]) else " ".join([*names, query])
        for place, query in enumerate(queries)
    ]
