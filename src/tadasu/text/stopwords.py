"""Words that say nothing of what a text is about, as `analyze` writes them: folded, lower case, stemmed."""

from __future__ import annotations

from tadasu.text.codes import stem
from tadasu.text.wordlists import words

_FUNCTION_WORDS = words(
    """
    a an the and or but nor of to in on at by for from with without into onto over under about as than then so
    is are was were be been being am do does did doing have has had having can could shall should will would may
    might must i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
    this that these those there here who whom whose which what when where why how if while because until
    although though not no also just only very too such own same other each both any some all more most s t re
    ve ll d m isn don doesn didn won
    """
)
_ASKING_WORDS = words(
    """
    what who whom whose when where which why how much many please tell explain describe give list show know want
    need ask question answer mean anyone someone something anything name called
    """
)
_JAPANESE_ASKING = words(
    """
    何 なに なん 誰 だれ どこ 何処 何時 いつ どれ 何れ どの 何の どう 如何 どんな どちら 何方 なぜ 何故 いくら
    幾ら いくつ 幾つ どなた 教える 下さい ください くださる 下さる 知る 説明 どういう どのよう 様 よう 場合
    ですか 質問 いかが 願う お願い 遣る 貰う 呉れる
    """
)

ENGLISH_STOPWORDS = frozenset(stem(word) for word in _FUNCTION_WORDS)
"""Left out of search terms unless a text holds nothing else."""

QUESTION_WORDS = frozenset(stem(word) for word in _ASKING_WORDS) | frozenset(_JAPANESE_ASKING)
"""Left out when what a question is about is compared with a passage."""
