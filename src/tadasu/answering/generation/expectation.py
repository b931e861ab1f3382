"""What kind of thing a question asks for, by its question words."""

from __future__ import annotations

import enum
import re
from functools import lru_cache

from tadasu.answering.generation.days import weekdays
from tadasu.answering.generation.facts import Facts
from tadasu.text.normalize import fold
from tadasu.text.numbers import Number, same_quantity
from tadasu.text.units import SCALES


class Expected(enum.Enum):
    """The kind of answer that a question expects."""

    NUMBER = "number"
    DATE = "date"
    PERSON = "person"
    PLACE = "place"
    REASON = "reason"
    PROCEDURE = "procedure"
    YES_NO = "yes_no"
    QUANTITY_LIKELY = "quantity_likely"
    ANY = "any"


_COUNTED = (
    "個|台|人|名|回|本|枚|件|倍|歳|割|%|パーセント|ポイント|円|ドル|キロ|メートル|センチ|ミリ|グラム|トン|度|ボルト|アンペア|時間|分|秒"
    "|日|年間|か月|ヶ月|週間|階|位|番|種類|社|校|曲|カ国|か国|万|億|千|百"
)
_RULES: tuple[tuple[Expected, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(f"{english}|{japanese}"))
    for kind, english, japanese in (
        (
            Expected.DATE,
            r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|time|century)\b|\bdeadline\b",
            r"いつ|何[年月時](?!間)|何日(?=[にのかで?]|から|まで|$)|何世紀|何曜日|(?:日付|期日|期限|発売日|開始日|施行日|改定日)は",
        ),
        (
            Expected.NUMBER,
            r"\bhow (?:many|much|long|old|far|high|tall|heavy|hot|cold|often|big|large|wide|deep|fast|thick)\b"
            r"|\bwhat (?:percentage|percent|number|share|proportion|fraction)\b",
            rf"いく[つら]|何(?:{_COUNTED})|(?:どの|どれ)(?:くらい|ぐらい|ほど)",
        ),
        (
            Expected.PERSON,
            r"\bwho(?:m|se)?\b",
            r"誰|だれ|どなた|何者|(?:担当者|責任者|開発者|作者|創業者|社長|監督)は",
        ),
        (
            Expected.PLACE,
            r"\bwhere\b|\b(?:what|which) (?:city|country|place|town|region|state|building|room)\b",
            r"どこ|何[県市国州区町村]|どの(?:国|県|市|都市|地域|場所|町|州)|(?:所在地|住所|場所|出身地)は",
        ),
        (
            Expected.REASON,
            r"\bwhy\b|\bwhat (?:is|was) the (?:reason|cause)\b",
            r"なぜ|どうして|何故|(?:理由|原因)は",
        ),
        (
            Expected.PROCEDURE,
            r"\bhow (?:do|does|can|should|to|must)\b|\b(?:what|which) (?:steps|procedure)\b",
            r"手順|方法|やり方|どうやって|どのように|どうすれば|どうしたら",
        ),
        (
            Expected.YES_NO,
            r"^(?:is|are|was|were|does|do|did|can|could|may|must|should|will|would|has|have|had)\b",
            r"^(?!.*(?:何|どの|どれ|どこ|どう|いつ|誰|なぜ|いく)).*(?:か[?。]?|でしょうか[?。]?)$",
        ),
        (
            Expected.QUANTITY_LIKELY,
            r"\b(?:pressure|temperature|weight|length|width|height|price|cost|fee|range|accuracy|voltage|current|power"
            r"|interval|period|capacity|rate|limit|error|tolerance|uncertainty|warranty|duration|torque|size|dimensions?|speed|salary|budget)\b",
            r"圧力|温度|重量|質量|長さ|幅|高さ|価格|料金|費用|金額|範囲|精度|誤差|公差|不確かさ|電圧|電流|消費電力|周期|間隔|期間|容量"
            r"|上限|下限|保証|トルク|寸法|速度|流量|定価|予算|人数",
        ),
    )
)


@lru_cache(maxsize=256)
def expect(question: str) -> Expected:
    """What `question` asks for; ANY where its words do not tell.

    >>> expect("When was it released?"), expect("保証期間はどのくらいですか？"), expect("Is it waterproof?")
    (<Expected.DATE: 'date'>, <Expected.NUMBER: 'number'>, <Expected.YES_NO: 'yes_no'>)
    """
    folded = fold(question).strip().lower()
    return next((kind for kind, pattern in _RULES if pattern.search(folded)), Expected.ANY)


