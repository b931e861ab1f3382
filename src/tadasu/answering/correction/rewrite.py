"""Other ways to ask the same thing, by rules that keep entities, codes, numbers, quoted terms and the language.

The question itself is never replaced: what is made here is searched for and nothing else.
"""

from __future__ import annotations

import re
from datetime import date

from tadasu.answering.correction.relative_time import dated, with_dates
from tadasu.text import japanese
from tadasu.text.analyze import content_terms
from tadasu.text.language import detect
from tadasu.text.names import proper_names
from tadasu.text.normalize import fold
from tadasu.text.numbers import numbers

WEB_KEYWORDS = 3
"""Keywords for a web engine, as the CRAG paper asks for (Yan et al. 2024, §4.4). Names, codes and numbers all stay."""

_SCAFFOLD_EN = re.compile(
    r"\b(?:please|can you|could you|would you|i (?:want|need|would like) to know|tell me|explain|do you know|"
    r"what(?:'s| is| are| was| were| does| do| did)?|which|who(?:'s| is| was)?|whom|whose|when|where|why|how"
    r"(?: many| much| long| far| often| do i| can i| does| do| is| are)?|is there|are there|"
    r"does|do|did|is|are|was|were|"
    r"the|an?|of|our|my|your|its|it|should|must|may|can|i|we|you|to|for|in|on|at|by|with|from|about|exactly|currently)\b"
    r"(?!n't)",
    re.IGNORECASE,
)
_SCAFFOLD_JA = re.compile(
    r"(?:を|について|に関して)?(?:教えて(?:ください|下さい|もらえますか)?|知りたい(?:です)?|説明して(?:ください|下さい)?)"
    r"|(?:とは)?(?:何|なに|なん|どこ|誰|だれ|いつ|どれ|どの(?:よう(?:に|な)?|くらい|ぐらい)?|いくら|いくつ|どう|なぜ)"
    r"(?:です|でした|でしょう|になり|があり|であり|をし|すれば(?:よい|いい))?(?:ます|ました)?(?:か)?"
    r"|(?:(?:です|でした|でしょう|ます|ました|ください|下さい)か?|(?<=[きりしい])ませんか)(?=[。？?、\s]|$)"
    r"|(?:は|が|を|に|で|の)(?=[。？?\s]|$)"
)
_QUOTED = re.compile(r"[\"“「『]([^\"”」』]{1,80})[\"”」』]")
_EDGES = re.compile(r"^[\s?？。.!！、,:：]+|[\s?？。.!！、,:：]+$")
_NOUN_KINDS = frozenset(("名詞", "接頭辞", "接尾辞", "形状詞", "記号"))
_PRONOUNS = frozenset(("方", "こと", "もの", "とき", "ため", "場合"))
_JOINTS = re.compile(r"\s*[\n,;?!]\s*|\s*[.:]\s+|\s+(?:and|or|versus|vs\.?|than|between)\s+", re.IGNORECASE)
_COMPARING = re.compile(r"(?:differences?|compare[ds]?|comparison|differ|between|both|and|or)", re.IGNORECASE)
_LONE = frozenset("年月日時分秒人個件回度円何誰方点上下中前後間内外")
"""Of one character, and nothing to search for when they stand alone."""
_NOUN_RUN = re.compile(r"[一-鿿々〆ヶァ-ヺー・A-Za-z0-9À-ɏ%./_+#-]{2,}")


def same_query(query: str) -> str:
    """What two queries have in common that ask for the same: case, width, spaces and punctuation do not count.

    >>> same_query("PT-300の保証は？") == same_query("ＰＴ-300 の保証は")
    True
    """
    return "".join(re.findall(r"\w+", fold(query).casefold()))


def quoted_terms(text: str) -> list[str]:
    """What stands between quotation marks in `text`, folded."""
    return [match.group(1) for match in _QUOTED.finditer(fold(text))]


def anchors(text: str) -> list[str]:
    """What must not get lost on the way: quoted terms, names, codes and numbers of `text`, folded, each once."""
    folded = fold(text)
    found = quoted_terms(text) + proper_names(folded) + [number.raw for number in numbers(folded)]
    return list(dict.fromkeys(term for term in found if term.strip()))


def keywords_only(question: str) -> str:
    """`question` without the words that only make it a question; the whole of it where nothing would be left.

    >>> keywords_only("What is the warranty period for the PT-300?")
    'warranty period PT-300'
    >>> keywords_only("保証期間は何年ですか？")
    '保証期間 年'
    """
    kept = re.sub(r"\s+", " ", _unscaffolded(question, " "))
    kept = re.sub(r"(?<=[^\x00-\x7f])は(?= |$)", "", _EDGES.sub("", re.sub(r"\s*[?？]\s*", " ", kept)))
    return kept.strip() or fold(question).strip()


