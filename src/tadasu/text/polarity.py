"""Whether a sentence denies: what near-duplicates may not differ in and what a quote may not turn round."""

from __future__ import annotations

import re

from tadasu.text.normalize import fold

# Forms that hold a negative word and deny nothing: obligations, "not only", guesses.
_NOT_DENIALS = re.compile(
    r"\bnot only\b|\bno later than\b|\bno more than\b|\bno less than\b|\bnot (?:more|less|later|fewer) than\b"
    r"|\bno\. ?(?=\d)|\bnothing but\b|\bno doubt\b|^(?:no|nope)[,.!]"
    r"|(?:なけれ|なく)ば?(?:ては|ちゃ)?(?:なら|いけ)(?:ない|ません|ず)|ない(?:と|で)は?(?:いけ|なら)(?:ない|ません)"
    r"|ねばなら(?:ない|ぬ|ず)|なくては(?:なら|いけ)(?:ない|ません)|ざるを得(?:ない|ません)"
    r"|(?:だけ|ばかり|のみ)で(?:は)?な(?:く|い)|のみならず|かもしれ(?:ない|ません)|に違い(?:ない|ありません)"
    r"|(?:に|と)ほかなら(?:ない|ず)|に過ぎ(?:ない|ません)|にすぎ(?:ない|ません)|(?:で|じゃ)は?ない(?:だろう|でしょう)か"
    r"|(?:少な|すくな)く(?:とも|ない)|必ず|まず(?!い)|わずか|はず|ずつ|いずれ|おのずから|ずっと|みず|なければ(?=、)"
    r"|^いいえ|(?<=[0-9%\u4e00-\u9fff])ないし(?=[0-9\u4e00-\u9fff])|ない(?:よう|ため)に"
)
_DENIALS = re.compile(
    r"\b(?:not|never|no|none|nor|neither|without|cannot|nothing|nobody|nowhere|unable|impossible|except)\b|n't\b"
    r"|\b(?:prohibit(?:ed|s)?|forbid(?:den|s)?|banned|disallow(?:ed|s)?|refus(?:ed|es|e))\b"
    r"|ない|なかった|なく(?!し)|なけれ|なし(?![うたてと])|無し|ません|(?<=[わらかがさざただなばまやあい])ず(?:[、。に]|$)|(?<=[らわかがさたなばま])ぬ(?![ぁ-ん])"
    r"|不可|禁止|厳禁|不要|不明|(?:未(?:定|対応|確認|公表|発表|実施|完了)|非対応)(?=で|だ|と(?:な|さ|し)|。|、|$)|できかね|いけません|だめ|ダメ",
    re.MULTILINE,
)
_TURNS = re.compile(r"[,;:]\s|\b(?:but|however|although|though|while|whereas|unless)\b|[、；]|ただし|しかし|ものの")


def denies(text: str) -> bool:
    """Whether `text` holds an odd number of negations: what it says is that something is not so.

    Obligations, "not only" and guesses are no denials (なければならない, だけでなく, かもしれない).

    >>> denies("It must not be opened."), denies("開けてはならない"), denies("必ず校正しなければならない")
    (True, True, False)
    """
    return negations(text) % 2 == 1


def negations(text: str) -> int:
    """How many negations `text` holds."""
    return len(_DENIALS.findall(_NOT_DENIALS.sub(" ", fold(text).lower().strip())))


def clauses(text: str) -> list[str]:
    """`text` cut where a thought may turn (commas, "but", 、, ただし); no piece is empty."""
    return [piece for piece in _TURNS.split(text) if piece and piece.strip()]
