"""Pages that stand before a page: bot walls, cookie walls, log-ins, paywalls, "not found" that says it was found.

What gives a wall away is not what it mentions, which articles about cookies do as well, but that it says nothing else:
it speaks to its reader, of the reader's browser, account or consent, and the little that is left over is no text. So a
page is a wall where a phrase of a wall stands and hardly any sentence remains once those that speak so are taken out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from tadasu.text.page_text import PageText, page_text
from tadasu.text.wall_signs import SIGNS

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef]")
_CJK_WEIGHT = 2.5
"""A character of Japanese says about as much as so many letters."""
_LONGEST_WALL = 5000
_LITTLE, _LITTLE_BELOW_TITLE, _TEASER = 220, 450, 700
_NOTHING = 40
_ORDER = tuple(SIGNS)
_ENDS = '.!?。！？…”"」）)'
_QUOTED = re.compile(r"“[^”]{0,200}”|\"[^\"]{0,200}\"|「[^」]{0,100}」|『[^』]{0,100}』")
_SENTENCE = re.compile(r"(?<=[。！？])|(?<=[.!?])\s+")


_VENDORS = re.compile(
    r"cf-chl|challenge-platform|_cf_chl|px-captcha|captcha-delivery|_Incapsula_Resource|awsWafCookieDomainList|aws-waf-token"
    r"|/_sec/cp_challenge|g-recaptcha|h-captcha|cf-turnstile|friendly-challenge|geo\.captcha",
    re.IGNORECASE,
)
_TO_READER = re.compile(r"\b(you|your|yours|we|our|us|please|sorry)\b", re.IGNORECASE)
_OF_READER = re.compile(
    r"\b(browser|cookies?|javascript|security|secure|connection|access|verif\w*|log(ged|ging)?|sign(ed|ing)?|account"
    r"|subscri\w*|password|members?|membership|partners|consent|privacy|personal|device|web ?site|site|page"
    r"|reload\w*|refresh\w*|support|contact|e-?mail|again|home ?page|redirect\w*|plug-?in|extension|network"
    r"|requests?|block\w*|moment|wait|choices?|settings|preferences|reading|unlimited|trial|human|robot|bot|captcha|url|link|help|owner|issue|services"
    r"|ads|advert\w*|register|displayed|scripts?|supported|process\w*|vendors|decision|signed)\b",
    re.IGNORECASE,
)
_BOILERPLATE = re.compile(
    r"\b(ray id|reference id|request id|incident id|error code|support id)\b|\bsecurity (service|solution)\b"
    r"|\bperformance (&|and) security\b|^why (do|have|did|am) i\b|^what can i do\b"
    r"|^(©|\(c\)|copyright)|\ball rights reserved\b"
    r"|reasons? this might happen|^a third-party\b|^(this|the) (process|check) is automatic"
    r"|^having (an issue|trouble)|^forgot"
    r"|お問い合わせ|参照番号|エラーコード|リクエストID",
    re.IGNORECASE,
)
_TO_READER_JA = re.compile(
    r"ください|下さい|いたし|おり(ます|ません)|いただ|頂|ござい|お客様|ご利用|ご確認|当サイト"
    r"|弊社|当社|恐れ入|お願い|お使い|ご希望|の方は|みなされ|こちら|へ戻る|できません|自動的"
)
_OF_READER_JA = re.compile(
    r"ブラウザ|クッキー|cookie|javascript|アクセス|ログイン|会員|登録|購読|ページ|サイト|url|再読|再度|もう一度|時間をおい|設定|同意|広告|端末|パスワード"
    r"|移動|確認|続行|続ける|入力|送信|チェック|個人データ|トップ|検索|記事|処理|セキュリティ|接続|制限|管理者|サービス|利用規約|プライバシー",
    re.IGNORECASE,
)


def wall_in(page: str) -> str:
    """The kind of wall that the HTML `page` is, such as ``cookie_wall``; empty where it is none."""
    seen = page_text(page)
    return wall_of(seen, vendors=bool(_VENDORS.search(page[:400_000])))


def wall_in_text(title: str, text: str) -> str:
    """As `wall_in`, for a few lines of plain text such as a search engine's snippet."""
    return wall_of(PageText(title=title, lines=[line for line in text.splitlines() if line.strip()]))


