"""Builders for tests of refinement and generation: passages, evidence, ledgers, replies of scripted models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tadasu.answering.generation import AnswerComposer, AnswerFinished, ChatWriter, SentenceReleased
from tadasu.answering.generation.checking import SentenceChecker
from tadasu.answering.refinement import GradedPassage
from tadasu.core.answers import Answer, Evidence
from tadasu.core.documents import BlockKind, Origin, Passage, Span, Strip
from tadasu.core.grades import Grade, Thresholds, Verdict, ungraded
from tadasu.core.usage import Call
from tadasu.ports import AnswerWriter, WritingTask
from tadasu.prompts import load
from tadasu.providers.scripted import ScriptedChat
from tadasu.text.segment import segment


class Words:
    """Counts tokens as words, or as characters where no spaces are written."""

    def count(self, text: str) -> int:
        return len(text.split()) if text.isascii() else len(text)


@dataclass
class Book:
    """A ledger that keeps calls in a list."""

    calls: list[Call] = field(default_factory=list)

    def record(self, call: Call) -> None:
        self.calls.append(call)

    def elapsed_ms(self) -> float:
        return 0.0


def passage(
    text: str | Sequence[str],
    *,
    name: str = "p1",
    document: str = "",
    start: int = 0,
    headings: tuple[str, ...] = (),
    kind: BlockKind = BlockKind.PARAGRAPH,
    date: str = "",
    origin: Origin = Origin.INTERNAL,
) -> Passage:
    """A passage; `text` as strips given one by one, or cut by the segmenter."""
    if isinstance(text, str):
        whole, strips = text, [Span(a, b) for a, b in segment(text)]
    else:
        whole, strips, at = "".join(text), [], 0
        for strip in text:
            strips.append(Span(at, at + len(strip)))
            at += len(strip)
    document = document or f"d-{name}"
    return Passage(
        id=name,
        document_id=document,
        source=f"{document}.md",
        title=document,
        text=whole,
        span=Span(start, start + len(whole)),
        strips=tuple(strips),
        headings=headings,
        kind=kind,
        date=date,
        origin=origin,
    )


def graded(one: Passage, probability: float | None = 0.9, scores: Sequence[float] = ()) -> GradedPassage:
    """`one` with a grade; None leaves it UNGRADED."""
    if probability is None:
        return GradedPassage(one, ungraded(one.id, reason="timeout", grader="test"))
    level = Thresholds().level(probability)
    return GradedPassage(one, Grade(one.id, level, probability, "test", "test", strip_scores=tuple(scores)))


def evidence(*texts: str | tuple[str, str] | tuple[str, str, str], score: float = 0.8) -> tuple[Evidence, ...]:
    """Evidence from texts, or (document, text), or (document, text, date); one passage per document."""
    pieces = []
    for number, one in enumerate(texts, 1):
        document, text, date = ("doc", one, "") if isinstance(one, str) else (*one, "")[:3]
        strip = Strip(
            id=f"{document}.{number}",
            passage_id=f"p-{document}",
            document_id=document,
            source=f"{document}.md",
            title=document,
            text=text,
            span=Span(100 * number, 100 * number + len(text)),
            index=number,
            date=date,
        )
        pieces.append(Evidence(number, strip, score))
    return tuple(pieces)


def chat(*replies: str, cuts: int | Sequence[int] = 3, finish: str = "stop") -> ChatWriter:
    """A chat writer whose model gives `replies` in turn."""
    prompts = {language: load("answer", language) for language in ("en", "ja")}
    return ChatWriter(ScriptedChat(replies, cuts=cuts, finish=finish), prompts=prompts)


def task(question: str, pieces: Sequence[Evidence], *, language: str = "en") -> WritingTask:
    """What a writer gets, and a checker knows."""
    return WritingTask(question, language, tuple(pieces), "2026-01-01", "n0nce")


async def compose(
    writer: AnswerWriter,
    question: str,
    pieces: Sequence[Evidence],
    *,
    language: str = "en",
    fallback: AnswerWriter | None = None,
    checker: SentenceChecker | None = None,
    query: str = "",
    verdict: Verdict = Verdict.CORRECT,
) -> Answer:
    """The answer; fails where the streamed text is not the final text."""
    asked = replace(task(question, pieces, language=language), query=query, verdict=verdict)
    shown, answer = "", None
    async for event in AnswerComposer(writer, fallback=fallback, checker=checker).compose(asked, ledger=Book()):
        if isinstance(event, SentenceReleased):
            shown += event.text
        elif isinstance(event, AnswerFinished):
            answer = event.answer
    assert answer is not None
    assert shown == answer.text
    return answer
