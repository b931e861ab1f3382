"""The lines of a PDF page with what their place and type say: size, weight, box."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium_c

from tadasu.text.radicals import RADICALS

_RADICALS = str.maketrans(RADICALS)
_LOOK_ALIKES = re.compile(r"[\u2e80-\u2fdf\uf900-\ufaff\ufb00-\ufb06\U0002f800-\U0002fa1f]")
_NOISE = re.compile(r"[\x00\x01\x03-\x08\x0b\x0c\x0e-\x1f\ufeff\u200b\ufffe\uffff]")
_SPACES = re.compile(r"[ \t\u00a0]+")


@dataclass(frozen=True, slots=True)
class Line:
    """One line as printed. Boxes in points from the lower left corner; `hyphen` where a word goes on below."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    size: float
    bold: bool
    hyphen: bool = False


def clean(text: str) -> str:
    """Radicals and compatibility ideographs as the ideographs that a reader types, ligatures as letters, noise gone."""
    text = _LOOK_ALIKES.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text.translate(_RADICALS))
    return _SPACES.sub(" ", _NOISE.sub("", text))


def page_lines(textpage: Any) -> list[Line]:
    """Lines in the order of the page's content. PDFium writes a hyphen at a line's end as U+0002."""
    count = pdfium_c.FPDFText_CountChars(textpage)
    lines: list[Line] = []
    start = 0
    characters: list[str] = []
    for index in range(count + 1):
        code = pdfium_c.FPDFText_GetUnicode(textpage, index) if index < count else 10
        if code in {10, 13}:
            if (line := _line(textpage, "".join(characters), start)) is not None:
                lines.append(line)
            start, characters = index + 1, []
            continue
        characters.append(chr(code) if code <= 0x10FFFF else "\ufffd")
        if code == 2:  # the line goes on without a line end of its own
            if (line := _line(textpage, "".join(characters), start)) is not None:
                lines.append(line)
            start, characters = index + 1, []
    return lines


def _line(textpage: Any, raw: str, start: int) -> Line | None:
    hyphen = raw.endswith("\x02")
    text = clean(raw.replace("\x02", "-")).strip(" \t\u3000")
    if not text:
        return None
    first = start + len(raw) - len(raw.lstrip())
    last = start + len(raw.rstrip()) - 1
    boxes = [box for index in {first, (first + last) // 2, last} if (box := _box(textpage, index))]
    if not boxes:
        return None
    middle = (first + last) // 2
    return Line(
        text=text,
        left=min(box[0] for box in boxes),
        right=max(box[1] for box in boxes),
        bottom=min(box[2] for box in boxes),
        top=max(box[3] for box in boxes),
        size=round(_scaled(textpage, first) * 2) / 2,
        bold=pdfium_c.FPDFText_GetFontWeight(textpage, middle) >= 600,
        hyphen=hyphen,
    )


def _scaled(textpage: Any, index: int) -> float:
    """Font size on the page: the size of the font times the scale of the text matrix."""
    matrix = pdfium_c.FS_MATRIX()
    size = float(pdfium_c.FPDFText_GetFontSize(textpage, index))
    if not pdfium_c.FPDFText_GetMatrix(textpage, index, ctypes.byref(matrix)):
        return size
    scale = float((matrix.c**2 + matrix.d**2) ** 0.5)
    return size * scale if scale else size


def _box(textpage: Any, index: int) -> tuple[float, float, float, float] | None:
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    found = pdfium_c.FPDFText_GetCharBox(textpage, index, left, right, bottom, top)
    return (left.value, right.value, bottom.value, top.value) if found else None
