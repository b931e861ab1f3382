"""Labelled pairs graded as they would be in use: through the real search and the real grader."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tadasu.answering.correction.rounds import grade_all
from tadasu.answering.grading.calibrated import pair_language
from tadasu.answering.grading.fitting import LabelledScore
from tadasu.answering.grading.signals import FLAT_SPREAD, language_of
from tadasu.answering.ingestion.pipeline import passage_text
from tadasu.app.labels import Label, weights_of
from tadasu.app.unrecorded import unrecorded
from tadasu.core.documents import Passage, Scope, Span
from tadasu.core.grades import Grade
from tadasu.core.ids import digest
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.core.runs import SearchMode
from tadasu.errors import InputInvalid
from tadasu.text.language import detect
from tadasu.text.segment import segment

if TYPE_CHECKING:
    from tadasu.app.container import Container
    from tadasu.core.vectors import FloatVector
    from tadasu.ports import Ledger

_ID = re.compile(r"p[0-9a-f]{20}")
_OWN_RULES = frozenset({"llm", "guard"})
_LEAST_IN_COMMON = 20
_LOOKED_THROUGH = 5
_OF_A_DOCUMENT = 3


@dataclass(slots=True)
class GradedLabels:
    """What became of the labels.

    `scores` are those that count. `failed` are pairs that could not be graded, with the reason: they are no numbers and
    count in nothing. `absent` are rows whose passage or document is not there (or not the reader's to see). `ruled`
    counts pairs that a language model decided by rules of its own. `asked` holds, per question, its language and the
    probabilities of all that its search brought back; `flat` counts questions whose cosines say nothing on their own,
    `added` the pairs whose passage the search did not bring back.
    """

    scores: list[LabelledScore] = field(default_factory=list)
    failed: list[tuple[int, str]] = field(default_factory=list)
    absent: list[tuple[int, InputInvalid]] = field(default_factory=list)
    ruled: int = 0
    added: int = 0
    flat: int = 0
    asked: list[list[tuple[str, float]]] = field(default_factory=list)

    @property
    def population(self) -> list[float]:
        """The probabilities of everything that the searches brought back."""
        return [probability for one in self.asked for _, probability in one]


async def grade_labels(
    container: Container, labels: Sequence[Label], *, name: str, on_progress: Callable[[int, int], None]
) -> GradedLabels:
    """Search and grade every question of `labels` once. Raises what a search raises."""
    weights = dict(zip((label.row for label in labels), weights_of(labels), strict=True))
    questions: dict[str, list[Label]] = {}
    for label in labels:
        questions.setdefault(label.question, []).append(label)
    found = GradedLabels()
    work = _Work(container, found, weights, name)
    done = 0
    for question, own in questions.items():
        await work.question(question, own)
        done += len(own)
        on_progress(done, len(labels))
    return found


class _Work:
    def __init__(self, container: Container, found: GradedLabels, weights: dict[int, float], name: str) -> None:
        self._container = container
        self._found = found
        self._weights = weights
        self._name = name
        self._scope = Scope(reader=container.reader)

    async def question(self, question: str, labels: Sequence[Label]) -> None:
        """One search, its grades, then those of labelled passages that it did not bring back."""
        async with unrecorded(self._container, "labelled") as ledger:
            await self._question(question, labels, ledger)

    async def _question(self, question: str, labels: Sequence[Label], ledger: Ledger) -> None:
        retrieval = await self._container.search.search(
            question, k=self._container.settings.retrieval.k, scope=self._scope, mode=SearchMode.HYBRID, ledger=ledger
        )
        language = language_of(question, retrieval.candidates)
        wanted = {label.row: await self._candidates(label, retrieval, ledger) for label in labels}
        brought = {one.passage.id for one in retrieval.candidates}
        extra = {one.passage.id: one for several in wanted.values() for one in several if one.passage.id not in brought}
        grades = await self._graded(question, retrieval, tuple(extra.values()), ledger)
        passages = {one.passage.id: one.passage for one in (*retrieval.candidates, *extra.values())}
        self._found.asked.append(
            [
                (pair_language(language, passages[id_]), probability)
                for id_ in brought
                if (probability := probability_before(grades[id_])) is not None
            ]
        )
        cosines = [one.dense for one in retrieval.candidates if one.dense is not None]
        self._found.flat += bool(len(cosines) > 1 and max(cosines) - min(cosines) < FLAT_SPREAD)
        for label in labels:
            self._count(label, [grades[one.passage.id] for one in wanted[label.row]], passages, language, set(extra))

    def _count(
        self, label: Label, grades: Sequence[Grade], passages: dict[str, Passage], language: str, extra: set[str]
    ) -> None:
        if not grades:
            reason = "its passage is not in the index" if label.passage else "its document is not in the index"
            fix = "Ingest it, or write the passage's text; a passage gets a new id when its document changes."
            where = f"{self._name}, row {label.row}"
            self._found.absent.append((label.row, InputInvalid(where=where, reason=reason, fix=fix)))
            return
        known = [grade for grade in grades if grade.probability is not None]
        if not known:
            self._found.failed.append((label.row, grades[0].reason))
            return
        # A document is found by its best passage, and missed only where all of them are.
        best = max(known, key=lambda grade: grade.probability or 0.0)
        probability = probability_before(best)
        if probability is None:
            self._found.ruled += 1
            return
        passage = passages[best.passage_id]
        self._found.added += passage.id in extra
        self._found.scores.append(
            LabelledScore(
                question=label.question,
                language=pair_language(label.language or language, passage),
                source=passage.source,
                probability=probability,
                relevant=label.relevant,
                weight=self._weights[label.row],
            )
        )

    async def _graded(
        self, question: str, retrieval: Retrieval, extra: tuple[Candidate, ...], ledger: Ledger
    ) -> dict[str, Grade]:
        grader = self._container.grader_as_made
        grades = await grade_all(grader, question, retrieval, ledger=ledger) if retrieval.candidates else []
        if extra:
            told = tuple(grades)
            beside = replace(retrieval, candidates=extra, context=retrieval.candidates, context_grades=told)
            grades += await grade_all(grader, question, beside, ledger=ledger)
        return {grade.passage_id: grade for grade in grades}

    async def _candidates(self, label: Label, retrieval: Retrieval, ledger: Ledger) -> list[Candidate]:
        if not label.passage:
            return await self._of_document(label.document, retrieval, ledger)
        if not _ID.fullmatch(label.passage):
            return await self._of_text(label.passage, retrieval, ledger)
        brought = [one for one in retrieval.candidates if one.passage.id == label.passage]
        if brought:
            return brought
        stored = await self._container.store.fetch([label.passage], scope=self._scope)
        return [_candidate(one.passage, one.vector, one.strip_vectors, retrieval.query_vector) for one in stored]

    async def _of_document(self, named: str, retrieval: Retrieval, ledger: Ledger) -> list[Candidate]:
        document = await self._container.store.document(named, reader=self._container.reader)
        if document is None:
            return []
        brought = [one for one in retrieval.candidates if one.passage.document_id == document.id]
        if brought:
            return brought
        inside = replace(self._scope, source_prefix=document.source)
        found = await self._container.search.search(
            retrieval.query, k=_OF_A_DOCUMENT, scope=inside, mode=SearchMode.HYBRID, ledger=ledger
        )
        return [one for one in found.candidates if one.passage.document_id == document.id]

    async def _of_text(self, text: str, retrieval: Retrieval, ledger: Ledger) -> list[Candidate]:
        """The stored passage with that text (or that holds it, or lies in it); else the text itself, as a passage."""
        wanted = _bare(text)
        if not wanted:
            return []
        for one in retrieval.candidates:
            if _same(_bare(one.passage.text), wanted):
                return [one]
        alike = await self._container.search.search(
            text[:300], k=_LOOKED_THROUGH, scope=self._scope, mode=SearchMode.HYBRID, ledger=ledger
        )
        for one in alike.candidates:
            if _same(_bare(one.passage.text), wanted):
                return [_candidate(one.passage, one.vector, one.strip_vectors, retrieval.query_vector)]
        passage = _loose(text)
        vectors = (await asyncio.to_thread(self._container.encoder.encode_passages, [passage_text(passage)]))[0]
        return [_candidate(passage, vectors.passage, vectors.strips, retrieval.query_vector)]


def probability_before(grade: Grade) -> float | None:
    """What the grader said before a language model went by rules of its own; None where it said nothing."""
    if grade.tier not in _OWN_RULES:
        return grade.probability
    told = grade.signals.get("before")
    return told if told is not None and 0.0 <= told <= 1.0 else None


def _candidate(passage: Passage, vector: object, strips: object, query: FloatVector | None) -> Candidate:
    made = Candidate(passage=passage, fused=0.0, vector=vector, strip_vectors=strips)  # type: ignore[arg-type]
    if query is None or made.vector is None:
        return made
    return replace(made, dense=float(made.vector @ query))


def _loose(text: str) -> Passage:
    language = detect(text)
    spans = tuple(Span(start, end) for start, end in segment(text, language=language))
    id_ = f"l{digest(text)[:20]}"
    return Passage(
        id=id_,
        document_id=id_,
        source="(labels)",
        title="",
        text=text,
        span=Span(0, len(text)),
        strips=spans,
        language=language,
        content_hash=digest(text),
    )


def _bare(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).casefold()


def _same(stored: str, wanted: str) -> bool:
    if stored == wanted:
        return True
    shorter, longer = sorted((stored, wanted), key=len)
    return len(shorter) >= _LEAST_IN_COMMON and shorter in longer
