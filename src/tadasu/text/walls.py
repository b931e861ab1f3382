"""Pages that stand before a page: bot walls, cookie walls, log-ins, paywalls, "not found" that says it was found.

What gives a wall away is not what it mentions, which articles about cookies do as well, but that it says nothing else:
it speaks to its reader, of the reader's browser, account or consent, and the little that is left over is no text. So a
page is a wall where a phrase of a wall stands and hardly any sentence remains once those that speak so are taken out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tadasu.text.page_text import PageText, page_text

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef]")
_CJK_WEIGHT = 2.5
"""A character of Japanese says about as much as so many letters."""
_LONGEST_WALL = 9000
_LITTLE, _LITTLE_BELOW_TITLE, _TEASER = 220, 450, 700
_NOTHING = 40
_ENDS = ".!?。！？…”\"」）)"
_QUOTED = re.compile(r"“[^”]{0,200}”|\"[^\"]{0,200}\"|「[^」]{0,100}」|『[^』]{0,100}』")
_SENTENCE = re.compile(r"(?<=[。！？])|(?<=[.!?])\s+")


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_SIGNS: Mapping[str, re.Pattern[str]] = {
    "bot_wall": _any(
        r"\b(verify|confirm|prove|sure|ensure|check)\w*\b.{0,40}\byou(’|'| a)?re\b.{0,12}\b(human|(not )?a (ro)?bot|real)",
        r"\bif you are (a )?human\b", r"^are you (a )?(human|robot)\b", r"\byou (are|were) (a )?(ro)?bot\b",
        r"\bunusual (traffic|activity)\b.{0,40}\b(from|your)\b", r"^automated (access|requests|queries)\b",
        r"\bchecking (your browser|if the site)", r"\b(complete|solve)\b.{0,20}\b(captcha|security check|challenge|puzzle)\b",
        r"^(please )?(type|enter) the (characters|letters|text|code|word)s? .{0,15}(see|shown|below|image|picture)",
        r"\byou have been (blocked|denied)\b", r"\baccess (to this \w+ )?(has been |is |was )?(denied|blocked|forbidden|restricted)\b",
        r"\byou (don't|don’t|do not) have permission\b", r"^just a moment\b", r"\breview(ing)? the security of your connection\b",
        r"\byour? (ip|ip address|network|request) (has been|was|is) (blocked|flagged|denied)\b", r"^too many requests\b",
        r"^(security|robot|human|bot) (check|verification)\b", r"^press (and|&) hold\b", r"javascript and cookies to continue",
        r"ロボット(では|で)な(い|く)", r"人間(である|だという)?(こと|か)(を|どうか).{0,10}(確認|証明)", r"(あなた|お客様)(が|は)(人間|ロボット)",
        r"(不審|異常|通常とは?異なる|不正|自動化された)な?(アクセス|通信|トラフィック|リクエスト|操作).{0,16}(検出|検知|確認|あり|認め)",
        r"(画像|表示された|表示されている|下).{0,12}(文字|数字|英数字).{0,8}入力", r"(ブラウザー?|接続の安全性|接続|安全性)を?(を)?(確認|検証|チェック)(して|中)",
        r"アクセス(が|は|を).{0,8}(制限|拒否|遮断|ブロック|禁止)(され|し)", r"多数のアクセス", r"^(アクセス|セキュリティー?|認証)(の)?(確認|チェック|検証)(中)?$",
        r"^アクセス(拒否|制限|できません)", r"(キャプチャ|CAPTCHA)(認証)?を(完了|入力|解).{0,6}(ください|必要)",
    ),
    "cookie_wall": _any(
        r"^(please )?(enable|accept|allow|activate|turn on|switch on)\b.{0,25}\bcookies?\b", r"\bplease (enable|accept|allow|turn on)\b.{0,25}\bcookies?\b",
        r"\b(must|need to|have to|should)\b.{0,12}\b(enable|accept|allow|turn on|have)\b.{0,25}\bcookies?\b",
        r"\bturn cookies on\b", r"\bcookies? (must|need to|have to) be (enabled|accepted|allowed|turned on)",
        r"\bcookies? (is|are|seem to be) (required|disabled|blocked|turned off|switched off|not (enabled|accepted|allowed))",
        r"\byour browser\b.{0,50}\b(not|doesn't|doesn’t|must|block\w*|refus\w*|reject\w*)\b.{0,20}\bcookies?\b", r"^cookies (required|disabled)",
        r"\b(requires?|uses?) cookies\b.{0,40}\b(work|function|continue|log ?in|proceed)",
        r"(クッキー|cookie).{0,20}(有効|オン|受け入れ|許可).{0,24}(ください|下さい|必要|お願い)", r"(クッキー|cookie)(の|を|が|は|機能|設定|\(cookie\)|（cookie）){0,4}.{0,6}(無効|オフ|ブロック|拒否)(に|で|さ|と|です)",
        r"(クッキー|cookie)(を|が)(使用|利用)(できない|できません)", r"(クッキー|cookie).{0,16}が必要",
    ),
    "javascript_required": _any(
        r"^(please )?(enable|activate|turn on|switch on)\b.{0,12}\bjavascript\b", r"\b(please|must|need to|have to) (enable|activate|turn on|have)\b.{0,16}\bjavascript\b",
        r"\b(this|the|our) (site|website|page|app|application|content)\b.{0,30}\b(requires?|needs?|without|relies on)\b.{0,14}\bjavascript\b",
        r"\bjavascript (is|must be|has to be|needs to be|seems to be|appears to be)\b.{0,10}\b(required|disabled|enabled|turned off|switched on|off|not)\b",
        r"\byour browser\b.{0,40}\bjavascript\b", r"^javascript (required|disabled)", r"doesn(’|')t work properly without javascript",
        r"javascript.{0,18}(有効|オン|ON)に?.{0,20}(ください|下さい|必要|お願い)", r"(ご利用|お使い)の.{0,24}javascript", r"javascript(が|の設定が|は)(無効|オフ|必要)",
    ),
    "login_wall": _any(
        r"^(please )?(log|sign)[ -]?in\b(?!.{0,24}\b(comment|reply|vote|save|share|bookmark))(?=.{0,30}\b(to|first|again|with|or)\b)", r"\bplease (log|sign)[ -]?in\b", r"\b(must|need to|have to)\b.{0,16}\b(log(ged)?|sign(ed)?)[ -]?in\b",
        r"\b(log|sign)[ -]?in (is )?required\b", r"\b(restricted|available|open|visible|reserved)\b.{0,16}\b(only )?(to|for)\b.{0,16}\b(members|registered|employees|staff|logged)",
        r"^members?[ -]only\b", r"\byour session (has )?(expired|timed out|ended)\b", r"^(log|sign)[ -]?in$", r"^login$",
        r"(には|には、).{0,12}(ログイン|サインイン|会員登録)が?(必要|要)", r"^(?!.{0,6}(コメント|投稿|保存|お気に入り)).{0,30}(ログイン|サインイン)(して|し直して|のうえ).{0,8}(ください|下さい|ご覧)", r"(ログイン|サインイン)が必要",
        r"会員(の方|様)?(のみ|だけ)(が|に)?(閲覧|ご覧|ご利用)", r"^(ログイン|サインイン)$", r"会員専用|会員限定(の)?(ページ|コンテンツ)", r"セッション.{0,14}(切れ(まし|てい|たため)|無効(です|にな)|タイムアウト|終了しま)",
    ),
    "paywall": _any(
        r"^(please )?subscribe\b.{0,24}\b(to|for)\b.{0,20}\b(read\w*|continue|unlock|access|unlimited|full|get|more)", r"\b(please|or) subscribe to (continue|keep|read)",
        r"\b(subscriber|member)s?[ -](only|exclusive)\b", r"\b(this|the) \w+ is (only )?(available |exclusive |reserved |just )?(only )?(to|for)\b.{0,24}\b(subscribers|paying|members)",
        r"\byou(’|'| ha)ve (reached|read|used)\b.{0,30}\b(limit|free)\b", r"\bfree articles? (left|remaining|this month)", r"^(start|begin|try)\b.{0,24}\bfree trial\b",
        r"^already a (subscriber|member)\b", r"^(to )?(continue|keep) reading\b.{0,40}\b(subscribe|sign up|register|log ?in|account|trial)", r"^(to )?(continue|keep) reading this",
        r"^unlock (this|the) (article|story)", r"^(to )?read the (full|rest|whole)\b.{0,40}\b(subscribe|sign up|register|log ?in|trial)",
        r"(有料|プレミアム|購読|デジタル)(会員|購読者|読者|プラン|版)?(の方)?.{0,6}(限定|専用|のみ|だけ)", r"続きを?(お?読み?|ご覧).{0,16}(には|登録|購読|会員|ログイン|必要)",
        r"(ここから先|この続き|この先|これより先)(は|を).{0,24}(会員|有料|購読|登録|申し込)", r"残り[ 　:：]?[0-9０-９,，]{1,9} ?文字", r"(購読|会員登録|お申し込み|ご契約)が必要(です|となり)",
        r"会員限定(の)?記事", r"初月無料|[0-9０-９]{1,3}[日か]?月?間?無料(体験|トライアル|お試し)",
    ),
    "soft_404": _any(
        r"^(error )?404\b(?!.{0,16}\b(is|was|means)\b)", r"\b(page|article|file|content|document|item|listing|post|link|url|address)\b.{0,36}\b(not (be )?found|cannot be found|could ?n[o'’]t be found)\b",
        r"\b(page|article|file|content|document|item|listing|post|video)\b.{0,40}\b(no longer|isn(’|')t|is not|does ?n[o'’]t|not currently)\b.{0,12}\b(exist|available|here|online)",
        r"\b(page|article|content|post|item|listing)\b.{0,30}\b(has|have|was|were|may have|might have)\b.{0,6}\b(been )?(removed|deleted|moved|expired|taken down|unpublished)",
        r"\b(can(’|'|no)t|could ?n[o'’]t|unable to) (find|seem to find|locate)\b.{0,30}\b(page|that|what|article|it)\b", r"^(page|content|article) (not found|unavailable|removed)", r"^not found$",
        r"\byou(’|')?(re| are| were)? (looking|searching) for\b.{0,50}\b(moved|removed|exist\w*|found|available|gone)",
        r"(ページ|記事|ファイル|コンテンツ|お探しの|指定された|アクセスしようとした|要求された|URL|投稿|商品|情報).{0,26}(見つかり?ません|見つけられません|存在し(ません|ない)|ございません)",
        r"(ページ|記事|ファイル|コンテンツ|投稿|商品|掲載|公開|販売).{0,16}(削除され|移動(し|され|また)|(期間)?(が|は|を)終了(し|いた))", r"^(404|ページが(見つ|あり)|not found)", r"(削除|移動)された(か、?|可能性|ため)",
    ),
    "consent_page": _any(
        r"^before you continue\b", r"\bwe value your privacy\b", r"\bwe\b.{0,12}\band\b.{0,6}\bour\b.{0,20}\bpartners\b", r"\bwe (use|store|process)\b.{0,40}\b(cookies|personal data|tracking)\b",
        r"\bby (selecting|clicking|choosing|continuing|pressing|using)\b.{0,50}\byou\b.{0,12}\b(agree|accept|consent|enable|allow)", r"^(accept|allow|reject|decline|agree to) (all|cookies)\b",
        r"^your privacy( choices)?$", r"\bconsent to\b.{0,40}\b(cookies|processing|use of)",
        r"^すべて(に?同意|許可|受け入れ|拒否)", r"同意したもの(と|とみな)", r"(当社|弊社|当サイト|本サイト|パートナー).{0,50}(cookie|クッキー|端末|閲覧).{0,50}(使用|利用|保存|収集|分析)", r"同意のお願い|(プライバシー|データの(利用|取り扱い))に(関する|ついての)(選択|設定|同意)",
        r"続行する前に",
    ),
}  # fmt: skip
_ORDER = tuple(_SIGNS)
_VENDORS = re.compile(
    r"cf-chl|challenge-platform|_cf_chl|px-captcha|captcha-delivery|_Incapsula_Resource|awsWafCookieDomainList|aws-waf-token"
    r"|/_sec/cp_challenge|g-recaptcha|h-captcha|cf-turnstile|friendly-challenge|geo\.captcha",
    re.IGNORECASE,
)
_TO_READER = re.compile(r"\b(you|your|yours|we|our|us|please)\b", re.IGNORECASE)
_OF_READER = re.compile(
    r"\b(browser|cookies?|javascript|security|secure|connection|access|verif\w*|log(ged|ging)?|sign(ed|ing)?|account|subscri\w*"
    r"|password|members?|membership|partners|consent|privacy|personal|device|web ?site|site|page|reload\w*|refresh\w*|support"
    r"|contact|e-?mail|again|home ?page|redirect\w*|plug-?in|extension|network|requests?|block\w*|moment|wait|choices?|settings"
    r"|preferences|reading|unlimited|trial|human|robot|bot|captcha|url|link|help|owner|issue|services|ads|advert\w*|register)\b",
    re.IGNORECASE,
)
_BOILERPLATE = re.compile(
    r"\b(ray id|reference id|request id|incident id|error code|support id)\b|\bsecurity (service|solution)\b"
    r"|\bperformance (&|and) security\b|^why (do|have|did|am) i\b|^what can i do\b|^(©|\(c\)|copyright)|\ball rights reserved\b"
    r"|reasons? this might happen|^a third-party\b|^(this|the) (process|check) is automatic|^having (an issue|trouble)|^forgot"
    r"|お問い合わせ|参照番号|エラーコード|リクエストID",
    re.IGNORECASE,
)
_TO_READER_JA = re.compile(r"ください|下さい|いたし|おり(ます|ません)|いただ|頂|ござい|お客様|ご利用|ご確認|当サイト|弊社|当社|恐れ入|お願い|お使い|ご希望|の方は|みなされ|こちら|へ戻る|できません|自動的")
_OF_READER_JA = re.compile(
    r"ブラウザ|クッキー|cookie|javascript|アクセス|ログイン|会員|登録|購読|ページ|サイト|url|再読|再度|もう一度|時間をおい|設定|同意|広告|端末|パスワード"
    r"|移動|確認|トップ|検索|記事|処理|セキュリティ|接続|制限|管理者|サービス|利用規約|プライバシー",
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
    return max(_ORDER, key=lambda kind: (votes[kind], -_ORDER.index(kind)))


def _signs(lines: Iterable[str]) -> Counter[str]:
    """How many sentences speak as each kind of wall does; what stands in quotation marks is said of others."""
    found: Counter[str] = Counter()
    for sentence in _sentences(lines):
        bare = _QUOTED.sub(" ", sentence).strip() or sentence
        for kind, pattern in _SIGNS.items():
            found[kind] += bool(pattern.search(bare))
    return +found


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
    if _BOILERPLATE.search(bare) or any(pattern.search(bare) for pattern in _SIGNS.values()):
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
