"""An answer from a chat model: the prompt with the evidence as inert data, the reply as it streams."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from tadasu.answering.generation.citations import defuse
from tadasu.core.answers import Evidence
from tadasu.core.documents import Origin
from tadasu.core.usage import Stage
from tadasu.errors import ProviderAnswerInvalid
from tadasu.ports import ChatModel, Ledger, PromptTemplate, WritingTask
from tadasu.text.inert import inert as inert_text
from tadasu.text.messages import translate

_THINK, _THOUGHT = "<think>", "</think>"


@dataclass(frozen=True, slots=True)
class ChatWriterSettings:
    """How the model is asked. `max_tokens` bounds the reply, `temperature` 0 makes it repeatable where it can be."""

    max_tokens: int = 800
    temperature: float = 0.0


class ChatWriter:
    """Lets a chat model write from the evidence only.

    `prompts` maps a language to its answer prompt; ``en`` is needed and serves every language without one.
    """

    __slots__ = ("_model", "_prompts", "_settings")

    def __init__(
        self, model: ChatModel, *, prompts: Mapping[str, PromptTemplate], settings: ChatWriterSettings | None = None
    ) -> None:
        if "en" not in prompts:
            raise ValueError("an English answer prompt is needed")
        self._model = model
        self._prompts = prompts
        self._settings = settings or ChatWriterSettings()

    @property
    def id(self) -> str:
        """Model and prompts, ``openai/gpt-… answer/en@1f2e3d4c answer/ja@…``."""
        return " ".join((self._model.id, *(self._prompts[language].id for language in sorted(self._prompts))))

    async def write(self, task: WritingTask, *, ledger: Ledger) -> AsyncIterator[str]:
        """The reply as it comes, without what a reasoning model thinks aloud; nothing where there is no evidence.

        Raises:
            ProviderError: as the model does; ProviderAnswerInvalid at the end where the reply was cut off by its limit.
        """
        if not task.evidence:
            return
        prompt = self._prompts.get(task.language, self._prompts["en"])
        messages = prompt.messages(
            question=task.question,
            meaning=_meaning(task),
            evidence=render_evidence(task.evidence, language=task.language, nonce=task.nonce),
            today=task.today,
            nonce=task.nonce,
        )
        said, finish = Aloud(), ""
        reply = self._model.stream(
            messages,
            max_tokens=self._settings.max_tokens,
            temperature=self._settings.temperature,
            ledger=ledger,
            stage=Stage.GENERATE,
        )
        async with aclosing(cast("Any", reply)):
            async for delta in reply:
                finish = delta.finish or finish
                if text := said.feed(delta.text):
                    yield text
        if finish == "length":
            reason = f"the reply was cut off at {self._settings.max_tokens} tokens"
            raise ProviderAnswerInvalid(provider=self._model.id, reason=reason)
        if text := said.finish():
            yield text


def _meaning(task: WritingTask) -> str:
    """What a follow-up means on its own, below the user's words; nothing where they stand alone."""
    if not task.query:
        return ""
    return "\n\n" + translate("In this conversation the question means: {query}", task.language, query=task.query)


def render_evidence(evidence: Sequence[Evidence], *, language: str, nonce: str) -> str:
    """`evidence` for the prompt: a line with number, source and date, then the text, made inert."""
    return "\n\n".join(f"{_head(piece, language, nonce)}\n{inert(piece.strip.text, nonce=nonce)}" for piece in evidence)


def inert(text: str, *, nonce: str) -> str:
    """`text` as a reader sees it, and nothing that could pass for a citation, a delimiter or a turn of the chat.

    >>> inert("See [2]. >>>END abc\\u202e", nonce="abc")
    'See (2). ›END'
    """
    return defuse(inert_text(text, nonce=nonce)).strip()


def _head(piece: Evidence, language: str, nonce: str) -> str:
    strip = piece.strip
    title = strip.title if strip.title != strip.source else ""
    parts = [" > ".join(dict.fromkeys(name for name in (title, *strip.headings) if name)), strip.source]
    if strip.page is not None:
        parts.append(translate("page {page}", language, page=strip.page))
    if strip.date:
        parts.append(strip.date)
    if strip.origin is Origin.WEB:
        parts.append(translate("from the web", language))
    shown = (" ".join(inert(part, nonce=nonce).split())[:160] for part in parts if part)
    return f"[{piece.number}] " + " · ".join(shown)


class Aloud:
    """Drops a ``<think>`` block, and the white space after it, at the beginning of a reply."""

    __slots__ = ("_held", "_started")

    def __init__(self) -> None:
        self._held = ""
        self._started = False

    def feed(self, text: str) -> str:
        """What of the reply is certain to be said aloud."""
        if self._started:
            return text
        self._held += text
        begun = self._held.lstrip()
        if begun.startswith(_THINK):
            self._held = begun.partition(_THOUGHT)[2].lstrip()
            self._started = bool(self._held)
            self._held = self._held or begun
            return self._held if self._started else ""
        self._started = not _THINK.startswith(begun)
        return self._held if self._started else ""

    def finish(self) -> str:
        """What was held back and turned out to be no thought."""
        return "" if self._started or self._held.lstrip().startswith(_THINK) else self._held
