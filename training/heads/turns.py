"""Sentences turned into what their source does not say: denied, the opposite, another number.

Each gives the changed sentence and the words in it that are wrong, or None where it finds nothing to turn.
"""

from __future__ import annotations

import random
import re

Turned = tuple[str, str]

_DENIED_EN = re.compile(
    r"\b(is|was|are|were|has|had|have|can|could|will|would|did|does|do|may|must|should) (?!not\b|n't)"
)
_NOT_EN = re.compile(r"\b(is|was|are|were|has|had|have|can|could|will|would|did|does|do|may|must|should) not ")
_DENIED_JA = (
    ("ではありません", "です"),
    ("ではない", "である"),
    ("ではなかった", "であった"),
    ("ませんでした", "ました"),
    ("しなかった", "した"),
    ("されなかった", "された"),
    ("れなかった", "れた"),
    ("しない", "する"),
    ("されない", "される"),
    ("れない", "れる"),
    ("ていなかった", "ていた"),
    ("ていない", "ている"),
    ("なかった", "あった"),
    ("がない", "がある"),
    ("ならなかった", "なった"),
    ("できない", "できる"),
    ("ません", "ます"),
)


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    words = text.split()
    return tuple(zip(words[::2], words[1::2], strict=True))


_OPPOSITES = {
    "en": _pairs(
        """
        first last before after largest smallest higher lower more less north south northern southern east west
        eastern western increased decreased increase decrease rose fell older younger early late won lost began
        ended opened closed male female man woman father mother brother sister son daughter left right upper
        lower winter summer most least always never all none allowed forbidden with without above below inside
        outside major minor public private old new accepted rejected success failure joined left husband wife
        longest shortest
        """
    ),
    "ja": _pairs(
        """
        最初 最後 以前 以後 最大 最小 高い 低い 多い 少ない 増加 減少 北部 南部 東部 西部 北 南
        東側 西側 北側 南側 右 左 兄 弟 姉 妹 父 母 男性 女性 息子 娘 勝利 敗北 開始 終了
        開業 廃業 上流 下流 前半 後半 夏 冬 春 秋 午前 午後 可能 不可能 有料 無料 必要 不要
        成功 失敗 賛成 反対 増え 減っ 上昇 下降 長い 短い 早く 遅く 大きい 小さい 古い 新しい
        内側 外側 国内 国外 公立 私立
        """
    ),
}
_DIGITS = re.compile(r"(?<![\d.,])\d{1,4}(?![\d,]|\.\d)")


def denied(sentence: str, language: str, chance: random.Random) -> Turned | None:
    """With "not" put in or taken out."""
    if language == "ja":
        return _denied_ja(sentence)
    if match := _NOT_EN.search(sentence):
        return sentence[: match.end() - 4] + sentence[match.end() :], match[1]
    found = list(_DENIED_EN.finditer(sentence))
    if not found:
        return None
    match = chance.choice(found[:2])
    word = f"{match[1]} {chance.choice(('not', 'not', 'never'))}"
    return f"{sentence[: match.start()]}{word} {sentence[match.end() :]}", word


def _denied_ja(sentence: str) -> Turned | None:
    bare = sentence.rstrip("。 ")
    for no, yes in _DENIED_JA:
        for ending, other in ((no, yes), (yes, no)):
            if bare.endswith(ending) and not (ending == "あった" and bare.endswith("であった")):
                return f"{bare[: len(bare) - len(ending)]}{other}。", other
    return None


def opposite(sentence: str, language: str, chance: random.Random) -> Turned | None:
    """With one word's opposite in its place."""
    found: list[tuple[int, int, str]] = []
    for pair in _OPPOSITES[language]:
        for word, other in (pair, pair[::-1]):
            pattern = rf"\b{word}\b" if language == "en" else re.escape(word)
            found += [(match.start(), match.end(), other) for match in re.finditer(pattern, sentence)]
    if not found:
        return None
    start, end, other = chance.choice(found)
    return sentence[:start] + other + sentence[end:], other


def renumbered(sentence: str, source: str, chance: random.Random) -> Turned | None:
    """With a number that the source does not have in the place of one."""
    found = list(_DIGITS.finditer(sentence))
    if not found:
        return None
    match = chance.choice(found)
    value = int(match[0])
    step = chance.choice((1, 2, 3, 5, 10, 10, 100) if value > 100 else (1, 2, 3, 5))
    other = str(value + step if chance.random() < 0.5 or value <= step else value - step)
    if other in source:
        return None
    return sentence[: match.start()] + other + sentence[match.end() :], other
