"""Whether a sentence of an answer is held up by the strips it cites, by rules that anybody can follow.

Every number, date, name, code and quoted term must stand in the cited strips, what is denied must be denied there, and
enough of the words must be theirs. Only the cited strips (with their titles, headings, sources and dates) count, so a
verdict does not move when other evidence is added or taken away. Names alone may also come from the strips around, of
the same passage, and a name of the question may stand where the cited strips leave their subject out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tadasu.answering.generation.facts import Facts, claimed_numbers, facts_of, is_foreign, joined, plain
from tadasu.answering.generation.phrases import pairs, replaced
from tadasu.answering.generation.quoting import cells_of
from tadasu.core.answers import Evidence, Support
from tadasu.core.documents import Strip
from tadasu.text.normalize import fold
from tadasu.text.numbers import Number
from tadasu.text.polarity import clauses, denies
from tadasu.text.segment import segment

# Share of a sentence's words that its strips must hold. At these, on HaluEval (en) 98 % of the right answers longer
# than two words pass the share alone; on JNLI (ja), captions rewritten freely, 67 % of the entailed and 20 % of the
# neutral ones do, so below it a sentence is more likely about something else.
_ENOUGH = {"en": 0.66, "ja": 0.6}
_ENOUGH_ELSEWHERE = 0.6
# A bare yes claims all that the question says.
_BARE = 0.8
# The question's own words say little about support: a citation to anything on the topic has them.
_WEIGHT_OF_ASKED = 0.5
_SAME_CLAUSE = 0.6
_CONTRIBUTES = 0.25
_SENTENCE = 4
_FEW, _MUCH_LESS = 3, 0.6
_YEAR = 4
_NEARLY = 0.8
_ENDS = re.compile(r"[.。!！]\W*$")
_YES_NO = re.compile(r"^(?P<yes>yes|はい|ええ)?(?P<no>no|いいえ)?[\s.。,、!！]*$", re.IGNORECASE)
_SUBJECT = re.compile(r"[a-z][a-z'-]*")
_PRONOUNS = frozenset(
    ("it", "its", "they", "their", "this", "these", "he", "she", "his", "her", "the", "a", "an", "all", "each")
)
_ANSWER = re.compile(r"(?P<yes>yes|はい|ええ)?(?P<no>no|いいえ)?(?<=[soSOいえ])[,.、。!！]\s*(?=\S)", re.IGNORECASE)
# Words that only point at a source; they weigh nothing.
_FRAME = facts_of(
    "according to the document, the source, the evidence states 資料 文書 出典 によると 記載されている"
).words
_COUNTED_SOURCES = re.compile(
    r"\b(?P<en>two|three|four|2|3|4)"
    r"(?P<rest> (?:different )?(?:policies|documents|sources|versions|texts|files|passages))\b"
    r"|(?P<ja>[2-4２-４二三四])つの(?=(?:資料|文書|規程|規定|出典|情報源|文献|版))",
    re.IGNORECASE,
)
_NO_LETTERS = re.compile(r"[\W_]+")
# What may stand before and after a whole sentence or cell; a decimal point or a sign may not.
_BEFORE = re.compile(r"(?:^|[\s。.!?！？:：|(（「『\"'])$")
_AFTER = re.compile(r"\s*(?:$|[。!?！？|」』\"]|\.(?!\d))")


@dataclass(frozen=True, slots=True)
class Check:
    """The verdict on one sentence: `share` in [0, 1] of its words is in the strips; `findings` say what is not.

    A finding is ``number …``, ``date …`` or ``name …`` with what is missing, ``wording 31%`` (the share), ``negation``,
    ``other 1901`` (a number that is there, of something else), ``uncited``, or ``language`` where nothing could be
    compared across languages. `text.messages.finding` says it to a reader.
    """

    support: Support
    share: float
    findings: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the sentence is supported."""
        return self.support is Support.SUPPORTED


