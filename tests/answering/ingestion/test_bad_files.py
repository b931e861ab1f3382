"""Every bad file has its own code and message, and the batch goes on (DESIGN §7)."""

from __future__ import annotations

import io
import os
import random
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tadasu.answering.ingestion.parsers.parsed import Limits
from tadasu.answering.ingestion.reading import IngestionSettings
from tadasu.answering.ingestion.report import IngestReport
from tadasu.answering.ingestion.worker import Task, parse_here
from tadasu.errors import DocumentError
from tests.answering.ingestion import making


def plain_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("readme.txt", "hello")
    return buffer.getvalue()


def climbing_zip() -> bytes:
    return making.repack(making.word(), lambda entries: entries.update({"word/../../evil.xml": b"<a/>"}))


def sound_pdf() -> bytes:
    return making.pdf(making.lines("Pressure is 10 bar."))


BAD: list[tuple[str, Callable[[], bytes], str, str]] = [
    ("old.doc", making.old_office, "format_unsupported", "Word 97–2003 (.doc)"),
    ("old.xls", making.old_office, "format_unsupported", "Excel 97–2003 (.xls)"),
    ("old.ppt", making.old_office, "format_unsupported", "PowerPoint 97–2003 (.ppt)"),
    ("mail.eml", lambda: b"From: a@example.com\n\nHello", "format_unsupported", "E-mail (.eml)"),
    ("mail.msg", making.old_office, "format_unsupported", "Outlook message (.msg)"),
    ("photo.PNG", making.png, "format_unsupported", "Image (.png)"),
    ("all.zip", plain_zip, "format_unsupported", "Archive (.zip)"),
    ("talk.mp3", lambda: b"ID3\x04", "format_unsupported", "Audio (.mp3)"),
    ("data.json", lambda: b"{}", "format_unsupported", "JSON (.json)"),
    ("thing.xyz", lambda: b"text", "format_unsupported", ".xyz"),
    ("empty.txt", lambda: b"", "document_empty", "no text"),
    ("blank.md", lambda: b" \n\n\t\n", "document_empty", "no text"),
    ("front.md", lambda: b"---\ntitle: Nothing\n---\n<!-- a comment -->\n", "document_empty", "no text"),
    ("blank.html", lambda: b"<html><body><script>x()</script></body></html>", "document_empty", "no text"),
    ("empty.pdf", lambda: b"", "document_empty", "no text"),
    ("empty.docx", lambda: making.word(lambda _: None), "document_empty", "no text"),
    ("empty.xlsx", lambda: making.excel(lambda _: None), "document_empty", "no text"),
    ("scan.pdf", lambda: making.pdf(*[making.pictures_only] * 3), "text_layer_missing", "none of its 3 pages"),
    ("locked.pdf", lambda: making.pdf(making.lines("secret"), encrypt="pw"), "document_encrypted", "encrypted"),
    ("locked.docx", making.encrypted_office, "document_encrypted", "encrypted"),
    ("locked.xlsx", making.encrypted_office, "document_encrypted", "encrypted"),
    ("cut.pdf", lambda: sound_pdf()[:-600], "document_damaged", "its end is missing"),
    ("cut.docx", lambda: making.word()[:-2000], "document_damaged", "Word (.docx)"),
    ("cut.xlsx", lambda: making.small_excel()[: len(making.small_excel()) // 2], "document_damaged", "Excel (.xlsx)"),
    ("cut.pptx", lambda: making.show()[:9000], "document_damaged", "PowerPoint (.pptx)"),
    ("noise.pdf", lambda: bytes(range(256)) * 40, "document_damaged", "does not begin as one"),
    ("hollow.pdf", lambda: b"%PDF-1.7\nnothing\n%%EOF\n", "document_damaged", "PDF"),
    ("wrong.pdf", making.png, "format_mismatch", "a PNG image"),
    ("wrong.txt", plain_zip, "format_mismatch", "an archive (zip)"),
    ("wrong.md", sound_pdf, "format_mismatch", "a PDF"),
    ("wrong.docx", sound_pdf, "format_mismatch", "a PDF"),
    ("sheet.docx", making.small_excel, "format_mismatch", "an Excel workbook (.xlsx)"),
    ("archive.xlsx", plain_zip, "format_mismatch", "another kind of archive"),
    ("really-doc.docx", making.old_office, "format_mismatch", "Office 97–2003"),
    ("page.pdf", lambda: b"<!doctype html><p>hello", "format_mismatch", "HTML"),
    ("bomb.docx", lambda: making.zip_bomb(60), "archive_bomb", "unpacks to"),
    ("liar.docx", lambda: making.lying_bomb(60), "document_damaged", "Word"),
    ("laughs.docx", making.billion_laughs, "archive_bomb", "XML entities"),
    ("climb.docx", climbing_zip, "path_escapes", "word/../../evil.xml"),
    ("noise.txt", lambda: random.Random(7).randbytes(2000), "encoding_unknown", "encoding"),
    (
        "russian.txt",
        lambda: ("Привет, мир! Это обычный русский текст. " * 20).encode("koi8-r"),
        "encoding_unknown",
        "encoding",
    ),
]


async def ingest(folder: Path, settings: IngestionSettings | None = None) -> IngestReport:
    return await making.ingestion(making.memory_store(), settings=settings).run(folder)


async def test_each_kind_of_bad_file_has_its_own_code_and_the_good_ones_are_in(tmp_path: Path) -> None:
    for name, make, _, _ in BAD:
        making.write(tmp_path / "in" / name, make())
    making.write(tmp_path / "in" / "good.md", "# Pump\n\nIt runs at 50 Hz.")
    making.write(tmp_path / "in" / "zz-last.txt", "ポンプは50 Hzで動きます。")
    report = await ingest(tmp_path / "in")
    found = {failure.source.removeprefix("in/"): failure for failure in report.failed}
    wrong = {
        name: (failure.code, failure.message) if (failure := found.get(name)) else None
        for name, _, code, words in BAD
        if name not in found or found[name].code != code or words not in found[name].message
    }
    assert not wrong
    assert report.added == 2
    assert not report.complete
    assert all(failure.hint and failure.row is None for failure in report.failed)


async def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    huge = tmp_path / "in" / "huge.txt"
    huge.parent.mkdir()
    with huge.open("wb") as stream:
        stream.truncate(200 * 1024 * 1024)
    began = time.perf_counter()
    report = await ingest(tmp_path / "in")
    assert time.perf_counter() - began < 2
    (failure,) = report.failed
    assert failure.code == "document_too_large"
    assert "200 MB" in failure.message
    assert "100 MB" in failure.message


async def test_what_is_no_file_is_named_and_never_blocks(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "dir.txt").mkdir(parents=True)
    making.write(folder / "dir.txt" / "inside.md", "# Inside\n\nA folder may be called x.txt.")
    os.mkfifo(folder / "pipe.txt")
    (folder / "device.txt").symlink_to("/dev/zero")
    (folder / "dangling.txt").symlink_to(folder / "gone.txt")
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    (folder / "out.txt").symlink_to(making.write(tmp_path / "outside.txt", "Outside."))
    (folder / "out").symlink_to(tmp_path)
    report = await ingest(folder)
    codes = {failure.source: failure.code for failure in report.failed}
    assert codes == {
        "in/pipe.txt": "document_unreadable",
        "in/device.txt": "path_escapes",
        "in/dangling.txt": "document_unreadable",
        "in/loop.txt": "document_unreadable",
        "in/out.txt": "path_escapes",
        "in/out": "path_escapes",
    }
    assert report.added == 1


async def test_a_parser_that_hangs_is_stopped_and_the_next_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The worker imports `sitecustomize` from the path it inherits: a library that never returns.
    making.write(
        tmp_path / "patch" / "sitecustomize.py",
        "import docx, time\n"
        "sound = docx.Document\n"
        "def slow(stream):\n"
        "    if b'hang' in stream.getvalue()[-40:]: time.sleep(60)\n"
        "    if b'die' in stream.getvalue()[-40:]: import os; os.abort()\n"
        "    return sound(stream)\n"
        "docx.Document = slow\n",
    )
    monkeypatch.syspath_prepend(str(tmp_path / "patch"))
    making.write(tmp_path / "in" / "a-hang.docx", with_comment(making.word(), b"hang"))
    making.write(tmp_path / "in" / "b-die.docx", with_comment(making.word(), b"die"))
    making.write(tmp_path / "in" / "c-good.docx", making.word())
    began = time.perf_counter()
    report = await ingest(tmp_path / "in", IngestionSettings(parse_seconds=1.5))
    assert [(f.source, f.code) for f in report.failed] == [
        ("in/a-hang.docx", "parser_timeout"),
        ("in/b-die.docx", "parser_crashed"),
    ]
    assert "1.5 s" in report.failed[0].message
    assert report.added == 1
    assert time.perf_counter() - began < 30


def with_comment(data: bytes, comment: bytes) -> bytes:
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = comment
    return buffer.getvalue()


async def test_rows_that_cannot_be_read_are_listed_and_the_others_are_kept(tmp_path: Path) -> None:
    making.write(
        tmp_path / "in" / "faq.jsonl",
        '{"id": "a", "title": "Range", "text": "Ten bar."}\n'
        "{broken\n"
        '["a", "list"]\n'
        '{"id": "a", "text": "The id again."}\n'
        '{"title": "nothing"}\n'
        '{"text": "最後の行です。", "date": "2026年4月1日"}\n',
    )
    making.write(tmp_path / "in" / "prices.csv", 'Model,Price\nA,1\nB,2,3\nC\nD,"4\nE,5\n')
    store = making.memory_store()
    report = await making.ingestion(store).run(tmp_path / "in")
    assert [(f.source, f.row, f.code) for f in report.failed] == [
        ("in/faq.jsonl", 2, "row_invalid"),
        ("in/faq.jsonl", 3, "row_invalid"),
        ("in/faq.jsonl", 4, "row_invalid"),
        ("in/prices.csv", 3, "row_invalid"),
        ("in/prices.csv", 4, "row_invalid"),
        ("in/prices.csv", 5, "row_invalid"),
    ]
    stored = await store.fingerprints(tenant="default")
    assert set(stored) == {"in/faq.jsonl#a", "in/faq.jsonl#5", "in/faq.jsonl#6", "in/prices.csv"}
    assert "was used in row 1" in report.failed[2].message


@pytest.mark.parametrize(
    "make", [making.word, making.small_excel, making.show, sound_pdf, lambda: b"<p>Some <b>words</b> here.</p>"]
)
def test_damage_at_random_places_is_a_document_error_or_none(make: Callable[[], bytes]) -> None:
    chance = random.Random(5)
    name = {b"PK": "a.docx", b"%P": "a.pdf", b"<p": "a.html"}[make()[:2]]
    if name == "a.docx" and make is not making.word:
        name = "a.xlsx" if make is making.small_excel else "a.pptx"
    for _ in range(25):
        data = bytearray(make())
        at = chance.randrange(len(data))
        match chance.randrange(3):
            case 0:
                data = data[:at]
            case 1:
                data[at : at + 60] = bytes(chance.randrange(256) for _ in range(60))
            case _:
                del data[at : at + chance.randrange(1, 100)]
        try:
            parse_here(Task(name, bytes(data), name, Limits(), 60.0))
        except DocumentError as error:
            assert error.code != "parser_crashed", str(error)  # noqa: PT017 - any other error will do, and none too
