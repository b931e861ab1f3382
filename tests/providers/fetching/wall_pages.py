"""Walls, and pages that only look like walls, in English and Japanese pairs: the set that the patterns were made with."""

from __future__ import annotations

from tests.providers.fetching.pages import Sample, html

_SCRIPT = "<script src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1'></script>"

WALLS = (
    Sample("bot-en", "bot_wall", html("Just a moment...", [
        "Verifying you are human. This may take a few seconds.",
        "weather.example needs to review the security of your connection before proceeding.", "Ray ID: 83fa0c1d2b"])),
    Sample("bot-ja", "bot_wall", html("セキュリティチェック", [
        "続行するには、あなたが人間であることを確認してください。", "weather.exampleは、続行する前に接続の安全性を確認する必要があります。"])),
    Sample("captcha-en", "bot_wall", html("One more step", [
        "Please complete the security check to access docs.example.",
        "Why do I have to complete a CAPTCHA?", "Completing the CAPTCHA proves you are a human and gives you temporary access."])),
    Sample("captcha-ja", "bot_wall", html("認証", ["不審なアクセスが検出されました。", "画像に表示されている文字を入力してください。"])),
    Sample("vendor-en", "bot_wall", html("docs.example", ["docs.example"], head=_SCRIPT)),
    Sample("vendor-ja", "bot_wall", html("天気の例", ["少々お待ちください"], head=_SCRIPT)),
    Sample("denied-en", "bot_wall", html("Access Denied", ["You don't have permission to access this resource on this server."])),
    Sample("denied-ja", "bot_wall", html("アクセス拒否", ["お使いのネットワークからのアクセスは制限されています。"])),
    Sample("cookie-en", "cookie_wall", html("Please enable cookies", [
        "Your browser is currently set to block cookies. You must enable cookies to use this site."])),
    Sample("cookie-ja", "cookie_wall", html("Cookieを有効にしてください", [
        "お使いのブラウザはCookieを受け入れない設定になっています。", "このサイトを利用するには、Cookieを有効にしてください。"])),
    Sample("consent-en", "consent_page", html("We value your privacy", [
        "We and our partners store and/or access information on a device, such as cookies, and process personal data.",
        "With your permission we and our partners may use precise geolocation data.", "Accept all", "Manage options"])),
    Sample("consent-ja", "consent_page", html("続行する前に", [
        "当社は、サービスの提供と維持のためにCookieとデータを使用します。", "「すべて同意」を選択した場合、広告の表示にも使用します。", "すべて同意", "すべて拒否"])),
    Sample("js-en", "javascript_required", html("Reports", ["JavaScript is disabled in your browser. Please enable JavaScript to view this page."])),
    Sample("js-ja", "javascript_required", html("報告書", ["ご利用のブラウザではJavaScriptが無効になっています。JavaScriptを有効にしてください。"])),
    Sample("app-en", "javascript_required",
           "<html><head><title>App</title></head><body><div id='root'></div><noscript>You need to enable JavaScript to run this app."
           "</noscript><script src='main.js'></script></body></html>"),
    Sample("app-ja", "javascript_required",
           "<html><head><title>アプリ</title></head><body><div id='root'></div><script src='main.js'></script></body></html>"),
    Sample("login-en", "login_wall", html("Log in", ["Please log in to continue.", "Username", "Password", "Forgot your password?"],
                                          extra="<form><input type='password'></form>")),
    Sample("login-ja", "login_wall", html("ログイン", ["続けるにはログインしてください。", "ユーザー名", "パスワード", "パスワードをお忘れの方"],
                                          extra="<form><input type='password'></form>")),
    Sample("member-en", "login_wall", html("Forum", ["You must be logged in to view this topic.", "Register"])),
    Sample("member-ja", "login_wall", html("掲示板", ["この話題を見るには会員登録が必要です。", "新規登録"])),
    Sample("pay-en", "paywall", html("Dam repairs begin", [
        "Repairs to the upper dam began on Thursday after two years of planning.", "Subscribe to continue reading this article.", "Already a subscriber? Sign in."])),
    Sample("pay-ja", "paywall", html("ダムの補修始まる", [
        "上流ダムの補修工事が2年の準備を経て木曜日に始まった。", "この記事は有料会員限定です。続きを読むには会員登録が必要です。", "残り: 842文字"])),
    Sample("gone-en", "soft_404", html("Page not found", ["The page you requested could not be found.", "Return to the home page"])),
    Sample("gone-ja", "soft_404", html("ページが見つかりません", ["お探しのページは見つかりませんでした。", "トップページに戻る"])),
    Sample("removed-en", "soft_404", html("Example News", ["This article has been removed."])),
    Sample("removed-ja", "soft_404", html("ニュースの例", ["この記事は削除されました。"])),
    Sample("empty-en", "empty", "<html><head><title></title></head><body><div></div></body></html>"),
    Sample("empty-ja", "empty", "<html lang='ja'><body>　</body></html>"),
)  # fmt: skip

