"""What an ingest did, file by file."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from tadasu.errors import DocumentError


class FileOutcome(enum.Enum):
    """What became of one file. PARTLY: rows of it are in, others failed."""

    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    PARTLY = "partly"
    FAILED = "failed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that could not be ingested. `row` counts from 1 and is None where the whole file failed.

    `kept` says that what was stored of it before is still there.
    """

    source: str
    code: str
    message: str
    hint: str
    row: int | None = None
    kept: bool = False


def failure_of(error: DocumentError, *, source: str, row: int | None = None, kept: bool = False) -> Failure:
    """An error of one document as a line of the report."""
    return Failure(source=source, code=error.code, message=str(error), hint=error.hint, row=row, kept=kept)


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file: what happened, and how many documents and passages of it were written."""

    source: str
    outcome: FileOutcome
    documents: int = 0
    passages: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """Where an ingest stands: files done of all, the one just done, passages written so far."""

    done: int
    total: int
    source: str
    passages: int


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Counts of documents (a row of a JSONL file is one), passages written, seconds; `files` in order.

    `kept_files` files are restricted to `kept_groups` because an earlier call said so and this one said nothing.
    """

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    passages: int = 0
    seconds: float = 0.0
    failed: tuple[Failure, ...] = ()
    files: tuple[FileReport, ...] = field(default=())
    kept_files: int = 0
    kept_groups: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether everything that was found is in."""
        return not self.failed
