"""A chat model as a checker: ``tadasu.checkers: llm``.

It is shown one sentence and the text that it cites, gives a reason first and then a verdict: supported, unsupported,
or unclear. It knows no probabilities, so its verdicts are the numbers 1, 0 and one half; at one half, with the usual
thresholds, what the rules said stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from tadasu.answering.generation.chat import inert
from tadasu.core.usage import Stage
from tadasu.errors import SettingsInvalid
from tadasu.ports import Chance, ChatModel, CheckerSettings, Claim, JsonForm, Ledger, PromptTemplate
from tadasu.runtime.bounded import Bounded
from tadasu.runtime.formed_replies import ask_for_object
from tadasu.text.language import detect

VERSION = "1"
_VERDICTS = {"supported": 1.0, "unclear": 0.5, "unsupported": 0.0}
_FORM = JsonForm(
    "support",
    {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "verdict": {"type": "string", "enum": list(_VERDICTS)}},
        "required": ["reason", "verdict"],
        "additionalProperties": False,
    },
)
_MAX_TOKENS = 300
_CALLS = 5


class LlmChecker:
    """The `SupportModel` port over a chat model; a call for each claim, several at once.

    Args:
        chat: the model.
        prompts: the prompt ``check`` per language of a sentence; ``en`` is needed and serves those without one.
        chance: draws delimiters.
    """

    def __init__(self, chat: ChatModel, *, prompts: Mapping[str, PromptTemplate], chance: Chance) -> None:
        if "en" not in prompts:
            raise ValueError("an English prompt for checking is needed")
        self._chat, self._prompts, self._chance = chat, prompts, chance
        self._bounded = Bounded(_CALLS)

    @property
    def id(self) -> str:
        """Version, model and prompts: ``llm-1 openai/gpt-… check/en@… check/ja@…``."""
        prompts = (self._prompts[language].id for language in sorted(self._prompts))
        return " ".join((f"llm-{VERSION}", self._chat.id, *prompts))

    async def support(self, claims: Sequence[Claim], *, ledger: Ledger) -> Sequence[float]:
        """One number per claim, in order: 1 supported, 0 unsupported or without words, one half unclear.

        Raises what the model does, ReplyUnreadable where its verdict could not be read, also when asked again.
        """
        told = {n: one for n, one in enumerate(claims) if one.sentence.strip() and one.source.strip()}
        done = await self._bounded.run({n: partial(self._one, one, ledger) for n, one in told.items()})
        for problem in done.failures.values():
            raise problem
        return [done.results.get(number, 0.0) for number in range(len(claims))]

    async def _one(self, claim: Claim, ledger: Ledger) -> float:
        language = detect(claim.sentence)
        prompt = self._prompts.get(language, self._prompts["en"])
        nonce = self._chance.token()
        messages = prompt.messages(
            question=claim.question or "–",
            source=inert(claim.source, nonce=nonce),
            sentence=inert(claim.sentence, nonce=nonce),
            nonce=nonce,
        )
        return await ask_for_object(
            self._chat,
            messages,
            form=_FORM,
            read=_verdict,
            max_tokens=_MAX_TOKENS,
            ledger=ledger,
            stage=Stage.CHECK,
            language=language if language in self._prompts else "en",
        )


def _verdict(told: Mapping[str, object]) -> float:
    said = str(told["verdict"]).strip().lower()
    if said not in _VERDICTS:
        raise ValueError(f"verdict is {said!r}, not one of {', '.join(_VERDICTS)}")
    return _VERDICTS[said]


def open_checker(settings: CheckerSettings) -> LlmChecker:
    """The plugin behind ``tadasu.checkers: llm``; raises SettingsInvalid without a chat model."""
    if settings.chat is None or settings.chance is None:
        reason = (
            "llm needs a chat model, and none is configured: set chat.provider and chat.model, or [chat.roles.check]"
        )
        raise SettingsInvalid(where="tadasu.toml", key="checking.model", reason=reason)
    return LlmChecker(settings.chat, prompts=settings.prompts, chance=settings.chance)
