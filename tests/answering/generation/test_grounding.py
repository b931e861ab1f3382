from __future__ import annotations

import pytest

from tadasu.answering.generation.grounding import Check, best_support, check, needed
from tadasu.core.answers import Support
from tests.answering.writing import evidence


def verdict(sentence: str, *strips: str | tuple[str, str] | tuple[str, str, str], question: str = "") -> Check:
    return check(sentence, [piece.strip for piece in evidence(*strips)], question=question)


SUPPORTED = [
    ("The maximum pressure is 10 MPa.", "The maximum operating pressure is 10 MPa."),
    ("最大圧力は10 MPaです。", "最大使用圧力は10 MPaである。"),
    ("The limit is 10,000 Pa.", "The limit is 10 kPa."),
    ("上限は１０，０００Paです。", "上限は10 kPaです。"),
    ("売上は1億2,300万円でした。", "売上高は123,000,000円だった。"),
    ("Sales were 1.2 million dollars.", "Sales were $1,200,000."),
    ("The fee has been 500 yen since March 5, 2024.", "Since 2024-03-05 the fee is 500 yen."),
    ("令和6年3月5日から料金は500円です。", "2024年3月5日より、料金は500円です。"),
    ("It must be calibrated.", "It has to be calibrated every year."),
    ("毎年校正しなければならない。", "毎年校正すること。"),
    ("It must not be opened.", "Opening it is prohibited; it must not be opened."),
    ("開けてはなりません。", "開けてはならない。"),
    ("1971年（昭和46年）に開業しました。", "1971年に開業した。"),
    ("According to the document, the limit is 10 MPa.", "The limit is 10 MPa."),
    ("資料によると、上限は10 MPaです。", "上限は10 MPaである。"),
    ("休暇は10日まで繰り越せます。", "社員は未使用の休暇を翌年に10日まで繰り越すことができる。"),
    ("The pump can be used indoors.", "The pump can be used indoors, but it must not be used at sea."),
    ("屋内で使用できます。", "屋内で使用できるが、海上では使用できない。"),
    ("See https://docs.example/limit.", "The limit is at https://docs.example/limit, see there."),
    ("The PT-3051S is made in Kyoto.", "Kyoto is where the PT-3051S is made."),
    ("サーバは京都にある。", "サーバーは京都にあります。"),
    # A strip may hold several sentences: a denial in one of them turns no other round.
    ("According to it, Anna Lind built the mill.", "The mill was built by Anna Lind. It was not sold before 1901."),
    (
        "資料には、水車小屋は田中一郎が建てたと書かれています。",
        "水車小屋は田中一郎が建てた。1901年までは売られていない。",
    ),
    ("渡辺部長が承認します。", "承認は渡辺がする。"),
    # Two sentences told as one: both numbers are there, each of its own.
    (
        "Rebuilt of brick in 1931, the mill lost its owner in 1952.",
        "The mill was rebuilt of brick in 1931. The owner of the mill died in 1952.",
    ),
    (
        "れんがで1931年に再建された水車小屋は、1952年に所有者が死去しました。",
        "水車小屋は1931年にれんがで再建された。水車小屋の所有者は1952年に死去した。",
    ),
]
UNSUPPORTED = [
    ("The maximum pressure is 11 MPa.", "The maximum operating pressure is 10 MPa.", "number"),
    ("最大圧力は11 MPaです。", "最大使用圧力は10 MPaである。", "number"),
    ("It weighs 3 kg.", "It weighs 3 g.", "number"),
    ("質量は3 kgです。", "質量は3 gです。", "number"),
    ("It was released on March 6, 2024.", "It was released on March 5, 2024.", "date"),
    ("2024年3月6日に発売されました。", "2024年3月5日に発売された。", "date"),
    ("The PT-305 is made in Kyoto.", "The PT-3051 is made in Kyoto.", "name PT-305"),
    ("本社は京都にあります。", "本社は東京都にあります。", "京都"),
    ("It was invented by Thomas Edison.", "It was invented by Nikola Tesla.", "name"),
    ("発明者はエジソンです。", "発明者はテスラです。", "name"),
    ("It is waterproof.", "It is not waterproof.", "negation"),
    ("It is not waterproof.", "It is waterproof.", "negation"),
    ("本体は防水です。", "本体は防水ではない。", "negation"),
    (
        "The mill was not built by Anna Lind.",
        "The mill was built by Anna Lind. It was not sold before 1901.",
        "negation",
    ),
    ("水車小屋は田中一郎が建てていない。", "水車小屋は田中一郎が建てた。1901年までは売られていない。", "negation"),
    # A number that is there, of something else.
    (
        "The old mill by the river was rebuilt of brick in 1952.",
        "The old mill by the river was rebuilt of brick in 1931. Its owner died in 1952.",
        "other 1952",
    ),
    (
        "川沿いの古い水車小屋は1952年にれんがで再建されました。",
        "川沿いの古い水車小屋は1931年にれんがで再建された。所有者は1952年に死去した。",
        "other 1952年",
    ),
    # Names that nothing but a dictionary tells from other words.
    ("水車小屋は佐藤花子が建てた。", "水車小屋は田中一郎が建てた。", "name 佐藤花子"),
    ("水車小屋は奈良にある。", "水車小屋は山の中にある。", "name 奈良"),
    ("本体は防水ではありません。", "本体は防水です。", "negation"),
    ("The valve can be opened under pressure.", "The valve cannot be opened under pressure.", "negation"),
    ("加圧中に開けることができます。", "加圧中に開けることはできません。", "negation"),
    ("The 6S method is used.", "The 5S method is used.", "6"),
    ("いわゆる6Sを指す。", "いわゆる5Sを指す。", "6"),
    ("1971年（昭和66年）に開業した。", "1971年（昭和46年）に開業した。", "昭和66年"),
    ("休暇は繰り越すことができません。", "社員は未使用の休暇を翌年に10日まで繰り越すことができる。", "negation"),
    ("休暇の申請に上長の承認は不要です。", "休暇の申請は、2週間前までに上長の承認を得なければならない。", "negation"),
    ("No approval by the manager is needed.", "The request needs, in any case, approval by the manager.", "negation"),
    (
        "See https://collect.example/in?q=secret for the limit.",
        "See https://docs.example/limit for the limit.",
        "collect.example",
    ),
    ("上限は[こちら](https://collect.example/x)です。", "上限は10 MPaです。", "collect.example"),
    ("Write to sales@evil.example.", "Write to sales@good.example.", "evil.example"),
    ("The cook seasons the soup with salt.", "A database stores its rows in trees.", "wording"),
    ("料理人は汁に塩を入れます。", "データベースは行を木に格納する。", "wording"),
    ("本体は赤いです。", "本体は防水ではありません。", "wording"),
    ("The housing is red.", "The housing is not waterproof.", "wording"),
]


