"""A third set: wordier walls among menus and headlines. At the first look 14 of 22 were found; then they were added."""

from __future__ import annotations

from tests.providers.fetching.pages import Sample, html

_LINKS_EN = "<ul><li><a>World</a></li><li><a>Business</a></li><li><a>Rail strike enters its third week</a></li><li><a>Ten soups for cold days</a></li></ul>"
_LINKS_JA = "<ul><li><a>国際</a></li><li><a>経済</a></li><li><a>鉄道のストライキ、3週目に</a></li><li><a>寒い日のスープ十選</a></li></ul>"

WALLS = (
    Sample("bot-en", "bot_wall", html("Security verification", [
        "This site uses a protection service. We could not tell whether this request was made by a person.",
        "Drag the slider to fit the puzzle, then you will be taken to the page automatically.", "Trace: 0f3a-77"])),
    Sample("bot-en-ip", "bot_wall", html("Temporarily restricted", [
        "Our systems have detected a high number of requests from your network address.",
        "Solve the challenge below to carry on.", "IP address: 203.0.113.9"])),
    Sample("bot-ja-slider", "bot_wall", html("安全性の確認", [
        "自動プログラムによるアクセスではないことを確認しています。", "スライダーを右端まで動かしてください。"])),
    Sample("bot-ja-robot", "bot_wall", html("確認", ["あなたはロボットですか？", "チェックボックスをオンにして続行してください。"])),
    Sample("cookie-en", "cookie_wall", html("We need cookies", [
        "We noticed that cookies are turned off in your browser. Without them we cannot keep you signed in or show you this article.",
        "Here is how to switch them on."], extra=_LINKS_EN)),
    Sample("cookie-ja", "cookie_wall", html("お客様のブラウザについて", [
        "お使いのブラウザではクッキーがご利用いただけない設定になっているようです。", "設定を変更のうえ、再度アクセスしてください。"], extra=_LINKS_JA)),
    Sample("consent-en-long", "consent_page", html("Manage your consent", [
        "We, and third parties acting for us, place cookies and read information on your device.",
        "This lets us measure how our pages are used, remember your choices and tailor advertising to you.",
        "You may object to processing that rests on legitimate interest by opening the list of vendors.",
        "Your decision applies to this site only and is kept for thirteen months.", "Agree and close", "Decline"])),
    Sample("consent-ja-long", "consent_page", html("プライバシー設定", [
        "当社と提携先は、お客様の端末に情報を保存し、閲覧履歴などの個人データを取り扱います。",
        "これにより、サイトの利用状況を測定し、お客様に合わせた広告を表示します。",
        "同意はいつでも撤回いただけます。", "同意して閉じる", "拒否する"])),
    Sample("js-en", "javascript_required", html("Map viewer", [
        "Sorry, this map cannot be displayed because scripts are blocked or not supported.", "Allow JavaScript for this site, then reload."])),
    Sample("js-ja", "javascript_required", html("地図", [
        "JavaScriptがオフのため地図を表示できません。ブラウザの設定でオンにしてから再読み込みしてください。"])),
    Sample("login-en", "login_wall", html("Course materials", [
        "You are not logged in.", "These materials are available to enrolled students only.", "Continue with your university account"])),
    Sample("login-en-expired", "login_wall", html("Timed out", [
        "For your security you were signed out after 20 minutes of inactivity.", "Sign in again to return to your documents."])),
    Sample("login-ja", "login_wall", html("講義資料", [
        "ログインしていません。", "この資料は履修者のみ閲覧できます。", "学認でログイン"])),
    Sample("login-ja-timeout", "login_wall", html("タイムアウト", [
        "一定時間操作がなかったため、自動的にログアウトしました。", "お手数ですが、もう一度ログインしてください。"])),
    Sample("pay-en", "paywall", html("Why the ferry company failed", [
        "When the last ferry left Norwick in October, few on board knew it would not come back.",
        "The rest of this story is for subscribers. Join from 1 euro a week and cancel whenever you like."], extra=_LINKS_EN)),
    Sample("pay-en-meter", "paywall", html("Inside the new tunnel", [
        "The tunnel is 2.4 kilometres long.", "That was your last free article this month.", "Create an account or subscribe to keep reading."])),
    Sample("pay-ja", "paywall", html("フェリー会社はなぜ倒れたか", [
        "10月に最後の便が出たとき、戻らないと知る乗客は少なかった。", "続きは有料プランでお読みいただけます。月額980円、いつでも解約できます。"], extra=_LINKS_JA)),
    Sample("pay-ja-meter", "paywall", html("新トンネルの内部", [
        "トンネルの全長は2.4キロ。", "今月の無料記事の閲覧本数の上限に達しました。", "会員登録すると引き続きお読みいただけます。"])),
    Sample("gone-en", "soft_404", html("Hmm.", [
        "That link seems to be broken, or the page has been taken down. Try a search, or start from the front page."], extra=_LINKS_EN)),
    Sample("gone-en-job", "soft_404", html("Vacancy closed", [
        "The job posting you are looking for is no longer available.", "See all open positions"])),
    Sample("gone-ja", "soft_404", html("おっと", [
        "お探しのページは移動したか、なくなった可能性があります。検索するか、トップページからお探しください。"], extra=_LINKS_JA)),
    Sample("gone-ja-job", "soft_404", html("募集終了", ["この求人の掲載は終了しました。", "募集中の求人一覧"])),
)  # fmt: skip

