"""A second set of walls and of pages that only look like walls, written before the patterns that are held against it.

Nothing in ``tadasu.text.walls`` is fitted to these pages.
"""

from __future__ import annotations

from tests.providers.fetching.pages import Sample, html

WALLS = (
    Sample("bot-en-1", "bot_wall", html("Access to this page has been denied", [
        "Press & Hold to confirm you are a human (and not a bot).", "Having an issue?",
        "Reference ID 7c2d1f50-77aa-11ee-a2c4"])),
    Sample("bot-en-2", "bot_wall", html("Pardon Our Interruption", [
        "As you were browsing something about your browser made us think you were a bot. There are a few reasons this might happen:",
        "You're a power user moving through this website with super-human speed.",
        "You've disabled cookies in your web browser.",
        "A third-party browser plugin is preventing JavaScript from running.",
        "To regain access, please make sure that cookies and JavaScript are enabled before reloading the page."])),
    Sample("bot-en-3", "bot_wall", html("Attention Required!", [
        "Sorry, you have been blocked", "You are unable to access shop.example",
        "Why have I been blocked?",
        "This website is using a security service to protect itself from online attacks. The action you just performed triggered the security solution.",
        "You can email the site owner to let them know you were blocked."])),
    Sample("bot-en-4", "bot_wall", html("Robot Check", [
        "Enter the characters you see below",
        "Sorry, we just need to make sure you're not a robot. For best results, please make sure your browser is accepting cookies.",
        "Type the characters you see in this image:", "Try different image", "Continue shopping"])),
    Sample("bot-ja-1", "bot_wall", html("アクセス確認", [
        "ご利用の環境から通常とは異なるアクセスが検出されました。", "ロボットではないことを確認するため、下の画像に表示されている文字を入力してください。",
        "送信"])),
    Sample("bot-ja-2", "bot_wall", html("しばらくお待ちください", [
        "お使いのブラウザーを確認しています。", "この処理は自動的に行われます。まもなくご希望のページに移動します。"])),
    Sample("bot-ja-3", "bot_wall", html("アクセスが制限されています", [
        "短時間に多数のアクセスがあったため、お客様からのアクセスを一時的に制限しております。",
        "恐れ入りますが、しばらく時間をおいてから再度アクセスしてください。"])),
    Sample("cookie-en-1", "cookie_wall", html("Cookies required", [
        "It looks like your browser does not accept cookies. Turn cookies on and refresh this page to continue."])),
    Sample("cookie-en-2", "cookie_wall", html("Journal of Soil Physics", [
        "Cookies must be enabled in order to view this content.",
        "Your browser must support cookies to access this journal. Please change your browser settings and try again."])),
    Sample("cookie-ja-1", "cookie_wall", html("Cookieが無効です", [
        "ブラウザのクッキーがオフになっているため、このページを表示できません。", "設定でCookieを有効にしてから、もう一度お試しください。"])),
    Sample("cookie-ja-2", "cookie_wall", html("エラー", [
        "本サービスのご利用にはクッキー(Cookie)の受け入れが必要です。ブラウザの設定をご確認ください。"])),
    Sample("consent-en-1", "consent_page", html("Before you continue", [
        "We use cookies and data to deliver and maintain our services, track outages and protect against spam, fraud and abuse.",
        "If you choose to accept all, we will also use cookies and data to develop and improve new services and to show personalised ads, depending on your settings.",
        "Reject all", "Accept all", "More options"])),
    Sample("consent-en-2", "consent_page", html("Your privacy choices", [
        "We and our 842 partners store and access personal data, like browsing data or unique identifiers, on your device.",
        "By selecting Accept you enable tracking technologies to support the purposes shown. You can change your choices at any time.",
        "I Accept", "Manage preferences"])),
    Sample("consent-ja-1", "consent_page", html("同意のお願い", [
        "当社およびパートナー企業は、お客様の端末に保存された情報にアクセスし、広告の配信や閲覧状況の分析のために利用します。",
        "「すべて同意する」を選択すると、これらの利用に同意したものとみなされます。", "すべて同意する", "設定を変更する"])),
    Sample("js-en-1", "javascript_required", html("Dashboard", ["You need to enable JavaScript to run this app."])),
    Sample("js-en-2", "javascript_required", html("Statistics portal", [
        "This site requires JavaScript. Your browser does not support JavaScript or it is turned off. Please switch it on to see the contents."])),
    Sample("js-ja-1", "javascript_required", html("統計ポータル", [
        "このサイトではJavaScriptを使用しています。ご利用のブラウザではJavaScriptが無効になっているため、内容を表示できません。"])),
    Sample("js-ja-2", "javascript_required",
           "<!DOCTYPE html><html lang='ja'><head><title>検索</title></head><body><noscript>JavaScriptをオンにしてください。</noscript>"
           "<div id='app'></div><script src='/bundle.js'></script></body></html>"),
    Sample("login-en-1", "login_wall", html("Sign in", [
        "Sign in to your account", "Email or username", "Forgot password?", "New here? Create an account"],
        extra="<form><input type='text'><input type='password'></form>")),
    Sample("login-en-2", "login_wall", html("Members only", [
        "This area is restricted to registered members. Please log in or register to view this thread."])),
    Sample("login-ja-1", "login_wall", html("ログイン", [
        "このページを閲覧するには会員登録が必要です。", "会員の方はログインしてください。", "パスワードを忘れた方はこちら"],
        extra="<form><input type=password name=p></form>")),
    Sample("login-ja-2", "login_wall", html("教職員専用", [
        "学外からアクセスする場合は、統合認証IDでのログインが必要です。", "セッションの有効期限が切れました。再度ログインしてください。"])),
    Sample("pay-en-1", "paywall", html("Tunnel opening delayed again", [
        "The opening of the harbour tunnel has been put off for a third time, officials said on Monday.",
        "You have reached your limit of free articles. Subscribe now for unlimited access.", "Already a subscriber? Log in"])),
    Sample("pay-en-2", "paywall", html("Grain prices", [
        "Prices rose in March.", "This content is exclusive to premium subscribers.", "Start your free trial to keep reading."])),
    Sample("pay-ja-1", "paywall", html("港のトンネル、開通また延期", [
        "港湾トンネルの開通が三たび延期されることが、月曜日に分かった。", "ここから先は有料会員の方のみお読みいただけます。残り 1,024 文字",
        "初月無料で申し込む"])),
    Sample("pay-ja-2", "paywall", html("穀物価格", [
        "三月の価格は上昇した。", "この続きをお読みいただくには、購読のお申し込みが必要です。"])),
    Sample("gone-en-1", "soft_404", html("Oops!", [
        "We can't find the page you're looking for. It may have moved or no longer exists.", "Go to the homepage", "Search our site"])),
    Sample("gone-en-2", "soft_404", html("Content unavailable", [
        "Sorry, the article you requested is no longer available.", "Most read", "Harbour tunnel delayed", "Grain prices rise"])),
    Sample("gone-ja-1", "soft_404", html("ページが見つかりませんでした", [
        "アクセスしようとしたページは、移動または削除された可能性があります。", "URLに間違いがないかご確認ください。", "トップページへ戻る"])),
    Sample("gone-ja-2", "soft_404", html("お知らせ", [
        "申し訳ございません。この記事は掲載期間が終了しました。", "記事一覧へ"])),
)  # fmt: skip

