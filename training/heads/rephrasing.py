"""The same said with other words or in another order, by rules: what an answering model does to a sentence.

Only what surely says the same: passive and active, a date or place moved to the front, "it was in 1884 that", a shorter
name for what the sentence is about, words that stand for each other everywhere.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping

_IRREGULAR = """
written:wrote built:built made:made sung:sang given:gave taken:took won:won led:led held:held
bought:bought sold:sold found:found shot:shot drawn:drew known:knew begun:began driven:drove
beaten:beat taught:taught brought:brought
"""
_PAST = dict(one.split(":") for one in _IRREGULAR.split())
_PASSIVE = re.compile(
    rf"^(?P<what>[A-Z][^,;()]{{2,70}}?) (?:was|were) (?P<verb>[a-z]+ed|{'|'.join(_PAST)}) by "
    r"(?P<who>(?:the )?[A-Z][^,;.()]{1,50}?)(?P<rest>(?: (?:in|on|at) [^,;()]{3,40})?)\.?$"
)
_TRAILING = re.compile(r"^(?P<said>[A-Z][^;()]{12,160}?),? (?P<when>(?:in|on|since|during) [^,;()]{3,40}\d{4})\.?$")
_FRONT = re.compile(r"^(?P<when>(?:In|On|Since|During|By) [^,;()]{3,30}), (?P<said>[^;()]{12,160})$")
_LONG_NAME = re.compile(
    r"^(?P<head>The [a-z]+) (?:of|over|in|at|near|for) (?:the )?[A-Z][\w-]+(?: [A-Z][\w-]+)* (?=was|is|has|were)"
)
_MIDDLE = re.compile(r"^(?P<name>[A-Z][\w.'-]+(?: [A-Z][\w.'-]+)+), [^,;]{3,60}, (?=was|is|has|were|became|had)")
_WORDS_EN = """
founded=established started=began bought=purchased wrote=authored film=movie films=movies
biggest=largest large=big located=situated currently=now died=passed_away received=got created=made
because=since assist=help many=numerous often=frequently city=town help=aid shows=demonstrates
uses=employs built=constructed near=close_to several=a_number_of begin=start ended=finished
child=kid children=kids teaches=instructs job=occupation nation=country nations=countries
abolished=done_away_with also=in_addition major=important
"""
_WORDS_JA = """
設立=創設 創立=設立 開始=スタート 約=およそ 死去し=亡くなっ 購入し=買っ 建設さ=建てら
行われ=実施さ 最大の=一番大きな 映画=映像作品 多くの=たくさんの 最も=一番 現在=いま
のち=あと 著名な=有名な 困難=難しい 使用した=使った 使用して=使って 使用さ=使わ
利用した=使った 利用して=使って 開催さ=開か 作成し=作っ 製作さ=作ら 制作さ=作ら
発売さ=売り出さ 廃止さ=取りやめら 開通し=通じ 出生=誕生 生まれた=誕生した 別名=別の名
位置する=ある 所在する=ある 述べた=語った 述べて=語って 呼ばれて=称されて
呼ばれる=称される 名付けた=命名した 以前=前 以後=後 全て=すべて 様々な=さまざまな
及び=および 若しくは=または
"""
_JA_TIME = r"(?:\d{3,4}年(?:\d{1,2}月)?(?:\d{1,2}日)?|\d{1,2}月\d{1,2}日|(?:明治|大正|昭和|平成)\d{1,2}年)"
_JA_TOPIC = r"(?P<topic>[^、。はが]{2,30}[はが])"
_JA_WHEN = rf"(?P<when>{_JA_TIME}(?:\([^()]*\))?に)"
_JA_REST = r"(?P<said>[^。]{4,120}。?)$"
_JA_TOPIC_TIME = re.compile(f"^{_JA_TOPIC}、?{_JA_WHEN}、?{_JA_REST}")
_JA_TIME_TOPIC = re.compile(f"^{_JA_WHEN}、?{_JA_TOPIC}、?{_JA_REST}")
_JA_CLEFT = re.compile(
    rf"^(?P<topic>[^、。はが]{{2,30}})[はが]、?(?P<when>{_JA_TIME})に(?P<said>[^、。]{{2,40}}た)。?$"
)
_JA_LONG = re.compile(r"^[^はがの、。「」]{2,15}の(?P<head>[^はがの、。「」]{1,12}[はが])")
_JA_ASIDE = re.compile(
    r"^(?P<topic>[^、。]{2,20}は)、[^、。]{2,25}(?:で|に|から|まで|により|によって)、(?=[^、。]{4,})"
)


def rephrased(sentence: str, language: str, chance: random.Random) -> str:
    """`sentence` with up to two of the changes that fit it, or as it is."""
    changes = list(_CHANGES[language])
    chance.shuffle(changes)
    done = 0
    for change in changes:
        made = change(sentence, chance)
        if made != sentence:
            sentence = made
            done += 1
            if done == _MOST:
                break
    return sentence


_MOST = 2


def _actively(sentence: str, _: random.Random) -> str:
    match = _PASSIVE.match(sentence)
    if match is None:
        return sentence
    verb = _PAST.get(match["verb"], match["verb"])
    who = match["who"]
    return f"{who[:1].upper()}{who[1:]} {verb} {_lowered(match['what'])}{match['rest']}."


def _lowered(words: str) -> str:
    """Without the capital of an article or pronoun that began a sentence."""
    first, _, rest = words.partition(" ")
    return (
        f"{first.lower()} {rest}" if first in {"The", "A", "An", "This", "That", "His", "Her", "Its", "It"} else words
    )


def _date_first(sentence: str, _: random.Random) -> str:
    match = _TRAILING.match(sentence)
    if match is None:
        return sentence
    when = match["when"]
    return f"{when[:1].upper()}{when[1:]}, {_lowered(match['said'])}."


def _date_last(sentence: str, _: random.Random) -> str:
    match = _FRONT.match(sentence)
    if match is None:
        return sentence
    said = match["said"].rstrip(". ")
    when = match["when"]
    return f"{said[:1].upper()}{said[1:]} {when[:1].lower()}{when[1:]}."


def _date_stressed(sentence: str, chance: random.Random) -> str:
    match = _TRAILING.match(sentence)
    if match is None or not match["when"].startswith("in ") or chance.random() < _OFTEN:
        return sentence
    return f"It was {match['when']} that {_lowered(match['said'])}."


_OFTEN = 0.5


def _shorter_name(sentence: str, _: random.Random) -> str:
    made = _LONG_NAME.sub(lambda match: match["head"] + " ", sentence)
    return _MIDDLE.sub(lambda match: match["name"] + " ", made)


def _other_words(pairs: Mapping[str, str], bounded: str) -> Callable[[str, random.Random], str]:
    def change(sentence: str, chance: random.Random) -> str:
        found = [word for word in pairs if re.search(f"{bounded}{re.escape(word)}{bounded}", sentence)]
        for word in chance.sample(found, min(len(found), 2)):
            sentence = re.sub(f"{bounded}{re.escape(word)}{bounded}", pairs[word], sentence, count=1)
        return sentence

    return change


def _ja_date_first(sentence: str, _: random.Random) -> str:
    return _JA_TOPIC_TIME.sub(lambda m: f"{m['when']}{m['topic']}{m['said']}", sentence)


def _ja_topic_first(sentence: str, _: random.Random) -> str:
    return _JA_TIME_TOPIC.sub(lambda m: f"{m['topic']}{m['when']}{m['said']}", sentence)


def _ja_stressed(sentence: str, chance: random.Random) -> str:
    match = _JA_CLEFT.match(sentence)
    if match is None:
        return sentence
    ending = chance.choice(("です。", "のことです。", "である。", "のことである。"))
    return f"{match['topic']}が{match['said']}のは{match['when']}{ending}"


def _ja_shorter(sentence: str, _: random.Random) -> str:
    return _JA_LONG.sub(lambda m: m["head"], sentence)


def _ja_aside(sentence: str, _: random.Random) -> str:
    return _JA_ASIDE.sub(lambda m: m["topic"], sentence)


def _both_ways(text: str) -> dict[str, str]:
    pairs = [one.replace("_", " ").split("=") for one in text.split()]
    return {pair[0]: pair[1] for pair in pairs} | {b: a for a, b in pairs if len(b) > 1 and " " not in b}


_CHANGES: dict[str, tuple[Callable[[str, random.Random], str], ...]] = {
    "en": (
        _actively,
        _date_first,
        _date_last,
        _date_stressed,
        _shorter_name,
        _other_words(_both_ways(_WORDS_EN), r"\b"),
    ),
    "ja": (
        _ja_date_first,
        _ja_topic_first,
        _ja_stressed,
        _ja_shorter,
        _ja_aside,
        _other_words(dict(one.split("=") for one in _WORDS_JA.split()), ""),
    ),
}