LOOK_ALIKES = (
    Sample("ok-faq-en", "", html("Frequently asked questions", [
        "How do I renew my card? Bring it to the counter on the first floor; renewal is free and takes two minutes.",
        "What does a lost card cost? 5 euros, or 2 euros for children under 14.", "Can I log in with an old card? Yes, for 30 days after it expires."])),
    Sample("ok-faq-ja", "", html("よくある質問", [
        "カードの更新はどうすればよいですか。1階の窓口にお持ちください。無料で、2分ほどで終わります。",
        "紛失した場合の再発行料は500円、14歳未満は200円です。", "期限切れのカードでも30日間はログインできます。"])),
    Sample("ok-bots-en", "", html("Bots make up half of all traffic", [
        "Automated programs caused 49.6 percent of all web traffic in 2023, a report says, the highest share since counting began in 2013.",
        "Of these, 32 percent were harmful, such as those that buy up tickets.", "Sites defend themselves by checks that ask visitors to confirm that they are human."])),
    Sample("ok-bots-ja", "", html("通信の半分はボット", [
        "2023年の通信の49.6％は自動プログラムによるもので、2013年の調査開始以来最も高いと報告書は述べている。",
        "このうち32％は、チケットの買い占めなど有害なものだった。", "多くのサイトは、訪問者に人間であることの確認を求めて身を守っている。"])),
    Sample("ok-privacy-law-en", "", html("Consent under the new act", [
        "From January a company must ask before it reads information on a customer's device, unless the service needs it.",
        "A refusal has to be as easy as an agreement. The authority may fine offenders up to 4 percent of their turnover."])),
    Sample("ok-privacy-law-ja", "", html("新法における同意", [
        "1月から、事業者はサービスに必要な場合を除き、利用者の端末の情報を読み取る前に同意を得なければならない。",
        "拒否は同意と同じくらい簡単でなければならず、違反には売上高の最大4％の制裁金が科される。"])),
    Sample("ok-recall-en", "", html("Product recall", [
        "The kettle KT-20 sold between March and July has been removed from sale because its handle may come off.",
        "Owners get back the full price of 34.90 euros at any branch, also without a receipt."])),
    Sample("ok-recall-ja", "", html("製品回収のお知らせ", [
        "3月から7月に販売した電気ケトルKT-20は、取っ手が外れるおそれがあるため販売を終了しました。",
        "全国の店舗で代金4,980円を全額返金いたします。レシートは不要です。"])),
    Sample("ok-access-en", "", html("Getting here", [
        "Take tram 4 to the terminus; the entrance is opposite the stop. Access to the tower is restricted to 20 people at a time.",
        "Members enter free of charge, others pay 6 euros."])),
    Sample("ok-access-ja", "", html("アクセス", [
        "市電4番の終点で下車、入口は停留所の向かいです。塔への入場は一度に20人に制限しています。", "会員は無料、一般は600円です。"])),
    Sample("ok-error-docs-en", "", html("Error E-404 on the display", [
        "E-404 means that the pump does not find its sensor. Switch the pump off, check plug P3 and wait ten seconds.",
        "If the message stays, replace the sensor (part number 7731)."])),
    Sample("ok-error-docs-ja", "", html("表示部のエラーE-404", [
        "E-404は、ポンプがセンサーを検出できないことを示します。電源を切り、P3のプラグを確認して10秒待ってください。", "表示が消えない場合は、センサー(部品番号7731)を交換してください。"])),
    Sample("ok-membership-en", "", html("Membership", [
        "Membership costs 40 euros a year, 20 for students. Members may borrow up to twelve instruments for six weeks.",
        "To register, bring proof of address to the office on weekdays before noon."])),
    Sample("ok-membership-ja", "", html("会員制度", [
        "年会費は5,000円、学生は2,500円です。会員は楽器を12点まで6週間借りられます。", "会員登録には住所を確認できる書類が必要です。平日の午前中に事務所へお越しください。"])),
)  # fmt: skip
