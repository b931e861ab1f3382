"""Saying that something is not known: in the user's language, and recognising a model that says it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tadasu.answering.generation.facts import facts_of
from tadasu.core.answers import Answer, AnswerStatus, CheckedSentence, Reason
from tadasu.text.messages import abstention
from tadasu.text.normalize import fold

_SOURCES = (
    r"(?:knowledge base|documents?|sources?|evidence|context|passages?|information|materials?|texts?|excerpts?|records?"
    r"|data|files?|snippets?)"
)
_REFUSAL = re.compile(
    rf"\b{_SOURCES}\b[^.]{{0,40}}?\b(?:do(?:es)?|did|is|are|has|have|was|were)(?: not|n't)\b"
    r"|\bnot (?:in|found in|mentioned in|covered (?:in|by)|part of|available in|stated in|known from|contained in) "
    rf"(?:the |this |these |my |our |any )?(?:\w+ ){{0,2}}{_SOURCES}\b"
    r"|\b(?:i|we) (?:do not|don't|cannot|can't|could not|couldn't|am unable to|was unable to|am not able to)"
    r" (?:know|find|answer|determine|tell|say|locate|provide|confirm)\b"
    r"|\bno (?:information|mention|evidence|record|answer|details?|data) (?:is |was |can be |could be )?"
    r"(?:about|on|of|regarding|given|found|available|provided|in)\b"
    rf"|\b(?:there is|there's) (?:no|not enough) (?:\w+ )?{_SOURCES}\b|\b(?:not enough|insufficient) {_SOURCES}\b"
    r"|\b(?:is|are|was|were) (?:not|nowhere) (?:stated|mentioned|specified|given|known|provided|disclosed)\b"
    r"|^(?:not known|unknown|n/?a)\b"
    r"|(?:資料|文書|文献|出典|情報|ナレッジベース|知識ベース|コンテキスト|文脈|データベース|根拠|本文|該当箇所|抜粋)"
    r"(?:の中|内|上)?(?:に|には|では|から|からは|が|は|も)[^。]{0,40}?(?:ありません|見(?:つ|付)か(?:りません|らな)|(?:含|書|述べ|示|記載さ|触れ|言及さ)[^。]{0,8}(?:ません|ない|ず)|(?:でき|分から|わから)(?:ません|ない)|なし|ない(?:です|。|$))"
    r"|(?:記載|記述|言及|説明|該当(?:する)?(?:情報|箇所|記述)?)(?:が|は|も|されて)?(?:ありません|い?ません|見当たりません|ございません|ない(?:です|ため|。|$)|なし)"
    r"|不明です|不明(?:で(?:ある|あり)|。|$)|(?:分か|わか|判)りません|(?:お答え|回答|断定|判断)(?:は|が)?(?:でき|いたしかね)(?:ません|ない|ます)?"
    r"|見つかりません",
    re.IGNORECASE,
)
_WHERE = re.compile(r"ナレッジベース|コンテキスト|データベース|ドキュメント|テキスト|Not known|Unknown")
_TURN = re.compile(
    r"[,;:.]?\s\b(?:but|however|although|though|yet|still|nevertheless|that said)\b"
    r"|ただし|しかし|けれど|(?<=[すんたい])が、|ですが|ものの",
    re.IGNORECASE,
)


def abstain(
    reason: Reason,
    *,
    language: str,
    writer: str = "",
    removed: Sequence[CheckedSentence] = (),
    warnings: Sequence[str] = (),
) -> Answer:
    """The answer "not known", with its reason said in `language`.

    `removed` are sentences that were written and taken out.
    """
    return Answer(
        text=abstention(reason.value, language),
        status=AnswerStatus.ABSTAINED,
        language=language,
        removed=tuple(removed),
        reason=reason,
        writer=writer,
        warnings=tuple(warnings),
    )


def is_refusal(sentence: str) -> bool:
    """Whether `sentence` says that the answer is not there.

    >>> is_refusal("The documents do not say."), is_refusal("資料に記載がありません。"), is_refusal("It is 3 m long.")
    (True, True, False)
    """
    return _REFUSAL.search(fold(sentence).strip()) is not None


def is_pure_refusal(sentence: str, question: str) -> bool:
    """Whether `sentence` says that the answer is not there and nothing else.

    No number and no name beyond those of the question, and no "but" after which a claim could follow.
    """
    if not is_refusal(sentence) or _TURN.search(fold(sentence)):
        return False
    said, asked = facts_of(sentence), facts_of(question)
    return all(asked.states_number(n) for n in said.numbers if not n.spelled) and all(
        asked.states_name(name) or _WHERE.fullmatch(name) for name in said.names
    )
