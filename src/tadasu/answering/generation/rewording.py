"""A sentence that nothing supports, written once more by the model that wrote it, or marked for the reader."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

from tadasu.answering.generation.chat import Aloud, inert, render_evidence
from tadasu.answering.generation.citations import read
from tadasu.answering.generation.sentences import SentenceReader, Written
from tadasu.core.usage import Stage
from tadasu.errors import BudgetSpent, PriceUnknown, ProviderError
from tadasu.ports import ChatModel, Ledger, PromptTemplate, WritingTask
from tadasu.text.messages import finding, translate

_ITEM = re.compile(r"(?:[-*•・]|\d{1,2}[.)])\s*")
_END = re.compile(r"[.。!！?？]*[*_」』\"”]*(?:\s*\|)?\s*$")
_LONGEST = 2
"""Sentences that may take the place of one."""


class Rewording(Protocol):
    """Writes a sentence again that the evidence does not support."""

    @property
    def id(self) -> str:
        """Name and version of its prompt."""
        ...

    async def again(self, sentence: str, findings: Sequence[str], *, task: WritingTask, ledger: Ledger) -> str:
        """Another wording with its markers; empty where there is none. Raises as the model does."""
        ...


@dataclass(frozen=True, slots=True)
class ChatRewording:
    """One call of a chat model. `prompts` maps a language to its prompt; ``en`` serves those without one."""

    model: ChatModel
    prompts: Mapping[str, PromptTemplate]
    max_tokens: int = 200

    @property
    def id(self) -> str:
        """The prompts: ``reword/en@1f2e3d4c reword/ja@…``."""
        return " ".join(self.prompts[language].id for language in sorted(self.prompts))

    async def again(self, sentence: str, findings: Sequence[str], *, task: WritingTask, ledger: Ledger) -> str:
        """What the model writes instead; nothing where it reaches its limit."""
        prompt = self.prompts.get(task.language, self.prompts["en"])
        messages = prompt.messages(
            question=task.query or task.question,
            evidence=render_evidence(task.evidence, language=task.language, nonce=task.nonce),
            sentence=inert(sentence, nonce=task.nonce),
            findings=", ".join(finding(one, task.language) for one in findings) or "–",
            nonce=task.nonce,
        )
        said, text, finish = Aloud(), "", ""
        reply = self.model.stream(
            messages, max_tokens=self.max_tokens, temperature=0.0, ledger=ledger, stage=Stage.GENERATE
        )
        async with aclosing(cast("Any", reply)):
            async for delta in reply:
                finish = delta.finish or finish
                text += said.feed(delta.text)
        return "" if finish == "length" else text + said.finish()


async def reworded(
    sentence: Written, findings: Sequence[str], *, by: Rewording, task: WritingTask, ledger: Ledger
) -> list[Written]:
    """What may take the place of `sentence`: one or two sentences, an item of a list as such an item again.

    Nothing where the model fails or the budget does not allow it.
    """
    item = _ITEM.match(sentence.plain)
    lead = item.group() if item else ""
    try:
        reply = await by.again(sentence.plain[len(lead) :], findings, task=task, ledger=ledger)
    except (ProviderError, BudgetSpent, PriceUnknown):
        return []
    reader = SentenceReader()
    written = [*reader.feed(read(" ".join(reply.split()))), *reader.finish()]
    if not written or len(written) > _LONGEST:
        return []
    first = written[0]
    own = _ITEM.match(first.text) if lead else None
    if own is None:
        markers = tuple((at + len(lead), numbers) for at, numbers in first.markers)
        first = Written(lead + first.text, markers, sentence.gap)
    return [replace(first, gap=sentence.gap), *written[1:]]


def marked(text: str, language: str) -> str:
    """`text` with the mark of what nothing supports, before its full stop.

    >>> marked("It was made in 1999.", "en"), marked("| Weight | 4 kg |", "en")
    ('It was made in 1999 (not confirmed by the documents).', '| Weight | 4 kg (not confirmed by the documents) |')
    """
    end = _END.search(text)
    at = end.start() if end else len(text)
    space = " " if text[:at].rstrip()[-1:].isascii() and language != "ja" else ""
    return text[:at].rstrip() + space + translate("(not confirmed by the documents)", language) + _gap(text, at)


def _gap(text: str, at: int) -> str:
    rest = text[at:]
    return f" {rest.lstrip()}" if rest.lstrip().startswith("|") else rest
