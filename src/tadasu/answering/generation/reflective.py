"""A chat model that looks at its own draft before it is shown: the questions of Self-RAG, asked of any model.

Self-RAG (Asai et al. 2023) trains a model to say, in tokens of its own, whether a passage is relevant, whether what it
wrote is supported, and how useful that is. Any other model can be asked the same in words, once the draft is there.
Whether retrieval is needed is not asked: the evidence is there already, and small talk never reaches a writer. What a
model says of itself only ever takes away: whatever goes on is checked as any other draft is.
"""

from __future__ import annotations

import enum
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from tadasu.answering.generation.abstention import is_pure_refusal
from tadasu.answering.generation.chat import Aloud, inert, render_evidence
from tadasu.answering.generation.draft import Warned
from tadasu.core.usage import Stage
from tadasu.ports import AnswerWriter, ChatModel, JsonForm, Ledger, PromptTemplate, WritingTask
from tadasu.runtime.formed_replies import ask_for_object
from tadasu.runtime.whole_replies import whole_reply
from tadasu.text.inert import inert as inert_text

_RELEVANT = ("yes", "partly", "no")
_SUPPORTED = ("fully", "partly", "no")
_LEAST, _MOST = 1, 5
_USEFUL = 3
"""From here on a draft is kept as it is."""
_FORM = JsonForm(
    "reflection",
    {
        "type": "object",
        "properties": {
            "issues": {"type": "array", "items": {"type": "string"}},
            "relevant": {"type": "string", "enum": list(_RELEVANT)},
            "supported": {"type": "string", "enum": list(_SUPPORTED)},
            "useful": {"type": "number"},
        },
        "required": ["issues", "relevant", "supported", "useful"],
        "additionalProperties": False,
    },
)
_MAX_TOKENS = 400
_MOST_ISSUES, _LONGEST_ISSUE = 5, 200


class Verdict(enum.Enum):
    """What becomes of a draft."""

    KEEP = "keep"
    REVISE = "revise"
    ABSTAIN = "abstain"


@dataclass(frozen=True, slots=True)
class Reflection:
    """What a model says of its draft: see the prompt ``reflect``. `useful` is from 1 to 5."""

    relevant: str
    supported: str
    useful: float
    issues: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Irrelevant evidence answers nothing; what is not fully supported, or of little use, is revised.

        >>> Reflection("yes", "fully", 4).verdict, Reflection("yes", "no", 5).verdict, Reflection("no", "no", 1).verdict
        (<Verdict.KEEP: 'keep'>, <Verdict.REVISE: 'revise'>, <Verdict.ABSTAIN: 'abstain'>)
        """
        if self.relevant == "no":
            return Verdict.ABSTAIN
        return Verdict.KEEP if self.supported == "fully" and self.useful >= _USEFUL else Verdict.REVISE


def read_reflection(told: Mapping[str, object]) -> Reflection:
    """The reflection in a model's object; raises ValueError or KeyError where it is none."""
    relevant, supported = _word(told, "relevant", _RELEVANT), _word(told, "supported", _SUPPORTED)
    useful = told["useful"]
    if isinstance(useful, str):
        useful = float(useful.strip())
    if isinstance(useful, bool) or not isinstance(useful, (int, float)) or not _LEAST <= useful <= _MOST:
        raise ValueError(f"useful is {useful!r}, not a number from {_LEAST} to {_MOST}")
    listed = told.get("issues")
    issues = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    shown = (" ".join(one.split())[:_LONGEST_ISSUE] for one in issues[:_MOST_ISSUES])
    return Reflection(relevant, supported, float(useful), tuple(one for one in shown if one))


