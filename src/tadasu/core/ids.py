"""Identifiers that come out the same for the same content, so that an ingest run twice changes nothing."""

from __future__ import annotations

import hashlib


def digest(*parts: str) -> str:
    """SHA-256 over `parts`, unambiguous about where one ends and the next begins; 64 hexadecimal digits."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()


def document_id(tenant: str, source: str) -> str:
    """Id of the document at `source` of `tenant`: stable while its content changes."""
    return "d" + digest(tenant, source)[:16]


def passage_id(document: str, content_hash: str, ordinal: int) -> str:
    """Id of a passage: the document, what was in it, and the position."""
    return "p" + digest(document, content_hash, str(ordinal))[:20]
