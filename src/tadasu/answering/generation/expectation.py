"""What kind of thing a question asks for, by its question words."""

from __future__ import annotations

import enum
import re

from tadasu.answering.generation.facts import Facts
from tadasu.text.normalize import fold


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


_RULES: tuple[tuple[Expected, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            Expected.DATE,
            r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|time|century)\b|\bsince when\b|\bdeadline\b"
            r"|いつ|何[年月日時](?![間])|何世紀|何曜日|(?:日付|期日|期限|発売日|開始日|施行日|改定日)は",
        ),
        (
            Expected.NUMBER,
            r"\bhow (?:many|much|long|old|far|high|tall|heavy|hot|cold|often|big|large|wide|deep|fast|thick)\b"
            r"|\bwhat (?:percentage|percent|number|share|proportion|fraction)\b"
            r"|いく[つら]|何(?:個|台|人|名|回|本|枚|件|倍|歳|割|%|パーセント|ポイント|円|ドル|キロ|メートル|センチ|ミリ|グラム|トン|度|ボルト|アンペア|時間|分|秒|日間|年間|か月|ヶ月|週間|階|位|番|種類|社|校|曲|カ国|か国)"
            r"|(?:どの|どれ)(?:くらい|ぐらい|ほど)|何(?:万|億|千|百)",
        ),
        (Expected.PERSON, r"\bwho(?:m|se)?\b|誰|だれ|どなた|何者|(?:担当者|責任者|開発者|作者|創業者|社長|監督)は"),
        (
            Expected.PLACE,
            r"\bwhere\b|\b(?:what|which) (?:city|country|place|town|region|state|building|room)\b"
            r"|どこ|何[県市国州区町村]|どの(?:国|県|市|都市|地域|場所|町|州)|(?:所在地|住所|場所|出身地)は",
        ),
        (Expected.REASON, r"\bwhy\b|\bwhat (?:is|was) the (?:reason|cause)\b|なぜ|どうして|(?:理由|原因)は|何故"),
        (
            Expected.PROCEDURE,
            r"\bhow (?:do|does|can|should|to|must)\b|\b(?:what|which) (?:steps|procedure)\b"
            r"|手順|方法|やり方|どうやって|どのように|どうすれば|どうしたら",
        ),
        (
            Expected.YES_NO,
            r"^(?:is|are|was|were|does|do|did|can|could|may|must|should|will|would|has|have|had)\b"
            r"|^(?!.*(?:何|どの|どれ|どこ|どう|いつ|誰|なぜ|いく)).*(?:か[?。]?|でしょうか[?。]?)$",
        ),
        (
            Expected.QUANTITY_LIKELY,
            r"\b(?:pressure|temperature|weight|length|width|height|price|cost|fee|range|accuracy|voltage|current|power"
            r"|interval|period|capacity|rate|limit|warranty|duration|torque|size|dimensions?|speed|salary|budget)\b"
            r"|圧力|温度|重量|質量|長さ|幅|高さ|価格|料金|費用|金額|範囲|精度|電圧|電流|消費電力|周期|間隔|期間|容量|上限|下限|保証|トルク|寸法|速度|流量|定価|予算|人数",
        ),
    )
)


def expect(question: str) -> Expected:
    """What `question` asks for; ANY where its words do not tell.

    >>> expect("When was it released?"), expect("保証期間はどのくらいですか？"), expect("Is it waterproof?")
    (<Expected.DATE: 'date'>, <Expected.NUMBER: 'number'>, <Expected.YES_NO: 'yes_no'>)
    """
    folded = fold(question).strip().lower()
    return next((kind for kind, pattern in _RULES if pattern.search(folded)), Expected.ANY)


_CAUSE = re.compile(r"\bbecause\b|\bdue to\b|\bsince\b|\bcaused\b|\bso that\b|\breason|ため|から|により|ので|原因|理由")


def fits(expected: Expected, quote: Facts, asked: Facts) -> float:
    """How well a quotation can be such an answer: a bonus up to 0.6, a malus down to -0.4, 0 where nothing tells.

    Only what the question does not say itself counts.
    """
    new_numbers = [n for n in quote.numbers if not (n.spelled and not n.unit) and not asked.states_number(n)]
    match expected:
        case Expected.DATE:
            if any(not asked.states_date(d) for d in quote.dates):
                return 0.6
            return 0.3 if any(_may_be_time(n.unit, n.value) for n in new_numbers) else -0.4
        case Expected.NUMBER:
            return 0.6 if new_numbers else -0.4
        case Expected.QUANTITY_LIKELY:
            return 0.4 if any(n.unit for n in new_numbers) else 0.2 if new_numbers else 0.0
        case Expected.PERSON | Expected.PLACE:
            return 0.4 if any(not asked.states_name(name) for name in quote.names) else -0.2
        case Expected.REASON:
            return 0.4 if _CAUSE.search(quote.flat) else 0.0
        case _:
            return 0.0


def _may_be_time(unit: str, value: object) -> bool:
    return unit in ("年", "月", "日", "時", "世紀") or (not unit and 1000 <= float(str(value)) <= 2100)
