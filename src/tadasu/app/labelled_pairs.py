"""Labelled pairs graded as they would be in use: through the real search and the real grader."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tadasu.answering.correction.rounds import grade_all
from tadasu.answering.explain import matches
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
from tadasu.errors import LabelAmbiguous, LabelContradicted, LabelInvalid, TadasuError
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
_NAMED = 5
_LOOSE = "(labels)"


@dataclass(slots=True)
class GradedLabels:
    """What became of the labels.

    `scores` are those that have a number. `failed` are pairs that could not be graded, with the reason: they are no
    numbers and count in nothing. `absent` are rows whose passage or document is not there (or not the reader's to see),
    or may be several; `contradicted` are rows that say the opposite of an earlier one under another name of its
    document, `repeated` counts those that say the same. `ruled` counts pairs that a language model decided by rules of
    its own. `asked` holds, per question, the grades of all that its search brought back and the language of each pair;
    `flat` counts questions whose cosines say nothing on their own, `added` the pairs whose passage the search did not
    bring back, and `loose` those among them whose passage is nowhere in the index and was graded as the label has it.
    """

    scores: list[LabelledScore] = field(default_factory=list)
    failed: list[tuple[int, str]] = field(default_factory=list)
    absent: list[tuple[int, TadasuError]] = field(default_factory=list)
    contradicted: list[tuple[int, TadasuError]] = field(default_factory=list)
    repeated: int = 0
    ruled: int = 0
    added: int = 0
    loose: int = 0
    flat: int = 0
    asked: list[list[tuple[str, Grade]]] = field(default_factory=list)

    @property
    def population(self) -> list[float]:
        """The probabilities of everything that the searches brought back."""
        told = (probability_before(grade) for one in self.asked for _, grade in one)
        return [probability for probability in told if probability is not None]


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
        self._sources: Sequence[tuple[str, str]] | None = None
        self._said: dict[tuple[str, str], Label] = {}

    async def question(self, question: str, labels: Sequence[Label]) -> None:
        """One search, its grades, then those of labelled passages that it did not bring back."""
        async with unrecorded(self._container, "labelled") as ledger:
            await self._question(question, labels, ledger)

    async def _question(self, question: str, labels: Sequence[Label], ledger: Ledger) -> None:
        retrieval = await self._container.search.search(
            question, k=self._container.settings.retrieval.k, scope=self._scope, mode=SearchMode.HYBRID, ledger=ledger
        )
        language = language_of(question, retrieval.candidates)
        wanted: dict[int, list[Candidate]] = {}
        for label in labels:
            found = await self._candidates(label, retrieval, ledger)
            if found is not None:
                wanted[label.row] = found
        brought = {one.passage.id for one in retrieval.candidates}
        extra = {one.passage.id: one for several in wanted.values() for one in several if one.passage.id not in brought}
        grades = await self._graded(question, retrieval, tuple(extra.values()), ledger)
        passages = {one.passage.id: one.passage for one in (*retrieval.candidates, *extra.values())}
        self._found.asked.append(
            [
                (pair_language(language, one.passage), grades[one.passage.id])
                for one in retrieval.candidates
                if one.passage.id in grades
            ]
        )
        cosines = [one.dense for one in retrieval.candidates if one.dense is not None]
        self._found.flat += bool(len(cosines) > 1 and max(cosines) - min(cosines) < FLAT_SPREAD)
        for label in labels:
            if label.row in wanted:
                known = [grades[one.passage.id] for one in wanted[label.row]]
                self._count(label, known, passages, language, set(extra))

    def _count(
        self, label: Label, grades: Sequence[Grade], passages: dict[str, Passage], language: str, extra: set[str]
    ) -> None:
        if not grades:
            reason = "its passage is not in the index" if label.passage else "its document is not in the index"
            fix = "Ingest it, or write the passage's text; a passage gets a new id when its document changes."
            error = LabelInvalid(name=self._name, row=label.row, reason=reason, fix=fix)
            self._found.absent.append((label.row, error))
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
        self._found.loose += passage.source == _LOOSE
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

    async def _candidates(self, label: Label, retrieval: Retrieval, ledger: Ledger) -> list[Candidate] | None:
        """What `label` names, nothing where it is not there; None where the row is dealt with already."""
        if not label.passage:
            return await self._of_document(label, retrieval, ledger)
        if not _ID.fullmatch(label.passage):
            return await self._of_text(label.passage, retrieval, ledger)
        brought = [one for one in retrieval.candidates if one.passage.id == label.passage]
        if brought:
            return brought
        stored = await self._container.store.fetch([label.passage], scope=self._scope)
        return [_candidate(one.passage, one.vector, one.strip_vectors, retrieval.query_vector) for one in stored]

    async def _of_document(self, label: Label, retrieval: Retrieval, ledger: Ledger) -> list[Candidate] | None:
        named = await self._named(label.document)
        if len(named) > 1:
            some = ", ".join(source for _, source in named[:_NAMED]) + (", …" if len(named) > _NAMED else "")
            error = LabelAmbiguous(
                name=self._name, row=label.row, document=label.document, count=len(named), candidates=some
            )
            self._found.absent.append((label.row, error))
            return None
        document = await self._container.store.document(named[0][0], reader=self._container.reader) if named else None
        if document is None:
            return []
        earlier = self._said.setdefault((label.pair[0], document.id), label)
        if earlier is not label:
            # The same document under two names: `read_labels` cannot know that.
            if earlier.relevant is label.relevant:
                self._found.repeated += 1
            else:
                said = LabelContradicted(name=self._name, row=label.row, earlier=earlier.row)
                self._found.contradicted.append((label.row, said))
            return None
        brought = [one for one in retrieval.candidates if one.passage.document_id == document.id]
        if brought:
            return brought
        inside = replace(self._scope, source_prefix=document.source)
        found = await self._container.search.search(
            retrieval.query, k=_OF_A_DOCUMENT, scope=inside, mode=SearchMode.HYBRID, ledger=ledger
        )
        return [one for one in found.candidates if one.passage.document_id == document.id]

    async def _named(self, name: str) -> list[tuple[str, str]]:
        """(id, source) of the document of that id or source, else of all whose paths end so."""
        exact = await self._container.store.document(name, reader=self._container.reader)
        if exact is not None:
            return [(exact.id, exact.source)]
        if self._sources is None:
            self._sources = await self._container.store.sources(reader=self._container.reader)
        asked = unicodedata.normalize("NFC", name).replace("\\", "/")
        same = [one for one in self._sources if asked in one]
        return same or [one for one in self._sources if matches(asked, *one)]

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
        source=_LOOSE,
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