def _unscaffolded(question: str, gap: str) -> str:
    """`question` with `gap` for every word that only makes it a question; what is quoted stays whole."""
    text = fold(question)
    scaffold = _SCAFFOLD_JA if detect(text) == "ja" else _SCAFFOLD_EN
    parts, at = [], 0
    for quotation in _QUOTED.finditer(text):
        parts += [scaffold.sub(gap, text[at : quotation.start()]), quotation.group()]
        at = quotation.end()
    return "".join([*parts, scaffold.sub(gap, text[at:])])


def anchors_only(question: str) -> str:
    """Names, codes, quoted terms and numbers of `question`, then its content terms: what must occur word for word."""
    text = fold(question)
    unique = list(dict.fromkeys(term for term in [*anchors(text), *content_terms(text)] if term.strip()))
    return " ".join(unique) or text.strip()


def keyphrases(question: str) -> list[str]:
    """The runs of words of `question` that say something, in their order."""
    if detect(fold(question)) != "ja":
        found = _JOINTS.split(_unscaffolded(question, "\n"))
        phrases = list(dict.fromkeys(_EDGES.sub("", phrase) for phrase in found if re.search(r"\w", phrase)))
        return [phrase for phrase in phrases if not _COMPARING.fullmatch(phrase)] or phrases
    bare, found, at = _unscaffolded(question, " "), [], 0
    for mention in re.finditer("|".join(map(re.escape, [*anchors(question), " "])), bare):
        found += [*_nouns(bare[at : mention.start()]), mention.group()]
        at = mention.end()
    return list(dict.fromkeys(phrase for phrase in [*found, *_nouns(bare[at:])] if phrase.strip()))


def _nouns(text: str) -> list[str]:
    """Compound nouns of a Japanese text; runs of kanji, katakana and letters where no analyser is installed."""
    words = list(japanese.tagged(text))
    if not words:
        return _NOUN_RUN.findall(text)
    phrases, run = [], ""
    for at, (surface, kinds, _) in enumerate(words):
        joins = kinds[0] in _NOUN_KINDS and kinds[1] != "非自立可能" and surface not in _PRONOUNS
        # 締め付けトルク: a verb's stem before a noun is part of the noun.
        stem = kinds[0] == "動詞" and kinds[5].startswith("連用形") and at + 1 < len(words)
        if joins or (stem and words[at + 1][1][0] in {"動詞", *_NOUN_KINDS}):
            run += surface
        else:
            phrases.append(run)
            run = ""
    return [phrase for phrase in [*phrases, run] if len(phrase) > 1 or (phrase and phrase not in _LONE)]


def web_keywords(question: str) -> str:
    """At most `WEB_KEYWORDS` phrases of `question` for a web engine; all that hold an anchor, were they more.

    >>> web_keywords("Could you tell me what the maximum process temperature of the PT-300 is in salt water?")
    'maximum process temperature PT-300 salt water'
    >>> web_keywords("横浜の青葉計器のPT-300の保証期間を教えてください")
    '青葉計器 PT-300 保証期間'
    """
    phrases = keyphrases(question)
    named = anchors(question)
    holding = [phrase for phrase in phrases if any(anchor in phrase for anchor in named)]
    others = sorted((phrase for phrase in phrases if phrase not in holding), key=len, reverse=True)
    chosen = {*holding, *others[: max(0, WEB_KEYWORDS - len(holding))]}
    lost = [anchor for anchor in named if not any(anchor in phrase for phrase in chosen)]
    return " ".join([phrase for phrase in phrases if phrase in chosen] + lost) or keywords_only(question)


def web_queries(question: str, *, today: date) -> list[str]:
    """Queries for the web, from the question alone, in the order in which they are tried; no two are the same.

    Keywords first; then all that is not scaffold; then the question as it is. Relative times are dates in all of them.
    """
    made = (web_keywords(question), keywords_only(question), _EDGES.sub("", fold(question)))
    distinct: dict[str, str] = {}
    for query in made:
        if query := dated(query, asked=question, today=today).strip():
            distinct.setdefault(same_query(query), query)
    return list(distinct.values()) or [question]


def own_query(question: str, *, today: date) -> str:
    """The keywords of `question` for our own documents: times are dates, but the newest may be of any year."""
    return keywords_only(with_dates(question, today=today))