@pytest.mark.parametrize(("sentence", "strip"), SUPPORTED)
def test_what_the_strip_says_is_supported(sentence: str, strip: str) -> None:
    assert verdict(sentence, strip).findings == ()
    assert verdict(sentence, strip).support is Support.SUPPORTED


@pytest.mark.parametrize(("sentence", "strip", "finding"), UNSUPPORTED)
def test_what_the_strip_does_not_say_is_named(sentence: str, strip: str, finding: str) -> None:
    found = verdict(sentence, strip)
    assert found.support is Support.UNSUPPORTED
    assert any(finding in one for one in found.findings), found.findings


DIGITS = [
    ("The device holds 1234 records.", "The device holds {} records."),
    ("装置は1234件を保存します。", "装置は{}件を保存します。"),
    ("The budget is 1億2,300万円.", "The budget is {}."),
    ("予算は1億2,300万円です。", "予算は{}です。"),
]


@pytest.mark.parametrize(("strip", "claim"), DIGITS)
def test_a68_one_digit_changed_is_found_in_any_dress(strip: str, claim: str) -> None:
    wide = str.maketrans("0123456789,", "０１２３４５６７８９，")
    right, wrong = (
        ("1234", ["1,234", "**1234**", "1234".translate(wide)]),
        ["1235", "**1,334**", "2234".translate(wide), "123", "12340"],
    )
    said = right[1]
    if "億" in strip:
        said = ["1億2300万円", "**123,000,000円**", "12,300万円", "１億２３００万円"]
        wrong = ["1億2400万円", "**133,000,000円**", "1,230万円", "２億２３００万円", "1億2,300円"]
    for figure in said:
        assert verdict(claim.format(figure), strip).support is Support.SUPPORTED, figure
    for figure in wrong:
        found = verdict(claim.format(figure), strip)
        assert found.support is Support.UNSUPPORTED, figure
        assert found.findings[0].startswith("number"), found.findings


@pytest.mark.parametrize(
    ("right", "wrong", "strip", "other"),
    [
        (
            "The limit is 10 MPa.",
            "The limit is 12 MPa.",
            "The limit is 10 MPa in use.",
            "Chapter {0}: the limit of the A-{0} is 12 MPa.",
        ),
        ("上限は10 MPaです。", "上限は12 MPaです。", "使用時の上限は10 MPaです。", "第{0}章 A-{0}の上限は12 MPaです。"),
    ],
)
def test_a69_the_verdict_on_a_cited_strip_does_not_move_with_other_evidence(
    right: str, wrong: str, strip: str, other: str
) -> None:
    for count in (0, 4, 9):
        pieces = evidence(("cited", strip), *((f"other{n}", other.format(n)) for n in range(count)))
        around = [piece.strip for piece in pieces[1:] if piece.strip.passage_id == pieces[0].strip.passage_id]
        assert check(right, [pieces[0].strip], around=around) == verdict(right, ("cited", strip))
        assert (
            check(wrong, [pieces[0].strip], around=around).findings == verdict(wrong, ("cited", strip)).findings != ()
        )


