"""Turns that ask nothing of the documents: greetings, thanks, goodbyes, agreement, questions about the assistant."""

from __future__ import annotations

import re

from tadasu.text.normalize import fold

_WHO = r"(?:all|everyone|everybody|there|again|team|friend|tadasu|you|folks|guys)"
_ENGLISH = (
    rf"(?:hi|hey|hello|howdy|greetings)(?: {_WHO})?",
    rf"good (?:morning|afternoon|evening|day|night)(?: {_WHO})?",
    r"how are you(?: doing)?(?: today)?|how's it going|nice to meet you",
    r"(?:(?:many|ok|okay|great|perfect) )?(?:thanks|thank you|thankyou|thx|ty|cheers)(?: again)?"
    r"(?: (?:a lot|a million|so much|very much|much|you))?(?: for (?:(?:all|the|that|this|your|everything) ?){1,2}"
    r"(?:help|answers?|info|information|time|explanation|support)?)?",
    r"much appreciated|(?:i )?appreciate it|that(?:'s| is| was)? (?:very |really |so )?(?:helpful|great|good|perfect"
    r"|all|fine|it|enough|nice|clear|interesting)(?:,? thanks?)?(?: for now)?|that helps|very helpful|helpful",
    rf"(?:good ?)?bye(?:[ -]bye)?(?: (?:for now|{_WHO}))?|see you(?: (?:later|soon|tomorrow|again))?|see ya"
    r"|have a (?:nice|good|great) (?:day|evening|weekend|one)|take care|so long|farewell|cheerio",
    r"ok|okay|o\.k|k|okey|alright|all right|fine|good|great|perfect|nice|cool|super|excellent|wonderful|awesome|wow"
    r"|yes|yeah|yep|yup|no|nope|no thanks|no thank you|sure|right|exactly|correct|i see|got it|understood|makes sense"
    r"|never ?mind|forget it|sorry|oops|hm+|ah+|oh+|please|lol|haha",
    r"(?:so )?what (?:can|do|could) you do(?: for me)?|what are you(?: (?:able to|capable of)(?: do)?)?|who are you"
    r"|(?:how )?can you help(?: me)?|help(?: me)?|how do you work|what(?:'s| is) your name"
    r"|what can i ask(?: you)?(?: about)?|are you (?:a (?:ro)?bot|an ai|human|there)|who made you|test(?:ing)?",
)
_POLITE = r"(?:ございます|ございました|です|でした|ね|よ|です(?:ね|よ)|ございます(?:ね)?|ございました)?"
_JAPANESE = (
    r"(?:こんにち[はわ]|こんばん[はわ]|おはよう(?:ございます)?|お疲れ(?:様|さま)(?:です|でした)?|おやすみ(?:なさい)?"
    r"|はじめまして|初めまして|やあ|もしもし|ごきげんよう|お世話になっております|お世話になります)",
    rf"(?:どうも|本当に|ほんとうに|大変|誠に)?(?:ありがとう|有難う|有り難う|サンキュー?){_POLITE}|あざ(?:っ)?す|どうも"
    r"|感謝します|助かりました|助かります|参考になりました|よく(?:分|わ)かりました",
    r"さようなら|さよなら|バイバイ|じゃあ?ね|では?また(?:ね|明日)?|それでは(?:また)?|また(?:ね|明日)|失礼(?:いた)?します"
    r"|失礼(?:いた)?しました",
    r"はい|いいえ|うん|ううん|ええ|(?:了解|承知)(?:です|しました|いたしました)?|(?:分|わ)かりました|(?:分|わ)かった"
    r"|なるほど(?:です)?(?:ね)?|そう(?:です|なんです)?(?:か|ね)|そうなんだ|オーケー|オッケー|(?:大丈夫|結構)です"
    r"|すみません|ごめんなさい|以上です|いいですね|すごい(?:です)?(?:ね)?|素晴らしい(?:です)?(?:ね)?|へえ|ふむ",
    r"(?:あなたは?|君は?|tadasuは?)?(?:何|なに)が(?:でき|出来)(?:ます(?:か)?|る(?:の)?)|(?:あなた|君)は(?:誰|何)(?:ですか|です|なの)?"
    r"|お名前は|名前は何ですか|使い方(?:は|を教えて(?:ください)?)?|何を(?:聞|質問でき|訊)[けきく]?(?:ます|る|ばいい)?(?:ですか|か|の)?"
    r"|元気(?:です(?:か)?)?|お元気ですか|助けて(?:ください)?|ヘルプ|テスト",
)
_PIECE = "|".join((*_ENGLISH, *_JAPANESE))
_WHOLE = re.compile(rf"(?:{_PIECE})(?: (?:{_PIECE})|(?<![A-Za-z ])(?:{_PIECE}))*", re.IGNORECASE)
_LONGEST = 120


def small_talk(text: str) -> bool:
    """Whether `text` is nothing but courtesy, agreement or a question about the assistant, in English or Japanese.

    >>> small_talk("Thanks, that helps!"), small_talk("ありがとうございます。"), small_talk("Thanks, and the price?")
    (True, True, False)
    """
    letters = (c if c.isalnum() or c in "'ー" else " " for c in fold(text)[: 2 * _LONGEST])
    words = " ".join("".join(letters).split())
    return 0 < len(words) <= _LONGEST and _WHOLE.fullmatch(words) is not None


def asks_nothing(text: str) -> bool:
    """Whether there is nothing to search for: no letter and no digit, or small talk."""
    return not any(c.isalnum() for c in text) or small_talk(text)
