"""Pages on their way from a server to passages: walls, long pages, PDFs, what breaks a parser, what is not used."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator, Sequence

import pytest
from reportlab.pdfgen import canvas

from tadasu.answering.outside import WebReader
from tadasu.answering.refinement import RefinementSettings, refine
from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.answering.retrieval.fusion import FusionTable
from tadasu.answering.web_files import WebFiles
from tadasu.app.assets import models_folder
from tadasu.core.grades import Grade, Level
from tadasu.core.retrieved import GradedPassage, Retrieval, WebPage
from tadasu.core.runs import StripFate
from tadasu.core.vectors import PassageText, PassageVectors
from tadasu.errors import DocumentError, ParserTimeout
from tadasu.ports import Ledger
from tadasu.providers.fetching.fetcher import PageFetcher
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld, SystemClock
from tests.providers.fetching import wall_pages
from tests.providers.fetching.fetching import ARTICLE, settings
from tests.providers.fetching.server import HostileServer, reply


@pytest.fixture(scope="module")
def encoder() -> OnnxEncoder:
    return OnnxEncoder.load(models_folder() / "encoder", threads=1)


@pytest.fixture
def files() -> Iterator[WebFiles]:
    made = WebFiles(seconds=10)
    yield made
    made._process.close()


class Found:
    """A web search that finds these pages, for any query."""

    id = "found"

    def __init__(self, *pages: WebPage) -> None:
        self.pages = pages

    async def search(self, query: str, *, limit: int, language: str, ledger: Ledger) -> Sequence[WebPage]:
        return self.pages


class Counting:
    """The real encoder, with an account of what it had to encode."""

    def __init__(self, encoder: OnnxEncoder) -> None:
        self._encoder = encoder
        self.passages = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._encoder, name)

    def encode_passages(self, passages: Sequence[PassageText]) -> list[PassageVectors]:
        self.passages += len(passages)
        return self._encoder.encode_passages(passages)


def reader(encoder: OnnxEncoder, files: WebFiles, *pages: WebPage, **more: object) -> WebReader:
    return WebReader(
        web=Found(*pages),
        encoder=encoder,
        counter=encoder,
        weights=FusionTable(),
        files=files,
        **more,  # type: ignore[arg-type]
    )


async def ask(web: WebReader, question: str) -> Retrieval:
    ledger = RunLedger(SystemClock())
    return await web.search(question, inside=Retrieval(question, ()), limit=50, language="en", ledger=ledger)


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("question", "language"), [("How deep is the harbour?", "en"), ("港の深さはどれくらいですか。", "ja")]
)
async def test_a41_walls_are_never_evidence(
    encoder: OnnxEncoder, files: WebFiles, question: str, language: str
) -> None:
    article = (
        ARTICLE if language == "en" else "<html><title>港</title><main><p>港の深さは11メートルです。</p></main></html>"
    )
    walls = {f"/{sample.name}": sample for sample in wall_pages.WALLS if sample.name.endswith(language)}
    answers = {path: reply(sample.page) for path, sample in walls.items()} | {"/article": reply(article)}
    async with HostileServer(answers) as server:
        fetcher = PageFetcher(settings(server), clock=FixedWorld())
        pages = [WebPage(server.url(path), "Harbour depth 港の深さ", snippet="") for path in answers]
        found = await ask(reader(encoder, files, *pages, fetch=fetcher), question)
        await fetcher.close()
        # The same where a search hands the walls over itself.
        brought = [
            WebPage(f"https://x{n}.example/", "", body=one.page.encode()) for n, one in enumerate(walls.values())
        ]
        by_hand = await ask(reader(encoder, files, *brought), question)
    assert {candidate.passage.source for candidate in found.candidates} == {server.url("/article")}
    assert [page.reason for page in found.dropped] == [sample.reason for sample in walls.values()]
    assert by_hand.candidates == ()
    assert [page.reason for page in by_hand.dropped if page.reason != "unreadable"] == [
        sample.reason for sample in walls.values() if sample.reason != "empty"
    ]


@pytest.mark.enable_socket
async def test_a42_what_was_fetched_stays_with_its_address_whatever_fails_before_it(
    encoder: OnnxEncoder, files: WebFiles
) -> None:
    texts = {f"/{n}": f"Pier {n} is {n}0 metres long and was built in 19{n}0." for n in range(1, 6)}
    answers = {path: reply(f"<html><main><p>{text}</p></main></html>") for path, text in texts.items()}
    answers["/1"] = reply("down", status="500 Oops")
    async with HostileServer(answers) as server:
        fetcher = PageFetcher(settings(server), clock=FixedWorld())
        pages = [WebPage(server.url(path), "") for path in ("/1", "/2", "/3", "/3", "/4", "/5")]
        found = await ask(reader(encoder, files, *pages, fetch=fetcher), "How long is pier 3?")
        await fetcher.close()
        read = {one.passage.source: one.passage.text for one in found.candidates}
        assert read == {server.url(path): text for path, text in texts.items() if path != "/1"}
    assert [page.reason for page in found.dropped] == ["http_status", "duplicate"]


# --- long pages ----------------------------------------------------------------------------------

LINE = (
    "The committee for the upkeep of the northern embankment met again and put off its decision until the next month. "
)
NEEDLE = "The lamp of the Carrow lighthouse weighs 412 kilograms."


def long_page(size: int, *, needle_at: float) -> bytes:
    lines = [f"<p>{n}. {LINE * 4}</p>" for n in range(size // (4 * len(LINE)))]
    lines.insert(int(len(lines) * needle_at), f"<p>{NEEDLE} {LINE * 2}</p>")
    return f"<html><head><title>Minutes</title></head><body><main>{''.join(lines)}</main></body></html>".encode()


async def test_a44_long_pages_are_ranked_in_bounded_work_which_is_said_and_packed_within_the_budget(
    encoder: OnnxEncoder, files: WebFiles
) -> None:
    pages = [
        WebPage(f"https://{n}.example/", "Minutes", body=long_page(200_000, needle_at=0.2 * n + 0.1)) for n in range(5)
    ]
    counting = Counting(encoder)
    web = reader(counting, files, *pages, passages_per_page=3)  # type: ignore[arg-type]
    found = await ask(web, "How heavy is the lamp of the Carrow lighthouse?")
    assert counting.passages == 15  # of some thousands
    assert [page.reason for page in found.dropped] == ["shortened"] * 5
    assert all("3 of" in page.detail for page in found.dropped)
    assert sum(NEEDLE in candidate.passage.text for candidate in found.candidates) == 5

    graded = [
        GradedPassage(one, Grade(one.id, Level.HIGH, 0.9, "", "test", strip_scores=(0.9,) * len(one.strips)))
        for one in (candidate.passage for candidate in found.candidates)
    ]
    budget = 300
    refined = refine(graded, counter=encoder, settings=RefinementSettings(token_budget=budget), question="lamp")
    assert refined.evidence
    assert refined.tokens <= budget
    assert sum(encoder.count(one.strip.text) for one in refined.evidence) <= budget
    left_out = [record for record in refined.records if record.fate is StripFate.OVER_BUDGET]
    assert left_out
    for passage in graded:  # nothing is cut inside a strip, and every strip is accounted for
        told = [record.strip.text for record in refined.records if record.strip.passage_id == passage.passage.id]
        assert "".join(told) == passage.passage.text


async def test_a44_a_page_without_end_is_read_so_far(encoder: OnnxEncoder, files: WebFiles) -> None:
    page = WebPage("https://a.example/", "Minutes", body=long_page(320_000, needle_at=0.1))
    found = await ask(reader(encoder, files, page, passages_per_page=2), "How heavy is the lamp?")
    (told,) = found.dropped
    assert told.reason == "shortened"
    assert "characters were read; 2 of" in told.detail
    assert NEEDLE in " ".join(candidate.passage.text for candidate in found.candidates)


async def test_what_is_in_no_long_page_costs_no_word_about_it(encoder: OnnxEncoder, files: WebFiles) -> None:
    found = await ask(reader(encoder, files, WebPage("https://a.example/", "", body=ARTICLE.encode())), "How deep?")
    assert found.dropped == ()
    assert len(found.candidates) == 1


# --- other kinds of content ----------------------------------------------------------------------


def pdf(*pages: str) -> bytes:
    made = io.BytesIO()
    paper = canvas.Canvas(made)
    for text in pages:
        paper.drawString(72, 720, text)
        paper.showPage()
    paper.save()
    return made.getvalue()


@pytest.mark.enable_socket
async def test_a_pdf_of_the_web_is_read_in_a_process_of_its_own_with_its_pages(
    encoder: OnnxEncoder, files: WebFiles
) -> None:
    body = pdf("Minutes of the harbour board.", "The harbour of Norwick is eleven metres deep.")
    async with HostileServer(
        {"/": reply(body, kind="application/pdf"), "/x": reply(body[:400], kind="application/pdf")}
    ) as server:
        fetcher = PageFetcher(settings(server), clock=FixedWorld())
        pages = [WebPage(server.url(path), "Minutes", snippet="A snippet.") for path in ("/", "/x")]
        found = await ask(reader(encoder, files, *pages, fetch=fetcher), "How deep is the harbour of Norwick?")
        await fetcher.close()
    whole = [one.passage for one in found.candidates if one.passage.source == server.url("/")]
    assert "eleven metres deep" in " ".join(passage.text for passage in whole)
    assert [(page.reason, page.detail) for page in found.dropped] == [("unreadable", "document_damaged")]
    assert "A snippet." in [one.passage.text for one in found.candidates]


@pytest.mark.enable_socket
async def test_plain_text_is_read_as_such_and_shows_what_a_reader_sees(encoder: OnnxEncoder, files: WebFiles) -> None:
    text = "Harbour notes\n\nThe har\u200bbour is eleven metres deep. <b>Not bold.</b>\n"
    async with HostileServer({"/": reply(text, kind="text/plain; charset=utf-8")}) as server:
        fetcher = PageFetcher(settings(server), clock=FixedWorld())
        found = await ask(
            reader(encoder, files, WebPage(server.url("/"), ""), fetch=fetcher), "How deep is the harbour?"
        )
        await fetcher.close()
    assert "The harbour is eleven metres deep. <b>Not bold.</b>" in found.candidates[0].passage.text


def test_a_page_that_hangs_its_parser_is_left_after_its_time(files: WebFiles) -> None:
    body = ("<table>" + "<tr><td rowspan=100 colspan=100>x" * 20_000).encode()
    page = WebPage("https://a.example/", "", body=body)
    files.parse(WebPage("https://b.example/", "", body=ARTICLE.encode() * 100))  # the process is warm
    began = time.monotonic()
    with pytest.raises(ParserTimeout):
        files.parse(page, seconds=0.5)
    assert time.monotonic() - began < 20  # of minutes
    assert "Norwick" in files.parse(WebPage("https://b.example/", "", body=ARTICLE.encode())).text


def test_a_body_without_text_is_an_error_of_its_document(files: WebFiles) -> None:
    for body, kind in ((b"", "text/html"), (b"<p></p>", "text/html"), (b"%PDF-1.7", "application/pdf")):
        with pytest.raises(DocumentError):
            files.parse(WebPage("https://a.example/", "", body=body, media_type=kind))
