"""A follow-up question as a standalone query for retrieval. The generator still gets the user's words.

A chat model restates it where one is configured; rules do otherwise, and wherever the model fails. The rules, in the
order they are asked: without a turn before, or where the question names its own topic, it stands alone; where it points
back (it, that, それ, その …) or is too short to stand, the topic of the turns before goes in front.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from tadasu.core.runs import Run
from tadasu.core.usage import Stage
from tadasu.errors import ProviderError
from tadasu.ports import Chance, ChatModel, Ledger, PromptTemplate
from tadasu.text.analyze import content_terms
from tadasu.text.language import detect
from tadasu.text.names import proper_names
from tadasu.text.normalize import fold

_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|his|her|him|there|the same|the other|the former|"
    r"the latter|ones?)\b|^(?:and|but|or|so|then|also|what about|how about|what if|why not|really)\b"
    r"|それ|その|そちら|そこ|これ|この|こちら|あれ|あの|彼|彼女|同じ|前者|後者|上記|先ほど|さっき"
    r"|^(?:では|じゃあ?|それでは|ほかに|他に|また|ちなみに|なお)",
    re.IGNORECASE,
)
_TOPIC_QUESTION_JA = re.compile(r"^.{1,12}(?:は|なら|の場合は?)[？?]?$")
_LOOK_BACK = 3
_QUERY_TOKENS = 120


class Restate(Protocol):
    """Turns a question and the runs before it into a query that stands alone."""

    async def __call__(self, question: str, history: Sequence[Run], *, ledger: Ledger) -> str:
        """The query; equal to `question` where it stands alone. Never raises."""
        ...


async def restate_by_rules(question: str, history: Sequence[Run], *, ledger: Ledger) -> str:
    """The rules of this module, without any model."""
    del ledger
    return standalone(question, [turn.query for turn in history])


class RestateByChat:
    """Lets a chat model restate a follow-up, and the rules where it fails or has nothing to go by."""

    def __init__(self, chat: ChatModel, prompts: Mapping[str, PromptTemplate], chance: Chance) -> None:
        """`prompts` holds the prompt ``standalone`` per language."""
        self._chat = chat
        self._prompts = prompts
        self._chance = chance

    async def __call__(self, question: str, history: Sequence[Run], *, ledger: Ledger) -> str:
        """See `Restate`."""
        by_rules = await restate_by_rules(question, history, ledger=ledger)
        if not history:
            return by_rules
        prompt = self._prompts.get(detect(question)) or self._prompts["en"]
        turns = "\n".join(f"- {turn.question}\n  {turn.answer.text}" for turn in history[-_LOOK_BACK:])
        messages = prompt.messages(question=question, conversation=turns, nonce=self._chance.token())
        try:
            pieces = [
                delta.text
                async for delta in self._chat.stream(
                    messages, max_tokens=_QUERY_TOKENS, temperature=0.0, ledger=ledger, stage=Stage.REWRITE
                )
            ]
        except ProviderError:
            return by_rules
        written = "".join(pieces).strip().splitlines()
        return written[0].strip() if written and written[0].strip() else by_rules


def standalone(question: str, earlier: Sequence[str]) -> str:
    """The query to search for, given the `earlier` questions or queries of the conversation, oldest first.

    Equal to `question` where it stands alone.

    >>> standalone("How long is its warranty?", ["What does the PT-300 measure?"])
    'PT-300: How long is its warranty?'
    """
    text = fold(question)
    if not earlier or not _leans_on_others(text):
        return question
    topic = _topic(earlier[-_LOOK_BACK:], text)
    return f"{' '.join(topic)}: {question}" if topic else question


def _leans_on_others(text: str) -> bool:
    if _POINTS_BACK.search(text) or _TOPIC_QUESTION_JA.match(text):
        return True
    return not proper_names(text) and len(content_terms(text)) <= 2


def _topic(earlier: Sequence[str], text: str) -> list[str]:
    """Names of the latest question that has any and is not named in `text`; else its content terms."""
    for previous in reversed(earlier):
        folded = fold(previous)
        names = [name for name in proper_names(folded) if name not in text]
        if names:
            return list(dict.fromkeys(names))[:3]
    own = set(content_terms(text))
    terms = [term for term in content_terms(fold(earlier[-1])) if term not in own]
    return list(dict.fromkeys(terms))[:5]