# Base units (`units.SCALES`) of what a question names: in English words, in Japanese words.
_UNITS: tuple[tuple[frozenset[str], re.Pattern[str]], ...] = tuple(
    (frozenset(units.split()), re.compile(rf"\b(?:{english})\b|{japanese}"))
    for units, english, japanese in (
        ("Pa psi", "pressure", "圧力|耐圧"),
        ("°C °F 度 K", "temperature|how (?:hot|cold)", "温度|気温"),
        ("g lb", "weight|weighs?|mass|how heavy", "重量|質量|重さ|体重"),
        (
            "円 USD EUR GBP",
            "price|costs?|fee|salary|budget|sales|revenue",
            "価格|料金|費用|金額|定価|予算|売上|いくら|何円|何ドル",
        ),
        ("V", "voltage", "電圧"),
        ("A", "current(?! (?:version|price|state))", "電流"),
        ("W", "power consumption", "消費電力|電力"),
        (
            "m in ft mi",
            "length|width|height|depth|diameter|distance|how (?:far|high|tall|wide|deep|thick|long)",
            "長さ|高さ|幅|直径|距離|全長|標高",
        ),
        ("%", "percent(?:age)?", "何(?:%|パーセント|割)|割合|比率"),
        ("人", "how many (?:people|persons|employees|staff|members)", "何(?:人|名)|人数|人口"),
        (
            "s 日 週間 か月 年",
            "warranty|interval|period|duration|how (?:long|often|old)",
            "期間|間隔|周期|何(?:時間|分|秒|日間|年間|か月|ヶ月|週間)|保証",
        ),
    )
)


# What is counted in things, not measured: "how many vans", but not "how many working days".
_MEASURES = (
    "second|minute|hour|day|week|month|year|night|time|percent|degree|met(?:er|re)|km|kilo|gram|kg|lit(?:er|re)|ton|inch"
    "|feet|mile|euro|dollar|yen|volt|amp|watt|bar\\b|pascal|mm\\b|cm\\b|character|point|people|person|employee"
)
_THINGS = re.compile(rf"\bhow many (?!(?:[\w-]+ ){{0,2}}?(?:{_MEASURES}))|何[台個本枚社校](?!目)")
_COUNTED_IN = frozenset(["人", "台", "個", "本", "枚", "件", "社", "校", "名", "つ"]) | {""}
# Units of a share or a multiple, and none at all: any quantity may be given in them.
_OF_ANYTHING = frozenset({"", "%", "倍", "割"})


@lru_cache(maxsize=256)
def expected_units(question: str) -> frozenset[str]:
    """Base units of the quantity that `question` asks for; none where it does not tell.

    >>> sorted(expected_units("質量は？"))
    ['g', 'lb']
    """
    folded = fold(question).lower()
    if _THINGS.search(folded):
        return _COUNTED_IN
    return frozenset().union(*(units for units, pattern in _UNITS if pattern.search(folded)))


def base_unit(number: Number) -> str:
    """The unit of `number`, reduced to the base that other scales of it share."""
    return SCALES.get(number.unit, (number.unit, None))[0]


_CAUSE = re.compile(r"\bbecause\b|\bdue to\b|\bsince\b|\bcaused\b|\bso that\b|\breason|ため|から|により|ので|原因|理由")


def fits(expected: Expected, quote: Facts, asked: Facts, *, units: frozenset[str] = frozenset()) -> float:
    """How well a quotation can be such an answer: a bonus up to 0.6, a malus down to -0.4, 0 where nothing tells.

    Only what the question does not say itself counts. `units` are the base units that the question names, if any.
    """
    if expected in (Expected.PERSON, Expected.PLACE):
        return 0.4 if any(not asked.states_name(name) for name in quote.names) else -0.2
    if expected is Expected.REASON:
        return 0.4 if _CAUSE.search(quote.flat) else 0.0
    if not units and expected not in (Expected.DATE, Expected.NUMBER, Expected.QUANTITY_LIKELY):
        return 0.0
    new_numbers = [n for n in quote.numbers if not (n.spelled and not n.unit) and not asked.states_number(n)]
    if units and expected is not Expected.DATE:
        if any(base_unit(n) in units for n in new_numbers):
            return 0.6
        return -0.1 if any(n.unit for n in new_numbers) else -0.3
    if expected is Expected.NUMBER:
        return 0.6 if new_numbers else -0.4
    if expected is Expected.QUANTITY_LIKELY:
        return 0.4 if any(n.unit for n in new_numbers) else 0.2 if new_numbers else -0.2
    if quote.ordinals - asked.ordinals or any(not asked.states_date(d) for d in quote.dates):
        return 0.6
    return 0.3 if any(_may_be_time(n.unit, n.value) for n in new_numbers) else -0.4


def can_answer(expected: Expected, quote: Facts, asked: Facts, *, units: frozenset[str] = frozenset()) -> bool:
    """Whether a quotation holds anything of the expected kind that the question does not say itself.

    True where the question does not tell what it expects. A share, a multiple or a number without a unit may be of any.
    """
    if expected in (Expected.PERSON, Expected.PLACE):
        return any(not asked.states_name(name) for name in quote.names)
    new_numbers = [n for n in quote.numbers if not any(same_quantity(n, mine) for mine in asked.numbers)]
    if units and expected is not Expected.DATE:
        return any(base_unit(number) in units or number.unit in _OF_ANYTHING for number in new_numbers)
    if expected in (Expected.DATE, Expected.NUMBER):
        if expected is Expected.DATE and weekdays(quote.text, question=asked.text) - weekdays(
            asked.text, question=asked.text
        ):
            return True
        in_a_row = quote.ordinals - asked.ordinals
        return bool(new_numbers or in_a_row) or any(not asked.states_date(date) for date in quote.dates)
    return True


def _may_be_time(unit: str, value: object) -> bool:
    return unit in ("年", "月", "日", "時", "世紀") or (not unit and 1000 <= float(str(value)) <= 2100)
