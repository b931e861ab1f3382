"""What can take whose place in a question: FL-50 for FL-25, Osaka for Tokyo, part-time for full-time, 海外 for 国内."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from tadasu.text.names import proper_names
from tadasu.text.wordlists import words


class Lean(enum.Enum):
    """How a question rests on the one before.

    COMPLETE: not at all. CONTRAST: a fragment that puts something new in the place of something old ("And the FL-50?").
    POINTS_BACK: by a pronoun. BARE: it asks for an attribute and does not say of what ("How long is the warranty?").
    """

    COMPLETE = "complete"
    CONTRAST = "contrast"
    POINTS_BACK = "points_back"
    BARE = "bare"


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that can be swapped: where it stands in its text, and its kind."""

    start: int
    end: int
    text: str
    kind: str


CODE = "code"
NAME = "name"
ACRONYM = "acronym"
_YEAR = "year"
_PERIOD = "period"
# Each line holds what excludes one another; the longest match counts.
_CONTRASTS = tuple(
    words(line.replace("_", "\u00a0"))
    for line in (
        "full-time part-time fulltime parttime temporary permanent freelance 正社員 契約社員 派遣社員 嘱託社員"
        " パートタイム パート社員 パート アルバイト 非正規 常勤 非常勤",
        "domestic international overseas foreign abroad 国内 海外 国外",
        "weekday weekdays weekend weekends holiday holidays 平日 休日 祝日 土日 週末",
        "monday tuesday wednesday thursday friday saturday sunday 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日",
        "january february march april june july august september october november december",
        "morning afternoon evening night 午前 午後 夜間 早朝 日中 昼間 朝 夜",
        "yesterday today tomorrow 昨日 今日 明日",
        "electric diesel petrol hybrid 電動 ディーゼル ガソリン ハイブリッド",
        "internal external 社内 社外", "indoor outdoor indoors outdoors 屋内 屋外",
        "monthly weekly daily yearly annually quarterly 毎月 毎週 毎日 毎年",
        "front rear left right 前輪 後輪", "minimum maximum 最大 最小 最高 最低 上限 下限",
        "old new 旧型 新型", "men women male female 男性 女性", "spring summer autumn winter 春 夏 秋 冬",
        "昨年 去年 今年 来年 前年 昨年度 今年度 来年度 前年度", "先月 今月 来月", "junior senior",
        "役員 部長 課長 係長 一般社員 主任 管理職", "個人 法人", "往路 復路 片道 往復",
        "東京都 東京 大阪府 大阪市 大阪 名古屋 福岡 札幌 横浜 川崎 京都 神戸 仙台 広島 埼玉 千葉 静岡 新潟 北海道 沖縄"
        " 九州 四国 関東 関西 東北 中部 日本 アメリカ 米国 中国 韓国 台湾 ドイツ フランス イギリス 英国 インド 欧州"
        " ヨーロッパ アジア シンガポール タイ ベトナム オランダ ベルギー",
    )
)  # fmt: skip
_CLASS_OF = {word.replace("\u00a0", " "): f"class {at}" for at, line in enumerate(_CONTRASTS) for word in line}
PLACE = _CLASS_OF["東京"]
_LATIN_CLASS_WORDS = "|".join(sorted((w for w in _CLASS_OF if w.isascii()), key=len, reverse=True))
_JAPANESE_CLASS_WORDS = "|".join(sorted((w for w in _CLASS_OF if not w.isascii()), key=len, reverse=True))
_CLASS_WORD = re.compile(rf"\b(?:{_LATIN_CLASS_WORDS})\b|{_JAPANESE_CLASS_WORDS}", re.IGNORECASE)
_PLAIN_CODE = (
    r"(?:[A-Za-z]+[-_]?[0-9][A-Za-z0-9]*(?:[-_/.][A-Za-z0-9]+)*|[A-Z]+(?:-[A-Z]+)*-[0-9]+|[0-9]+[-_]?[A-Z]{1,4}[0-9-]*)"
)
_CODE = re.compile(rf"(?<![A-Za-z0-9-])(?:(?!(?:{{starters}})\b)[A-Z][a-z]+ )*{_PLAIN_CODE}(?![A-Za-z0-9-])".replace(
    "{starters}",
    "Is|Are|Was|Were|Do|Does|Did|Can|Could|Will|Would|Should|Has|Have|What|Which|Who|When|Where|Why|How|The|And|Of|For|In"
    "|On|At|To|With|Or|But|So|Also|If|May|Might|Must|Then|About",
))  # fmt: skip
_PERIODS = re.compile(r"\b(?:this|next|last) (?:week|month|year|quarter|weekend)\b", re.IGNORECASE)
_YEARS = re.compile(r"(?<![0-9A-Za-z.,-])(?:19|20)[0-9]{2}(?:年度?)?(?![0-9A-Za-z,-])")


def entities(text: str) -> list[Entity]:
    """What in `text` could be swapped, in order, without overlap: codes, years, words of contrast, names."""
    found: list[Entity] = []

    def take(start: int, end: int, kind: str) -> None:
        if all(end <= one.start or start >= one.end for one in found):
            found.append(Entity(start, end, text[start:end], kind))

    for match in _CODE.finditer(text):
        take(*match.span(), CODE)
    for match in _YEARS.finditer(text):
        take(*match.span(), _YEAR)
    for match in _PERIODS.finditer(text):
        take(*match.span(), _PERIOD)
    for match in _CLASS_WORD.finditer(text):
        take(*match.span(), _CLASS_OF[match.group().lower()])
    for name in proper_names(text):
        start = text.find(name)
        if start >= 0:
            take(start, start + len(name), ACRONYM if name.isupper() else NAME)
    return sorted(found, key=lambda one: one.start)


def codes(text: str) -> list[str]:
    """The codes of `text`, each once."""
    return list(dict.fromkeys(one.text for one in entities(text) if one.kind == CODE))


def rival(new: Entity, text: str, *, after: str = "") -> str:
    """What in `text` the entity `new` would replace; empty where nothing of its kind stands there.

    `after` is a preposition: a name that does not follow it is no rival.
    """
    same = [one for one in entities(text) if one.kind == new.kind and one.text.lower() != new.text.lower()]
    if new.kind == NAME and after:
        lead = re.compile(rf"\b{re.escape(after)}(?: the)? $", re.IGNORECASE)
        same = [one for one in same if lead.search(text[: one.start])]
    if not same:
        return ""
    shape = re.match(r"\D*", new.text)
    alike = [one for one in same if shape and shape.group() and one.text.lower().startswith(shape.group().lower())]
    return (alike or same)[-1].text


def put(text: str, old: str, new: str) -> str:
    """`text` with each whole `old` replaced by `new`."""
    before = r"(?<![A-Za-z0-9])" if old[0].isascii() else ""
    after = r"(?![A-Za-z0-9])" if old[-1].isascii() else ""
    return re.sub(before + re.escape(old) + after, lambda _: new, text)
