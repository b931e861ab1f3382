"""What the three Office formats share: a safe look into the container before any library opens it."""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
import zlib
from pathlib import PurePosixPath

from tadasu.answering.ingestion.parsers.parsed import Limits
from tadasu.errors import ArchiveBomb, DocumentDamaged, DocumentEncrypted, FormatMismatch, PathEscapes

_CHUNK = 1024 * 1024
_RATIO = 150
_RATIO_FLOOR = 30 * 1024 * 1024
_DECLARATIONS = re.compile(rb"<!(?:ENTITY|DOCTYPE)", re.IGNORECASE)
_WIDE_DECLARATIONS = re.compile(
    rb"<\x00!\x00(?:E\x00N\x00T|D\x00O\x00C)|\x00<\x00!\x00(?:E\x00N\x00T|D\x00O\x00C)", re.IGNORECASE
)
_FOLDERS = {"word": "a Word document (.docx)", "xl": "an Excel workbook (.xlsx)", "ppt": "a PowerPoint show (.pptx)"}


UNREADABLE = "its parts do not fit together"
"""Why a file is damaged that is a whole archive and no whole document."""


def check_container(data: bytes, *, source: str, kind: str, folder: str, limits: Limits) -> None:
    """Refuse an Office file that is damaged, locked, something else, or unpacks to more than it may.

    Sizes are checked as declared, then as they are: every entry is unpacked once, in pieces, and thrown away. No Office
    program writes a DTD, so one is an attempt at entity expansion.

    Raises:
        DocumentDamaged, DocumentEncrypted, FormatMismatch, ArchiveBomb, PathEscapes.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        raise DocumentDamaged(source=source, kind=kind, reason="it is no whole archive") from None
    with archive:
        entries = archive.infolist()
        _check_declared(entries, len(data), source=source, limits=limits)
        tops = {entry.filename.partition("/")[0] for entry in entries}
        if folder not in tops:
            found = next((name for top, name in _FOLDERS.items() if top in tops), "another kind of archive (zip)")
            raise FormatMismatch(source=source, named=kind, found=found)
        if any(entry.flag_bits & 1 for entry in entries):
            raise DocumentEncrypted(source=source)
        try:
            _check_actual(archive, entries, source=source, limits=limits)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, LookupError, NotImplementedError):
            raise DocumentDamaged(source=source, kind=kind, reason="a part of it is broken") from None


def _check_declared(entries: list[zipfile.ZipInfo], packed: int, *, source: str, limits: Limits) -> None:
    if len(entries) > limits.archive_entries:
        raise ArchiveBomb(source=source, size=f"{len(entries)} entries", limit=f"{limits.archive_entries} entries")
    for entry in entries:
        path = PurePosixPath(entry.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", entry.filename):
            raise PathEscapes(source=source, name=entry.filename)
    total = sum(entry.file_size for entry in entries)
    allowed = min(limits.unpacked_bytes, max(_RATIO_FLOOR, packed * _RATIO))
    if total > allowed:
        raise ArchiveBomb(source=source, size=megabytes(total), limit=megabytes(allowed))


def _check_actual(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo], *, source: str, limits: Limits) -> None:
    left = limits.unpacked_bytes
    for entry in entries:
        if entry.is_dir():
            continue
        xml = entry.filename.endswith((".xml", ".rels", ".vml"))
        tail = b""
        with archive.open(entry) as stream:
            while chunk := stream.read(_CHUNK):
                left -= len(chunk)
                if left < 0:
                    raise ArchiveBomb(
                        source=source,
                        size=f"more than {megabytes(limits.unpacked_bytes)}",
                        limit=megabytes(limits.unpacked_bytes),
                    )
                if xml and (_DECLARATIONS.search(tail + chunk) or _WIDE_DECLARATIONS.search(tail + chunk)):
                    raise ArchiveBomb(
                        source=source, size="an unbounded size (XML entities)", limit=megabytes(limits.unpacked_bytes)
                    )
                tail = chunk[-32:]


def megabytes(size: int) -> str:
    """A size for a message."""
    return f"{size / 1024 / 1024:,.0f} MB" if size >= 1024 * 1024 else f"{size:,} bytes"


def core_date(modified: dt.datetime | None, created: dt.datetime | None) -> str:
    """Day of the last change as Office's own properties give it; the templates of libraries date from before 2014."""
    for moment in (modified, created):
        if isinstance(moment, dt.datetime) and moment.year > 2013:
            return moment.date().isoformat()
    return ""
