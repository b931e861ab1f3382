"""Rows for the support head from the shared sets: answers in their sentences, and others of their kind in their place.

What is right: a sentence of the source, whole, a clause of it, politely, or as a statement made from a question and its
answer. What is wrong: the same with something of the same kind from the same text in the answer's place, or with
another name or number; or with a source of the same article that does not say it. JNLI and JSTS add captions that
people rewrote. HaluEval is not trained on: its right and wrong answers differ in length and punctuation.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tadasu.testing.datasets import Part, PassageRow, Question, item_key, passages, questions, rows
from tadasu.testing.splits import Split, split_of
from tadasu.text.polarity import denies
from tadasu.text.segment import segment
from training.grader.answers import aliases, answer_spans
from training.grader.rows import Span
from training.heads import turns
from training.heads.claims import ClaimRow, path_of, write_rows
from training.heads.forms import pieces, reformed, statement, stopped
from training.heads.rephrasing import rephrased
from training.heads.things import Thing, kind_of, things

SETS: dict[str, tuple[Part, str]] = {
    "jaquad": (Part.JAQUAD_TRAIN, "ja"),
    "xquad_en": (Part.XQUAD_EN, "en"),
    "popqa": (Part.POPQA, "en"),
    "wiki_en": (Part.WIKI_EN, "en"),
    "covidqa": (Part.COVIDQA, "en"),
}
_SENTENCE = {"ja": (12, 160), "en": (30, 320)}
_CONTEXT = {"ja": 400, "en": 900}
_AROUND_ANSWER = 1200
"""Characters read before and after an answer of a whole paper."""


@dataclass(frozen=True, slots=True)
class _Text:
    """A passage, its sentences, what can be swapped in it, and the language."""

    row: PassageRow
    language: str
    strips: tuple[Span, ...]
    found: tuple[Thing, ...]

    def first(self) -> Thing:
        """A mark at the beginning of the text."""
        return Thing(self.strips[0][0], self.strips[0][0] + 1, "", "")

    def sentence(self, index: int) -> str:
        start, end = self.strips[index]
        return self.row.text[start:end].strip()


class Maker:
    """Makes the rows of one set; everything is drawn from the passage's own seed."""

    def __init__(self, name: str, *, asked: bool = True) -> None:
        self._name = name
        self._part, self._language = SETS[name]
        self._asked: dict[str, list[Question]] = {}
        self._article: dict[str, list[PassageRow]] = {}
        for question in questions(self._part) if asked else ():
            for gold in question.gold:
                self._asked.setdefault(gold, []).append(question)
        self._rows = list(passages(self._part))
        if self._part is Part.COVIDQA:
            self._rows = [cut for row in self._rows for cut in self._cuts(row)]
        for row in self._rows:
            self._article.setdefault(row.key, []).append(row)

    def rows(self, split: Split, *, most: int = 0) -> Iterator[ClaimRow]:
        """Rows of every passage of `split` (of `most` passages at the most, if given)."""
        chosen = [row for row in self._rows if split_of(self._part, row.key) is split]
        if most:
            chosen = random.Random(5).sample(chosen, min(most, len(chosen)))
        for row in chosen:
            yield from self.of_passage(row)

    def _cuts(self, paper: PassageRow) -> Iterator[PassageRow]:
        """Of a whole paper, what stands around the answer of each of its questions, as passages of their own."""
        for question in self._asked.pop(paper.id, []):
            spans = answer_spans(paper.text, question.answers)
            if not spans:
                continue
            start = max(0, spans[0][0] - _AROUND_ANSWER)
            begin = paper.text.find(". ", start) + 2 if start else 0
            text = paper.text[begin if 0 < begin <= spans[0][0] else start : spans[0][1] + _AROUND_ANSWER]
            cut = PassageRow(paper.part, f"{paper.id}/{question.id}", paper.title, text, paper.key)
            self._asked[cut.id] = [question]
            yield cut

    def of_passage(self, row: PassageRow) -> Iterator[ClaimRow]:
        """All rows of one passage."""
        chance = random.Random(int(hashlib.sha256(f"{self._name}{row.id}".encode()).hexdigest()[:12], 16))
        strips = segment(row.text, language=self._language)
        found = [
            Thing(start + one.start, start + one.end, one.kind, one.words)
            for start, end in strips
            for one in things(row.text[start:end], self._language)
        ]
        text = _Text(row, self._language, tuple(strips), tuple(found))
        for question in self._asked.get(row.id, ()):
            yield from filter(None, self._of_question(text, question, chance))
        yield from filter(None, self._of_sentences(text, chance))

    def _row(self, kind: str, said: tuple[str, str], source: str, *, label: int, wrong: str = "") -> ClaimRow | None:
        """A row of a question and a sentence; None where the form that was chosen has lost the wrong words."""
        question, sentence = said
        spans: tuple[Span, ...] | None = () if label else None
        if wrong and not label:
            narrow = sentence.translate(_NARROW)
            at, end = next(((narrow.find(w), len(w)) for w in (wrong, wrong.replace(",", "")) if w in narrow), (-1, 0))
            if at < 0:
                return None
            spans = ((at, at + end),)
        return ClaimRow(self._name, kind, self._language, question, sentence, source, label, spans)

    def _of_question(self, text: _Text, question: Question, chance: random.Random) -> Iterator[ClaimRow | None]:
        spans = answer_spans(text.row.text, question.answers) or answer_spans(text.row.text, aliases(question.answers))
        spans = tuple(s for s in spans if any(a <= s[0] and s[1] <= b for a, b in text.strips))
        if not spans:
            return
        span = chance.choice(spans)
        index = next(i for i, (a, b) in enumerate(text.strips) if a <= span[0] and span[1] <= b)
        answer = text.row.text[span[0] : span[1]]
        other = self._other(text, span, kind_of(answer, text.language), chance, avoid=question.text)
        source = _around(text, index, chance)
        yield self._claim(question.text, answer, source, 1, chance)
        if other is not None:
            if other.words not in source:
                source = _around(text, index, chance, holding=other)
            yield self._claim(question.text, other.words, source, 0, chance)
        elsewhere = self._elsewhere(text, answer, chance)
        if elsewhere and chance.random() < _SOMETIMES:
            yield self._claim(question.text, answer, elsewhere, 0, chance)

    def _claim(self, question: str, answer: str, source: str, label: int, chance: random.Random) -> ClaimRow | None:
        """A bare answer, a statement made from the question, or a short sentence around the answer."""
        drawn = chance.random()
        made = statement(question, answer, self._language) if drawn < _STATED else ""
        asked, kind = question, "answer"
        if made:
            asked, kind = ("" if chance.random() < _SOMETIMES else question), "statement"
        elif drawn < _STATED + 0.2:
            made = {"ja": "{}です。", "en": "It is {}."}[self._language].format(answer)
        sentence = made or answer
        return self._row(kind, (asked, stopped(sentence, self._language, chance)), source, label=label, wrong=answer)

    def _of_sentences(self, text: _Text, chance: random.Random) -> Iterator[ClaimRow | None]:
        low, high = _SENTENCE[text.language]
        usable = [i for i, (a, b) in enumerate(text.strips) if low <= b - a <= high]
        chance.shuffle(usable)
        if chance.random() < _SOMETIMES:
            # Right claims with a denial in them are rare, and a denial must not be taken for a sign of a wrong one.
            usable.sort(key=lambda i: not denies(text.sentence(i)))
        for index in usable[: _EACH[self._name]]:
            start, end = text.strips[index]
            sentence = text.sentence(index)
            question = self._question_for(text, start, end, chance)
            parts = pieces(sentence, text.language)
            shorter = chance.choice(parts) if parts and chance.random() < _SOMETIMES else sentence
            named = self._named(text, sentence, index)
            if named != sentence and chance.random() < _MOSTLY:
                said = question, self._said(named, chance)
                first = text.first() if chance.random() < _SOMETIMES else None
                source = _around(text, index, chance, holding=first)
                if first is None and not source.startswith(text.row.title.strip()):
                    source = _titled(text, source, chance)
                yield self._row("named", said, source, label=1)
            said = question, self._said(shorter, chance)
            yield self._row("sentence", said, _around(text, index, chance), label=1)
            inside = [one for one in text.found if start <= one.start and one.end <= end]
            chance.shuffle(inside)
            for one in inside:
                other = self._other(text, (one.start, one.end), one.kind, chance, avoid=one.words)
                if other is None:
                    continue
                at = one.start - start
                raw = text.row.text[start:end]
                changed = (raw[:at] + other.words + raw[at + len(one.words) :]).strip()
                if chance.random() < _SOMETIMES:
                    changed = self._named(text, changed, index)
                parts = [p for p in pieces(changed, text.language) if other.words in p]
                shorter = chance.choice(parts) if parts and chance.random() < _SOMETIMES else changed
                source = _around(text, index, chance, holding=other if chance.random() < _MOSTLY else None)
                said = question, self._said(shorter, chance)
                yield self._row(f"swap {one.kind.split()[0]}", said, source, label=0, wrong=other.words)
                break
            yield from self._turned(text, index, question, chance)
            elsewhere = self._elsewhere(text, sentence, chance)
            if elsewhere and chance.random() < _SELDOM:
                said = question, self._said(sentence, chance)
                yield self._row("elsewhere", said, elsewhere, label=0)

    def _turned(self, text: _Text, index: int, question: str, chance: random.Random) -> Iterator[ClaimRow | None]:
        """Denied, the opposite, or with another number: one of them."""
        sentence, source = text.sentence(index), _around(text, index, chance)
        kind = chance.choice(("denied", "denied", "opposite", "renumbered"))
        if kind == "denied":
            made = turns.denied(sentence, text.language, chance)
        elif kind == "opposite":
            made = turns.opposite(sentence, text.language, chance)
        else:
            made = turns.renumbered(sentence, text.row.text, chance)
        if made is not None:
            said = question, self._said(made[0], chance)
            yield self._row(kind, said, source, label=0, wrong=made[1])

    def _said(self, sentence: str, chance: random.Random) -> str:
        """In other words, or in another form, or as it is; right and wrong claims alike."""
        if chance.random() < _REPHRASED:
            sentence = rephrased(sentence, self._language, chance)
        return reformed(sentence, self._language, chance)

    def _named(self, text: _Text, sentence: str, index: int) -> str:
        """The sentence with the title in the place of its first pronoun, where the text begins with the title."""
        title = text.row.title.strip()
        if text.language != "en" or not index or not title or title not in text.sentence(0):
            return sentence
        owning = f"{title}'s "
        return _PRONOUN.sub(lambda match: owning if match[1] in _OWNING else f"{title} ", sentence)

    def _question_for(self, text: _Text, start: int, end: int, chance: random.Random) -> str:
        """A question that this sentence answers, or mostly none."""
        asked = [
            question.text
            for question in self._asked.get(text.row.id, ())
            if any(start <= a and b <= end for a, b in answer_spans(text.row.text, question.answers))
        ]
        return chance.choice(asked) if asked and chance.random() < _MOSTLY else ""

    def _other(self, text: _Text, span: Span, kind: str, chance: random.Random, *, avoid: str) -> Thing | None:
        """Something of the same kind from elsewhere in the text, that neither says the same nor is in `avoid`."""
        if not kind:
            return None
        words = text.row.text[span[0] : span[1]]
        strip = next((s for s in text.strips if s[0] <= span[0] < s[1]), span)
        fits = [
            one for one in text.found if one.kind == kind and not _alike(one.words, words) and one.words not in avoid
        ]
        apart = [one for one in fits if one.end <= strip[0] or one.start >= strip[1]]
        near = [one for one in fits if one not in apart and (one.end <= span[0] or one.start >= span[1])]
        pool = apart if apart and (not near or chance.random() < _MOSTLY) else near
        return chance.choice(pool) if pool else None

    def _elsewhere(self, text: _Text, words: str, chance: random.Random) -> str:
        """Another passage of the article, or of this one a part, that does not hold `words`; empty without one."""
        pool = [
            row.text for row in self._article.get(text.row.key, ()) if row.id != text.row.id and words not in row.text
        ]
        if not pool:
            return ""
        chosen = chance.choice(pool)
        limit = _CONTEXT[text.language] // 2
        return chosen[:limit] if len(chosen) > limit else chosen


