"""Web pages read like documents of our own, with the real encoder and real HTML."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tadasu.answering.outside import WebReader, page_document
from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.answering.retrieval.fusion import FusionTable
from tadasu.app.assets import models_folder
from tadasu.core.documents import Origin
from tadasu.core.retrieved import Retrieval, WebPage
from tadasu.ports import Ledger
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld

ENGLISH = (
    "<html><head><title>Vault</title></head><body><nav>menu</nav><article><h1>Vault</h1>"
    "<p>The vault of the archive is kept at 40 % humidity.</p></article></body></html>"
)
JAPANESE = (
    "<html><head><title>保管庫</title></head><body><article><h1>保管庫</h1>"
    "<p>文書館の保管庫は湿度40％に保たれています。</p></article></body></html>"
)


@pytest.fixture(scope="module")
def encoder() -> OnnxEncoder:
    return OnnxEncoder.load(models_folder() / "encoder", threads=1)


class Pages:
    id = "pages"

    def __init__(self, *pages: WebPage) -> None:
        self.pages = pages
        self.asked: list[str] = []

    async def search(self, query: str, *, limit: int, language: str, ledger: Ledger) -> Sequence[WebPage]:
        self.asked.append(query)
        return self.pages


def page(body: str | bytes | None, *, url: str = "https://a.example/", snippet: str = "") -> WebPage:
    return WebPage(url, "Vault", snippet=snippet, body=body.encode() if isinstance(body, str) else body)


def reader(encoder: OnnxEncoder, *pages: WebPage) -> WebReader:
    return WebReader(web=Pages(*pages), encoder=encoder, counter=encoder, weights=FusionTable())


async def ask(web: WebReader, question: str, *, limit: int = 5) -> tuple[Retrieval, RunLedger]:
    ledger = RunLedger(FixedWorld())
    inside = Retrieval(question, ())
    return await web.search(question, inside=inside, limit=limit, language="en", ledger=ledger), ledger


@pytest.mark.parametrize(
    ("body", "question", "holds"),
    [(ENGLISH, "How humid is the vault?", "40 % humidity"), (JAPANESE, "保管庫の湿度は？", "湿度40％")],
)
async def test_the_main_text_of_a_page_becomes_a_candidate_from_the_web(
    encoder: OnnxEncoder, body: str, question: str, holds: str
) -> None:
    found, _ = await ask(reader(encoder, page(body)), question)
    best = found.candidates[0]
    assert holds in best.passage.text
    assert "menu" not in best.passage.text
    assert best.passage.origin is Origin.WEB
    assert best.passage.source == "https://a.example/"
    assert best.vector is not None
    assert best.strip_vectors is not None
    assert len(best.strip_vectors) == len(best.passage.strips)


async def test_a_page_seen_before_is_not_encoded_again_until_its_content_changes(encoder: OnnxEncoder) -> None:
    web = reader(encoder, page(ENGLISH))
    first, told = await ask(web, "How humid is the vault?")
    second, silent = await ask(web, "How humid is the vault?")
    assert [c.passage for c in first.candidates] == [c.passage for c in second.candidates]
    assert [call.items for call in told.calls if call.stage.value == "embed"] == [1, 1]
    assert [call.items for call in silent.calls if call.stage.value == "embed"] == [1]
    web._web = Pages(page(ENGLISH.replace("40", "55")))
    changed, _ = await ask(web, "How humid is the vault?")
    assert "55 %" in changed.candidates[0].passage.text


@pytest.mark.parametrize("body", [None, b"", b"\x00\x01\x02", b"<html><body></body></html>"])
async def test_an_unreadable_page_is_as_good_as_its_snippet(encoder: OnnxEncoder, body: bytes | None) -> None:
    with_snippet, _ = await ask(reader(encoder, page(body, snippet="The vault is at 40 %.")), "How humid is the vault?")
    assert [c.passage.text for c in with_snippet.candidates] in (["The vault is at 40 %."], [])
    without, _ = await ask(reader(encoder, page(body)), "How humid is the vault?")
    assert without.candidates == ()


async def test_no_more_pages_are_read_than_asked_for(encoder: OnnxEncoder) -> None:
    pages = [page(ENGLISH, url=f"https://{i}.example/") for i in range(4)]
    found, _ = await ask(reader(encoder, *pages), "How humid is the vault?", limit=2)
    assert {c.passage.source for c in found.candidates} == {"https://0.example/", "https://1.example/"}


def test_two_addresses_with_one_text_are_two_documents() -> None:
    first, second = (
        page_document(page(ENGLISH, url="https://a.example/")),
        page_document(page(ENGLISH, url="https://b.example/")),
    )
    assert first.id != second.id
    assert first.content_hash != second.content_hash
