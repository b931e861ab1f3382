"""The same said in another form: politely, shorter, with other figures' signs, as a statement made from a question.

Applied to right and wrong claims alike, so that the form says nothing about which is which.
"""

from __future__ import annotations

import random
import re

_POLITE = (
    (re.compile(r"である。$"), "です。"),
    (re.compile(r"であった。$"), "でした。"),
    (re.compile(r"だった。$"), "でした。"),
    (re.compile(r"ではない。$"), "ではありません。"),
    (re.compile(r"(?<=[してれきぎじちにびみりえけげせぜてねべめ])ている。$"), "ています。"),
    (re.compile(r"ている。$"), "ています。"),
    (re.compile(r"ていた。$"), "ていました。"),
    (re.compile(r"された。$"), "されました。"),
    (re.compile(r"される。$"), "されます。"),
    (re.compile(r"した。$"), "しました。"),
    (re.compile(r"する。$"), "します。"),
    (re.compile(r"なった。$"), "なりました。"),
    (re.compile(r"れた。$"), "れました。"),
    (re.compile(r"れる。$"), "れます。"),
    (re.compile(r"ある。$"), "あります。"),
    (re.compile(r"あった。$"), "ありました。"),
    (re.compile(r"いる。$"), "います。"),
)
_BRACKETS = re.compile(r"\s*[(（][^()（）]{1,60}[)）]")
_WIDE = str.maketrans("0123456789", "０１２３４５６７８９")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3})")
_LEADING = {
    "ja": re.compile(r"^(?:また|なお|しかし|そして|さらに|ただし|このため|そのため|一方|その後|当時|現在)、"),
    "en": re.compile(r"^(?:However|Moreover|Furthermore|In addition|Also|Therefore|Thus|Later|Then), "),
}
_CUT = {"ja": re.compile(r"(?<=[がしりいにで])、"), "en": re.compile(r", (?:and|but|while|which|where|who) |; ")}
_SHORTEST = {"ja": 14, "en": 40}


def reformed(sentence: str, language: str, chance: random.Random) -> str:
    """`sentence` as it is, or in another form."""
    if language == "ja" and chance.random() < _POLITELY:
        sentence = polite(sentence)
    if chance.random() < _SELDOM:
        sentence = _BRACKETS.sub("", sentence)
    if chance.random() < _OFTEN:
        sentence = _LEADING[language].sub("", sentence)
    if chance.random() < _SELDOM:
        sentence = _GROUPED.sub("", sentence)
    if language == "ja" and chance.random() < _SELDOM / 2:
        sentence = sentence.translate(_WIDE)
    return stopped(sentence, language, chance)


_POLITELY, _OFTEN, _SELDOM = 0.5, 0.6, 0.25


def polite(sentence: str) -> str:
    """In the polite form, where the end of the sentence has one of the usual plain forms.

    >>> polite("紫式部が書いた物語である。"), polite("三年後に廃止された。")
    ('紫式部が書いた物語です。', '三年後に廃止されました。')
    """
    for pattern, ending in _POLITE:
        changed = pattern.sub(ending, sentence)
        if changed != sentence:
            return changed
    return sentence


def stopped(sentence: str, language: str, chance: random.Random) -> str:
    """With or without a full stop, which must not tell anything."""
    bare = sentence.rstrip("。. ")
    return bare if chance.random() < _SELDOM else bare + {"ja": "。", "en": "."}[language]


def pieces(sentence: str, language: str) -> list[str]:
    """The sentence's clauses that can stand alone as a shorter claim, if it has more than one."""
    found = [one.strip() for one in _CUT[language].split(sentence)]
    return [one for one in found if len(one) >= _SHORTEST[language]] if len(found) > 1 else []


_ASKED_JA = re.compile(
    r"(?:何という[^\s、。]{1,8}?|何(?:年|月|日|人|歳|世紀|回|番目|メートル|キロ|円|時間|種類|つ|月何日|年何月)|どのような[^\s、。]{1,8}?|"
    r"どの[^\s、。はがをにで]{1,6}|どこ|だれ|誰|いつ|いくつ|いくら|何|なに)"
)
_END_JA = re.compile(r"(?:のですか|のでしょうか|ですか|でしょうか|のか|か)?[?？。]*$")
_ENDING = (
    (re.compile(r"ました(?:か)?[?？。]*$"), "ました。"),
    (re.compile(r"ます(?:か)?[?？。]*$"), "ます。"),
    (re.compile(r"でした(?:か)?[?？。]*$"), "でした。"),
    (re.compile(r"(?<=た)(?:か|の|のか)?[?？。]*$"), "。"),
)


def statement(question: str, answer: str, language: str) -> str:
    """A statement that answers `question` with `answer`; empty where no simple one can be made.

    >>> statement("源氏物語の作者は誰ですか。", "紫式部", "ja"), statement("Who wrote Hamlet?", "Shakespeare", "en")
    ('源氏物語の作者は紫式部です。', 'Shakespeare wrote Hamlet.')
    >>> statement("What is the capital of France?", "Paris", "en")
    'The capital of France is Paris.'
    >>> statement("彼は何年に生まれましたか?", "1912年", "ja")
    '彼は1912年に生まれました。'
    """
    return _statement_ja(question, answer) if language == "ja" else _statement_en(question, answer)


def _statement_ja(question: str, answer: str) -> str:
    found = list(_ASKED_JA.finditer(question))
    if len(found) != 1:
        return ""
    before, after = question[: found[0].start()], question[found[0].end() :]
    for pattern, ending in _ENDING:
        changed = pattern.sub(ending, after)
        if changed != after and pattern.search(after):
            return before + answer + changed
    rest = _END_JA.sub("", after)
    if rest in {"", "だ", "である", "だった"}:
        return f"{before}{answer}です。"
    return ""


_SUBJECT_EN = re.compile(
    r"^(?:Who|What|Which [a-z]+(?: [a-z]+)?) (?!is |was |are |were |did |does |do )([a-z]+(?:ed|s|t|e|d|k|n) .+?)\??$"
)
_BE_EN = re.compile(r"^(?:Who|What) (is|was|are|were) (.+?)\??$")
_WHERE_EN = re.compile(
    r"^(When|Where|In what year|In which year) (?:was|were) (.+?) ([a-z]+ed|born|built|held|found|made)\??$"
)


def _statement_en(question: str, answer: str) -> str:
    if match := _SUBJECT_EN.match(question):
        return f"{answer[:1].upper()}{answer[1:]} {match[1]}."
    if (match := _BE_EN.match(question)) and not re.search(r" (?:by|of|for|to|in)$", match[2]):
        return f"{match[2][:1].upper()}{match[2][1:]} {match[1]} {answer}."
    if match := _WHERE_EN.match(question):
        place = answer if answer.startswith("in ") else f"in {answer}"
        return f"{match[2][:1].upper()}{match[2][1:]} was {match[3]} {place}."
    return ""