_PRONOUN = re.compile(r"^(He|She|It|They|His|Her|Its|Their) ")
_OWNING = frozenset(("His", "Her", "Its", "Their"))
_NARROW = str.maketrans("０１２３４５６７８９", "0123456789")
_STATED, _SOMETIMES, _SELDOM, _MOSTLY = 0.65, 0.4, 0.15, 0.75
_REPHRASED, _TITLED = 0.6, 0.3
_EACH = {"jaquad": 2, "xquad_en": 5, "popqa": 3, "wiki_en": 4, "covidqa": 3}


def _alike(one: str, other: str) -> bool:
    a, b = one.casefold(), other.casefold()
    return a in b or b in a


def _around(text: _Text, index: int, chance: random.Random, *, holding: Thing | None = None) -> str:
    """The source of a claim on sentence `index`: it alone, with neighbours, or much of the passage."""
    reach = chance.choice((0, 1, 1, 2, 3, 99))
    low, high = max(0, index - reach), min(len(text.strips), index + reach + 1)
    if holding is not None:
        at = next(i for i, (a, b) in enumerate(text.strips) if a <= holding.start < b)
        low, high = min(low, at), max(high, at + 1)
    while high - low > 1 and text.strips[high - 1][1] - text.strips[low][0] > _CONTEXT[text.language]:
        if index - low > high - 1 - index:
            low += 1
        else:
            high -= 1
    found = text.row.text[text.strips[low][0] : text.strips[high - 1][1]].strip()
    return _titled(text, found, chance) if chance.random() < _TITLED else found


