"""Answers from a Self-RAG model: a paragraph at a time, chosen by what the model says of relevance, support and use.

Self-CRAG of the CRAG paper (Yan et al. 2024, §4.5) puts CRAG's corrected knowledge in the place of the passages that
Self-RAG (Asai et al. 2023) would retrieve; so does this writer: what it is given was graded, corrected and refined.
Segments are searched for by beams as in Self-RAG §3.3. Each sentence is followed by the markers of the evidence that
its paragraph was made of, and is then checked like anybody's: what the model's tokens say chooses between
continuations, and is never taken as proof.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from tadasu.answering.generation.chat import inert
from tadasu.answering.generation.citations import defuse
from tadasu.answering.generation.reflection_tokens import Candidate, Weights, disarmed, read_candidate
from tadasu.core.answers import Evidence
from tadasu.core.usage import Stage
from tadasu.ports import CompletionModel, Ledger, WritingTask
from tadasu.text.messages import translate
from tadasu.text.segment import segment

_END = re.compile(r"\s*[.!?。！？．]*[\"”」』)）]*$")
_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class SelfRagSettings:
    """How a Self-RAG model is asked.

    `beams` continuations are followed at once, through `segments` steps at the most; a step is one request, with a
    prompt for each beam and paragraph. `paragraphs` are asked about at the most, in the order of the evidence.
    `logprobs` likeliest tokens are asked for at each place: a service may allow fewer (vLLM: 20, unless told).
    """

    max_tokens: int = 200
    beams: int = 2
    segments: int = 3
    paragraphs: int = 10
    logprobs: int = 20
    weights: Weights = field(default_factory=Weights)

    def __post_init__(self) -> None:
        if min(self.max_tokens, self.beams, self.segments, self.paragraphs) < 1 or self.logprobs < 0:
            raise ValueError("beams, segments, paragraphs and tokens are at least 1, logprobs at least 0")


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """Strips of one passage: what the model sees of it and the evidence numbers behind it."""

    text: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Beam:
    """An answer so far: its segments with the evidence behind them, the score of each, and whether it may go on."""

    said: tuple[tuple[str, tuple[int, ...]], ...] = ()
    scores: tuple[float, ...] = ()
    open: bool = True

    @property
    def score(self) -> float:
        """The mean over its segments, so that long answers are not better for their length."""
        return sum(self.scores) / len(self.scores) if self.scores else 0.0

    @property
    def text(self) -> str:
        return " ".join(text for text, _ in self.said)


class SelfRagWriter:
    """An `AnswerWriter` over a Self-RAG model. Says nothing before its last segment is there.

    It is silent, which ends as "not known", where the model calls every paragraph irrelevant, or denies that any of
    them supports what it writes. Retrieval is never left to it: every continuation is asked for with a paragraph, and
    what it writes after [No Retrieval], from memory, is left out.
    """

    def __init__(self, model: CompletionModel, *, settings: SelfRagSettings | None = None) -> None:
        self._model = model
        self._settings = settings or SelfRagSettings()

    @property
    def id(self) -> str:
        """The model, then how it is asked: ``completions/selfrag-7b self-rag-1 2x3``."""
        return f"{self._model.id} self-rag-1 {self._settings.beams}x{self._settings.segments}"

    async def write(self, task: WritingTask, *, ledger: Ledger) -> AsyncIterator[str]:
        """The best answer's segments with their markers; nothing where there is none. Raises as the model does."""
        paragraphs = _paragraphs(task)[: self._settings.paragraphs]
        if not paragraphs:
            return
        beams = [_Beam()]
        for _ in range(self._settings.segments):
            going = [beam for beam in beams if beam.open]
            if not going:
                break
            grown = await self._grown(going, paragraphs, task, ledger)
            ended = [beam for beam in beams if not beam.open]
            beams = sorted([*ended, *grown], key=lambda beam: -beam.score)[: self._settings.beams]
        best = max(beams, key=lambda beam: beam.score, default=_Beam())
        for number, (text, numbers) in enumerate(best.said):
            yield (" " if number else "") + cited(text, numbers)

    async def _grown(
        self, beams: Sequence[_Beam], paragraphs: Sequence[_Paragraph], task: WritingTask, ledger: Ledger
    ) -> list[_Beam]:
        """Every beam with every paragraph that carries it on; a beam that none does ends as it is, unless empty."""
        asked = [(beam, one) for beam in beams for one in paragraphs]
        prompts = [_prompt(task, beam.text, one.text) for beam, one in asked]
        completions = await self._model.complete(
            prompts,
            max_tokens=self._settings.max_tokens,
            logprobs=self._settings.logprobs,
            ledger=ledger,
            stage=Stage.GENERATE,
        )
        grown: list[_Beam] = []
        carried: set[int] = set()
        for (beam, paragraph), completion in zip(asked, completions, strict=True):
            candidate = read_candidate(completion)
            said = _new(candidate, beam, paragraph)
            if candidate.usable and said:
                carried.add(id(beam))
                score = candidate.score(self._settings.weights)
                grown.append(_Beam((*beam.said, *said), (*beam.scores, score), candidate.wants_more))
        ended = (_Beam(beam.said, beam.scores, open=False) for beam in beams if beam.said and id(beam) not in carried)
        return [*grown, *ended]


