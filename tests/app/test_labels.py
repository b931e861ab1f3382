from __future__ import annotations

import json
from pathlib import Path

import pytest

from tadasu.app.labels import Label, LabelBook, LabelLine, load_labels, read_labels, weights_of
from tadasu.errors import EncodingUnknown, InputInvalid

JAPANESE = "質問,文書,判定\n保証期間は何年ですか,service/保証.md,はい\n保証期間は何年ですか,service/修理.md,無関係\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "euc_jp", "utf-16"])
def test_a_sheet_from_excel_is_read_in_any_encoding(encoding: str) -> None:
    found = read_labels(JAPANESE.encode(encoding), name="labels.csv")
    assert found.bad == ()
    assert [(one.question, one.document, one.relevant) for one in found.labels] == [
        ("保証期間は何年ですか", "service/保証.md", True),
        ("保証期間は何年ですか", "service/修理.md", False),
    ]


@pytest.mark.parametrize(
    ("word", "relevant"),
    [
        ("1", True), ("0", False), ("yes", True), ("No", False), ("TRUE", True), ("relevant", True),
        ("irrelevant", False), ("はい", True), ("いいえ", False), ("関連", True), ("無関係", False), ("○", True),
        ("１", True), ("×", False), ("1.0", True),
    ],
)  # fmt: skip
def test_labels_are_said_in_many_ways(word: str, relevant: bool) -> None:
    found = read_labels(f"question\tpassage\tlabel\nHow?\tThus it is done.\t{word}\n".encode(), name="x.tsv")
    assert [one.relevant for one in found.labels] == [relevant]


def test_json_lines_take_numbers_and_truth_values() -> None:
    rows = [
        {"question": "a", "passage": "text", "label": 1},
        {"question": "b", "source": "docs/b.md", "relevant": False, "language": "EN"},
        {"query": "c", "passage_id": "p0123456789abcdef0123", "label": 0.0},
    ]
    data = "\ufeff".encode() + "\r\n".join(json.dumps(row) for row in rows).encode()
    found = read_labels(data, name="labels.jsonl")
    assert [(one.row, one.relevant) for one in found.labels] == [(1, True), (2, False), (3, False)]
    assert (found.labels[1].document, found.labels[1].language) == ("docs/b.md", "en")
    assert found.labels[2].passage == "p0123456789abcdef0123"


def test_every_bad_row_is_named_and_the_others_count() -> None:
    lines = [
        '{"question": "a", "passage": "text", "label": 1}',
        "not json",
        '["question"]',
        '{"question": "a", "label": 1}',
        '{"passage": "text", "label": 1}',
        '{"question": "b", "passage": "text"}',
        '{"question": "b", "passage": "text", "label": "maybe"}',
        '{"question": "a ", "passage": "text", "label": 1}',
        '{"question": "a", "passage": "text", "label": 0}',
        "",
        '{"question": "c", "passage": "text", "label": 0}',
    ]
    found = read_labels("\n".join(lines).encode(), name="labels.jsonl")
    assert [one.row for one in found.labels] == [1, 11]
    assert found.repeated == 1
    told = {row: str(error.details.get("reason")) for row, error in found.bad}
    assert set(told) == {2, 3, 4, 5, 6, 7, 9}
    assert told[2] == "it is not JSON that can be read"
    assert told[4] == "it names neither a passage nor a document"
    assert told[7] == "its label is neither yes nor no"
    assert all(str(error).startswith(f"labels.jsonl, row {row}: ") for row, error in found.bad)
    assert "row 1 says the opposite of the same pair; row 1 counts" in str(dict(found.bad)[9])
    assert found.rows == 10


def test_rows_of_a_sheet_are_counted_as_an_editor_counts_lines() -> None:
    text = 'question,passage,label\n"How\nlong?",text,1\nshort\n"never closed,1,1\nWhy?,text,0\n'
    found = read_labels(text.encode(), name="x.csv")
    assert [(one.row, one.question) for one in found.labels] == [(2, "How\nlong?"), (6, "Why?")]
    assert [row for row, _ in found.bad] == [4, 5]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "holds no rows"),
        ("q,passage,label\na,b,1\n", "no column question"),
        ("question,passage\na,b\n", "no column label"),
        ("question,label\na,1\n", "neither a column passage nor a column document"),
    ],
)
def test_a_sheet_without_the_columns_is_refused_with_what_to_do(text: str, reason: str) -> None:
    with pytest.raises(InputInvalid, match=reason) as caught:
        read_labels(text.encode(), name="x.csv")
    assert caught.value.hint


def test_bytes_that_are_no_text_and_files_that_are_not_there_are_errors(tmp_path: Path) -> None:
    with pytest.raises(EncodingUnknown):
        read_labels(bytes(range(256)) * 20, name="x.csv")
    with pytest.raises(InputInvalid, match=r"none\.csv: cannot be read"):
        load_labels(tmp_path / "none.csv")


def test_weights_make_up_for_how_pairs_were_picked() -> None:
    def picked(row: int, stratum: str, share: float) -> Label:
        return Label(row=row, question="q", relevant=True, passage=str(row), stratum=stratum, share=share)

    rows = [picked(at, "uncertain", 0.2) for at in range(8)] + [picked(at + 8, "low", 0.8) for at in range(2)]
    weights = weights_of(rows)
    assert weights == pytest.approx([0.25] * 8 + [4.0] * 2)
    assert sum(weights) == pytest.approx(len(rows))
    assert weights_of([Label(row=1, question="q", relevant=True, passage="a")]) == [1.0]


def line(passage: str, label: int = 1) -> LabelLine:
    return LabelLine(
        question="保証は?", passage=passage, document="d1", source="保証.md", label=label,
        picked="random", stratum="low", share=0.5, probability=0.1, at="2026-11-30T21:00:00+00:00",
    )  # fmt: skip


def test_a_label_is_in_the_file_when_it_is_given_and_can_be_taken_back(tmp_path: Path) -> None:
    book = LabelBook(tmp_path / "labels.jsonl")
    assert book.labels() == ()
    assert not book.undo()
    book.add(line("p1"))
    book.add(line("p2", label=0))
    assert [(one.passage, one.relevant) for one in book.labels()] == [("p1", True), ("p2", False)]
    assert book.undo()
    assert book.pairs() == {("保証は?", "p1")}
    again = LabelBook(book.path)
    assert not again.undo()  # what an earlier session said stands
    again.add(line("p3"))
    assert len(again.labels()) == 2


def test_a_line_that_a_kill_cut_off_costs_that_line_only(tmp_path: Path) -> None:
    book = LabelBook(tmp_path / "labels.jsonl")
    book.add(line("p1"))
    with book.path.open("ab") as file:
        file.write(b'{"question": "cut o')
    book.add(line("p2"))
    assert [one.passage for one in book.labels()] == ["p1", "p2"]
    assert book.undo()
    assert [one.passage for one in book.labels()] == ["p1"]