def check(sentence: str, strips: Sequence[Strip], *, question: str = "", around: Sequence[Strip] = ()) -> Check:
    """Check `sentence` against the strips that it cites, taken together.

    Args:
        sentence: as written, without citation markers.
        strips: the cited strips; none makes the sentence UNCITED.
        question: what was asked; its words weigh half, and a bare yes or no is read as its statement.
        around: other strips of the cited passages; only names are looked up there.
    """
    if not strips:
        return Check(Support.UNCITED, 0.0, ("uncited",))
    claim, asked, expect = _statement(plain(sentence), question)
    answer = _ANSWER.match(claim)
    claim = _uncounted(claim[answer.end() :] if answer else claim, len(strips))
    mine, source = facts_of(claim), joined([_whole(strip) for strip in strips])
    foreign = {mine.language, source.language} == {"en", "ja"}
    if _verbatim(claim, strips) and not (answer and _belied(answer, mine, question, asked)):
        return Check(Support.SUPPORTED, 1.0)
    findings = [f"number {n.raw.strip()}" for n in claimed_numbers(mine) if not source.states_number(n)]
    findings += [f"number {run}" for run in sorted(mine.loose_figures - source.figures)]
    findings += [f"date {d.raw.strip()}" for d in (*mine.dates, *mine.eras) if not source.states_date(d)]
    findings += [f"name {link}" for link in mine.links if link not in source.links]
    findings += [f"name {name}" for name in _missing_names(mine, source, asked, strips, around, foreign=foreign)]
    if not findings and not foreign:
        findings += [f"name {name}" for name in _strangers(mine, source, asked, around)]
    share = _share(mine, source, asked, foreign=foreign)
    if not findings and not foreign:
        findings += [f"name {term}" for term in _replaced(claim, question, strips, known=source.terms)]
    if not findings:
        enough = _BARE if expect is not None else _ENOUGH.get(mine.language, _ENOUGH_ELSEWHERE)
        if foreign and share <= 0.0:
            findings.append("language")
        elif not foreign and share < enough:
            findings.append(f"wording {share:.0%}")
        elif not foreign and _turned_round(claim, strips, expect=expect):
            findings.append("negation")
        elif not foreign:
            findings += [f"other {number.raw.strip()}" for number in _of_another(mine, strips)]
    if answer and not findings and _belied(answer, mine, question, asked):
        findings.append("negation")
    return Check(Support.UNSUPPORTED if findings else Support.SUPPORTED, share, tuple(findings))


def quotes(sentence: str, strips: Sequence[Strip], *, question: str = "") -> bool:
    """Whether `sentence` stands in one of `strips` word for word, and does not begin with a yes or no of its own."""
    claim, _, _ = _statement(plain(sentence), question)
    return _ANSWER.match(claim) is None and _verbatim(claim, strips)


def best_support(
    sentence: str, evidence: Iterable[Evidence], *, question: str = "", among: Sequence[Evidence] | None = None
) -> Evidence | None:
    """The one piece of evidence that supports `sentence` by itself, best first; None where no piece does.

    `among` is all evidence, where `evidence` is a part of it: names may come from the strips around.
    """
    pieces = list(evidence)
    found: list[tuple[float, float, int, Evidence]] = []
    for piece in pieces:
        around = beside([piece], pieces if among is None else among)
        verdict = check(sentence, [piece.strip], question=question, around=around)
        if verdict.holds:
            found.append((-verdict.share, -piece.score, piece.number, piece))
    return min(found)[3] if found else None


def needed(sentence: str, cited: Sequence[Evidence], *, question: str = "") -> tuple[Evidence, ...]:
    """`cited` without the pieces that hold up nothing of a supported `sentence`; never empty unless `cited` is."""
    if len(cited) < 2:
        return tuple(cited)
    claim = facts_of(plain(sentence))
    kept = tuple(piece for piece in cited if _contributes(claim, piece.strip, question))
    if not kept or len(kept) == len(cited):
        return tuple(cited)
    return kept if check(sentence, [piece.strip for piece in kept], question=question).holds else tuple(cited)


def beside(cited: Iterable[Evidence], evidence: Iterable[Evidence]) -> tuple[Strip, ...]:
    """The strips of `evidence` that come from the passages of `cited` and are not cited themselves."""
    numbers = {piece.number for piece in cited}
    pieces = list(evidence)
    passages = {piece.strip.passage_id for piece in pieces if piece.number in numbers}
    return tuple(p.strip for p in pieces if p.strip.passage_id in passages and p.number not in numbers)


