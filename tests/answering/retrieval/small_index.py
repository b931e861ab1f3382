"""A few documents in a store, embedded by words."""

from __future__ import annotations

from collections.abc import Mapping

from tadasu.core.documents import Access, Document, Passage, Span
from tadasu.core.ids import digest, document_id, passage_id
from tadasu.core.vectors import PassageText
from tadasu.ports import IndexedPassage, Store
from tadasu.text.analyze import tokens
from tests.answering.retrieval.words_encoder import WordsEncoder

TEXTS = {
    "valve.md": "The pressure valve opens at 4 bar.",
    "gauge.md": "The pressure gauge is calibrated once a year.",
    "music.md": "The orchestra plays a symphony in spring.",
    "弁.md": "圧力弁は4バールで開きます。",
    "引っ越し.md": "引っ越しのときはサーバーの電源を切ってください。",
    "京都.md": "東京都の天気は晴れです。",
}


def passage_of(source: str, text: str, *, access: Access | None = None) -> Passage:
    access = access or Access()
    document = document_id(access.tenant, source)
    return Passage(
        id=passage_id(document, digest(text), 0),
        document_id=document,
        source=source,
        title="",
        text=text,
        span=Span(0, len(text)),
        strips=(Span(0, len(text)),),
        access=access,
    )


async def fill(store: Store, texts: Mapping[str, str], *, access: Access | None = None) -> None:
    encoder = WordsEncoder()
    for source, text in texts.items():
        passage = passage_of(source, text, access=access)
        strips = tuple((strip.start, strip.end) for strip in passage.strips)
        vectors = encoder.encode_passages([PassageText(text, strips)])[0]
        document = Document(
            id=passage.document_id,
            source=source,
            title="",
            text=text,
            content_hash=digest(text),
            access=passage.access,
        )
        await store.put(document, [IndexedPassage(passage, tuple(tokens(text)), vectors)])
