"""Files of every kind, sound and bad, made in code; and a small index to ingest them into."""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import docx
import numpy as np
import openpyxl
import pptx
from pptx.util import Inches
from reportlab.lib import colors
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen import canvas
from reportlab.platypus import Table, TableStyle

from tadasu.answering.ingestion.pipeline import Ingestion
from tadasu.answering.ingestion.reading import IngestionSettings
from tadasu.core.vectors import PassageText, PassageVectors
from tadasu.runtime.world import FixedWorld
from tadasu.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatMatrix, FloatVector

JAPANESE = "HeiseiKakuGo-W5"


class LetterEncoder:
    """Vectors from a hash of the text: alike for like text, at once."""

    id = "letters"
    dimensions = 8

    def _vector(self, text: str) -> FloatVector:
        raw = np.frombuffer(hashlib.sha256(text.encode()).digest()[:8], dtype=np.uint8).astype(np.float32) - 127.5
        return np.asarray(raw / np.linalg.norm(raw), dtype=np.float32)

    def encode_queries(self, queries: Sequence[str]) -> FloatMatrix:
        return np.stack([self._vector(query) for query in queries])

    def encode_passages(self, passages: Sequence[PassageText]) -> list[PassageVectors]:
        return [
            PassageVectors(
                self._vector(p.title + p.text),
                np.stack([self._vector(p.text[a:b]) for a, b in p.strips]).astype(np.float32),
            )
            for p in passages
        ]


class WordCounter:
    """Tokens as a multilingual model has them, about: a word each in English, a character each in Japanese."""

    def count(self, text: str) -> int:
        return sum(max(1, len(word) // 4 if word.isascii() else len(word)) for word in text.split())


def ingestion(store: MemoryStore, *, settings: IngestionSettings | None = None) -> Ingestion:
    return Ingestion(index=store, encoder=LetterEncoder(), counter=WordCounter(), clock=FixedWorld(), settings=settings)


def memory_store() -> MemoryStore:
    return MemoryStore(dimensions=LetterEncoder.dimensions)


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- PDF -----------------------------------------------------------------------------------------

Draw = Callable[[canvas.Canvas], None]


def pdf(*pages: Draw, title: str = "", encrypt: str | None = None) -> bytes:
    """A PDF whose pages are drawn by the callables."""
    buffer = io.BytesIO()
    sheet = canvas.Canvas(buffer, pagesize=(595, 842), encrypt=encrypt, invariant=1)
    if title:
        sheet.setTitle(title)
    for draw in pages:
        draw(sheet)
        sheet.showPage()
    sheet.save()
    return buffer.getvalue()


def lines(*texts: str, size: float = 11, top: float = 780, font: str = "Helvetica", step: float = 15) -> Draw:
    """A page with lines of text one below the other."""

    def draw(sheet: canvas.Canvas) -> None:
        if font == JAPANESE:
            pdfmetrics.registerFont(UnicodeCIDFont(JAPANESE))
        sheet.setFont(font, size)
        for at, text in enumerate(texts):
            sheet.drawString(60, top - at * step, text)

    return draw


def drawn_table(rows: Sequence[Sequence[str]], *, top: float = 600, spans: Sequence[tuple[object, ...]] = ()) -> Draw:
    """A ruled table."""

    def draw(sheet: canvas.Canvas) -> None:
        table = Table(
            [list(row) for row in rows], style=TableStyle([("GRID", (0, 0), (-1, -1), 1, colors.black), *spans])
        )
        _, height = table.wrapOn(sheet, 480, 600)
        table.drawOn(sheet, 60, top - height)

    return draw


def both(*draws: Draw) -> Draw:
    def draw(sheet: canvas.Canvas) -> None:
        for one in draws:
            one(sheet)

    return draw


def pictures_only(sheet: canvas.Canvas) -> None:
    sheet.rect(100, 100, 300, 400, fill=1)


# --- Office --------------------------------------------------------------------------------------


def word(fill: Callable[[docx.document.Document], None] | None = None) -> bytes:
    document = docx.Document()
    if fill:
        fill(document)
    else:
        document.add_heading("Pump manual", level=1)
        document.add_paragraph("The pump runs at 50 Hz.")
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def excel(fill: Callable[[openpyxl.Workbook], None]) -> bytes:
    book = openpyxl.Workbook()
    fill(book)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def small_excel() -> bytes:
    def fill(book: openpyxl.Workbook) -> None:
        sheet = book.worksheets[0]
        sheet.append(["Model", "Range", "Price"])
        sheet.append(["PT-100", "0-10 bar", 48000])

    return excel(fill)


def show() -> bytes:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Goals"
    box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(4), Inches(1))
    box.text_frame.text = "Fewer complaints"
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def repack(data: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    """An archive with its entries changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        entries = {entry.filename: old.read(entry) for entry in old.infolist()}
    change(entries)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in entries.items():
            new.writestr(name, content)
    return buffer.getvalue()


def zip_bomb(megabytes: int) -> bytes:
    """A Word document with an entry of zeros that packs a thousandfold."""
    return repack(word(), lambda entries: entries.update({"word/media/zeros.bin": bytes(megabytes * 1024 * 1024)}))


def lying_bomb(megabytes: int) -> bytes:
    """The same, declaring a kilobyte in both headers."""
    data = bytearray(zip_bomb(megabytes))
    real = struct.pack("<I", megabytes * 1024 * 1024)
    at = data.find(real)
    while at >= 0:
        data[at : at + 4] = struct.pack("<I", 1024)
        at = data.find(real, at + 4)
    return bytes(data)


def billion_laughs() -> bytes:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    head = f'<?xml version="1.0"?><!DOCTYPE w [<!ENTITY l0 "lol">{laughs}]>'.encode()

    def change(entries: dict[str, bytes]) -> None:
        body = entries["word/document.xml"]
        body = body[body.index(b"?>") + 2 :] if body.startswith(b"<?xml") else body
        entries["word/document.xml"] = head + body.replace(b"The pump", b"&l9;")

    return repack(word(), change)


def encrypted_office() -> bytes:
    """An OLE container as Office writes it for a password: the package is a stream of that name."""
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(2000)


def old_office() -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "WordDocument".encode("utf-16-le") + bytes(2000)


def png() -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")