def _statement(claim: str, question: str) -> tuple[str, Facts, bool | None]:
    """What is claimed, the question's facts, and whether a denial is expected (None: as the claim has it)."""
    bare = _YES_NO.match(claim) if question else None
    if bare and (bare["yes"] or bare["no"]):
        return question, facts_of(""), denies(question) ^ bool(bare["no"])
    return claim, facts_of(question), None


def _uncounted(claim: str, sources: int) -> str:
    """`claim` without a number that only counts its sources: "Two policies differ"."""

    def plainly(match: re.Match[str]) -> str:
        count = facts_of(match["en"] or match["ja"]).numbers
        return match["rest"] or "" if count and 1 < count[0].value <= max(sources, 2) else match[0]

    return _COUNTED_SOURCES.sub(plainly, claim)


def _replaced(claim: str, question: str, strips: Sequence[Strip], *, known: frozenset[str]) -> list[str]:
    """Words of the question that tell which thing is meant, and in whose place the strips have others."""
    found = replaced(claim, "\n".join(strip.text for strip in strips), known=known)
    return sorted(found & (facts_of(question).terms | {before for before, _ in pairs(question)}))


def _belied(answer: re.Match[str], mine: Facts, question: str, asked: Facts) -> bool:
    """Whether a yes or no is followed by the question's own statement with the other sign."""
    if not asked.words or len(asked.words & mine.words) < _SAME_CLAUSE * len(asked.words):
        return False
    return denies(mine.text) != (denies(question) ^ bool(answer["no"]))


def _whole(strip: Strip) -> str:
    return "\n".join(part for part in (strip.text, strip.title, *strip.headings, strip.source, strip.date) if part)


def _missing_names(
    mine: Facts, source: Facts, asked: Facts, strips: Sequence[Strip], around: Sequence[Strip], *, foreign: bool
) -> list[str]:
    # A name that begins a sentence may be known as one by the question only.
    names = [*mine.names, *(name for name in asked.names if name not in mine.names and mine.states_name(name))]
    missing = [
        name
        for name in names
        if not source.states_name(name)
        and not (is_foreign(name) and (foreign or source.states_name(mine.whole_name(name))))
    ]
    if missing and any(cells_of(strip.text) for strip in strips):
        # "Amount EUR" is the head of a column and the beginning of its cell.
        missing = [name for name in missing if not all(source.states_name(word) for word in name.split())]
    if missing and around:
        near = joined([strip.text for strip in around])
        missing = [name for name in missing if not near.states_name(name)]
    if missing and all(mine.states_name(name) or asked.states_name(name) for name in source.names):
        subject = _SUBJECT.match(source.flat)
        left_out = subject is None or subject[0] in _PRONOUNS or bool(facts_of(subject[0]).terms & mine.terms)
        missing = [n for n in missing if not asked.states_name(n) or not (left_out or any(c.isdigit() for c in n))]
    return missing


def _strangers(mine: Facts, source: Facts, asked: Facts, around: Sequence[Strip]) -> list[str]:
    """People and places of a Japanese claim, as its words are tagged, that neither strips nor question know."""
    known = [source, asked, *(facts_of(strip.text) for strip in around)]
    return [name for name in mine.tagged_names if not any(name in facts.flat for facts in known)]


def _share(mine: Facts, source: Facts, asked: Facts, *, foreign: bool) -> float:
    """Share of the claim's words, figures and names that the source has; a figure or a name counts as one word.

    Names that only the question has are left out: whether they may stand is decided apart.
    """
    named = {term for name in mine.names for term in facts_of(name).order}
    words = [w for w in mine.words if w not in named and w not in _FRAME and (w.isascii() or not foreign)]
    told = [source.states_number(n) for n in claimed_numbers(mine)] + [source.states_date(d) for d in mine.dates]
    told += [True for name in mine.names if source.states_name(name)]
    weight, found = float(len(told)), float(sum(told))
    for word in words:
        worth = _WEIGHT_OF_ASKED if word in asked.terms else 1.0
        weight += worth
        found += worth if word in source.terms else 0.0
    return found / weight if weight else 0.0


