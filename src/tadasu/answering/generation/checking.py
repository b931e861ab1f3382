"""One verdict on a sentence of an answer and the evidence that it cites, or should have cited.

Rules first, which anybody can follow: they alone say whether numbers, dates and names are the source's. A support
model, where there is one, reads on: what the rules let through it may doubt (somebody else's year, two people
exchanged), and what they refuse for its wording or a denial alone it may trust. Quotations need no model. Where the
model fails the rules decide, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from tadasu.answering.generation import grounding
from tadasu.answering.generation.abstention import is_refusal
from tadasu.answering.generation.facts import facts_of
from tadasu.core.answers import Evidence, Support
from tadasu.core.documents import Strip
from tadasu.ports import Claim, Ledger, SupportModel, WritingTask
from tadasu.runtime.ledger import Stopwatch
from tadasu.text.language import detect

_SOFT = frozenset(("wording", "negation", "other"))
"""Findings that a model may overrule: rules see words, not what they mean together."""


@dataclass(frozen=True, slots=True)
class CheckingSettings:
    """From which probability of support on a sentence holds: after the rules let it through, and after they refused it.

    Chosen on CALIBRATE claims (``python -m benchmarks.grounding --calibrate``). The first is low because most of what
    the rules let through is right: at .2 more right sentences stay than at .4 (swaps ja .92 for .83), and nearly all
    swaps are found (.95 for .98).
    """

    doubt: float = 0.2
    trust: float = 0.5


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found: the verdict, the evidence that holds the sentence up, and whether that is not what it cited.

    `unread` says that a support model should have been asked and failed.
    """

    check: grounding.Check
    support: tuple[Evidence, ...] = ()
    moved: bool = False
    unread: bool = False


class SentenceChecker:
    """Ties sentences to the evidence that supports them, by rules and, where there is a `model`, by reading."""

    def __init__(self, model: SupportModel | None = None, *, settings: CheckingSettings | None = None) -> None:
        self._model = model
        self._settings = settings or CheckingSettings()

    def of(self, task: WritingTask, *, ledger: Ledger, watch: Stopwatch | None = None) -> AnswerCheck:
        """The check of one answer.

        A `watch` stands still while the model reads, which writes its own line into `ledger`.
        """
        return AnswerCheck(self._model, self._settings, task, ledger, watch)


