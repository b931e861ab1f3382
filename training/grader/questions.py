"""Pseudo-questions in English: sentences of passages turned into questions and keyword queries by rule.

Nobody says what answers them. They are asked so that the teacher can grade passages for many more questions than the
labelled sets hold; it matters that they look like what people type, not that each is well formed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from tadasu.core.documents import Passage
from tadasu.testing.splits import Split
from tadasu.text.stopwords import ENGLISH_STOPWORDS
from training.grader.negatives import Mining, as_row, encode_ahead, found_by
from training.grader.rows import Group, Kind, RowPassage
from training.grader.sets import open_questions, order

_NAME = r"(?:[A-Z][\w'’-]*\.?)(?: (?:(?:of|the|de|van|von|and) )?[A-Z][\w'’-]*\.?)*"
_VERB = (
    r"\w{2,}ed|born|built|made|held|found|won|led|known|written|given|taken|sold|sent|shown|seen|set|cut|grown|drawn"
)
_ACTIVE = r"\w{2,}ed|won|led|wrote|made|became|began|took|gave|held|built|sold|sang|ran|met|fought|contains|includes"
_PASSIVE = re.compile(rf"^(?P<subject>[^,;:]{{3,60}}?),? (?P<be>is|are|was|were) (?P<verb>{_VERB}) (?P<rest>.+)$")
_COPULA = re.compile(r"^(?P<subject>[^,;:]{3,60}?),? (?P<be>is|are|was|were) (?P<what>(?:an?|the|one of) [^,;]{4,70})")
_DID = re.compile(
    rf"^(?P<subject>[^,;:]{{3,50}}?) (?P<verb>{_ACTIVE}) "
    rf"(?P<object>(?:an?|the|his|her|its|{_NAME}|\w+) [^,;.]{{4,60}})"
)
_COUNT = re.compile(
    r"\b(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|several) (?P<noun>[a-z]{3,}(?: [a-z]{3,})?s)\b"
)
_MONEY = re.compile(r"[$£€]\s?\d|\d\s?%|\d percent")
_DATE = re.compile(
    r"(?:,? (?:in|on|since|from|until|during|by|around))?(?: the)? ?"
    r"(?:\d{1,2} )?(?:[A-Z][a-z]{2,8} )?(?:\d{1,2}, )?\b(?:1\d{3}|20\d\d)\b"
)
_PLACE = re.compile(rf"\b(?:in|at|near|to) (?P<place>{_NAME})")
_BY = re.compile(rf"\bby (?:the )?(?P<name>{_NAME})")
_OF = re.compile(r"\bthe (?P<attribute>[a-z]{4,}) of (?P<owner>(?:the )?[\w'’-]+(?: [\w'’-]+)?)")
_PRONOUN = re.compile(r"^(?:He|She|It|They|This|These)\b")
_HUMAN = re.compile(
    r"\b(?:he|she|his|her|born|actor|actress|player|politician|writer|singer|king|queen|son|daughter)\b", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z0-9][\w'’-]*")
_BRACKETS = re.compile(r"\s*\([^()]*\)|\s*\[[^\[\]]*\]")
_TITLE_WORDS = 6
_RANKS = (0, 1, 4, 11)
_OPEN_RANKS = (0, 1, 2, 5, 12)
_PER_PASSAGE: Mapping[str, int] = {"xquad_en": 6, "wiki_en": 1, "popqa": 1, "covidqa": 1}


def pseudo_questions(title: str, sentence: str) -> list[str]:
    """What a sentence of an article answers, in several shapes; empty where no rule fits.

    >>> pseudo_questions("Eiffel Tower", "The tower was built by Gustave Eiffel in 1889.")[:2]
    ['who built the tower', 'when was the tower built']
    """
    title = _first(_BRACKETS.sub("", title.replace("_", " ")), _TITLE_WORDS)
    text = _BRACKETS.sub("", " ".join(sentence.split())).rstrip(" .!?;:")
    text = _PRONOUN.sub(lambda match: title or match.group(), text)
    if not 5 <= len(text.split()) <= 45:
        return []
    found = [*_passive(text), *_copula(text), *_active(text), *_measure(title, text), *_attribute(text)]
    return list(dict.fromkeys([*found, *_dated(text), *_keywords(title, text)]))


def pseudo_asked(mine: Mining, *, limit: int) -> list[tuple[str, str, Passage]]:
    """Id, question and source of pseudo-questions of an index, at most `limit`, in shuffled order."""
    found: list[tuple[str, str, Passage]] = []
    for passage in mine.by_id.values():
        wanted = _PER_PASSAGE.get(passage.source.partition("/")[0], 1)
        sentences = sorted(passage.strips, key=lambda strip: order(f"{passage.id} {strip.start}"))
        made = (pseudo_questions(passage.title, strip.of(passage.text)) for strip in sentences)
        for number, shapes in enumerate(islice(filter(None, made), wanted)):
            pick = int(order(f"shape {passage.id} {number}")[:6], 16) % len(shapes)
            found.append((f"{passage.id}#{number}", _styled(shapes[pick], passage.id), passage))
    return sorted(found, key=lambda one: order(one[0]))[:limit]


async def pseudo_groups(mine: Mining, *, limit: int, name: str) -> list[Group]:
    """Groups of pseudo-questions and of nq_open's questions with what our retrieval finds: labels unknown."""
    asked = pseudo_asked(mine, limit=limit)
    open_ = open_questions(mine.split)[: max(limit // 2, 1)]
    encode_ahead(mine.encoder, [question for _, question, _ in asked] + [one.text for one in open_])
    groups = []
    for id_, question, source in asked:
        found = [one for one in await found_by(mine, question, k=_RANKS[-1] + 2) if one.id != source.id]
        chosen = [source, *(found[rank] for rank in _RANKS if rank < len(found))]
        groups.append(_group(name, mine.split, id_, question, chosen))
    for one in open_:
        found = await found_by(mine, one.text, k=_OPEN_RANKS[-1] + 1)
        groups.append(_group(name, mine.split, one.id, one.text, [found[at] for at in _OPEN_RANKS if at < len(found)]))
    return sorted(groups, key=lambda group: order(group.id))


def _group(name: str, split: Split, id_: str, question: str, passages: Sequence[Passage]) -> Group:
    rows: tuple[RowPassage, ...] = tuple(as_row(one, label=-1, kind=Kind.RETRIEVED) for one in passages)
    return Group(name, split, "en", id_, question, (), rows)


def _styled(question: str, seed: str) -> str:
    """Some as they are, some with a capital and a question mark, as people write them."""
    if int(order(f"style {seed}")[:4], 16) % 2:
        return question
    mark = "?" if re.match(r"(?:who|what|when|where|how|which|in what)\b", question) else ""
    return question[:1].upper() + question[1:] + mark


def _passive(text: str) -> Iterator[str]:
    match = _PASSIVE.match(text)
    if match is None:
        return
    subject, be, verb, rest = _lowered(match["subject"]), match["be"], match["verb"], match["rest"]
    if _BY.search(rest):
        yield f"who {verb} {subject}"
    if _DATE.search(rest):
        yield f"when {be} {subject} {verb}"
    if _PLACE.search(rest):
        yield f"where {be} {subject} {verb}"
    yield f"how {be} {subject} {verb}"
    yield f"what {be} {verb} {_first(rest, 7)}"


def _copula(text: str) -> Iterator[str]:
    match = _COPULA.match(text)
    if match is None:
        return
    who = "who" if _HUMAN.search(text) else "what"
    yield f"{who} {match['be']} {_lowered(match['subject'])}"
    yield f"{who} {match['be']} {_first(match['what'], 9)}"


def _active(text: str) -> Iterator[str]:
    match = _DID.match(text)
    if match is not None:
        who = "who" if re.fullmatch(_NAME, match["subject"]) else "what"
        yield f"{who} {match['verb']} {_first(match['object'], 8)}"


def _measure(title: str, text: str) -> Iterator[str]:
    for match in islice(_COUNT.finditer(text), 1):
        yield f"how many {match['noun']} {_first(text[match.end() :], 5)}".strip()
        yield f"how many {match['noun']} {title}".strip()
    if money := _MONEY.search(text):
        yield f"how much {_first(text[money.end() :].lstrip(' 0123456789.,%'), 7)}".strip()


def _attribute(text: str) -> Iterator[str]:
    for match in islice(_OF.finditer(text), 1):
        yield f"what is the {match['attribute']} of {match['owner']}"


def _dated(text: str) -> Iterator[str]:
    if match := _DATE.search(text):
        left = f"{text[: match.start()]} {text[match.end() :]}"
        yield f"in what year {_lowered(_first(left, 10))}"


def _keywords(title: str, text: str) -> Iterator[str]:
    words = [word for word in _WORD.findall(text) if word.casefold() not in ENGLISH_STOPWORDS and len(word) > 2]
    fresh = sorted(
        {word for word in words if word.casefold() not in title.casefold()}, key=lambda one: (-len(one), one)
    )
    if len(fresh) >= 3:
        yield f"{title} {' '.join(word for word in words if word in fresh[:2])}".strip()
        yield " ".join(dict.fromkeys(word for word in words if word in fresh[:4]))


def _first(text: str, count: int) -> str:
    return " ".join(text.split()[:count]).rstrip(",;:")


def _lowered(text: str) -> str:
    """Without the capital that only the beginning of a sentence gave it."""
    first, _, _ = text.partition(" ")
    return text[:1].lower() + text[1:] if first.casefold() in ENGLISH_STOPWORDS or first == "The" else text
