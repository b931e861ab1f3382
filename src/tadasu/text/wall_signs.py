"""How walls speak to their readers, in English and Japanese: a sentence with one of these is a sign of its kind."""

from __future__ import annotations

import re
from collections.abc import Mapping


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


SIGNS: Mapping[str, re.Pattern[str]] = {
    "bot_wall": _any(
        r"\b(verify|confirm|prove|sure|ensure|check)\w*\b.{0,40}\byou(’|'| a)?re\b.{0,12}\b(human|(not )?a "
        r"(ro)?bot|real)",
        r"\bif you are (a )?human\b",
        r"^are you (a )?(human|robot)\b",
        r"\byou (are|were) (a )?(ro)?bot\b",
        r"\bunusual (traffic|activity)\b.{0,40}\b(from|your)\b",
        r"^automated (access|requests|queries)\b",
        r"\bchecking (your browser|if the site)",
        r"\b(complete|solve)\b.{0,20}\b(captcha|security check|challenge|puzzle)\b",
        r"^(please )?(type|enter) the (characters|letters|text|code|word)s? .{0,15}(see|shown|below|image|picture)",
        r"\byou have been (blocked|denied)\b",
        r"\baccess (to this \w+ )?(has been |is |was )?(denied|blocked|forbidden|restricted)\b",
        r"\byou (don't|don’t|do not) have permission\b",
        r"^just a moment\b",
        r"\breview(ing)? the security of your connection\b",
        r"\byour? (ip|ip address|network|request) (has been|was|is) (blocked|flagged|denied)\b",
        r"^too many requests\b",
        r"^(security|robot|human|bot) (check|verification)\b",
        r"^press (and|&) hold\b",
        r"javascript and cookies to continue",
        r"ロボット(では|で)な(い|く)",
        r"人間(である|だという)?(こと|か)(を|どうか).{0,10}(確認|証明)",
        r"(あなた|お客様)(が|は)(人間|ロボット)",
        r"(不審|異常|通常とは?異なる|不正|自動化された)な?(アクセス|通信|トラフィック|リクエスト|操作).{0,16}(検出|検知|確認|あり|認め)",
        r"(画像|表示された|表示されている|下).{0,12}(文字|数字|英数字).{0,8}入力",
        r"(ブラウザー?|接続の安全性|接続|安全性)を?(を)?(確認|検証|チェック)(して|中)",
        r"アクセス(が|は|を).{0,8}(制限|拒否|遮断|ブロック|禁止)(され|し)",
        r"多数のアクセス",
        r"^(アクセス|セキュリティー?|認証)(の)?(確認|チェック|検証)(中)?$",
        r"^アクセス(拒否|制限|できません)",
        r"(キャプチャ|CAPTCHA)(認証)?を(完了|入力|解).{0,6}(ください|必要)",
    ),
    "cookie_wall": _any(
        r"^(please )?(enable|accept|allow|activate|turn on|switch on)\b.{0,25}\bcookies?\b",
        r"\bplease (enable|accept|allow|turn on)\b.{0,25}\bcookies?\b",
        r"\b(must|need to|have to|should)\b.{0,12}\b(enable|accept|allow|turn on|have)\b.{0,25}\bcookies?\b",
        r"\bturn cookies on\b",
        r"\bcookies? (must|need to|have to) be (enabled|accepted|allowed|turned on)",
        r"\bcookies? (is|are|seem to be) (required|disabled|blocked|turned off|switched off|not (enabled"
        r"|accepted|allowed))",
        r"\byour browser\b.{0,50}\b(not|doesn't|doesn’t|must|block\w*|refus\w*|reject\w*)\b.{0,20}\bcookies?\b",
        r"^cookies (required|disabled)",
        r"\b(requires?|uses?) cookies\b.{0,40}\b(work|function|continue|log ?in|proceed)",
        r"(クッキー|cookie).{0,20}(有効|オン|受け入れ|許可).{0,24}(ください|下さい|必要|お願い)",
        r"(クッキー|cookie)(の|を|が|は|機能|設定|\(cookie\)|（cookie）){0,4}.{0,6}(無効|オフ|ブロック|拒否)(に|で|さ|と|です)",
        r"(クッキー|cookie)(を|が)(使用|利用)(できない|できません)",
        r"(クッキー|cookie).{0,16}が必要",
    ),
    "javascript_required": _any(
        r"^(please )?(enable|activate|turn on|switch on)\b.{0,12}\bjavascript\b",
        r"\b(please|must|need to|have to) (enable|activate|turn on|have)\b.{0,16}\bjavascript\b",
        r"\b(this|the|our) (site|website|page|app|application|content)\b.{0,30}\b(requires?|needs?|without"
        r"|relies on)\b.{0,14}\bjavascript\b",
        r"\bjavascript (is|must be|has to be|needs to be|seems to be|appears to be)\b.{0,10}\b(required"
        r"|disabled|enabled|turned off|switched on|off|not)\b",
        r"\byour browser\b.{0,40}\bjavascript\b",
        r"^javascript (required|disabled)",
        r"doesn(’|')t work properly without javascript",
        r"javascript.{0,18}(有効|オン|ON)に?.{0,20}(ください|下さい|必要|お願い)",
        r"(ご利用|お使い)の.{0,24}javascript",
        r"javascript(が|の設定が|は)(無効|オフ|必要)",
    ),
    "login_wall": _any(
        r"^(please )?(log|sign)[ -]?in\b(?!.{0,24}\b(comment|reply|vote|save|share|bookmark))(?=.{0,30}\b(to"
        r"|first|again|with|or)\b)",
        r"\bplease (log|sign)[ -]?in\b",
        r"\b(must|need to|have to)\b.{0,16}\b(log(ged)?|sign(ed)?)[ -]?in\b",
        r"\b(log|sign)[ -]?in (is )?required\b",
        r"\b(restricted|available|open|visible|reserved)\b.{0,16}\b(only )?(to|for)\b.{0,16}\b(members"
        r"|registered|employees|staff|logged)",
        r"^members?[ -]only\b",
        r"\byour session (has )?(expired|timed out|ended)\b",
        r"^(log|sign)[ -]?in$",
        r"^login$",
        r"(には|には、).{0,12}(ログイン|サインイン|会員登録)が?(必要|要)",
        r"^(?!.{0,6}(コメント|投稿|保存|お気に入り)).{0,30}(ログイン|サインイン)(して|し直して|のうえ).{0,8}(ください|下さい|ご覧)",
        r"(ログイン|サインイン)が必要",
        r"会員(の方|様)?(のみ|だけ)(が|に)?(閲覧|ご覧|ご利用)",
        r"^(ログイン|サインイン)$",
        r"会員専用|会員限定(の)?(ページ|コンテンツ)",
        r"セッション.{0,14}(切れ(まし|てい|たため)|無効(です|にな)|タイムアウト|終了しま)",
    ),
    "paywall": _any(
        r"^(please )?subscribe\b.{0,24}\b(to|for)\b.{0,20}\b(read\w*|continue|unlock|access|unlimited|full|get"
        r"|more)",
        r"\b(please|or) subscribe to (continue|keep|read)",
        r"\b(subscriber|member)s?[ -](only|exclusive)\b",
        r"\b(this|the) \w+ is (only )?(available |exclusive |reserved |just )?(only )?(to|for)\b.{0,24}\b"
        r"(subscribers|paying|members)",
        r"\byou(’|'| ha)ve (reached|read|used)\b.{0,30}\b(limit|free)\b",
        r"\bfree articles? (left|remaining|this month)",
        r"^(start|begin|try)\b.{0,24}\bfree trial\b",
        r"^already a (subscriber|member)\b",
        r"^(to )?(continue|keep) reading\b.{0,40}\b(subscribe|sign up|register|log ?in|account|trial)",
        r"^(to )?(continue|keep) reading this",
        r"^unlock (this|the) (article|story)",
        r"^(to )?read the (full|rest|whole)\b.{0,40}\b(subscribe|sign up|register|log ?in|trial)",
        r"(有料|プレミアム|購読|デジタル)(会員|購読者|読者|プラン|版)?(の方)?.{0,6}(限定|専用|のみ|だけ)",
        r"続きを?(お?読み?|ご覧).{0,16}(には|登録|購読|会員|ログイン|必要)",
        r"(ここから先|この続き|この先|これより先)(は|を).{0,24}(会員|有料|購読|登録|申し込)",
        r"残り[ 　:：]?[0-9０-９,，]{1,9} ?文字",
        r"(購読|会員登録|お申し込み|ご契約)が必要(です|となり)",
        r"会員限定(の)?記事",
        r"初月無料|[0-9０-９]{1,3}[日か]?月?間?無料(体験|トライアル|お試し)",
    ),
    "soft_404": _any(
        r"^(error )?404\b(?!.{0,16}\b(is|was|means)\b)",
        r"\b(page|article|file|content|document|item|listing|post|link|url|address)\b.{0,36}\b(not (be )?found"
        r"|cannot be found|could ?n[o'’]t be found)\b",
        r"\b(page|article|file|content|document|item|listing|post|video)\b.{0,40}\b(no longer|isn(’|')t|is not"
        r"|does ?n[o'’]t|not currently)\b.{0,12}\b(exist|available|here|online)",
        r"\b(page|article|content|post|item|listing)\b.{0,30}\b(has|have|was|were|may have|might"
        r" have)\b.{0,6}\b(been )?(removed|deleted|moved|expired|taken down|unpublished)",
        r"\b(can(’|'|no)t|could ?n[o'’]t|unable to) (find|seem to find|locate)\b.{0,30}\b(page|that|what"
        r"|article|it)\b",
        r"^(page|content|article) (not found|unavailable|removed)",
        r"^not found$",
        r"\byou(’|')?(re| are| were)? (looking|searching) for\b.{0,50}\b(moved|removed|exist\w*|found"
        r"|available|gone)",
        r"(ページ|記事|ファイル|コンテンツ|お探しの|指定された|アクセスしようとした|要求された|URL|投稿|商品|情報).{0,26}(見つかり?ません|見つけられません|存在し(ません|ない)"
        r"|ございません)",
        r"(ページ|記事|ファイル|コンテンツ|投稿|商品|掲載|公開|販売).{0,16}(削除され|移動(し|され|また)|(期間)?(が|は|を)終了(し|いた))",
        r"^(404|ページが(見つ|あり)|not found)",
        r"(削除|移動)された(か、?|可能性|ため)",
    ),
    "consent_page": _any(
        r"^before you continue\b",
        r"\bwe value your privacy\b",
        r"\bwe\b.{0,12}\band\b.{0,6}\bour\b.{0,20}\bpartners\b",
        r"\bwe (use|store|process)\b.{0,40}\b(cookies|personal data|tracking)\b",
        r"\bby (selecting|clicking|choosing|continuing|pressing|using)\b.{0,50}\byou\b.{0,12}\b(agree|accept"
        r"|consent|enable|allow)",
        r"^(accept|allow|reject|decline|agree to) (all|cookies)\b",
        r"^your privacy( choices)?$",
        r"\bconsent to\b.{0,40}\b(cookies|processing|use of)",
        r"^すべて(に?同意|許可|受け入れ|拒否)",
        r"同意したもの(と|とみな)",
        r"(当社|弊社|当サイト|本サイト|パートナー).{0,50}(cookie|クッキー|端末|閲覧).{0,50}(使用|利用|保存|収集|分析)",
        r"同意のお願い|(プライバシー|データの(利用|取り扱い))に(関する|ついての)(選択|設定|同意)",
        r"続行する前に",
    ),
}
