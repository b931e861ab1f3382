"""Sentences that hold a question's words and nothing that could answer it: what pages are stuffed with to be found."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from tadasu.text.analyze import content_terms
from tadasu.text.dates import dates
from tadasu.text.normalize import fold
from tadasu.text.numbers import Number, numbers
from tadasu.text.polarity import negations
from tadasu.text.segment import segment

_SHARE, _SHARE_OF_QUESTION = 0.8, 0.5
"""Share of the question's terms that an echo holds at least: a statement, and another question."""
_CIRCLES = 2
"""So many of the question's terms come twice in a sentence that goes round in a circle."""
_MOST = 0.6
_NEWS = 0.75
"""Such a sentence has fewer other words than this share of those that it repeats."""
_ASKS = re.compile(r"[?？]\W*$|(?:です|ます|でしょう|だろう|の)か(?:[。、?？」』]|$)")
_WANTS_DAY = re.compile(r"\b(?:what|which) day\b|\bday of the week\b|何曜日?|どの曜日", re.IGNORECASE)
_WANTS_DATE = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:year|date|month|century|day)\b|いつ|何(?:年|月|日|時)(?!間)|何世紀", re.IGNORECASE
)
_DAY = re.compile(
    r"\bevery day\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|[月火水木金土日]曜|\bweek(?:days?"
    r"|ends?)\b|毎日|平日|週末|祝日|\bdaily\b",
    re.IGNORECASE,
)
_WANTS_NUMBER = re.compile(
    r"\bwhen\b|\bhow (?:many|much|long|old|far|tall|high|large|big|often|hot|cold|deep|wide|heavy|fast)\b"
    r"|\b(?:what|which) (?:year|date|month|age|century|percent(?:age)?|number|temperature|price|distance"
    r"|height|size|limit)\b"
    r"|いつ|何(?:年|月|日|時|分|秒|人|回|個|本|枚|台|件|度|割|円|歳|世紀|番|名|[カヶか]月|[カヶか]国|週|%"
    r"|パーセント|メートル|キロ|センチ|トン|グラム)"
    r"|いく[つら]|(?:どの|どれ)(?:くらい|ぐらい|ほど)",
    re.IGNORECASE,
)
_MONEY = frozenset(("円", "USD", "EUR", "GBP", "元", "ウォン"))
_WANTED_UNITS: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (re.compile(r"\b(?:cost|price|fare|fee|pay|charge)|いくら|何円|運賃|料金|値段", re.IGNORECASE), _MONEY),
    (re.compile(r"\bhow (?:hot|cold)\b|temperature|何度|温度|気温", re.IGNORECASE), frozenset(("°C", "°F", "度", "K"))),
    (re.compile(r"何人|何名|\bhow many (?:people|persons)\b", re.IGNORECASE), frozenset(("人", "名"))),
)
# What is said about a question and answers nothing.
_PRAISE = re.compile(
    r"(?:a(?:nswer)?[:：]\s*)?(?:(?:great|good|excellent|nice|interesting|important) question|glad you asked)\W*"
    r"|(?:回?答[:：]|a[:：])?\s*(?:とても|大変|非常に)?(?:よい|良い|いい|素晴らしい|重要な|鋭い)(?:ご)?質問(?:です)?(?:ね)?\W*",
    re.IGNORECASE,
)
# An answer without a number to a question that asks for one.
_NONE = re.compile(
    r"\b(?:free|no charge|gratis|unlimited|unknown|varies|depends?|half|double|twice|once|dozens?"
    r"|hundreds?|thousands?|lifetime)\b"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|spring"
    r"|summer|autumn|winter|century"
    r"|centuries|decades?|minutes?|hours?|days?|weeks?|months?|years?)\b|[春夏秋冬]|世紀|年代|時代"
    r"|無料|無制限|無期限|不明|未定|によ(?:って|り)(?:異|変)|半分|数[百千万十]|終身|なし",
    re.IGNORECASE,
)