LOOK_ALIKES = (
    Sample("ok-cookie-article-en", "", html("What a browser cookie is", [
        "A cookie is a small piece of data that a server sends to a browser, which stores it and sends it back with later requests.",
        "Session cookies vanish when the browser is closed, while persistent cookies carry an expiry date that the server sets.",
        "Some sites refuse to work without them and show a page that asks visitors to enable cookies.",
        "Since 2011 European law has required consent before cookies that are not strictly necessary are stored."])),
    Sample("ok-cookie-article-ja", "", html("クッキーとは何か", [
        "クッキー(Cookie)は、サーバーがブラウザに保存させる小さなデータで、次の要求のときに送り返される。",
        "セッションクッキーはブラウザを閉じると消え、永続クッキーはサーバーが定めた期限まで残る。",
        "クッキーを有効にするよう求めるページを表示して、無効のままでは使えないサイトもある。",
        "欧州では2011年から、必須でないクッキーを保存する前に同意を得ることが義務づけられた。"])),
    Sample("ok-captcha-article-en", "", html("CAPTCHA", [
        "A CAPTCHA is a test that is meant to tell humans from bots. The term was coined in 2003 by researchers at Carnegie Mellon University.",
        "Early versions asked users to type distorted letters; later ones show pictures and ask which of them hold a traffic light.",
        "In 2014 Google replaced the letters by a box labelled “I'm not a robot”, which judges how the pointer moves.",
        "Studies put the time that people lose to such tests at about 500 years a day."])),
    Sample("ok-captcha-article-ja", "", html("CAPTCHAの仕組み", [
        "CAPTCHAは、利用者が人間かロボットかを見分けるための試験である。名称は2003年にカーネギーメロン大学の研究者が付けた。",
        "初期には歪んだ文字を入力させるものが多く、のちに信号機の写った画像を選ばせるものが現れた。",
        "2014年には「私はロボットではありません」という項目に印を付けるだけの方式が登場した。",
        "音声による代替手段は、視覚に障害のある人のために用意されている。"])),
    Sample("ok-howto-js-en", "", html("How to enable JavaScript in your browser", [
        "In Chrome, open Settings and choose Privacy and security, then Site settings, then JavaScript.",
        "In Firefox, type about:config into the address bar and set javascript.enabled to true.",
        "In Safari, open the Security tab of the preferences and tick the box Enable JavaScript.",
        "Reload the page afterwards; no restart is needed."])),
    Sample("ok-howto-js-ja", "", html("JavaScriptを有効にする方法", [
        "Chromeでは、設定の「プライバシーとセキュリティ」から「サイトの設定」を開き、「JavaScript」を選びます。",
        "Firefoxでは、アドレスバーにabout:configと入力し、javascript.enabledをtrueにします。",
        "Safariでは、環境設定のセキュリティタブで「JavaScriptを有効にする」にチェックを入れます。",
        "設定を変えたら、ページを再読み込みしてください。再起動は要りません。"])),
    Sample("ok-404-article-en", "", html("The HTTP status code 404", [
        "404 Not Found is a status code by which a server says that it has nothing at the address that was asked for.",
        "It was defined in the first version of the protocol in 1992; 410 Gone says that the page was removed for good.",
        "A soft 404 is an error page that is sent with status 200, which misleads search engines into indexing it."])),
    Sample("ok-404-article-ja", "", html("HTTPステータスコード404", [
        "404 Not Foundは、要求された場所に何もないことをサーバーが伝えるステータスコードである。",
        "1992年の最初の版で定められ、恒久的に削除されたことを伝える410 Goneと区別される。",
        "「ページが見つかりません」という画面を状態200で返すものはソフト404と呼ばれ、検索エンジンを誤らせる。"])),
    Sample("ok-news-with-banner-en", "", html("City library extends its hours", [
        "The city library will stay open until 21:00 on weekdays from 1 April, the council decided on Tuesday.",
        "The longer hours cost 42,000 euros a year and need two more members of staff, according to the head of the library, Jana Weiss.",
        "On Saturdays the library closes at 16:00 as before, and it stays closed on Sundays.",
        "We use cookies to improve your experience. By continuing you accept our cookie policy.", "Accept", "Log in", "Subscribe"])),
    Sample("ok-news-with-banner-ja", "", html("市立図書館、開館時間を延長", [
        "市立図書館は4月1日から、平日の閉館時間を午後9時に延長する。市議会が火曜日に決定した。",
        "費用は年間約680万円で、職員を2名増やす必要があると館長の佐々木さんは説明している。",
        "土曜日の閉館はこれまで通り午後4時で、日曜日は休館する。",
        "当サイトではCookieを使用しています。閲覧を続けると同意したものとみなします。", "同意する", "ログイン", "会員登録"])),
    Sample("ok-short-fact-en", "", html("Opening hours", [
        "The archive is open on weekdays from 9:00 to 17:00. The reading room closes at 16:30."])),
    Sample("ok-short-fact-ja", "", html("開館時間", ["文書館は平日の9時から17時まで開いています。閲覧室は16時30分に閉まります。"])),
    Sample("ok-login-help-en", "", html("Two-factor login for staff", [
        "From May all staff accounts need a second factor when logging in from outside the building.",
        "Register your phone at the service desk on the ground floor; bring your staff card, and allow ten minutes.",
        "Hardware keys are lent to those who have no phone, against a deposit of 25 euros."],
        extra="<form action='/login'><input type='password'></form>")),
    Sample("ok-login-help-ja", "", html("職員の二要素認証について", [
        "5月から、庁舎の外からログインするすべての職員に二要素認証が必要になります。",
        "1階の窓口で電話を登録してください。職員証が必要で、所要時間は約10分です。",
        "電話を持たない職員には、保証金3,000円でハードウェアキーを貸し出します。"])),
    Sample("ok-subscription-article-en", "", html("Newspaper subscriptions fall", [
        "Subscriptions to printed newspapers fell by 7.4 percent last year, to 11.2 million copies, the publishers' association said.",
        "Digital subscriptions rose to 3.1 million; most readers pay less than ten euros a month.",
        "Publishers try to win readers with free trials, after which an article ends with a request to subscribe to continue reading."])),
    Sample("ok-subscription-article-ja", "", html("新聞の購読者が減少", [
        "紙の新聞の購読部数は昨年7.4％減り、1,120万部になったと発行者協会が発表した。",
        "電子版の購読者は310万人に増え、多くは月1,500円未満を支払っている。",
        "各社は無料期間で読者を集め、その後は「続きは有料会員限定」と表示して契約を促している。"])),
)  # fmt: skip
