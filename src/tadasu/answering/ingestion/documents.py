"""What a parser read, as a document with its id and the hash that tells whether it has changed."""

from __future__ import annotations

import hashlib
from pathlib import PurePosixPath

from tadasu.answering.ingestion.parsers.parsed import Parsed
from tadasu.core.documents import Access, Document
from tadasu.core.ids import digest, document_id
from tadasu.text.language import detect

_LANGUAGES = frozenset({"ja", "en"})
_TITLE_LENGTH = 200
# Where somebody wrote the language down; elsewhere a template declares one that nobody set.
_SAID = frozenset({"text/markdown", "text/csv", "application/jsonl"})


def fingerprint(data: bytes) -> str:
    """SHA-256 of bytes, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def content_hash(mark: str, access: Access, version: str) -> str:
    """What changes exactly when a document has to be stored anew: its bytes, who may see it, or how it is read.

    64 hexadecimal digits. The first eight say who may see it, so that a change of that alone can be told.
    """
    seen_by = digest(access.tenant, *sorted(access.groups))
    return seen_by[:8] + digest(mark, seen_by, version)[8:]


def document_of(parsed: Parsed, *, source: str, content_hash: str, access: Access | None = None) -> Document:
    """`parsed` as a document of `source` (already with its ``#row`` where it has one)."""
    access = access or Access()
    declared = parsed.language[:2] if parsed.language[:2] in _LANGUAGES else ""
    detected = detect(parsed.text)
    if declared and (parsed.media_type in _SAID or detected not in _LANGUAGES):
        detected = declared
    name = PurePosixPath(source.partition("#")[0]).stem
    title = " ".join((parsed.title or (name if not parsed.key else "")).split())
    return Document(
        id=document_id(access.tenant, source),
        source=source,
        title=title[:_TITLE_LENGTH],
        text=parsed.text,
        content_hash=content_hash,
        blocks=parsed.blocks,
        media_type=parsed.media_type,
        language=detected,
        date=parsed.date,
        access=access,
        metadata=parsed.metadata,
    )
