"""A follow-up question as a standalone query for retrieval. The generator still gets the user's words.

A chat model restates it where one is configured; rules do otherwise, and wherever the model fails. The rules look at
the latest query only, which itself stands alone: what is not said again is not inherited for ever. A question with a
subject of its own stays as it is, byte for byte. A fragment ("And of the FL-50?", 「東京の場合は？」) takes its rival's
place in the query before; a pronoun or a bare attribute gets that query's topic, in the words that it was written in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from tadasu.answering.followups import english, japanese
from tadasu.answering.followups.contrast import Lean, codes
from tadasu.answering.small_talk import asks_nothing
from tadasu.core.runs import Run
from tadasu.core.usage import Stage
from tadasu.errors import BudgetSpent, ProviderError
from tadasu.ports import Chance, ChatModel, Ledger, PromptTemplate
from tadasu.runtime.whole_replies import whole_reply
from tadasu.text.analyze import content_terms
from tadasu.text.language import detect
from tadasu.text.names import proper_names
from tadasu.text.normalize import fold
from tadasu.text.replies import aloud

_JAPANESE = re.compile(r"[ぁ-ゖァ-ヺ一-鿿]")
_NAMES = 3
# Who writes so many letters says what it is about.
_LONGEST_FOLLOW_UP = 300
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
            said = await whole_reply(self._chat, messages, max_tokens=_QUERY_TOKENS, ledger=ledger, stage=Stage.REWRITE)
        except (ProviderError, BudgetSpent):
            return by_rules
        if said.finish == "refusal":
            return by_rules
        written = aloud(said.text).splitlines()
        if said.cut_off:
            # The last line ends in the middle of a query, or of a thought.
            written = written[:-1]
        return written[0].strip() if written and written[0].strip() else by_rules


def own_words(query: str, question: str, history: Sequence[Run]) -> str:
    """`query` as it may leave the machine: as it is where all its terms are the user's, else as rules make it of them.

    Answers quote passages, a chat model that restates a follow-up reads them, and later turns go back to its query.
    """
    asked = [*(turn.question for turn in history), question]
    if set(content_terms(query)) <= set(content_terms("\n".join(asked))):
        return query
    queries: list[str] = []
    for words in asked:
        queries.append(standalone(words, queries))
    return queries[-1]


def standalone(question: str, earlier: Sequence[str]) -> str:
    """The query to search for, given the `earlier` queries of the conversation, oldest first.

    Equal to `question` where it stands alone.

    >>> standalone("How long is its warranty?", ["What does the PT-300 measure?"])
    'PT-300: How long is its warranty?'
    >>> standalone("And of the FL-50?", ["How high can the FL-25 lift?"])
    'How high can the FL-50 lift?'
    """
    previous = next((query for query in reversed(earlier) if not asks_nothing(query)), "")
    if not previous or len(question) > _LONGEST_FOLLOW_UP or asks_nothing(question):
        return question
    text, before = fold(question).strip(), fold(previous[-_LONGEST_FOLLOW_UP:]).strip()
    rules = japanese if _JAPANESE.search(text) else english
    lean = rules.lean(text)
    if lean is Lean.COMPLETE:
        return question
    if lean is Lean.CONTRAST and (query := rules.contrasted(text, before)):
        return question if query == text else _written(query)
    if query := rules.continued(text, before):
        return _written(query)
    switched = bool(_JAPANESE.search(text)) is not bool(_JAPANESE.search(before))
    topic = _names(before) if switched else rules.topic(before)
    topic = [part for part in topic if part not in text]
    if not topic:
        return question
    return _written(rules.joined(text if rules is japanese else question, topic))


def _names(text: str) -> list[str]:
    return (codes(text) or proper_names(text))[:_NAMES]


def _written(query: str) -> str:
    """The question marks of a Japanese query as they are written: folding made them narrow."""
    return re.sub(r"(?<=[ぁ-ゖァ-ヺ一-鿿])\?", "？", query)
