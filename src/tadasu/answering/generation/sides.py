"""The sides of a contradiction as a reader sees them: with source, date and what is no longer in force."""

from __future__ import annotations

from tadasu.answering.generation.conflicts import Conflict
from tadasu.answering.generation.grounding import beside, check
from tadasu.answering.generation.outdated import replaced_by, superseded
from tadasu.answering.generation.quoting import Quote
from tadasu.ports import WritingTask
from tadasu.text.messages import translate


def told(conflict: Conflict, task: WritingTask) -> list[str]:
    """Both sides, a line each, cited."""
    lines = [translate("Sources differ:", task.language)]
    return lines + [f"\n- {_attributed(side, task)} {cited(side)}" for side in conflict.sides]


def cited(quote: Quote) -> str:
    """The markers of a quotation."""
    return "".join(f"[{number}]" for number in quote.numbers)


def _attributed(side: Quote, task: WritingTask) -> str:
    """A side of a conflict with its source, its date, and whether it is no longer in force."""
    strip = side.evidence.strip
    past = superseded(side) or any(
        replaced_by(strip, piece.strip, task.evidence)
        for piece in task.evidence
        if piece.strip.document_id != strip.document_id
    )
    parts = [strip.source, strip.date, translate("superseded", task.language) if past else ""]
    origin = ", ".join(part for part in parts if part)
    return f"{side.text} ({origin})" if task.language != "ja" else f"{side.text}({origin})"


def holds(side: Quote, task: WritingTask) -> bool:
    """Whether a side of a conflict will pass the check of answers as it is written."""
    pieces = [piece for piece in task.evidence if piece.number in side.numbers]
    around = beside(pieces, task.evidence)
    return check(
        _attributed(side, task), [p.strip for p in pieces], question=task.query or task.question, around=around
    ).holds