def _titled(text: _Text, source: str, chance: random.Random) -> str:
    """The source as evidence is shown: its title before it."""
    title = text.row.title.strip()
    return f"{title}{chance.choice((': ', chr(10), ' - '))}{source}" if title else source


def captions(split: Split) -> Iterator[ClaimRow]:
    """JNLI: a caption entails another, or does not. Neutral and contradicted ones are both not supported."""
    for row in rows(Part.JNLI_VALID):
        if split_of(Part.JNLI_VALID, item_key(Part.JNLI_VALID, row)) is split:
            label = int(row["label"] == "entailment")
            spans: tuple[Span, ...] | None = () if label else None
            yield ClaimRow("jnli", row["label"], "ja", "", row["sentence2"], row["sentence1"], label, spans)


def alike(split: Split) -> Iterator[ClaimRow]:
    """JSTS: captions that people found to say the same support each other; nearly the same is not enough."""
    for row in rows(Part.JSTS_TRAIN):
        if split_of(Part.JSTS_TRAIN, item_key(Part.JSTS_TRAIN, row)) is not split:
            continue
        one, other, likeness = row["sentence1"], row["sentence2"], float(row["label"])
        if likeness >= _SAME:
            yield ClaimRow("jsts", "same", "ja", "", one, other, 1)
            yield ClaimRow("jsts", "same", "ja", "", other, one, 1)
        elif _NEAR[0] <= likeness <= _NEAR[1]:
            yield ClaimRow("jsts", "near", "ja", "", one, other, 0, None)


_SAME, _NEAR = 4.4, (2.0, 3.0)
"""Likeness from 0 to 5."""
CAPTIONS = {"jnli": captions, "jsts": alike}


def write_all(folder: Path, *, say: Callable[[str], None] = print, most: int = 0) -> None:
    """Write TRAIN and CALIBRATE rows of all sets; files that are there are kept.

    With `most`, of so many passages a set at the most, and nothing of whole papers, which take a minute to search.
    """
    for split in (Split.TRAIN, Split.CALIBRATE):
        for name, (part, _) in SETS.items():
            path = path_of(name, split, where=folder)
            if not path.is_file() and not (most and part is Part.COVIDQA):
                say(f"{path.name}: {write_rows(path, Maker(name).rows(split, most=most)):,} rows")
        for name, made in CAPTIONS.items():
            path = path_of(name, split, where=folder)
            if not path.is_file():
                say(f"{path.name}: {write_rows(path, made(split)):,} rows")
