"""Claims from held-back titles that are known to be right or wrong, for the check of answers.

*Swaps*: the answer of an annotated question, in its own sentence or in a statement made from the question, is exchanged
for the answer of another question of the same article that is of the same kind (a year for a year, a number with its
unit, a name for a name). Both the right and the swapped sentence are told in another form, drawn alike, so that neither
is a quotation and the form tells nothing. *Perturbations*: a number, a date, a name or a negation of a sentence changed
by rules, the source left as it is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tadasu.testing.datasets import Part, PassageRow, Question, passages, questions
from tadasu.testing.splits import Split, split_of
from tadasu.text.segment import segment
from training.grader.answers import answer_spans
from training.heads import turns
from training.heads.forms import polite, statement

SWAPPED: dict[Split, dict[str, tuple[Part, ...]]] = {
    Split.TEST: {"en": (Part.XQUAD_EN,), "ja": (Part.JSQUAD_VALID, Part.JAQUAD_DEV)},
    Split.CALIBRATE: {"en": (Part.XQUAD_EN,), "ja": (Part.JAQUAD_TRAIN,)},
}
_YEAR = re.compile(r"(?:1[0-9]{3}|20[0-9]{2})(?:年)?")
_COUNTED = re.compile(r"[$€£]?[\d,.]+ ?(\D{0,12})")
_NAME = {
    "en": re.compile(r"(?:[A-Z][\w'’.-]*)(?: (?:of |de |the |von |van )?[A-Z][\w'’.-]*)*"),
    "ja": re.compile(r"[ァ-ヺー・]{3,}|[一-龠々]{2,8}"),
}
_SHORT = 400
_NAMES = {"en": ("Ingrid Halvorsen", "Tomas Reyes", "Port Ellery"), "ja": ("大和田慎吾", "クラウス・ベルク", "北浦町")}
_MONTH_EN = re.compile(r"\b(January|February|March|April|May|June|July|August|September|October|November|December)\b")
_MONTH_JA = re.compile(r"(?<!\d)(1[0-2]|[1-9])月")


@dataclass(frozen=True, slots=True)
class Made:
    """A claim: `kind` says how it was made, `right` whether its source says it.

    `within`: what was put in stands in the source too.
    """

    language: str
    kind: str
    question: str
    sentence: str
    source: str
    right: bool
    within: bool = False


def kind_of(answer: str, language: str) -> str:
    """What an answer is, where that is clear: ``year``, ``number`` with its unit, ``name``, or nothing.

    >>> kind_of("1945年", "ja"), kind_of("12 km", "en"), kind_of("Anna Lind", "en"), kind_of("yes, often", "en")
    ('year', 'number km', 'name', '')
    """
    text = answer.strip()
    if _YEAR.fullmatch(text):
        return "year"
    if match := _COUNTED.fullmatch(text):
        return f"number {match[1].strip()}"
    return "name" if _NAME[language].fullmatch(text) else ""


def swaps(split: Split, *, limit: int) -> Iterator[Made]:
    """Right claims and swapped ones, one of each per question that allows it, at most `limit` questions a language."""
    for language, parts in SWAPPED[split].items():
        pairs = [pair for part in parts for pair in _of_part(part, language, split)]
        random.Random(11).shuffle(pairs)
        for right, wrong in pairs[:limit]:
            yield right
            yield wrong


def _of_part(part: Part, language: str, split: Split) -> Iterator[tuple[Made, Made]]:
    rows = {row.id: row for row in passages(part) if split_of(part, row.key) is split}
    asked: dict[str, list[tuple[Question, PassageRow]]] = {}
    for question in questions(part):
        if len(question.gold) and (row := rows.get(min(question.gold))) is not None:
            asked.setdefault(row.key, []).append((question, row))
    for key in sorted(asked):
        for number, (question, row) in enumerate(asked[key]):
            answer = question.answers[0]
            kind = kind_of(answer, language)
            others = [
                (one.answers[0], other.id == row.id)
                for one, other in asked[key]
                if kind and kind_of(one.answers[0], language) == kind and not _alike(one.answers[0], answer)
            ]
            if others:
                chance = random.Random(f"{key}{number}")
                made = _pair(question, row, others, chance, language=language, kind=kind.split()[0])
                if made is not None:
                    yield made


def _pair(
    question: Question,
    row: PassageRow,
    others: list[tuple[str, bool]],
    chance: random.Random,
    *,
    language: str,
    kind: str,
) -> tuple[Made, Made] | None:
    answer = question.answers[0]
    spans = answer_spans(row.text, (answer,))
    place = next(((a, b) for a, b in segment(row.text, language=language) if spans and a <= spans[0][0] < b), None)
    if place is None:
        return None
    sentence = row.text[place[0] : place[1]].strip()
    usable = [(other, within) for other, within in others if other not in sentence and other not in question.text]
    if sentence.count(answer) != 1 or len(sentence) > _SHORT or not usable:
        return None
    other, _ = chance.choice(usable)
    told = statement(question.text, "\0", language) if chance.random() < 0.5 else ""
    frame = told or _otherwise(sentence.replace(answer, "\0"), language)
    asked = "" if chance.random() < 0.5 else question.text
    right = Made(language, f"swap {kind}", asked, frame.replace("\0", answer), row.text, right=True)
    wrong = Made(
        language, f"swap {kind}", asked, frame.replace("\0", other), row.text, right=False, within=other in row.text
    )
    return right, wrong


def _otherwise(sentence: str, language: str) -> str:
    """The sentence told in another form, so that it is no quotation."""
    bare = re.sub(r"\s*[(（][^()（）\0]{1,60}[)）]", "", sentence)
    if language == "ja":
        said = polite(bare)
        return said if said != sentence else f"資料には、{bare.rstrip('。')}と書かれています。"
    return f"According to the document, {bare}"


def _alike(one: str, other: str) -> bool:
    a, b = one.strip().casefold(), other.strip().casefold()
    return a in b or b in a


def perturbed(split: Split, *, limit: int) -> Iterator[Made]:
    """Sentences of wiki_en and JaQuAD with one thing changed, and the same ones as they are but for their form."""
    for part, language in ((Part.WIKI_EN, "en"), (Part.JAQUAD_TRAIN, "ja")):
        chance, counts = random.Random(3), dict.fromkeys(("number", "date", "name", "negation"), 0)
        rows = [row for row in passages(part) if split_of(part, row.key) is split]
        chance.shuffle(rows)
        for row in rows:
            text = row.text.partition(" [SEP] ")[2] or row.text
            for start, end in segment(text, language=language):
                sentence = text[start:end].strip()
                if not 20 <= len(sentence) <= 250:
                    continue
                for kind, changed in _changes(sentence, text, language, chance):
                    if counts[kind] < limit:
                        counts[kind] += 1
                        yield Made(language, kind, "", changed, text, right=False)
                        yield Made(language, kind, "", _otherwise(sentence, language), text, right=True)


def _changes(sentence: str, source: str, language: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    if (made := turns.renumbered(sentence, source, chance)) is not None:
        yield "number", made[0]
    if (made := turns.denied(sentence, language, chance)) is not None:
        yield "negation", made[0]
    months = _MONTH_EN if language == "en" else _MONTH_JA
    if match := months.search(sentence):
        yield "date", sentence[: match.start()] + _month(match, language, chance) + sentence[match.end() :]
    names = [match for match in _NAME[language].finditer(sentence) if match.start() and len(match[0]) > 3]
    if names:
        match = chance.choice(names)
        yield "name", sentence[: match.start()] + chance.choice(_NAMES[language]) + sentence[match.end() :]


def _month(match: re.Match[str], language: str, chance: random.Random) -> str:
    if language == "ja":
        return f"{chance.choice([n for n in range(1, 13) if n != int(match[1])])}月"
    months = [m for m in _MONTH_EN.pattern.strip(r"\b()").split("|") if m != match[1]]
    return chance.choice(months)