class ReflectiveWriter:
    """An `AnswerWriter` that lets another one write a draft, asks the model about it, and then acts once.

    The draft goes on, is written again by the model with what it found, or is dropped, which ends as "not known". At
    most three calls follow the draft: the reflection, its repair where it cannot be read, the revision. Where the
    reflection fails or the budget does not allow it, the draft goes on with a remark; where the revision fails, too,
    without one. Nothing is said before the reflection is there.

    Args:
        writer: writes the draft.
        model: is asked about it.
        reflect: the prompt ``reflect`` per language; ``en`` is needed here and below.
        revise: the prompt ``revise`` per language.
        max_tokens: of the revision.
    """

    def __init__(
        self,
        writer: AnswerWriter,
        model: ChatModel,
        *,
        reflect: Mapping[str, PromptTemplate],
        revise: Mapping[str, PromptTemplate],
        max_tokens: int = 800,
    ) -> None:
        if "en" not in reflect or "en" not in revise:
            raise ValueError("English prompts for reflecting and revising are needed")
        self._writer, self._model = writer, model
        self._reflect, self._revise = reflect, revise
        self._max_tokens = max_tokens

    @property
    def id(self) -> str:
        """The writer's own, then the prompts: ``… reflect/en@… reflect/ja@… revise/en@… revise/ja@…``."""
        prompts = (prompts[language].id for prompts in (self._reflect, self._revise) for language in sorted(prompts))
        return " ".join((self._writer.id, *prompts))

    async def write(self, task: WritingTask, *, ledger: Ledger) -> AsyncIterator[str]:
        """The draft or its revision, whole; nothing where the evidence is not relevant. Raises as the writer does."""
        draft = "".join([piece async for piece in self._writer.write(task, ledger=ledger)])
        if not draft.strip():
            return
        # There is nothing to look at in a refusal, and a revision would only tempt the model to guess.
        if is_pure_refusal(draft.strip(), task.query or task.question):
            yield draft
            return
        try:
            found = await self._reflected(draft, task, ledger)
        except Exception:  # noqa: BLE001 - chat models are plugins: whatever one raises, the draft is there already
            task.remark(Warned.UNREFLECTED.value)
            yield draft
            return
        if found.verdict is Verdict.ABSTAIN:
            return
        if found.verdict is Verdict.REVISE and (revised := await self._revised(draft, found, task, ledger)):
            task.remark(Warned.REVISED.value)
            draft = revised
        yield draft

    async def _reflected(self, draft: str, task: WritingTask, ledger: Ledger) -> Reflection:
        language = task.language if task.language in self._reflect else "en"
        messages = self._reflect[language].messages(
            question=_asked(task),
            evidence=render_evidence(task.evidence, language=language, nonce=task.nonce),
            draft=_shown(draft, task.nonce),
            nonce=task.nonce,
        )
        return await ask_for_object(
            self._model,
            messages,
            form=_FORM,
            read=read_reflection,
            max_tokens=_MAX_TOKENS,
            ledger=ledger,
            stage=Stage.CHECK,
            language=language,
        )

    async def _revised(self, draft: str, found: Reflection, task: WritingTask, ledger: Ledger) -> str:
        """The model's second version; empty where there is none."""
        language = task.language if task.language in self._revise else "en"
        messages = self._revise[language].messages(
            question=_asked(task),
            evidence=render_evidence(task.evidence, language=language, nonce=task.nonce),
            draft=_shown(draft, task.nonce),
            issues="\n".join(f"- {inert(issue, nonce=task.nonce)}" for issue in found.issues) or "–",
            today=task.today,
            nonce=task.nonce,
        )
        try:
            said = await whole_reply(
                self._model, messages, max_tokens=self._max_tokens, ledger=ledger, stage=Stage.GENERATE
            )
        except Exception:  # noqa: BLE001 - as above: the first version is there already
            return ""
        if said.finish != "stop":
            return ""
        aloud = Aloud()
        return (aloud.feed(said.text) + aloud.finish()).strip()


def _asked(task: WritingTask) -> str:
    return f"{task.question}\n({task.query})" if task.query else task.question


def _shown(draft: str, nonce: str) -> str:
    """The draft with its citations, and without what could end its frame."""
    return inert_text(draft, nonce=nonce)


def _word(told: Mapping[str, object], key: str, known: tuple[str, ...]) -> str:
    value = told[key]
    said = ("yes" if value else "no") if isinstance(value, bool) else str(value).strip().lower()
    if said not in known:
        raise ValueError(f"{key} is {said!r}, not one of {', '.join(known)}")
    return said