class AnswerCheck:
    """Checks the sentences of one answer; what was read once is not read again."""

    def __init__(
        self,
        model: SupportModel | None,
        settings: CheckingSettings,
        task: WritingTask,
        ledger: Ledger,
        watch: Stopwatch | None,
    ) -> None:
        self._model, self._settings, self._task = model, settings, task
        self._ledger, self._watch = ledger, watch
        self._asked = task.query or task.question
        self._verdicts: dict[tuple[str, tuple[int, ...]], grounding.Check] = {}
        self._read: dict[Claim, float] = {}
        self._failed = False

    async def ahead(self, sentences: Sequence[tuple[str, Sequence[Evidence]]]) -> None:
        """Read what `judge` will want to know of these sentences and what they cite, all at once."""
        claims = [self._wanted(sentence, cited) for sentence, cited in sentences]
        await self._support([claim for claim in dict.fromkeys(claims) if claim is not None])

    async def judge(self, sentence: str, cited: Sequence[Evidence]) -> Judgement:
        """The verdict on `sentence`, which cites the pieces `cited` of the evidence.

        Where they do not support it, the one piece of the evidence that does takes their place, if there is one.
        """
        self._failed = False
        judged = await self._cited(sentence, cited)
        if not judged.check.holds and not is_refusal(sentence) and facts_of(sentence).terms:
            others = _others(cited, self._task)
            better = grounding.best_support(sentence, others, question=self._asked, among=self._task.evidence)
            if better is not None and await self._probability(self._claim(sentence, [better])) >= self._settings.doubt:
                judged = Judgement(grounding.Check(Support.SUPPORTED, 1.0), (better,), moved=bool(cited))
        return replace(judged, unread=self._failed)

    async def _cited(self, sentence: str, cited: Sequence[Evidence]) -> Judgement:
        verdict, wanted = self._by_rules(sentence, cited), self._wanted(sentence, cited)
        if verdict.holds:
            probability = await self._probability(wanted)
            if probability < self._settings.doubt:
                finding = f"support {probability:.0%}"
                return Judgement(grounding.Check(Support.UNSUPPORTED, verdict.share, (finding,)))
            return Judgement(verdict, grounding.needed(sentence, cited, question=self._asked))
        if wanted is None or await self._probability(wanted, failing=0.0) < self._settings.trust:
            return Judgement(verdict)
        return Judgement(grounding.Check(Support.SUPPORTED, verdict.share), tuple(cited))

    def _by_rules(self, sentence: str, cited: Sequence[Evidence]) -> grounding.Check:
        key = sentence, tuple(piece.number for piece in cited)
        if key not in self._verdicts:
            strips, around = [piece.strip for piece in cited], grounding.beside(cited, self._task.evidence)
            self._verdicts[key] = grounding.check(sentence, strips, question=self._asked, around=around)
        return self._verdicts[key]

    def _wanted(self, sentence: str, cited: Sequence[Evidence]) -> Claim | None:
        """What the model is to read before a verdict; nothing for quotations and for what it may not overrule."""
        verdict, strips = self._by_rules(sentence, cited), [piece.strip for piece in cited]
        if verdict.holds:
            quoted = grounding.quotes(sentence, strips, question=self._asked)
            return None if quoted else self._claim(sentence, cited)
        soft = all(finding.partition(" ")[0] in _SOFT for finding in verdict.findings)
        return self._claim(sentence, cited, alone=True) if strips and soft else None

    def _claim(self, sentence: str, cited: Sequence[Evidence], *, alone: bool = False) -> Claim | None:
        """`sentence` and what it cites, with what stands around that unless `alone`.

        Nothing where there is no model, and for what it has not learnt: a bare yes, and a sentence and a source of two
        languages.
        """
        if self._model is None or not facts_of(sentence).terms:
            return None
        around = () if alone else grounding.beside(cited, self._task.evidence)
        source = _text([*(piece.strip for piece in cited), *around])
        return Claim(sentence, source, self._asked) if detect(sentence) == detect(source) else None

    async def _probability(self, claim: Claim | None, *, failing: float = 1.0) -> float:
        """How likely `claim` is supported; `failing` where there is none, and where the model failed."""
        if claim is None:
            return failing
        if claim not in self._read:
            self._failed = self._failed or not await self._support([claim])
        return self._read.get(claim, failing)

    async def _support(self, claims: Sequence[Claim]) -> bool:
        """Read `claims`, and keep what is a probability; whether the model could."""
        if not claims or self._model is None:
            return True
        try:
            with nullcontext() if self._watch is None else self._watch.paused():
                found = await self._model.support(claims, ledger=self._ledger)
        except Exception:  # noqa: BLE001 - checkers are plugins: whatever one raises, the rules decide and the run says so
            return False
        # What is no probability (too few, too many, NaN) must not pass for one.
        if len(found) != len(claims) or not all(0.0 <= one <= 1.0 for one in found):
            return False
        self._read.update(zip(claims, map(float, found), strict=True))
        return True


def _text(strips: Sequence[Strip]) -> str:
    """The strips in document order, each passage below its title where its own words do not hold it."""
    out: list[str] = []
    ordered = sorted(strips, key=lambda one: (one.document_id, one.span.start))
    seen = ""
    for strip in ordered:
        if strip.document_id != seen:
            seen = strip.document_id
            own = "".join(one.text for one in ordered if one.document_id == seen)
            if strip.title and strip.title.casefold() not in own.casefold():
                out.append(f"{strip.title}\n")
        out.append(strip.text)
    return "".join(out)


def _others(cited: Sequence[Evidence], task: WritingTask) -> list[Evidence]:
    """The evidence that a sentence did not cite alone, and could have."""
    return [piece for piece in task.evidence if len(cited) != 1 or piece.number != cited[0].number]
