from __future__ import annotations

from dataclasses import replace

import pytest

from tadasu.answering.opening import OpenedCitation, QuoteState, open_citation
from tadasu.core.answers import Citation
from tadasu.core.documents import Document, Origin, Reader, Span, Strip
from tadasu.core.runs import Run, StripFate, StripRecord
from tadasu.errors import CitationNotFound
from tests.cli.samples import answered

TEXTS = {
    "en": ("The pump is blue. ", "The pump weighs 3 kg.", " It is sold in Kyoto."),
    "ja": ("ポンプは青い。", "質量は3 kgです。", "京都で販売されています。"),
}


class Shelf:
    """Holds one document, for one tenant."""

    def __init__(self, text: str | None, *, tenant: str = "default") -> None:
        self._document = None if text is None else Document("d1", "pump.md", "Pump", text, "hash")
        self._tenant = tenant

    async def document(self, id_or_source: str, *, reader: Reader) -> Document | None:
        found = self._document
        return found if found and id_or_source == found.id and reader.tenant == self._tenant else None


def run_of(language: str, *, origin: Origin = Origin.INTERNAL) -> Run:
    """A run that cites the second of three strips of one passage, which begins at offset 10."""
    records, at = [], 10
    for index, text in enumerate(TEXTS[language]):
        span = Span(at, at + len(text))
        strip = Strip(f"p.{index}", "p", "d1", "pump.md", "Pump", text, span, index, page=2, origin=origin)
        records.append(StripRecord(strip, 0.9, StripFate.SELECTED))
        at += len(text)
    cited = records[1].strip
    citation = Citation(1, (cited.id,), "d1", "pump.md", "Pump", cited.text, cited.span, page=2, origin=origin)
    run = answered()
    return replace(run, strips=tuple(records), answer=replace(run.answer, citations=(citation,)))


async def opened(language: str, text: str | None, **options: int) -> OpenedCitation:
    shelf = Shelf(text)
    return await open_citation(run_of(language), 1, shelf=shelf, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", TEXTS)
async def test_a_quote_is_found_letter_by_letter_at_its_offsets(language: str) -> None:
    text = "x" * 10 + "".join(TEXTS[language]) + "y" * 1000
    found = await opened(language, text, around=17)
    assert found.state is QuoteState.EXACT
    assert found.stands_at == found.citation.span
    assert found.citation.span.of(text) == TEXTS[language][1]
    assert len(found.before) == len(found.after) == 17
    assert found.before + found.citation.quote + found.after in text


@pytest.mark.parametrize("language", TEXTS)
async def test_a_quote_that_has_moved_is_found_where_it_is_nearest(language: str) -> None:
    quote = TEXTS[language][1]
    text = quote + "x" * 50 + quote + "x" * 500 + quote
    found = await opened(language, text, around=5)
    assert found.state is QuoteState.MOVED
    assert found.stands_at is not None
    assert found.stands_at.of(text) == quote
    assert found.stands_at.start in (0, 50 + len(quote))


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize(("text", "state"), [("something else", QuoteState.CHANGED), (None, QuoteState.GONE)])
async def test_what_is_not_there_any_more_is_shown_as_the_run_kept_it(
    language: str, text: str | None, state: QuoteState
) -> None:
    found = await opened(language, text)
    assert (found.state, found.stands_at) == (state, None)
    assert (found.before, found.citation.quote, found.after) == TEXTS[language]
    bare = await opened(language, text, around=0)
    assert (bare.before, bare.after) == ("", "")


async def test_a_document_of_another_tenant_is_gone() -> None:
    shelf = Shelf("x" * 10 + "".join(TEXTS["en"]), tenant="other")
    found = await open_citation(run_of("en"), 1, shelf=shelf)  # type: ignore[arg-type]
    assert found.state is QuoteState.GONE


async def test_a_number_that_the_answer_does_not_have_is_named() -> None:
    with pytest.raises(CitationNotFound, match=r"no citation \[7\]; it has 1"):
        await open_citation(run_of("en"), 7, shelf=Shelf("x"))  # type: ignore[arg-type]