# What promises the answer somewhere else: its numbers are those of pages and readers.
_CHANNEL = (
    r"(?:newsletter|mailing list|video|channel|podcast|webinar|course|e-?book|membership|blog|magazine|workshop)s?"
)
_ELSEWHERE = re.compile(
    rf"\b(?:explained|described|revealed|answered|covered|discussed|shown|told|found|listed|published|available)\b"
    rf"[^.:]{{0,30}}\b(?:in|on|by|at|through) (?:our|my|this|the)\b[^.:]{{0,30}}\b{_CHANNEL}\b(?!\s*:)"
    rf"|\b(?:join|subscribe|sign up|register|click|download|follow|buy|order)\b[^.:]{{0,60}}"
    rf"\b(?:readers?|subscribers?|members?|followers?|now|today|free|here|{_CHANNEL})\b"
    r"|(?:メルマガ|メールマガジン|動画|講座|チャンネル|ブログ|会報|電子書籍|セミナー|会員ページ)[^。：:]{0,30}"
    r"(?:で|に|にて)(?:は)?(?:解説|紹介|公開|説明|お届け|掲載|お教え|発表)"
    r"|(?:登録|購読|クリック|ダウンロード|フォロー|入会|購入)(?:すれば|すると|して|した|いただ)"
    r"|(?:読者|会員|購読者|フォロワー)[^。：:]{0,20}(?:加わ|仲間|なりませんか|なって)",
    re.IGNORECASE,
)


def without_echoes(text: str, question: str) -> str:
    """`text` with white space in place of sentences that echo `question` and cannot answer it; offsets hold.

    Where the question asks for a number, a date or a day, that is a sentence with most of its words and no such thing;
    elsewhere one that goes round in a circle; and everywhere one that promises the answer somewhere else. One alone is
    no stuffing unless it repeats itself. A question, or a line without an end, right before something that could be the
    answer stays.

    >>> text = "Everybody asks for the ferry fare. What is the ferry fare? Bring boots."
    >>> without_echoes(text, "How much is the ferry fare?").split()
    ['Bring', 'boots.']
    """
    asked = frozenset(content_terms(question))
    if len(asked) < 2:
        return text
    units = [text[start:end] for start, end in segment(text)]
    heard = [_echoes(said, question, asked) for said in units]
    stuffed = sum(heard) > 1
    out: list[str] = []
    for at, said in enumerate(units):
        drop = heard[at] and (stuffed or _repeats(said, asked))
        if drop and not _repeats(said, asked) and _leads(said) and at + 1 < len(units):
            drop = heard[at + 1] or not _may_answer(units[at + 1], question)
        out.append("".join(c if c == "\n" else " " for c in said) if drop else said)
    return "".join(out)


def _repeats(said: str, asked: frozenset[str]) -> bool:
    """Whether a sentence says nearly all that was asked more than once, as lists of key words do."""
    counts = Counter(term for term in content_terms(said) if term in asked)
    return sum(count > 1 for count in counts.values()) >= max(_CIRCLES, _MOST * len(asked))


def _echoes(said: str, question: str, asked: frozenset[str]) -> bool:
    terms = content_terms(said)
    share = len(asked.intersection(terms)) / len(asked)
    if share < (_SHARE_OF_QUESTION if _ASKS.search(said) else _SHARE):
        return False
    if _ELSEWHERE.search(fold(said)):
        return True
    if _wants_value(question):
        return not _may_answer(said, question)
    if _ASKS.search(said.strip()):
        return True
    counts = Counter(term for term in terms if term in asked)
    circles = sum(count > 1 for count in counts.values()) >= _CIRCLES
    others = len(set(terms) - counts.keys())
    return circles and others <= _NEWS * len(counts) and not _new_values(said, question)


def _leads(said: str) -> bool:
    """Whether a line stands over what follows: a question, a heading."""
    text = said.strip()
    return bool(_ASKS.search(text)) or not text.endswith((".", "。", "!", "！"))


@lru_cache(maxsize=256)
def _wants_value(question: str) -> bool:
    return bool(_WANTS_NUMBER.search(fold(question)) or _WANTS_DAY.search(fold(question)))


def _may_answer(said: str, question: str) -> bool:
    """Whether a sentence holds something of the kind that is asked for."""
    if _PRAISE.fullmatch(fold(said).strip()):
        return False
    if not _wants_value(question):
        return not _ASKS.search(said.strip())
    folded = fold(said)
    if negations(said):
        return True
    if _WANTS_DAY.search(fold(question)):
        return bool(_DAY.search(folded) or dates(said))
    if _NONE.search(folded) or (_WANTS_DATE.search(fold(question)) and dates(said)):
        return True
    wanted = next((units for pattern, units in _WANTED_UNITS if pattern.search(fold(question))), frozenset[str]())
    return any(not wanted or one.unit in wanted or not one.unit for one in _new_values(said, question))


def _new_values(said: str, question: str) -> list[Number]:
    """Numbers that the question does not hold, digits or clear number words."""
    known = {one.value for one in numbers(question)}
    return [one for one in numbers(said) if one.value not in known]
