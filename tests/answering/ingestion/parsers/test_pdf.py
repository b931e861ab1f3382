"""PDF: paragraphs, headings, pages, ruled tables; what repeats and what is broken over lines."""

from __future__ import annotations

import pytest

from tadasu.answering.ingestion.parsers.parsed import Parsed
from tadasu.answering.ingestion.parsers.pdf import join_lines
from tadasu.answering.ingestion.parsers.pdf_lines import Line, clean
from tadasu.answering.ingestion.parsers.registry import parse_bytes
from tadasu.core.documents import BlockKind
from tests.answering.ingestion.making import JAPANESE, Draw, both, drawn_table, lines, pdf, pictures_only

K = BlockKind


def read(data: bytes) -> Parsed:
    (item,) = parse_bytes("a.pdf", data)
    assert isinstance(item, Parsed)
    return item


def blocks(item: Parsed) -> list[tuple[BlockKind, int | None, str]]:
    return [(block.kind, block.page, block.span.of(item.text)) for block in item.blocks]


def line(text: str, *, hyphen: bool = False) -> Line:
    return Line(text, 0, 0, 100, 10, 10, bold=False, hyphen=hyphen)


@pytest.mark.parametrize(
    ("parts", "joined"),
    [
        (["The pres-", "sure rises"], "The pressure rises"),
        (["PT-", "100 is new"], "PT- 100 is new"),
        (["well known", "facts"], "well known facts"),
        (["圧力を測る", "計器です。"], "圧力を測る計器です。"),
        (["圧力計 PT-100", "は新しい"], "圧力計 PT-100 は新しい"),
        (["state-of-the-", "art"], "state-of-theart"),
    ],
)
def test_lines_become_a_paragraph(parts: list[str], joined: str) -> None:
    assert join_lines([line(part) for part in parts]) == joined


def test_look_alikes_of_ideographs_fold_and_full_width_stays() -> None:
    assert clean("⽣産⾼、⻑い、ﬁle、ＰＴ\u200b－１") == "生産高、長い、file、ＰＴ－１"


def test_headings_paragraphs_and_pages() -> None:
    page = both(
        lines("Pump manual", size=20, top=790),
        lines("The pump runs at fifty hertz and must not be used with hydrogen under any cir-",
              "cumstances. It is tested before delivery in our own laboratory in Kumagaya by us.", top=750),
        lines("Maintenance", size=14, top=690),
        lines("- Clean the filter.", "- Change the oil.", top=670),
    )  # fmt: skip
    item = read(pdf(page, lines("Second page."), title="Pump manual"))
    assert blocks(item) == [
        (K.HEADING, 1, "Pump manual"),
        (K.PARAGRAPH, 1, "The pump runs at fifty hertz and must not be used with hydrogen under any circumstances. "
                         "It is tested before delivery in our own laboratory in Kumagaya by us."),
        (K.HEADING, 1, "Maintenance"),
        (K.LIST, 1, "- Clean the filter.\n- Change the oil."),
        (K.PARAGRAPH, 2, "Second page."),
    ]  # fmt: skip
    assert [block.level for block in item.blocks if block.kind is K.HEADING] == [1, 2]
    assert (item.title, item.metadata["pages"]) == ("Pump manual", "2")


def test_japanese_lines_join_without_spaces() -> None:
    item = read(
        pdf(
            lines(
                "この計器は、発電所の給水配管の圧力を測るために作られたもので",
                "あり、水素には使えません。",
                font=JAPANESE,
            )
        )
    )
    assert item.text == "この計器は、発電所の給水配管の圧力を測るために作られたものであり、水素には使えません。"


@pytest.mark.parametrize("pages", [2, 5])
def test_headers_footers_and_page_numbers_are_left_out(pages: int) -> None:
    words = ["first", "second", "third", "fourth", "fifth"]

    def page(number: int) -> Draw:
        return both(
            lines("Mizunara Keiki Co., Ltd.", size=8, top=820),
            lines(f"Words that only the {words[number - 1]} page says.", top=700),
            lines(f"Page {number} of {pages}", size=8, top=30),
        )

    item = read(pdf(*[page(number) for number in range(1, pages + 1)]))
    assert [text for _, _, text in blocks(item)] == [f"Words that only the {word} page says." for word in words[:pages]]


def test_a_ruled_table_names_its_columns_and_stands_in_its_place() -> None:
    rows = [["Model", "Range", "Price"], ["PT-100", "0-10 bar", "480"], ["PT-200", "on request", ""]]
    page = both(
        lines("Above the table."),
        drawn_table(rows, top=700, spans=[("SPAN", (1, 2), (2, 2))]),
        lines("Below the table.", top=500),
    )
    assert blocks(read(pdf(page))) == [
        (K.PARAGRAPH, 1, "Above the table."),
        (
            K.TABLE,
            1,
            "Model: PT-100 | Range: 0-10 bar | Price: 480\nModel: PT-200 | Range: on request | Price: on request",
        ),
        (K.PARAGRAPH, 1, "Below the table."),
    ]


def test_a_page_without_text_among_others_is_named() -> None:
    item = read(pdf(lines("Words."), pictures_only))
    assert item.metadata["pages_without_text"] == "2"