def test_cited_strips_count_together() -> None:
    sentence = "The pump weighs 3 kg and the valve weighs 5 kg."
    assert verdict(sentence, "The pump weighs 3 kg.").support is Support.UNSUPPORTED
    assert verdict(sentence, "The pump weighs 3 kg.", "The valve weighs 5 kg.").holds


def test_without_a_strip_a_sentence_is_uncited() -> None:
    assert check("It is so.", []).support is Support.UNCITED


@pytest.mark.parametrize(
    ("sentence", "question", "strip", "holds"),
    [
        ("The PT-3051 weighs 3 kg.", "How heavy is the PT-3051?", "It weighs 3 kg.", True),
        ("The PT-3051 weighs 3 kg.", "How heavy is the PT-3051?", "The PT-2000 weighs 3 kg.", False),
        ("PT-3051の質量は3 kgです。", "PT-3051の質量は？", "質量は3 kgです。", True),
        ("PT-3051の質量は3 kgです。", "PT-3051の質量は？", "PT-2000の質量は3 kgです。", False),
        ("Bosch makes these pumps.", "Does Bosch make these pumps?", "Siemens makes these pumps.", False),
    ],
)
def test_a_name_of_the_question_stands_where_the_strip_leaves_its_subject_out(
    sentence: str, question: str, strip: str, holds: bool
) -> None:
    assert verdict(sentence, strip, question=question).holds is holds


@pytest.mark.parametrize(
    ("sentence", "question", "strip", "holds"),
    [
        ("Yes.", "Is the sensor waterproof?", "The sensor is waterproof.", True),
        ("No.", "Is the sensor waterproof?", "The sensor is waterproof.", False),
        ("No.", "Is the sensor waterproof?", "The sensor is not waterproof.", True),
        ("はい。", "本体は防水ですか？", "本体は防水です。", True),
        ("いいえ。", "本体は防水ですか？", "本体は防水です。", False),
        ("いいえ。", "本体は防水ですか？", "本体は防水ではありません。", True),
    ],
)
def test_a_bare_yes_or_no_is_read_with_the_question(sentence: str, question: str, strip: str, holds: bool) -> None:
    assert verdict(sentence, strip, question=question).holds is holds


@pytest.mark.parametrize(
    ("sentence", "question", "holds"),
    [
        ("No. The pump is not waterproof.", "Is the pump waterproof?", True),
        ("Yes, the pump is not waterproof.", "Is the pump waterproof?", False),
        ("いいえ。本体は防水ではありません。", "本体は防水ですか？", True),
        ("はい、本体は防水ではありません。", "本体は防水ですか？", False),
    ],
)
def test_a_yes_before_a_denial_is_found(sentence: str, question: str, holds: bool) -> None:
    strip = "The pump is not waterproof." if question.isascii() else "本体は防水ではない。"
    assert verdict(sentence, strip, question=question).holds is holds


@pytest.mark.parametrize(
    ("sentence", "strip", "holds"),
    [
        ("全長は3 mです。", "The total length is 3 m.", True),
        ("全長は4 mです。", "The total length is 3 m.", False),
        ("The total length is 3 m.", "全長は3 mです。", True),
        ("全長はとても長いです。", "The total length is 3 m.", False),
    ],
)
def test_across_languages_the_figures_decide(sentence: str, strip: str, holds: bool) -> None:
    assert verdict(sentence, strip).holds is holds


@pytest.mark.parametrize(
    ("sentence", "strip"),
    [
        ("As of 2024-02-01 the fee is 500 yen (prices.md).", "The fee is 500 yen."),
        ("2024年2月1日時点の料金は500円です。", "料金は500円です。"),
    ],
)
def test_source_title_and_date_of_a_strip_may_be_told(sentence: str, strip: str) -> None:
    assert verdict(sentence, ("prices", strip, "2024-02-01")).holds
    assert not verdict(sentence, ("prices", strip, "2023-02-01")).holds


def test_best_support_finds_the_piece_that_says_it() -> None:
    pieces = evidence("The pump is blue.", "The pump weighs 3 kg.", "The pump weighs 4 kg.")
    found = best_support("The pump weighs 3 kg.", pieces)
    assert found is pieces[1]
    assert best_support("The pump weighs 9 kg.", pieces) is None


def test_citations_that_hold_up_nothing_are_not_needed() -> None:
    pieces = evidence("The pump weighs 3 kg.", "Lunch is served at noon.")
    assert needed("The pump weighs 3 kg.", pieces) == pieces[:1]
    assert needed("The pump weighs 3 kg.", pieces[1:]) == pieces[1:]
