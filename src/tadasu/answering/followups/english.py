"""How an English question leans on the one before it. Rules, precise rather than complete: in doubt it stands alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tadasu.answering.followups.contrast import ACRONYM, CODE, NAME, Lean, codes, entities, put, rival
from tadasu.text.names import proper_names
from tadasu.text.wordlists import word_set

_WORD = re.compile(r"[A-Za-z0-9À-ɏ]+(?:['./&+-][A-Za-z0-9À-ɏ]+)*")
_OPENER = re.compile(
    r"^(?:(?:(?:many )?thanks|thank you|ok|okay|great|hi|hello|well|now|right)[!,.]* +"
    r"|(?:and|but|or|so|then|also|plus)(?: then)?,? +|(?:what|how) about +)+",
    re.IGNORECASE,
)
_ASKS = word_set("""
    what what's who who's whom whose when when's where where's which why how how's is are was were am do does did can
    could will would shall should may might must has have had isn't aren't don't doesn't didn't can't won't
    """)
_TELLS = word_set(
    "tell explain show list give describe name compare summarise summarize find please i we let's i'd i'm"
)
_DETERMINERS = word_set("the a an my our your each every any some all both no another")
_PREPOSITIONS = word_set("""
    of to in on at by for from with without into onto over under about as than inside outside during between within
    after before until till since per via near against through among across besides except regarding
    """)
_FUNCTION = (
    _ASKS | _DETERMINERS | _PREPOSITIONS | word_set("""
    and or but so then also if while because although though not just only very too such own same other be been being
    i me us you we he she it its they them their theirs his her him hers this that these those there here one ones
    done next last first second previous many much often long high far fast big old deep wide tall heavy
    large soon late early exactly actually really
    tell explain show list give describe please know want need ask more most s t re ve ll d m let
    up down out off again still yet now always ever when's already else usually normally
    """)
)  # fmt: skip
_LIGHT = word_set("""
    get gets got make makes made take takes use uses used go goes come happen happens cost costs last lasts apply
    applies start starts begin begins end ends expire expires weigh weighs mean means look looks include
    includes contain contains hold holds run runs look looks become becomes receive receives give given gives find
    due needed required available valid possible different day days hour hours minute minutes week weeks month months
    year years percent people
    """)
# What things have: asked for alone, it is another thing's.
_ATTRIBUTES = word_set("""
    price cost fee rate charge tariff amount total sum budget discount weight size length height width depth capacity
    range accuracy precision resolution warranty guarantee period duration deadline limit maximum minimum max min
    average colour color address phone number telephone email contact manufacturer maker version date status reason
    cause exception penalty requirement requirements procedure process condition criterion criteria difference
    advantage disadvantage voltage power interval speed owner author manager delivery lead time times hours result
    effect risk consequence rule rent step details detail purpose name location term frequency notice request
    application
    """)
_GENERIC = word_set("""
    company organisation organization firm business year month week quarter morning afternoon evening document
    documents file collection knowledge country
    """)
_PEOPLE = word_set("""
    employee staff worker intern contractor manager customer client driver member person user colleague trainee
    apprentice supplier visitor guest parent director officer freelancer
    """)
_COMPARED_WORDS = word_set("one ones this that these those same other")
_POSSESSIVES = word_set("its their theirs his her hers")
_PRONOUNS = word_set("it they them he she him") | _POSSESSIVES
_BORDERS = word_set("if when after before once while because and or but unless until where although")
_COMPARED = re.compile(
    r"\bthe (?:same(?! (?:as|time|day|thing))|others|former|latter)\b|\bthe other\W*$"
    r"|\b(?:the|which|that|this) (?:\w+ )?ones?\b",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\b(?:is it|it is|it's|was it|would it be) (?:\w+ly )?(?:possible|allowed|permitted|necessary|required|mandatory"
    r"|okay|ok|safe|true|legal|better|worth|normal|forbidden|compulsory|obligatory|advisable|enough|fine|acceptable)"
    r" (?:to|that|for|if)\b"
    r"|\bit (?:\w+ly )?(?:take|takes|cost|costs)\b(?=.* (?:to|for) )|\bwhat time is it\b",
    re.IGNORECASE,
)
_WHICH_OF_THEM = re.compile(
    r"^which (?:is|are|was|were|has|have) (?:\w+er|more \w+|the \w+est|best|better)\W*$", re.IGNORECASE
)
_LEFT_OPEN = re.compile(r"\b(?:included|eligible|entitled|affected|covered|exempt|too|as well)\W*$", re.IGNORECASE)
_ANCHOR = re.compile(r"^([^:?!.]{1,80}): (?=\S)")
_PARTICIPLE = re.compile(r" \w+ed$")
_LONGEST_FRAGMENT = 6


def lean(text: str) -> Lean:
    """How the folded question `text` leans on the one before."""
    opener = _OPENER.match(text)
    body = text[opener.end() :] if opener else text
    spoken = [word.lower() for word in _WORD.findall(body)]
    if not spoken:
        return Lean.BARE
    if not any(word in _ASKS for word in spoken) and spoken[0] not in _TELLS:
        asked = bool(opener) or spoken[0] in _PREPOSITIONS or text.rstrip().endswith("?")
        if _points_back(body):
            return Lean.POINTS_BACK
        return Lean.CONTRAST if asked and len(spoken) <= _LONGEST_FRAGMENT else Lean.COMPLETE
    if _points_back(body):
        return Lean.POINTS_BACK
    return Lean.BARE if _is_bare(body, spoken) else Lean.COMPLETE


def contrasted(text: str, previous: str) -> str:
    """The `previous` question with what the fragment `text` names in its place; empty where that is not clear."""
    opener = _OPENER.match(text)
    fragment = (text[opener.end() :] if opener else text).strip(" ?!.")
    spoken = _WORD.findall(fragment)
    lead = spoken[0].lower() if spoken and spoken[0].lower() in _PREPOSITIONS else ""
    new = entities(f"the {fragment}")
    rest = [word for word in _content(fragment) if not any(word in _WORD.findall(one.text) for one in new)]
    known = {word.lower() for word in _WORD.findall(previous)}
    strange = [word for word in rest if word.lower() not in known]
    swapped = previous
    for one in new:
        old = rival(one, previous, after="" if lead == "of" else lead)
        if old and strange and len(new) == 1 and (exchanged := _exchanged_whole(fragment, old, previous)):
            return exchanged
        if not old or strange:
            break
        swapped = put(swapped, old, one.text)
    else:
        if new:
            return swapped
    if new and strange and any(one.kind in (CODE, NAME, ACRONYM) for one in new):
        return text  # a subject of its own: "And the gateway of the VPN?"
    return _exchanged_phrase(fragment, lead, previous) or (_added(fragment, previous) if lead or new else "")


def topic(previous: str) -> list[str]:
    """What `previous` is about, in its own words: its codes, else one noun phrase; more would drown what is asked.

    A thing goes before those who have it, and before its attributes: of "How many days of annual leave do interns get?"
    it is "annual leave". After a query that has a topic in front, that one, and what its question adds.
    """
    found = codes(previous)
    if found:
        return found[:3]
    anchor = _ANCHOR.match(previous)
    body = previous[anchor.end() :] if anchor else previous
    phrases = _phrases(body)
    about = [_PARTICIPLE.sub("", phrase) for phrase in phrases if not _PARTICIPLE.fullmatch(f" {phrase}")]
    about = [phrase for phrase in about if not _only(phrase, _ATTRIBUTES)]
    things = [phrase for phrase in about if _singular(_content(phrase)[-1]) not in _PEOPLE]
    sure = [phrase for phrase in things if " " in phrase or _is_noun(phrase, body)]
    if anchor:
        return [*anchor.group(1).split(", ")[:1], *sure[:1]]
    owners = [phrase for phrase in sure or things if _singular(phrase.split(" of ")[0].split()[-1]) not in _ATTRIBUTES]
    return (owners or things or about or phrases)[:1]


def continued(text: str, previous: str) -> str:
    """`previous` and the question `text` behind it, where `text` only asks ("Until when?"); else empty."""
    if _content(text):
        return ""
    spoken = {word.lower() for word in _WORD.findall(text)}
    if spoken & (_PRONOUNS | _COMPARED_WORDS) or not spoken & _ASKS:
        return ""
    whole = _without_bare_questions(previous)
    return f"{whole} {text}" if whole else ""


def joined(question: str, parts: Sequence[str]) -> str:
    """`question` behind its topic."""
    return f"{', '.join(parts)}: {question}"


def _without_bare_questions(query: str) -> str:
    """`query` without what an earlier `continued` put behind it."""
    return " ".join(part for part in re.split(r"(?<=\?) ", query) if _content(part))


def _content(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word.lower() not in _FUNCTION]


def _singular(word: str) -> str:
    low = word.lower()
    return low[:-1] if low.endswith("s") and not low.endswith("ss") else low


def _only(text: str, allowed: frozenset[str]) -> bool:
    return all(word.lower() in allowed or _singular(word) in allowed for word in _content(text))


def _is_bare(body: str, spoken: Sequence[str]) -> bool:
    """Whether only an attribute is asked for, of something that is not said."""
    if codes(body) or proper_names(body):
        return False
    said = [
        word
        for word in _content(body)
        if word.lower() not in _LIGHT and word.lower() not in _ATTRIBUTES and _singular(word) not in _ATTRIBUTES
    ]
    if not said:
        return True
    if len(said) > 1:
        return False
    return bool(_LEFT_OPEN.search(body)) or not _nouns(spoken)


def _nouns(spoken: Sequence[str]) -> list[int]:
    """Where words stand that are nouns for sure: behind a determiner, a preposition or an auxiliary."""
    leads = _DETERMINERS | _PREPOSITIONS | (_ASKS - word_set("how why when where what who which whom whose"))
    return [
        at
        for at, word in enumerate(spoken)
        if at
        and spoken[at - 1] in leads
        and not word.endswith("ed")
        and word not in _FUNCTION
        and word not in _LIGHT
        and _singular(word) not in _ATTRIBUTES
    ]


def _points_back(body: str) -> bool:
    """Whether a pronoun stands in `body` that nothing before it in `body` explains."""
    if _COMPARED.search(body) or _WHICH_OF_THEM.search(body):
        return True
    plain = _EXPLETIVE.sub(lambda match: "x" * len(match.group()), body)
    tokens = [match.group().lower() for match in re.finditer(rf"{_WORD.pattern}|[,;:]", plain)]
    words = [token.split("'")[0] if token.startswith(("it'", "that'", "they'")) else token for token in tokens]
    return any(_is_pointer(words, at) and not _is_bound(words, at, body) for at in range(len(words)))


def _is_pointer(words: Sequence[str], at: int) -> bool:
    word, before = words[at], words[at - 1] if at else ""
    after = words[at + 1] if at + 1 < len(words) else ""
    if word in _PRONOUNS:
        return True
    if word in ("this", "these", "those", "that"):
        if after in _GENERIC or after in ("who", "which", "that", "whose"):
            return False
        return word in ("this", "these") or not before or before in _ASKS | _PREPOSITIONS | _TELLS | _BORDERS
    return False


def _is_bound(words: Sequence[str], at: int, body: str) -> bool:
    """Whether a noun earlier in the question is what the pronoun at `at` stands for."""
    earlier = _nouns(words[:at])
    for name in proper_names(body):
        first = name.split()[0].lower()
        if first in words[:at]:
            earlier.append(words.index(first))
    if not earlier:
        return False
    if words[at] in _POSSESSIVES:
        return True
    return any(word in _BORDERS or word in ",;:" for word in words[min(earlier) + 1 : at])


def _is_noun(word: str, body: str) -> bool:
    spoken = [one.lower() for one in _WORD.findall(body)]
    leads = _DETERMINERS | _PREPOSITIONS
    return any(spoken[at] == word.lower() and spoken[at - 1] in leads for at in _nouns(spoken))


def _phrases(text: str) -> list[str]:
    """Runs of content words, joined by "of", as they stand."""
    found: list[str] = []
    start = end = -1
    linked = False
    for match in _WORD.finditer(text):
        low = match.group().lower()
        if low not in _FUNCTION and low not in _LIGHT:
            gap = text[end : match.start()] if end >= 0 else ""
            if end >= 0 and (not gap.strip() or linked):
                end = match.end()
            else:
                if end >= 0:
                    found.append(text[start:end])
                start, end = match.span()
            linked = False
        else:
            linked = end >= 0 and (low == "of" or (linked and low == "the"))
            if not linked and end >= 0:
                found.append(text[start:end])
                start = end = -1
    if end >= 0:
        found.append(text[start:end])
    return list(dict.fromkeys(found))


def _core(fragment: str) -> str:
    """A fragment without preposition and article."""
    spoken = _WORD.findall(fragment)
    at = next((at for at, word in enumerate(spoken) if word.lower() not in _PREPOSITIONS | _DETERMINERS), 0)
    return fragment[fragment.find(spoken[at]) :] if spoken else fragment


def _exchanged_whole(fragment: str, old: str, previous: str) -> str:
    """`previous` with the phrase around the name `old` exchanged: the Kawasaki office for the Antwerp depot."""
    new = _core(fragment)
    for phrase in _phrases(previous):
        for piece in re.split(r" of (?:the )?", phrase):
            same_length = len(piece.split()) == len(new.split()) > 1
            if old in piece and same_length and not _only(new.split()[-1], _ATTRIBUTES):
                return put(previous, piece, new)
    return ""


def _exchanged_phrase(fragment: str, lead: str, previous: str) -> str:
    """`previous` with the phrase exchanged that has the fragment's last word, or its preposition."""
    new = _core(fragment)
    if not _content(new):
        return ""
    head = _singular(_content(new)[-1])
    for phrase in _phrases(previous):
        pieces = re.split(r" of (?:the )?", phrase)
        for piece in pieces:
            if _singular(piece.split()[-1]) == head and piece.lower() != new.lower() and len(_content(new)) > 1:
                return put(previous, piece, new)
    if lead and lead != "of":
        for phrase in _phrases(previous):
            if re.search(rf"\b{lead} (?:the |a |an |all )?{re.escape(phrase)}", previous, re.IGNORECASE):
                return put(previous, phrase, new)
    return ""


def _added(fragment: str, previous: str) -> str:
    spoken = fragment.split(" ", 1)
    if spoken[0].lower() in _PREPOSITIONS | _DETERMINERS:
        fragment = " ".join([spoken[0].lower(), *spoken[1:]])
    return f"{_without_bare_questions(previous).rstrip(' ?.')}, {fragment}?"
