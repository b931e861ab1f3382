"""What a file is: by its name, checked against its first bytes. Unsupported kinds are named as what they are."""

from __future__ import annotations

import enum
import re
from pathlib import PurePosixPath

from tadasu.errors import DocumentDamaged, DocumentEncrypted, FormatMismatch, FormatUnsupported


class Kind(enum.Enum):
    """A kind that a parser reads; the value is how messages call it."""

    MARKDOWN = "Markdown (.md)"
    TEXT = "plain text (.txt)"
    HTML = "HTML (.html)"
    PDF = "PDF (.pdf)"
    DOCX = "Word (.docx)"
    XLSX = "Excel (.xlsx)"
    PPTX = "PowerPoint (.pptx)"
    CSV = "CSV (.csv)"
    JSONL = "JSON lines (.jsonl)"


_EXTENSIONS = {
    ".md": Kind.MARKDOWN, ".markdown": Kind.MARKDOWN, ".mdown": Kind.MARKDOWN, ".mkd": Kind.MARKDOWN,
    ".txt": Kind.TEXT, ".text": Kind.TEXT, ".log": Kind.TEXT, ".rst": Kind.TEXT, ".adoc": Kind.TEXT, "": Kind.TEXT,
    ".html": Kind.HTML, ".htm": Kind.HTML, ".xhtml": Kind.HTML,
    ".pdf": Kind.PDF, ".docx": Kind.DOCX, ".xlsx": Kind.XLSX, ".xlsm": Kind.XLSX, ".pptx": Kind.PPTX,
    ".csv": Kind.CSV, ".tsv": Kind.CSV, ".jsonl": Kind.JSONL, ".ndjson": Kind.JSONL,
}  # fmt: skip
TEXT_KINDS = frozenset({Kind.MARKDOWN, Kind.TEXT, Kind.HTML, Kind.CSV, Kind.JSONL})
"""Kinds that are text in some encoding."""
_OFFICE = {Kind.DOCX: "word", Kind.XLSX: "xl", Kind.PPTX: "ppt"}