def cited(text: str, numbers: Sequence[int]) -> str:
    """`text` with the markers of `numbers` in each of its sentences, before what ends it.

    >>> cited("It is 36 months. It begins on delivery.", (1, 2))
    'It is 36 months [1][2]. It begins on delivery [1][2].'
    """
    marks = "".join(f"[{number}]" for number in numbers)
    out = ""
    for start, end in segment(text, max_length=_LONGEST):
        body = text[start:end]
        sentence = body.rstrip()
        found = _END.search(sentence)
        at = found.start() if found else len(sentence)
        space = " " if sentence[:at] and sentence[at - 1].isascii() else ""
        out += sentence[:at] + space + marks + sentence[at:] + body[len(sentence) :]
    return out


def _new(candidate: Candidate, beam: _Beam, paragraph: _Paragraph) -> list[tuple[str, tuple[int, ...]]]:
    """What a candidate adds to a beam: nothing that it denies itself, nothing that was said before."""
    before = {text for text, _ in beam.said}
    new = {defuse(part.text): paragraph.numbers for part in candidate.parts if part.text and not part.denied}
    return [(text, numbers) for text, numbers in new.items() if text not in before]


def _paragraphs(task: WritingTask) -> list[_Paragraph]:
    """The evidence by passage: title and headings, then the strips in order."""
    found: list[_Paragraph] = []
    for _, group in groupby(task.evidence, key=lambda piece: (piece.strip.document_id, piece.strip.passage_id)):
        pieces = list(group)
        body = " ".join(shown for piece in pieces if (shown := _safe(piece.strip.text, task.nonce)))
        if body:
            head = _safe(_title(pieces[0]), task.nonce)
            found.append(_Paragraph(f"{head}\n{body}" if head else body, tuple(piece.number for piece in pieces)))
    return found


def _title(piece: Evidence) -> str:
    strip = piece.strip
    names = dict.fromkeys(name for name in (strip.title, *strip.headings) if name)
    return " > ".join([*names, *([strip.date] if strip.date else [])])


def _safe(text: str, nonce: str) -> str:
    return disarmed(inert(text, nonce=nonce))


def _prompt(task: WritingTask, so_far: str, paragraph: str) -> str:
    """The form that Self-RAG was trained on. The user's words stay as they are; a follow-up's meaning stands below."""
    asked = task.question
    if task.query:
        told = "In this conversation the question means: {query}"
        asked += "\n\n" + translate(told, task.language, query=task.query)
    return f"### Instruction:\n{asked}\n\n### Response:\n{so_far}[Retrieval]<paragraph>{paragraph}</paragraph>"