def _verbatim(claim: str, strips: Sequence[Strip]) -> bool:
    """Whether the claim stands in one strip as whole sentences or cells."""
    wanted = fold(claim).strip(" .。!?！？").casefold()
    if len(_NO_LETTERS.sub("", wanted)) < 4:
        return False
    for strip in strips:
        text = facts_of(strip.text).flat
        at = text.find(wanted)
        if at >= 0 and _BEFORE.search(text[:at]) and _AFTER.match(text, at + len(wanted)):
            return True
    return False


def _turned_round(claim: str, strips: Sequence[Strip], *, expect: bool | None) -> bool:
    """Whether some thought of the claim stands in the strips with the opposite sign only."""
    if expect is None and (whole := _same_sentence(claim, strips)) is not None:
        return denies(claim) != denies(whole)
    theirs = [
        (facts_of(piece).terms, denies(piece))
        for strip in strips
        for sentence in _sentences(strip.text)
        for piece in {sentence, *_thoughts(sentence)}
    ]
    for piece in [claim] if expect is not None else _thoughts(claim):
        terms = facts_of(piece).words
        sign = denies(piece) if expect is None else expect
        if expect is None and not sign and len(terms) < _SENTENCE and not _ENDS.search(piece):
            continue  # a bare term, which denies and affirms nothing
        overlaps = [(len(terms & other) / len(terms), other_sign) for other, other_sign in theirs if terms]
        same = max((overlap for overlap, other_sign in overlaps if other_sign == sign), default=0.0)
        opposite = max((overlap for overlap, other_sign in overlaps if other_sign != sign), default=0.0)
        if opposite >= _SAME_CLAUSE and opposite > same:
            return True
    return False


def _of_another(mine: Facts, strips: Sequence[Strip]) -> list[Number]:
    """Numbers of the claim that its source states of something else.

    The sentence that says nearly what the claim says has another number of the kind, which the claim leaves out, and
    those that have the claim's number say less of it.
    """
    words = mine.words - _FRAME
    numbers = [n for n in mine.numbers if not n.spelled]
    if len(words) < _FEW or not numbers:
        return []
    sentences = [facts_of(one) for strip in strips for one in _sentences(strip.text)]
    alike = [(len(words & one.terms), one) for one in sentences]
    best = max(common for common, _ in alike)
    if len(sentences) < 2 or best < _SAME_CLAUSE * len(words):
        return []
    nearest = [one for common, one in alike if common == best]
    rivals = {_kind(n) for one in nearest for n in one.numbers if not n.spelled and not mine.states_number(n)}
    found = []
    for number in numbers:
        stating = [common for common, one in alike if one.states_number(number)]
        if stating and max(stating) <= _MUCH_LESS * best and _kind(number) in rivals:
            found.append(number)
    return found


def _kind(number: Number) -> str:
    """What a number counts: its unit, years being years with and without 年."""
    year = not number.unit and number.raw.strip().isdigit() and len(number.raw.strip()) == _YEAR
    return "年" if year else number.unit


def _same_sentence(claim: str, strips: Sequence[Strip]) -> str | None:
    """The sentence whose words are nearly those of the claim, if there is one: then the whole is compared."""
    words = facts_of(claim).words - _FRAME
    for strip in strips:
        for sentence in _sentences(strip.text):
            others = facts_of(sentence).words
            if words and len(words & others) >= _NEARLY * len(words | others):
                return sentence
    return None


@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[str, ...]:
    """The sentences of a strip that holds several: a denial in one turns no other round."""
    return tuple(text[start:end] for start, end in segment(text)) or (text,)


def _thoughts(text: str) -> list[str]:
    """`text` whole, or its clauses where each has enough words to be recognised."""
    pieces = clauses(text)
    return pieces if len(pieces) > 1 and all(len(facts_of(piece).terms) > 1 for piece in pieces) else [text]


def _contributes(claim: Facts, strip: Strip, question: str) -> bool:
    source = facts_of(_whole(strip))
    return (
        any(source.states_number(n) for n in claim.numbers if not n.spelled)
        or any(source.states_name(name) for name in claim.names if not facts_of(question).states_name(name))
        or _share(claim, source, facts_of(""), foreign=False) >= _CONTRIBUTES
    )
