"""How a Japanese question leans on the one before it. Rules, precise rather than complete: in doubt it stands alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tadasu.answering.followups.contrast import ACRONYM, CODE, NAME, Entity, Lean, codes, entities, put, rival
from tadasu.text.names import proper_names

_MIXED = (
    r"引っ?越し|繰り?越し|見積も?り|手続き|取り?消し|申し?込み|締め?切り|問い?合わせ|受け?取り|支払い|払い?戻し|貸し?出し|乗り?換え"
    r"|打ち?合わせ|振り?替え|振り?込み|取り?扱い|働き方|使い方|お知らせ|お土産"
)
_RUN = r"[一-鿿々〆ヶァ-ヺーA-Za-z0-9&+/.-]"
_NOUN = rf"(?:{_MIXED}|(?<=[A-Za-z0-9]) (?=[A-Za-z0-9])|{_RUN})+"
_PHRASE = rf"{_NOUN}(?:の{_NOUN})*"
_NOUNS = re.compile(_NOUN)
_ASKING = re.compile(
    r"何(?:年|月|日|時間?|分|回|名|人|台|個|円|度|歳|週間|か月|カ月|ヶ月|種類|曜日|番|本|枚|故)?"
    r"|誰|幾ら|幾つ"
)
_OPENER = re.compile(
    r"^(?:(?:どうも)?ありがとう(?:ございま(?:す|した))?[。!、 ]*|なるほど[。!、 ]*"
    r"|(?:それでは|では|それじゃあ?|じゃあ?|それなら|あと|また|ちなみに|なお|ほかに|他に|そして|ところで)(?:、| )?"
    r"|で、|(?:その|この)うち、?)+"
)
_FRAGMENT = re.compile(
    rf"^(?P<phrase>{_NOUN}(?:の(?!場合|とき|時|ほう|方){_NOUN})*)"
    r"(?P<tail>の(?:場合|とき|時|ほう|方)(?:は|なら|には|だと)?(?:どう(?:です(?:か)?|なりますか)?)?"
    r"|(?:は|なら|だと|って|では|については?|に関しては?)(?:どう(?:です(?:か)?|なりますか|でしょうか)?)?"
    r"|も(?:同じ|同様)?(?:です)?(?:か)?)?[?!。 ]*$"
)
_IDIOMS = re.compile(
    r"その(?:他|後|際|まま|都度|ほか|うち|上で)|それ(?:ぞれ|以外)|これ(?:から|まで)|この(?:度|会社|文書|資料|ほど|国|ため)|どれ"
    r"|同じ(?:日|時)"
)
_POINTER = re.compile(
    r"(?P<of>(?:その|この|あの)(?!場合|とき|時|前|あと))|(?P<it>(?:それ|これ|あれ)ら?(?=[はがをにのでもとへ]|より|から|まで)|そちら|こちら)"
    r"|その(?:場合|とき|時|前|あと)|そこ(?=[はでにへかの])|同じ|彼女?(?=[はがをにの])|前者|後者|上記|先ほど|さっき"
)
_PLAIN_ATTRIBUTES = (
    r"価格|料金|費用|金額|単価|値段|手数料|重量|重さ|寸法|長さ|高さ|幅|容量|範囲|精度|分解能|保証|期間|期限|距離|締切|上限|下限|限度|日数|回数|人数"
    r"|年数|時間|時期|日程|予定|納期|住所|電話|番号|連絡先|担当者?|部署|メーカー|製造元|型番|バージョン|日付|状況|状態|理由|原因|例外|罰則|要件"
    r"|条件|方法|手順|手続き|流れ|違い|差|利点|欠点|電圧|消費電力|電源|間隔|周期|頻度|速度|場所|対象者?|必要|可能|有料|無料|書類|内容|詳細|注意点|目的|結果"
    r"|影響|割引|割合|率|数|名前|名称|色|サイズ|種類|開始|終了|最大|最小|最高|最低|平均|合計|総額|年間|月間|申請|承認|延長|変更|取消|キャンセル"
    r"|返品|交換|返金|登録|解約|更新|予約|修理|校正|測定|支給|利用|使用|取得|提出|購入|注文|配達|適用|有効|不要|無効|以内|以上|以下|最長|最短"
)
_ATTRIBUTE = re.compile(rf"(?:{_PLAIN_ATTRIBUTES}|{_MIXED}|[0-9]+)+")
_TOPIC = re.compile(rf"({_PHRASE})(?=は|が|を|について|って|には|では|に|で)")
_ONLY_ASKS = re.compile(
    r"(?:それは)?(?:なぜ|どうして|何故|いつ|どこ|誰|どのくらい|どれくらい|いくら|いくつ|何[一-鿿]{0,2})(?:まで|から|で|に|が|へ|頃|ごろ|以内)?"
    r"(?:です|でしょう|なの)?か?[?。]*"
)
# A noun that is the verb: 誰が設立しましたか.
_VERBAL = re.compile(
    r"(?<![一-鿿々ァ-ヺーA-Za-z0-9])(?:[一-鿿]{2}|[ァ-ヺー]{3,})(?=し(?:ま|て|た|な)|され|する|でき|せず)"
)
_CASE = re.compile(rf"^{_PHRASE}の場合、")
_ANCHOR = re.compile(r"^([^::?。]{1,80}): (?=\S)")
_FILLED = (CODE, NAME, ACRONYM)


def lean(text: str) -> Lean:
    """How the folded question `text` leans on the one before."""
    body = _body(text)
    fragment = _FRAGMENT.match(body)
    if fragment and (fragment["tail"] or text.rstrip().endswith("?")) and not _ASKING.search(fragment["phrase"]):
        parts = _parts(fragment["phrase"])
        if len(parts) == 1 or (fragment["tail"] or "").startswith("の") or all(map(_only_limits, parts)):
            return Lean.CONTRAST
        return Lean.COMPLETE
    if _pointer(body):
        return Lean.POINTS_BACK
    if proper_names(body) or codes(body):
        return Lean.COMPLETE
    if "、" in body and _nouns(body[: body.index("、")]):
        return Lean.COMPLETE
    said = [noun for noun in _nouns(_VERBAL.sub("", body)) if not _is_attribute(noun)]
    return Lean.COMPLETE if said else Lean.BARE


def contrasted(text: str, previous: str) -> str:
    """The `previous` question with what the fragment `text` names in its place; empty where that is not clear."""
    body = _body(text)
    fragment = _FRAGMENT.match(body)
    if fragment is None:
        return ""
    phrase, case = fragment["phrase"], (fragment["tail"] or "").startswith("の")
    new = entities(phrase)
    swapped, rest = _swapped(new, phrase, previous)
    if swapped and not any(part and not _is_attribute(part) and part not in previous for part in rest):
        return swapped
    if any(one.kind in _FILLED for one in new) and not case and any(not _is_attribute(part) for part in rest):
        return text
    if not _JAPANESE.search(previous):
        return ""
    if case or any(one.kind not in _FILLED for one in new):
        return f"{phrase}の場合、{_CASE.sub('', previous)}"
    return _exchanged(phrase, body, previous)


def topic(previous: str) -> list[str]:
    """What `previous` is about, in its own words: its codes, else the phrase that it makes its topic."""
    found = codes(previous)
    if found:
        return found[:3]
    plain = _CASE.sub("", previous)
    anchor = _ANCHOR.match(plain)
    body = plain[anchor.end() :] if anchor else plain
    phrase = _topic_phrase(body)
    if phrase:
        about = _owners(_parts(phrase))
        if about:
            return ["の".join(about)]
    if anchor:
        return anchor.group(1).split("、")[:3]
    others = [noun for noun in _nouns(body) if not _is_attribute(noun)]
    return others[:2] or ([phrase] if phrase else [])


def continued(text: str, previous: str) -> str:
    """`previous` and the question `text` behind it, where `text` only asks (「いつまでですか」); else empty."""
    body = _body(text)
    if not _ONLY_ASKS.fullmatch(body):
        return ""
    whole = [part for part in re.split(r"(?<=[?。])", previous) if part and not _ONLY_ASKS.fullmatch(part)]
    before = "".join(whole).rstrip()
    return f"{before}{'' if before.endswith(('?', '。')) else '。'}{body}" if before else ""


def joined(question: str, parts: Sequence[str]) -> str:
    """`question` with its topic in the place of the word that points at it, or in front."""
    body = _body(question)
    subject = "と".join(parts)
    pointer = _pointer(body)
    if pointer and pointer.lastgroup == "of":
        noun = _NOUNS.match(body, pointer.end())
        end = noun.end() if noun and noun.group() in subject else 0
        return body[: pointer.start()] + (subject + body[end:] if end else f"{subject}の{body[pointer.end() :]}")
    if pointer and pointer.lastgroup == "it":
        return body[: pointer.start()] + subject + body[pointer.end() :]
    if not pointer and re.match(rf"{_PHRASE}(?:は|が|を|に|って|なら|[?。]|$)", body) and not _ASKING.match(body):
        return f"{subject}の{body}"
    return f"{'、'.join(parts)}: {body}"


_JAPANESE = re.compile(r"[ぁ-ゖァ-ヺ一-鿿]")


def _body(text: str) -> str:
    opener = _OPENER.match(text)
    return text[opener.end() :].strip() if opener and len(text) > opener.end() else text.strip()


def _parts(phrase: str) -> list[str]:
    return phrase.split("の")


def _is_attribute(noun: str) -> bool:
    return _ATTRIBUTE.fullmatch(noun) is not None


def _ends_as_attribute(noun: str) -> bool:
    """Whether `noun` is an attribute, or one with two letters that say which: 充電時間, 営業時間, 航続距離."""
    return _is_attribute(noun) or (len(noun) > 2 and _is_attribute(noun[2:]))


def _owners(parts: Sequence[str]) -> list[str]:
    """What has the attributes among `parts`."""
    owners = [part for part in parts if not _is_attribute(part)]
    return [*owners[:1], *(part for part in owners[1:] if not _ends_as_attribute(part))]


def _only_limits(part: str) -> bool:
    """Whether `part` only narrows a question: a place, a group, an attribute."""
    return _is_attribute(part) or any(one.text == part and one.kind not in _FILLED for one in entities(part))


def _nouns(body: str) -> list[str]:
    """Nouns of `body`, without the words that ask and without the stems of verbs and adjectives (高い, 測ります)."""
    plain = _ASKING.sub(lambda match: " " * len(match.group()), body)
    found: list[str] = []
    for match in _NOUNS.finditer(plain):
        noun, after = match.group().strip(), plain[match.end() : match.end() + 1]
        stem = len(noun) == 1 and re.match(r"[ぁ-ゖ]", after) and after not in "はがをにのでともへや"
        if noun and not stem:
            found.append(noun)
    return found


def _pointer(body: str) -> re.Match[str] | None:
    """The word in `body` that points back, where nothing in `body` explains it."""
    hidden = _IDIOMS.sub(lambda match: "〓" * len(match.group()), body)
    match = _POINTER.search(hidden)
    if match is None:
        return None
    before = hidden[: match.start()]
    if "、" in before and _nouns(before):
        return None
    if match.lastgroup == "of":
        phrase = re.compile(_PHRASE).match(body, match.end())
        if phrase and any(one.kind in _FILLED for one in entities(phrase.group())):
            return None
    return match


def _swapped(new: Sequence[Entity], phrase: str, previous: str) -> tuple[str, list[str]]:
    """`previous` with each of `new` in its rival's place (empty where one has none), and what else `phrase` holds."""
    swapped, left = previous, phrase
    for one in new:
        left = left.replace(one.text, " ", 1)
        old = rival(one, previous)
        swapped = put(swapped, old, one.text) if old and swapped else ""
    return (swapped if new else ""), [part for part in re.split(r"[ の]+", left) if part]