LOOK_ALIKES = (
    Sample("cookies-en", "", html("Cookie law in practice", [
        "The directive of 2009 asks for consent before a site stores cookies that are not necessary for its service.",
        "A survey of 1,000 sites found banners on 62 percent of them, and half of those offered no way to refuse.",
        "Courts have held that continuing to scroll is no consent."])),
    Sample("cookies-ja", "", html("Cookie規制の実際", [
        "2009年の指令は、サービスに必要でないCookieを保存する前に同意を得ることを求めている。",
        "1,000のサイトを調べたところ、62％に同意を求める表示があり、その半数には拒否する手段がなかった。",
        "スクロールを続けることは同意に当たらないとする判決がある。"])),
    Sample("captcha-en", "", html("How well do CAPTCHAs work?", [
        "Researchers tested 200 sites and found that software solves a CAPTCHA in under a second with an accuracy of 96 percent.",
        "People needed between 9 and 15 seconds and were right in 50 to 84 percent of the cases.",
        "The authors conclude that the test no longer tells the two apart."])),
    Sample("captcha-ja", "", html("CAPTCHAはどこまで有効か", [
        "研究者が200のサイトを調べたところ、ソフトウェアは1秒未満で96％の精度でCAPTCHAを解いた。",
        "人間は9秒から15秒を要し、正答率は50％から84％だった。", "著者らは、この試験はもはや両者を区別できないと結論している。"])),
    Sample("policy-en", "", html("Password policy", [
        "Passwords have at least 12 characters and are changed only after an incident.",
        "Five failed attempts lock an account for 30 minutes; the service desk can unlock it earlier.",
        "Sessions end after 8 hours."])),
    Sample("policy-ja", "", html("パスワード規程", [
        "パスワードは12文字以上とし、事故のあったときに限り変更する。", "5回続けて失敗した口座は30分間使えなくなり、窓口が早めに解除できる。", "セッションは8時間で終了する。"])),
    Sample("moved-en", "", html("Office moved", [
        "The registry office has moved to 14 Mill Lane. It was removed from the old town hall because of its roof.",
        "Opening hours are unchanged: Monday to Thursday from 8:30 to 15:30, Friday until 12:00."])),
    Sample("moved-ja", "", html("事務所移転のお知らせ", [
        "登録事務所は水車通り14番地に移転しました。旧庁舎の屋根の工事によるものです。", "受付時間は変わらず、月曜日から木曜日が8時30分から15時30分、金曜日は12時までです。"])),
    Sample("short-en", "", html("Fee", ["The fee is 12 euros."])),
    Sample("short-ja", "", html("料金", ["手数料は1,200円です。"])),
    Sample("noscript-en", "", html("Tide table", [
        "High water on 3 March is at 04:12 and 16:40, low water at 10:25 and 22:51.", "All times are local."],
        extra="<noscript>Please enable JavaScript to see the animated map.</noscript>")),
    Sample("noscript-ja", "", html("潮汐表", [
        "3月3日の満潮は4時12分と16時40分、干潮は10時25分と22時51分である。", "時刻はすべて現地時間による。"],
        extra="<noscript>地図を見るにはJavaScriptを有効にしてください。</noscript>")),
    Sample("comments-en", "", html("Bridge closed for repairs", [
        "The old bridge is closed from 6 to 20 June while its bearings are replaced.", "Buses of line 7 are diverted over the northern bridge and take ten minutes longer.",
        "Log in to leave a comment."], extra="<form><input type='password'></form>")),
    Sample("comments-ja", "", html("橋の補修に伴う通行止め", [
        "旧橋は支承の交換のため6月6日から20日まで通行止めになります。", "7系統のバスは北橋を迂回し、所要時間が10分長くなります。", "コメントするにはログインしてください。"],
        extra="<form><input type='password'></form>")),
)  # fmt: skip