_SAVE_AS = "Open it in its own program and save it as {}."
_OCR = "Run OCR on it and save the result as PDF or text."
_UNPACK = "Unpack it and ingest the files inside."
_SPEECH = "Transcribe it and ingest the transcript as text."
_MESSAGE = "Save the message as PDF, HTML or text, and its attachments as files."
_UNSUPPORTED: dict[str, tuple[str, str]] = {
    ".doc": ("Word 97–2003 (.doc)", _SAVE_AS.format(".docx")),
    ".dot": ("Word 97–2003 template (.dot)", _SAVE_AS.format(".docx")),
    ".docm": ("Word with macros (.docm)", _SAVE_AS.format(".docx")),
    ".dotx": ("Word template (.dotx)", _SAVE_AS.format(".docx")),
    ".xls": ("Excel 97–2003 (.xls)", _SAVE_AS.format(".xlsx")),
    ".xlsb": ("Excel binary (.xlsb)", _SAVE_AS.format(".xlsx")),
    ".ppt": ("PowerPoint 97–2003 (.ppt)", _SAVE_AS.format(".pptx")),
    ".pps": ("PowerPoint 97–2003 show (.pps)", _SAVE_AS.format(".pptx")),
    ".pptm": ("PowerPoint with macros (.pptm)", _SAVE_AS.format(".pptx")),
    ".rtf": ("Rich Text (.rtf)", _SAVE_AS.format(".docx")),
    ".odt": ("OpenDocument text (.odt)", _SAVE_AS.format(".docx")),
    ".ods": ("OpenDocument spreadsheet (.ods)", _SAVE_AS.format(".xlsx")),
    ".odp": ("OpenDocument presentation (.odp)", _SAVE_AS.format(".pptx")),
    ".pages": ("Apple Pages (.pages)", _SAVE_AS.format(".docx")),
    ".numbers": ("Apple Numbers (.numbers)", _SAVE_AS.format(".xlsx")),
    ".key": ("Apple Keynote (.key)", _SAVE_AS.format(".pptx")),
    ".jtd": ("Ichitaro (.jtd)", _SAVE_AS.format(".docx")),
    ".epub": ("EPUB (.epub)", _SAVE_AS.format(".html")),
    ".mobi": ("Kindle (.mobi)", _SAVE_AS.format(".html")),
    ".eml": ("E-mail (.eml)", _MESSAGE),
    ".msg": ("Outlook message (.msg)", _MESSAGE),
    ".mbox": ("Mailbox (.mbox)", _MESSAGE),
    ".pst": ("Outlook data (.pst)", _MESSAGE),
    ".mht": ("Web archive (.mht)", _SAVE_AS.format(".html")),
    ".mhtml": ("Web archive (.mhtml)", _SAVE_AS.format(".html")),
    ".json": ("JSON (.json)", "Write one object a line and name the file .jsonl."),
    ".xml": ("XML (.xml)", "Convert it to HTML, Markdown or text."),
    ".yaml": ("YAML (.yaml)", "Convert it to Markdown or text."),
    ".yml": ("YAML (.yml)", "Convert it to Markdown or text."),
    ".toml": ("TOML (.toml)", "Convert it to Markdown or text."),
    ".parquet": ("Parquet (.parquet)", _SAVE_AS.format(".csv")),
    ".ipynb": ("Jupyter notebook (.ipynb)", _SAVE_AS.format(".md")),
    ".tex": ("LaTeX (.tex)", _SAVE_AS.format(".pdf")),
    ".ps": ("PostScript (.ps)", _SAVE_AS.format(".pdf")),
    ".djvu": ("DjVu (.djvu)", _OCR),
    ".vsd": ("Visio (.vsd)", _SAVE_AS.format(".pdf")),
    ".vsdx": ("Visio (.vsdx)", _SAVE_AS.format(".pdf")),
    ".one": ("OneNote (.one)", _SAVE_AS.format(".pdf")),
    ".dwg": ("AutoCAD drawing (.dwg)", _SAVE_AS.format(".pdf")),
}
for _name, _way_out, _extensions in (
    ("Image", _OCR, ".png .jpg .jpeg .gif .bmp .tif .tiff .webp .heic .heif .svg .ico .psd"),
    ("Archive", _UNPACK, ".zip .7z .rar .tar .gz .tgz .bz2 .xz .zst .lzh .jar .iso .dmg"),
    ("Audio", _SPEECH, ".mp3 .wav .m4a .flac .ogg .aac .wma"),
    ("Video", _SPEECH, ".mp4 .mov .avi .mkv .wmv .webm .m4v"),
    ("Program", "It holds no document; leave it out.", ".exe .dll .so .dylib .bin .msi .class .pyc .o .a .wasm"),
    ("Database", _SAVE_AS.format(".csv"), ".db .sqlite .sqlite3 .mdb .accdb"),
    ("Font", "It holds no document; leave it out.", ".ttf .otf .woff .woff2"),
):
    _UNSUPPORTED |= {extension: (f"{_name} ({extension})", _way_out) for extension in _extensions.split()}

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image"),
    (b"BM", "a BMP image"), (b"II*\x00", "a TIFF image"), (b"MM\x00*", "a TIFF image"), (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"), (b"Rar!\x1a\x07", "a RAR archive"), (b"\xfd7zXZ\x00", "an xz archive"),
    (b"BZh", "a bzip2 archive"), (b"\x28\xb5\x2f\xfd", "a Zstandard archive"), (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a program (Windows)"), (b"\xca\xfe\xba\xbe", "a program (Java or Mach-O)"),
    (b"SQLite format 3\x00", "a SQLite database"), (b"ID3", "MP3 audio"), (b"\xff\xfb", "MP3 audio"),
    (b"OggS", "Ogg audio"), (b"fLaC", "FLAC audio"), (b"{\\rtf", "Rich Text (.rtf)"), (b"%!PS", "PostScript"),
    (b"wOFF", "a font"), (b"\x00\x01\x00\x00\x00", "a font"),
)  # fmt: skip
_TEXT_MAGIC = frozenset({b"{\\rtf", b"%!PS"})
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_HTML_START = re.compile(rb"\s*(?:<!doctype html|<html|<head|<body)", re.IGNORECASE)


def kind_by_name(name: str, *, source: str) -> Kind:
    """The kind that a file name promises; raises FormatUnsupported, naming the kind and the way out."""
    extension = PurePosixPath(name).suffix.lower()
    if extension in _UNSUPPORTED:
        kind, way_out = _UNSUPPORTED[extension]
        raise FormatUnsupported(source=source, kind=kind, way_out=way_out)
    if extension not in _EXTENSIONS:
        raise FormatUnsupported(source=source, kind=extension)
    return _EXTENSIONS[extension]


def identify(name: str, data: bytes, *, source: str) -> Kind:
    """The kind of a file, from its name and checked against its content.

    Raises:
        FormatUnsupported: no parser reads that kind.
        FormatMismatch: the content is of another kind than the name says.
        DocumentEncrypted: an Office file locked with a password.
        DocumentDamaged: the content is of no known kind, where the name promises one.
    """
    kind = kind_by_name(name, source=source)
    found = content_name(data)
    if kind in TEXT_KINDS:
        if found:
            raise FormatMismatch(source=source, named=kind.value, found=found)
        return kind
    if kind is Kind.PDF:
        if b"%PDF-" in data[:1024]:
            return kind
    elif data.startswith(_ZIP):
        return kind  # the parser looks inside before it opens anything
    elif data.startswith(_OLE):
        if _ENCRYPTED_PACKAGE in data:
            raise DocumentEncrypted(source=source)
        raise FormatMismatch(source=source, named=kind.value, found="an Office 97–2003 file (.doc, .xls, .ppt)")
    if found or _is_text(data):
        raise FormatMismatch(source=source, named=kind.value, found=found or _text_name(data))
    raise DocumentDamaged(source=source, kind=kind.value, reason="it does not begin as one")


def content_name(data: bytes) -> str:
    """How a binary format that its first bytes tell is called; empty for text and for what is unknown."""
    head = data[:64]
    if b"%PDF-" in data[:1024] and head.lstrip().startswith(b"%PDF-"):
        return "a PDF"
    if head.startswith(_ZIP):
        for kind, folder in _OFFICE.items():
            if f"{folder}/".encode() in data[:4096] or f"{folder}/".encode() in data[-8192:]:
                return kind.value
        return "an archive (zip)"
    if head.startswith(_OLE):
        return "an Office 97–2003 file (.doc, .xls, .ppt, .msg)"
    if head[:4] == b"RIFF":
        return {b"WEBP": "a WebP image", b"WAVE": "WAV audio", b"AVI ": "AVI video"}.get(head[8:12], "a RIFF file")
    if head[4:8] == b"ftyp":
        return "an MP4 video or HEIC image"
    for magic, name in _MAGIC:
        # A text may begin with the letters BM or ID3.
        if head.startswith(magic) and (magic in _TEXT_MAGIC or not magic.isascii() or not _is_text(data)):
            return name
    return ""


def _is_text(data: bytes) -> bool:
    sample = data[:2048]
    control = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in sample)
    return bool(sample) and control == 0


def _text_name(data: bytes) -> str:
    return Kind.HTML.value if _HTML_START.match(data[:512]) else "plain text"