def wall_of(seen: PageText, *, vendors: bool = False) -> str:
    """The kind of wall that a page with this text is; `vendors` says that it loads a test for robots."""
    if _weight(seen.lines) > _LONGEST_WALL:
        return ""
    signs, content = _signs([seen.title, *seen.lines]), _content(seen.lines)
    if vendors and content < _LITTLE and not signs.keys() - {"bot_wall", "cookie_wall"}:
        return "bot_wall"
    if found := _kind(seen.lines, seen.title):
        return found
    if found := _weakly(seen.lines):
        return found
    rest = [line for line in seen.lines if line != seen.title]
    if content >= _NOTHING or any(line[-1] in _ENDS for line in rest):
        return "login_wall" if seen.password and content < _NOTHING else ""
    if seen.password:
        return "login_wall"
    if seen.without_scripts and (found := _kind(seen.without_scripts, "")):
        return found
    if _weight(rest) < _NOTHING and seen.scripts:
        return "javascript_required"
    return "" if rest else "empty"


def _kind(lines: Sequence[str], title: str) -> str:
    """What the sentences are signs of, where there is not much else."""
    signs, named, content = _signs(lines), _signs([title]), _content(lines)
    if not signs and not (named and content < _LITTLE / 2):
        return ""
    spoken = sum(_weight([sentence]) for sentence in _sentences(lines) if _speaks(sentence))
    most = _LITTLE_BELOW_TITLE if named else max(_NOTHING, min(_LITTLE, 1.5 * spoken))
    if content >= most:
        return "paywall" if signs["paywall"] and content < _TEASER else ""
    votes = signs + named + named
    return max(_ORDER, key=lambda kind: votes[kind])  # of equals the first


_WEAK = (
    ("cookie_wall", re.compile(r"\bcookies?\b|クッキー", re.IGNORECASE)),
    ("javascript_required", re.compile(r"javascript", re.IGNORECASE)),
    ("bot_wall", re.compile(r"\b(robot|bot|human|captcha|blocked)\b|ロボット|ボット|CAPTCHA", re.IGNORECASE)),
)


def _weakly(lines: Sequence[str]) -> str:
    """What a page that says nothing but to its reader speaks of, where no sentence is one of a wall by itself."""
    spoken = [sentence for sentence in _sentences(lines) if _speaks(sentence)]
    if _weight(spoken) < _NOTHING or _content(lines) >= _NOTHING:
        return ""
    return next((kind for kind, word in _WEAK if any(word.search(sentence) for sentence in spoken)), "")


def _signs(lines: Iterable[str]) -> Counter[str]:
    """How many sentences speak as each kind of wall does; what stands in quotation marks is said of others."""
    found: Counter[str] = Counter()
    for sentence in _sentences(lines):
        found.update(_kinds(sentence))
    return found


@lru_cache(maxsize=4096)  # every sentence is asked about several times while its page is looked at
def _kinds(sentence: str) -> tuple[str, ...]:
    bare = _QUOTED.sub(" ", sentence).strip() or sentence
    return tuple(kind for kind, pattern in SIGNS.items() if pattern.search(bare))


def _content(lines: Iterable[str]) -> float:
    """Weighted length of the sentences that speak of something else than their reader's way to the page."""
    return sum(
        weight
        for sentence in _sentences(lines)
        if (weight := _weight([sentence])) >= _NOTHING and _complete(sentence, weight) and not _speaks(sentence)
    )


def _complete(sentence: str, weight: float) -> bool:
    return sentence[-1] in _ENDS or weight >= 2 * _NOTHING


def _speaks(sentence: str) -> bool:
    bare = _QUOTED.sub(" ", sentence)
    if _kinds(sentence) or _BOILERPLATE.search(bare):
        return True
    if _CJK.search(bare):
        return bool(_TO_READER_JA.search(bare) and _OF_READER_JA.search(bare))
    return bool(_TO_READER.search(bare) and _OF_READER.search(bare))


def _sentences(lines: Iterable[str]) -> Iterable[str]:
    for line in lines:
        for sentence in _SENTENCE.split(line):
            if sentence and (bare := sentence.strip()):
                yield bare


def _weight(lines: Iterable[str]) -> float:
    return sum(len(line) + (_CJK_WEIGHT - 1) * len(_CJK.findall(line)) for line in lines)