def _topic_phrase(body: str) -> str:
    """The phrase before the first particle that marks what is asked about."""
    for match in _TOPIC.finditer(body):
        if not _ASKING.search(match.group(1)) and (_nouns(match.group(1) + "は")):
            return match.group(1)
    fragment = _FRAGMENT.match(body)
    return fragment["phrase"] if fragment else ""


def _exchanged(phrase: str, body: str, previous: str) -> str:
    """`previous` with its topic, or the last part of it, exchanged for `phrase`."""
    plain = _CASE.sub("", previous)
    anchor = _ANCHOR.match(plain)
    old = _topic_phrase(plain[anchor.end() :] if anchor else plain) or (anchor.group(1) if anchor else "")
    if not old:
        return ""
    parts = _parts(old)
    if _ends_as_attribute(phrase):
        owner = _owners(parts)
        case = _CASE.match(previous)
        return f"{case.group() if case else ''}{'の'.join(owner)}の{body}" if owner else ""
    alike = [part for part in parts if part[-1] == phrase[-1] and not _is_attribute(part)]
    place = parts.index(alike[-1]) if alike else len(parts) - 1
    if not alike and _is_attribute(parts[-1]) and len(parts) > 1:
        place = len(parts) - 2
    exchanged = "の".join([*parts[:place], phrase, *parts[place + 1 :]])
    return previous.replace(old, exchanged, 1)
