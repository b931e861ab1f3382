"""A fourth set, in unusual words on purpose. At the first look 4 of 14 walls were found; then they were added."""

from __future__ import annotations

from tests.providers.fetching.pages import Sample, html

WALLS = (
    Sample("bot-en", "bot_wall", html("One moment", [
        "Before we show you this page we want to be certain that a person is asking for it.", "Tick the box to go on."])),
    Sample("bot-ja", "bot_wall", html("ご確認のお願い", [
        "不正利用を防ぐため、画像認証をお願いしております。", "表示された画像のうち、自転車が写っているものをすべて選択してください。"])),
    Sample("cookie-en", "cookie_wall", html("Browser settings", [
        "To use the catalogue your browser has to accept cookies. Change the setting and try once more."])),
    Sample("cookie-ja", "cookie_wall", html("ご注意", ["蔵書検索のご利用にあたっては、クッキーを受け付ける設定にしてください。"])),
    Sample("consent-en", "consent_page", html("Your data, your choice", [
        "With your agreement we and selected companies use identifiers to show you advertising that fits your interests.", "Yes, I agree", "No, thank you"])),
    Sample("consent-ja", "consent_page", html("データの利用について", [
        "本サイトは、広告を最適化するため、お客様の閲覧情報を第三者に提供することがあります。", "同意する", "同意しない"])),
    Sample("js-en", "javascript_required", html("Timetable", ["The timetable needs JavaScript, which your browser has turned off."])),
    Sample("js-ja", "javascript_required", html("時刻表", ["時刻表の表示にはJavaScriptが必要です。"])),
    Sample("login-en", "login_wall", html("Intranet", ["Access to this document requires authentication. Use your staff number and password."])),
    Sample("login-ja", "login_wall", html("社内文書", ["この文書を開くには認証が必要です。社員番号とパスワードを入力してください。"])),
    Sample("pay-en", "paywall", html("The price of salt", [
        "Salt has become dearer for the fourth year running.", "Want to read on? Choose a plan that suits you."])),
    Sample("pay-ja", "paywall", html("塩の値段", ["塩の値上がりは4年連続となった。", "記事の全文は電子版の読者だけがお読みになれます。"])),
    Sample("gone-en", "soft_404", html("Nothing here", ["There is nothing at this address. Perhaps it was mistyped."])),
    Sample("gone-ja", "soft_404", html("該当なし", ["ご指定のアドレスには何もありません。入力に誤りがないかお確かめください。"])),
)  # fmt: skip

LOOK_ALIKES = (
    Sample("ok-locker-en", "", html("Lockers", ["Lockers take a 1 euro coin, which you get back. Please empty yours before closing time."])),
    Sample("ok-locker-ja", "", html("ロッカー", ["ロッカーには100円硬貨が必要で、使用後に戻ります。閉館までに荷物をお取りください。"])),
    Sample("ok-wifi-en", "", html("Wireless network", [
        "The network is called Norwick-Guest. You sign in with the number of your library card; a session lasts four hours."])),
    Sample("ok-wifi-ja", "", html("無線LAN", ["ネットワーク名はNorwick-Guestです。図書館カードの番号でログインし、1回4時間まで使えます。"])),
    Sample("ok-support-en", "", html("Reset your password", [
        "Send a message to help@example.com from your private address. A new password is made within one working day and is valid for a week."])),
    Sample("ok-support-ja", "", html("パスワードの再設定", ["登録したアドレスからhelp@example.comにご連絡ください。新しいパスワードは1営業日以内に発行され、1週間有効です。"])),
    Sample("ok-magazine-en", "", html("Our magazine", ["Harbour Life appears in March and September. A subscription costs 18 euros a year, including postage."])),
    Sample("ok-magazine-ja", "", html("機関誌について", ["『港のくらし』は3月と9月に発行します。年間購読料は送料込みで2,400円です。"])),
    Sample("ok-cookies-food-en", "", html("Oat cookies", ["Mix 200 g of oats with 100 g of butter and an egg. Bake the cookies for 12 minutes at 180 °C."])),
    Sample("ok-cookies-food-ja", "", html("オートミールクッキー", ["オートミール200gにバター100gと卵1個を混ぜます。180度で12分焼くとクッキーの出来上がりです。"])),
    Sample("ok-closed-en", "", html("Footpath closed", ["The path along the east pier is closed until 12 May. Please use the stairs at the lighthouse."])),
    Sample("ok-closed-ja", "", html("遊歩道の通行止め", ["東埠頭の遊歩道は5月12日まで通行できません。灯台横の階段をご利用ください。"])),
)  # fmt: skip
