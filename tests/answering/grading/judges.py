"""Language models for tests of grading: they read the sheet as a model would, by its delimiters, and grade by rule."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tadasu.answering.grading.llm import LlmGrader
from tadasu.core.documents import Origin, Passage
from tadasu.core.grades import Grade
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.ports import ChatModel, Ledger, Message, ScoreCache
from tadasu.prompts import load
from tadasu.providers.scripted import Reply, ScriptedChat
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld
from tests.answering.writing import passage

_BLOCK = re.compile(r"^<<<(\w{5}) (\w+)>>>\n(.*?)\n<<<END \1 \2>>>$", re.MULTILINE | re.DOTALL)
QUESTION = {"en": "How long is the warranty of the PT-300?", "ja": "PT-300の保証期間は何年ですか？"}
GOOD = {"en": "The warranty of the PT-300 is 3 years.", "ja": "PT-300の保証期間は3年です。"}
BAD = {"en": "The canteen opens at 12:00.", "ja": "社員食堂は12時に開きます。"}


def blocks(messages: Sequence[Message]) -> dict[str, str]:
    """The passages of a sheet by their ids in it, in order."""
    return {name: text for name, _, text in _BLOCK.findall(messages[-1].content)}


def sent_blocks(body: Mapping[str, Any]) -> dict[str, str]:
    """The same of a request as a server gets it."""
    return blocks([Message(one["role"], one["content"]) for one in body["messages"]])


def row(name: str, *scores: float, **more: object) -> dict[str, object]:
    """A row as the prompt asks for it."""
    given = dict(zip(("relevance", "factuality", "completeness"), scores, strict=True))
    return {"id": name, "issues": [], **given, "recommendation": "use", **more}


def lines(*rows: Mapping[str, object]) -> str:
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in rows)


def honest(shown: Mapping[str, str]) -> list[dict[str, object]]:
    """HIGH for what says how long a warranty is, LOW for all else."""
    return [
        row(name, *((0.9, 1.0, 0.8) if re.search(r"3 years|3年", text) else (0.1,) * 3)) for name, text in shown.items()
    ]


def by(answer: Callable[[Mapping[str, str]], str]) -> ScriptedChat:
    """A model that answers every sheet by `answer`, which gets the passages."""

    def script(messages: Sequence[Message]) -> Reply:
        return answer(blocks(messages))

    return ScriptedChat(script, cuts=7)


def grader(
    chat: ChatModel, *, cache: ScoreCache | None = None, batch: int = 5, calls: int = 10, seed: int = 5
) -> LlmGrader:
    prompts = {language: load("grade", language) for language in ("en", "ja")}
    return LlmGrader(chat, prompts=prompts, chance=FixedWorld(seed=seed), cache=cache, batch=batch, calls=calls)


def retrieval(*texts: str | Passage, query: str = "") -> Retrieval:
    """Passages p0, p1, … of those texts, in order."""
    made = [text if isinstance(text, Passage) else passage([text], name=f"p{at}") for at, text in enumerate(texts)]
    return Retrieval(query, tuple(Candidate(one, fused=1.0) for one in made))


def web(text: str, *, name: str = "w0") -> Passage:
    return passage([text], name=name, origin=Origin.WEB)


def ledger() -> RunLedger:
    return RunLedger(FixedWorld())


async def graded(
    chat: ChatModel, *texts: str | Passage, language: str = "en", book: Ledger | None = None, **more: Any
) -> dict[str, Grade]:
    """Grades by passage id."""
    given = await grader(chat, **more).grade(QUESTION[language], retrieval(*texts), ledger=book or ledger())
    assert [one.passage_id for one in given] == [each.passage.id for each in retrieval(*texts).candidates]
    return {one.passage_id: one for one in given}
