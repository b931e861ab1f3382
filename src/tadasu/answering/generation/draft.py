"""The answer in the making: each sentence judged, then released, moved, held back or removed."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tadasu.answering.generation import grounding
from tadasu.answering.generation.abstention import abstain, is_pure_refusal, is_refusal
from tadasu.answering.generation.checking import SentenceChecker
from tadasu.answering.generation.citations import Numbering, render
from tadasu.answering.generation.facts import facts_of
from tadasu.answering.generation.rewording import Rewording, marked, reworded
from tadasu.answering.generation.sentences import Written
from tadasu.core.answers import Answer, AnswerStatus, CheckedSentence, Citation, Evidence, Reason, Support
from tadasu.core.documents import Strip
from tadasu.core.writing import Unsupported
from tadasu.ports import Ledger, WritingTask
from tadasu.runtime.ledger import Stopwatch

_BARE_YES_NO = re.compile(r"(?:yes|no|はい|いいえ|ええ)[\s.。,、!！]*", re.IGNORECASE)
_LEAD = re.compile(r"[:：]\s*\**$")
# A lead-in that promises two sides.
_DIFFER = re.compile(r"\b(?:differ|disagree|contradict)|異な|食い違", re.IGNORECASE)
_CONTRAST = re.compile(
    r"\b(?:conflict|inconsistent|whereas|while|but|however|although|according to|says|states)\b"
    r"|一方|ただし|しかし|に対し|によると|によれば|矛盾",
    re.IGNORECASE,
)
_MARK = re.compile(r"^(?:[-*•・]|\d{1,2}[.)])\s*")
# A heading, or the head or the rule of a table: it stands over what follows and claims nothing.
_HEADING = re.compile(r"#{1,6}\s|\*\*[^*]+\*\*$|\|(?:[^|\d\n]*\|)+$")
_CELL_WORDS, _CELL_LENGTH = 2, 24
# Fences and courtesies, dropped without a word.
_SAYS_NOTHING = re.compile(
    r"`{3,}\w*|~{3,}|(?:sure|certainly|of course|absolutely)\W*|here(?: is|'s| are)[^.:]{0,40}[.:!]"
    r"|(?:let me know|i hope|feel free|please let)\b.*|(?:承知|かしこまり|了解)(?:いた)?しました。?"
    r"|.{0,20}(?:お役に立てば|お知らせください|ご質問).{0,20}",
    re.IGNORECASE,
)
_CLOSING = ".,;:!?)。、，．；：！？）」』"
# Words of a lead-in that claim nothing: "Sources differ:", 「資料により記載が異なります：」.
_FRAME = frozenset(
    facts_of(
        "the sources differ contradict disagree following documents evidence answer as follows below according "
        "資料により記載が異なります。次のとおりです。以下の通り。食い違いがあります。文書によって回答は出典"
    ).terms
)


@dataclass(frozen=True, slots=True)
class SentenceReleased:
    """Checked text for the reader: all `text` of a run's events, in order, is the answer's text.

    `citations` are all citations so far. `sentence` is None for the message of an abstention.
    """

    text: str
    citations: tuple[Citation, ...]
    sentence: CheckedSentence | None = None


class Warned(enum.StrEnum):
    """What a reader of the answer is told besides."""

    CUT_OFF = "the answer was cut off before its end"
    REPLACED = "the chat model failed, so the evidence is quoted instead"
    UNAFFORDED = "the budget does not allow the chat model, so the evidence is quoted instead"
    DROPPED = "citations that point at nothing were left out"
    MOVED = "citations were moved to the evidence that supports their sentence"
    REMOVED = "sentences that the evidence does not support were taken out"
    REWORDED = "sentences that the evidence does not support were written again"
    FLAGGED = "sentences that the evidence does not support are marked"
    UNREAD = "the support model failed, so the answer was checked by rules alone"
    UNREFLECTED = "the model could not be asked about its own answer, which was checked all the same"
    REVISED = "the model revised its answer once after it was asked about it"


@dataclass(frozen=True, slots=True)
class Rules:
    """What becomes of a sentence that nothing supports. Without `rewording` nothing can be written again."""

    unsupported: Unsupported = Unsupported.REMOVE
    rewording: Rewording | None = None


@dataclass(frozen=True, slots=True)
class _Held:
    """A sentence that waits; with a `doubt` it is one that nothing supports, to be shown with a mark."""

    sentence: Written
    doubt: grounding.Check | None = None


@dataclass(slots=True)
class _Later:
    """What waits for the writer to end: while it writes, it may hold the only place at the model."""

    doubted: tuple[Written, grounding.Check]
    rest: list[Written] = field(default_factory=list)


class Draft:
    """The answer so far, and the sentences that wait for the next one: a bare yes, a lead-in, a refusal.

    A sentence that nothing supports is dealt with by `rules`. One that is to be written again, and all that follow it,
    wait until the writer has ended (`resume`).
    """

    def __init__(
        self,
        task: WritingTask,
        checker: SentenceChecker,
        *,
        ledger: Ledger,
        watch: Stopwatch,
        rules: Rules | None = None,
    ) -> None:
        self._rules = rules or Rules()
        self._later: _Later | None = None
        self._writing = True
        self._task = task
        self._checker = checker.of(task, ledger=ledger, watch=watch)
        self._ledger = ledger
        self.watch = watch
        self._unread = False
        self._asked = task.query or task.question
        self._by_number = {piece.number: piece for piece in task.evidence}
        self._numbering = Numbering(task.evidence)
        self._waiting: list[_Held] = []
        self._side: tuple[Written, tuple[int, ...]] | None = None
        self._refused = False
        self._moved = False
        self._pieces: list[str] = []
        self._kept: list[CheckedSentence] = []
        self._removed: list[CheckedSentence] = []

    @property
    def released(self) -> bool:
        """Whether the reader has seen anything."""
        return bool(self._pieces)

    async def add(self, sentence: Written) -> list[SentenceReleased]:
        """Check one more sentence; what may be shown now."""
        if self._later is not None:
            self._later.rest.append(sentence)
            return []
        cited = self._numbering.known(sentence.numbers)
        if not cited and _SAYS_NOTHING.fullmatch(sentence.text):
            return []
        if self._waits(sentence, cited):
            self._waiting.append(_Held(sentence))
            return []
        if self._waiting and _BARE_YES_NO.fullmatch(self._waiting[-1].sentence.text):
            sentence = _after(self._waiting.pop().sentence, sentence)
        verdict, support = await self._judge(sentence, cited)
        if not verdict.holds:
            if is_pure_refusal(sentence.text, self._asked):
                self._refused = True
                self._waiting.append(_Held(replace(sentence, markers=())))
                return []
            return await self._doubt(sentence, verdict)
        return self._support(sentence, support)

    async def resume(self, *, rewording: bool = True) -> list[SentenceReleased]:
        """What waited for the writer to end; without `rewording` nothing is written again."""
        self._writing = False
        if not rewording:
            self._rules = Rules()
        later, self._later = self._later, None
        if later is None:
            return []
        shown = await self._doubt(*later.doubted)
        for sentence in later.rest:
            shown += await self.add(sentence)
        return shown

    async def _doubt(self, sentence: Written, verdict: grounding.Check) -> list[SentenceReleased]:
        """What becomes of a sentence that nothing supports."""
        refuses = is_refusal(sentence.text)
        self._refused = self._refused or refuses
        policy = Unsupported.REMOVE if _HEADING.match(sentence.text) else self._rules.unsupported
        if policy is Unsupported.FLAG:
            held = _Held(sentence, verdict)
            if self._supported and not self._waiting and self._side is None:
                return [self._let(held)]
            self._waiting.append(held)
            return []
        if policy is Unsupported.REWRITE and self._rules.rewording is not None and not refuses:
            if self._writing:
                self._later = _Later((sentence, verdict))
                return []
            return await self._reworded(self._rules.rewording, sentence, verdict)
        self._remove(sentence, verdict)
        return []

    async def _reworded(
        self, rewording: Rewording, sentence: Written, verdict: grounding.Check
    ) -> list[SentenceReleased]:
        """Another wording, as far as the evidence supports that one."""
        with self.watch.paused():
            written = await reworded(sentence, verdict.findings, by=rewording, task=self._task, ledger=self._ledger)
        shown: list[SentenceReleased] = []
        kept: list[str] = []
        for one in written:
            found, support = await self._judge(one, self._numbering.known(one.numbers))
            if found.holds and not _is_frame(one.text) and not is_refusal(one.text):
                shown += self._support(one, support)
                kept.append(one.plain)
        self._remove(sentence, verdict, instead=" ".join(kept))
        return shown

    @property
    def _supported(self) -> bool:
        return any(sentence.support is Support.SUPPORTED for sentence in self._kept)

    @property
    def unreleased(self) -> str:
        """The sentences that wait, as they were written, without their markers."""
        waiting = [held.sentence for held in self._waiting]
        if self._side is not None:
            waiting.append(self._side[0])
        if self._later is not None:
            waiting += [self._later.doubted[0], *self._later.rest]
        return "".join(sentence.gap + sentence.plain for sentence in waiting)

    def _support(self, sentence: Written, support: Sequence[Evidence]) -> list[SentenceReleased]:
        """What a supported sentence makes certain; one side of a contradiction waits for the other."""
        numbers = tuple(piece.number for piece in support)
        if self._side is None and any(_DIFFER.search(lead.sentence.text) for lead in self._waiting):
            self._side = sentence, numbers
            return []
        side, self._side = self._side, None
        shown = [self._let(lead) for lead in self._leads(support)]
        if side is not None:
            shown.append(self._release(*side, ""))
        return [*shown, self._release(sentence, numbers, "")]

    def lacks(self, sides: Sequence[frozenset[int]]) -> bool:
        """Whether the answer rests on one of `sides` (evidence numbers) and does not say that there are others."""
        cited = set(self._numbering.mapping.values())
        if not any(side & cited for side in sides):
            return False
        told = _DIFFER.search("".join(self._pieces)) or _CONTRAST.search("".join(self._pieces))
        return told is None or not all(side & cited for side in sides)

    async def close(self) -> list[SentenceReleased]:
        """What is left when the writer has ended: a refusal stays where part of the answer stands."""
        waiting, self._waiting = self._waiting, []
        shown = []
        if self._side is not None:
            (alone, numbers), self._side = self._side, None
            waiting = [lead for lead in waiting if not _DIFFER.search(lead.sentence.text)]
            shown.append(self._release(_without_mark(alone), numbers, ""))
        for held in waiting:
            sentence = held.sentence
            if held.doubt is not None:
                if self._supported:
                    shown.append(self._let(held))
                else:
                    self._remove(sentence, held.doubt)
                continue
            verdict, support = await self._judge(sentence, self._numbering.known(sentence.numbers))
            if verdict.holds and not _HEADING.match(sentence.text):
                shown.append(self._release(sentence, tuple(piece.number for piece in support), ""))
            elif self.released and is_pure_refusal(sentence.text, self._asked):
                shown.append(self._release(sentence, (), "refusal"))
            elif not is_pure_refusal(sentence.text, self._asked):
                self._remove(sentence, verdict)
        return shown

    async def finish(self, writer: str, warnings: set[Warned]) -> Answer:
        """The answer as released, or an abstention."""
        await self.close()
        if self._numbering.dropped:
            warnings.add(Warned.DROPPED)
        if self._moved:
            warnings.add(Warned.MOVED)
        if any(not sentence.instead for sentence in self._removed):
            warnings.add(Warned.REMOVED)
        if any(sentence.instead for sentence in self._removed):
            warnings.add(Warned.REWORDED)
        if any(sentence.support is Support.UNSUPPORTED for sentence in self._kept):
            warnings.add(Warned.FLAGGED)
        if self._unread:
            warnings.add(Warned.UNREAD)
        told = tuple(warning.value for warning in Warned if warning in warnings)
        if not self._supported:
            silent = not self._removed or self._refused
            reason = self._task.silence if silent else Reason.UNSUPPORTED
            language = self._task.language
            return abstain(reason, language=language, writer=writer, removed=self._removed, warnings=told)
        return Answer(
            text="".join(self._pieces),
            status=AnswerStatus.ANSWERED,
            language=self._task.language,
            citations=self._numbering.citations(),
            sentences=tuple(self._kept),
            removed=tuple(self._removed),
            writer=writer,
            warnings=told,
        )

    def _waits(self, sentence: Written, cited: Sequence[int]) -> bool:
        return not cited and bool(_BARE_YES_NO.fullmatch(sentence.text) or _is_frame(sentence.text))

    async def look_ahead(self, sentences: Sequence[Written]) -> None:
        """Let the checker read at once what `add` will ask it of `sentences` one by one."""
        known = [
            (one.text, [self._by_number[n] for n in dict.fromkeys(one.numbers) if n in self._by_number])
            for one in sentences
        ]
        await self._checker.ahead([(text, cited) for text, cited in known if cited])

    async def _judge(self, sentence: Written, cited: Sequence[int]) -> tuple[grounding.Check, tuple[Evidence, ...]]:
        """The verdict on a sentence and the evidence that holds it up."""
        judged = await self._checker.judge(sentence.text, [self._by_number[number] for number in cited])
        self._moved = self._moved or judged.moved
        self._unread = self._unread or judged.unread
        return judged.check, judged.support

    def _leads(self, support: Sequence[Evidence]) -> list[_Held]:
        """The waiting sentences that may stand before a supported one; the others are removed."""
        waiting, self._waiting = self._waiting, []
        strips, kept = [piece.strip for piece in support], list[_Held]()
        for held in waiting:
            if held.doubt is not None:
                kept.append(held)
                continue
            lead = held.sentence
            claims_nothing = facts_of(lead.text).terms <= (_FRAME | facts_of(self._asked).terms)
            verdict = grounding.check(lead.text, strips, question=self._asked)
            if (
                claims_nothing
                or verdict.holds
                or self._only_stands_over(lead.text, strips)
                or is_pure_refusal(lead.text, self._asked)
            ):
                kept.append(held)
            else:
                self._remove(lead, verdict)
        return kept

    def _only_stands_over(self, text: str, strips: Sequence[Strip]) -> bool:
        """Whether a heading or table head says nothing of its own: short cells, or words that are known by half."""
        facts = facts_of(text)
        if not _HEADING.match(text) or facts.numbers:
            return False
        if text.startswith("|"):  # every cell of a head begins with a capital, so names tell nothing here
            return all(len(cell.split()) <= _CELL_WORDS and len(cell) <= _CELL_LENGTH for cell in text.split("|"))
        if facts.names:
            return False
        known = _FRAME | facts_of(self._asked).terms | facts_of("\n".join(strip.text for strip in strips)).terms
        return 2 * len(facts.terms & known) >= len(facts.terms)

    def _let(self, held: _Held) -> SentenceReleased:
        """Release what waited for others: without a citation, and with a mark where nothing supports it."""
        return self._release(held.sentence, (), "", doubt=held.doubt)

    def _release(
        self, sentence: Written, numbers: Sequence[int], finding: str, *, doubt: grounding.Check | None = None
    ) -> SentenceReleased:
        text, shown = self._shown(sentence, numbers)
        text = text if doubt is None else marked(sentence.plain, self._task.language)
        gap = "" if not self._pieces else _gap(self._pieces[-1], sentence)
        self._pieces.append(gap + text)
        support = Support.SUPPORTED if numbers else Support.UNCITED
        findings: tuple[str, ...] = (finding,) if finding else ()
        if doubt is not None:
            support, findings = Support.UNSUPPORTED, doubt.findings
        checked = CheckedSentence(sentence.plain, tuple(sorted(set(shown))), support, findings)
        self._kept.append(checked)
        return SentenceReleased(gap + text, self._numbering.citations(), checked)

    def _shown(self, sentence: Written, numbers: Sequence[int]) -> tuple[str, list[int]]:
        """The sentence with display markers where the model put its own; new ones go to the end."""
        out, at, left = "", 0, list(numbers)
        shown: list[int] = []
        places: dict[int, list[int]] = {}
        for place, cited in sentence.markers:
            places.setdefault(place, []).extend(number for number in cited if number in numbers)
        for place in sorted(places):
            here = list(dict.fromkeys(places[place]))
            left = [number for number in left if number not in here]
            out += sentence.text[at:place]
            at = place
            markers = self._numbering.show(here)
            shown.extend(markers)
            out = _with_markers(out, markers, rest=sentence.text[at:]) + (" " if place == 0 else "")
        out += sentence.text[at:]
        if left:
            markers = self._numbering.show(left)
            shown.extend(markers)
            out = _with_markers(out, markers, rest="")
        return out.strip(), shown

    def _remove(self, sentence: Written, verdict: grounding.Check, *, instead: str = "") -> None:
        self._removed.append(
            CheckedSentence(sentence.plain, sentence.numbers, verdict.support, verdict.findings, instead)
        )


def _is_frame(text: str) -> bool:
    """Whether a line stands over what follows: a lead-in, a heading, the head of a table."""
    return _LEAD.search(text) is not None or _HEADING.match(text) is not None


def _without_mark(item: Written) -> Written:
    """A list item that stands alone."""
    cut = len(item.text) - len(_MARK.sub("", item.text))
    return Written(item.text[cut:], tuple((max(at - cut, 0), numbers) for at, numbers in item.markers), "")


def _after(first: Written, second: Written) -> Written:
    """`first` and `second` as one sentence."""
    join = first.text + _gap(first.text, second)
    moved = tuple((at + len(join), numbers) for at, numbers in second.markers)
    return Written(join + second.text, (*first.markers, *moved), first.gap)


def _with_markers(text: str, markers: Sequence[int], *, rest: str) -> str:
    """`text` with `markers` where its `rest` follows; where none are left, without the space that led to them."""
    if not markers:
        return text.rstrip(" ") if not rest or rest[0] in _CLOSING or rest[0] == " " else text
    space = " " if not rest and text and text[-1].isascii() and not text[-1].isspace() else ""
    return text + space + render(markers)


def _gap(before: str, sentence: Written) -> str:
    """What stands between two sentences: what stood before the second, or a space where the first one was removed."""
    if sentence.gap:
        return sentence.gap
    return " " if before[-1:].isascii() and sentence.text[:1].isascii() else ""
