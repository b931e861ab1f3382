"""What happened to one document in one run: hidden, never near, graded out, cut away, or cited."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from tadasu.core.answers import Citation, Evidence
from tadasu.core.documents import Document, Scope
from tadasu.core.runs import GradedCandidate, Run, SearchMode, StripFate, StripRecord
from tadasu.ports import CandidateSearch, DocumentShelf, Ledger

WIDE_K = 200


class Fate(enum.Enum):
    """How far a document came. UNKNOWN covers what the asker may not see, in the same words."""

    UNKNOWN = "unknown"
    FILTERED = "filtered"
    NOT_FOUND = "not_found"
    GRADED_OUT = "graded_out"
    CUT = "cut"
    NOT_CITED = "not_cited"
    CITED = "cited"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A passage of the document among the candidates of a round: `rank` from 1 in the order that was graded."""

    round: int
    rank: int
    mode: SearchMode
    candidate: GradedCandidate


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of a document, with the proof.

    `wide_rank` is set for NOT_FOUND: where the document's best passage stands today when `wide_k` candidates are
    asked for with the run's own query and filters, None where it is not even among those. `filters` names the ones
    that hid it.
    """

    run: str
    document: str
    source: str
    fate: Fate
    sightings: tuple[Sighting, ...] = ()
    strips: tuple[StripRecord, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    citations: tuple[Citation, ...] = ()
    filters: tuple[str, ...] = ()
    wide_rank: int | None = None
    wide_k: int = WIDE_K


async def explain(
    run: Run,
    document: str,
    *,
    shelf: DocumentShelf,
    search: CandidateSearch,
    ledger: Ledger,
    wide_k: int = WIDE_K,
) -> Explanation:
    """Say what happened in `run` to `document` (its id, its source, or the end of its source).

    The run's own record answers wherever it can; the index is asked only for a document that was never a candidate.
    """
    recorded = from_record(run, document)
    if recorded is not None:
        return recorded
    found = await _find(document, run, shelf)
    if found is None:
        return Explanation(run=run.id, document=document, source=document, fate=Fate.UNKNOWN)
    filters = hidden_by(found, run.scope)
    if filters:
        return Explanation(run=run.id, document=found.id, source=found.source, fate=Fate.FILTERED, filters=filters)
    retrieval = await search.search(run.query, k=wide_k, scope=run.scope, mode=SearchMode.HYBRID, ledger=ledger)
    ranks = (rank for rank, one in enumerate(retrieval.candidates, 1) if one.passage.document_id == found.id)
    return Explanation(
        run=run.id,
        document=found.id,
        source=found.source,
        fate=Fate.NOT_FOUND,
        wide_rank=next(ranks, None),
        wide_k=wide_k,
    )


def from_record(run: Run, document: str) -> Explanation | None:
    """The explanation that `run` alone can give; None where the document was never among its candidates."""
    sightings = tuple(
        Sighting(round=one.number, rank=rank, mode=one.mode, candidate=candidate)
        for one in run.rounds
        for rank, candidate in enumerate(one.candidates, 1)
        if matches(document, candidate.document_id, candidate.source)
    )
    if not sightings:
        return None
    first = sightings[0].candidate
    strips = tuple(record for record in run.strips if record.strip.document_id == first.document_id)
    evidence = tuple(item for item in run.evidence if item.strip.document_id == first.document_id)
    citations = tuple(item for item in run.answer.citations if item.document_id == first.document_id)
    return Explanation(
        run=run.id,
        document=first.document_id,
        source=first.source,
        fate=_fate(strips, evidence, citations),
        sightings=tuple(one for one in sightings if one.candidate.document_id == first.document_id),
        strips=strips,
        evidence=evidence,
        citations=citations,
    )


def matches(asked: str, document_id: str, source: str) -> bool:
    """Whether `asked` names the document: its id, its whole source, or the last parts of its path.

    >>> matches("b.md", "d1", "a/b.md"), matches("a/b.md", "d1", "a/b.md"), matches(".md", "d1", "a/b.md")
    (True, True, False)
    """
    return asked in (document_id, source) or source.endswith("/" + asked.removeprefix("./"))


def hidden_by(document: Document, scope: Scope) -> tuple[str, ...]:
    """The filters of `scope` that `document` does not pass, as they were given."""
    found: list[str] = []
    if scope.language is not None and document.language != scope.language:
        found.append(f"language {scope.language} (the document's: {document.language})")
    if scope.source_prefix and not document.source.startswith(scope.source_prefix):
        found.append(f"source {scope.source_prefix}")
    when = document.date or "none"
    if scope.since and (not document.date or document.date < scope.since):
        found.append(f"since {scope.since} (the document's date: {when})")
    if scope.until and (not document.date or document.date > scope.until):
        found.append(f"until {scope.until} (the document's date: {when})")
    return tuple(found)


def _fate(strips: tuple[StripRecord, ...], evidence: tuple[Evidence, ...], citations: tuple[Citation, ...]) -> Fate:
    if citations:
        return Fate.CITED
    if evidence or any(record.fate in (StripFate.SELECTED, StripFate.NEIGHBOUR) for record in strips):
        return Fate.NOT_CITED
    return Fate.CUT if strips else Fate.GRADED_OUT


async def _find(asked: str, run: Run, shelf: DocumentShelf) -> Document | None:
    found = await shelf.document(asked, reader=run.reader)
    if found is not None:
        return found
    for document_id, source in await shelf.sources(reader=run.reader):
        if matches(asked, document_id, source):
            return await shelf.document(document_id, reader=run.reader)
    return None
