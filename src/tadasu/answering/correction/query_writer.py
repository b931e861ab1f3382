"""A chat model as the writer of queries: rewrites in one call, sub-questions in another, none taken on trust."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Protocol

from tadasu.answering.correction.deadline import BrokeOff, OutOfTime, within
from tadasu.answering.correction.keeping import lost, lost_together
from tadasu.answering.correction.parts import MOST_PARTS
from tadasu.answering.correction.rewrite import same_query
from tadasu.core.usage import Stage
from tadasu.errors import BudgetSpent, TadasuError
from tadasu.ports import ChatModel, Message, PromptTemplate
from tadasu.runtime.budget import Budget
from tadasu.runtime.whole_replies import whole_reply
from tadasu.text.language import detect
from tadasu.text.loose_json import find_objects
from tadasu.text.normalize import fold
from tadasu.text.replies import read_reply

MOST_REWRITES: Final = 3
_REPLY_TOKENS: Final = 300
_CALLS_OF_A_ROUND: Final = 6
"""Calls that must be left beside the model's: those of the search that its queries are for."""
_SHARE_OF_TIME: Final = 0.5
_LABEL = re.compile(
    r"^(?:(?:search )?(?:query|rewrite|question|part)|検索語|検索クエリ|クエリ|質問|部分)\s*[0-9]*\s*[:.)]\s*",
    re.IGNORECASE,
)
_ARRAY = re.compile(r"""\[\s*["'{“].*\]""", re.DOTALL)
_WRAPPED = re.compile(r"""^(?:"([^"]+)"|'([^']+)'|「([^「」]+)」|`([^`]+)`|\(([^()]+)\))$""")


@dataclass(frozen=True, slots=True)
class Written:
    """Queries that may be searched for, and why others, or all, may not (empty where there is nothing to say)."""

    queries: tuple[str, ...] = ()
    refused: str = ""


class QueryWriter(Protocol):
    """Writes queries for one question. Never raises, and never takes what the search itself will need."""

    async def rewrites(self, question: str, tried: Sequence[str], *, today: date, budget: Budget) -> Written:
        """Other wordings of `question`, none of them among `tried`."""
        ...

    async def parts(self, question: str, tried: Sequence[str], *, today: date, budget: Budget) -> Written:
        """One query for each thing that `question` asks about; none where it asks about one."""
        ...


class ChatQueryWriter:
    """QueryWriter over a chat model."""

    def __init__(
        self,
        chat: ChatModel,
        *,
        rewrite: Mapping[str, PromptTemplate],
        decompose: Mapping[str, PromptTemplate],
        seconds: float = 10.0,
    ) -> None:
        """`rewrite` and `decompose`: the prompts by language. A call may take `seconds`, or half of what is left."""
        self._chat = chat
        self._rewrite = rewrite
        self._decompose = decompose
        self._seconds = seconds

    async def rewrites(self, question: str, tried: Sequence[str], *, today: date, budget: Budget) -> Written:
        """See `QueryWriter`."""
        prompt = self._rewrite.get(detect(question)) or self._rewrite["en"]
        said, fault = await self._said(prompt.messages(question=question, tried=_listed(tried)), budget)
        if fault:
            return Written(refused=fault)
        known = {same_query(query) for query in tried}
        kept: list[str] = []
        refused = ""
        for query in read_queries(said):
            fault = "it repeats a query" if same_query(query) in known else lost(question, query, today=today)
            if fault:
                refused = refused or fault
                continue
            known.add(same_query(query))
            kept.append(query)
        return Written(tuple(kept[:MOST_REWRITES]), refused or ("" if kept else "the reply holds no query"))

    async def parts(self, question: str, tried: Sequence[str], *, today: date, budget: Budget) -> Written:
        """See `QueryWriter`. Parts are taken together or not at all: what one leaves out another has to hold."""
        prompt = self._decompose.get(detect(question)) or self._decompose["en"]
        said, fault = await self._said(prompt.messages(question=question), budget)
        if fault:
            return Written(refused=fault)
        read = read_queries(said)
        if not read:
            return Written(refused="the reply holds no query")
        distinct = list({same_query(query): query for query in read}.values())
        if len(distinct) == 1:
            return Written()
        if len(distinct) > MOST_PARTS:
            return Written(refused=f"it made {len(distinct)} parts")
        if fault := lost_together(question, distinct, today=today):
            return Written(refused=fault)
        known = {same_query(query) for query in tried}
        return Written(tuple(query for query in distinct if same_query(query) not in known))

    async def _said(self, messages: Sequence[Message], budget: Budget) -> tuple[str, str]:
        """The reply, and why there is none."""
        try:
            budget.check("writing other queries", under_way=_CALLS_OF_A_ROUND)
            left = budget.seconds_left
            seconds = self._seconds if left is None else min(self._seconds, left * _SHARE_OF_TIME)
            return await within(seconds, self._reply(messages, budget)), ""
        except BudgetSpent:
            return "", "the budget leaves no room for it"
        except (OutOfTime, TadasuError) as problem:
            return "", str(problem)
        except BrokeOff:
            return "", "the chat model broke off its own work"
        except Exception as problem:  # noqa: BLE001 - chat models are plugins: their bugs must not lose a run
            return "", f"{type(problem).__name__}: {problem}"

    async def _reply(self, messages: Sequence[Message], budget: Budget) -> str:
        said = await whole_reply(self._chat, messages, max_tokens=_REPLY_TOKENS, ledger=budget, stage=Stage.REWRITE)
        # A reply that was cut off ends in the middle of a query.
        return said.text.rpartition("\n")[0] if said.cut_off else said.text


def read_queries(said: str) -> list[str]:
    """The queries of a reply: strings of its JSON where there are any, else its lines.

    >>> read_queries("Here are three:\\n1. range PT-300\\n- \\"span of the PT-300\\"\\n")
    ['range PT-300', 'span of the PT-300']
    >>> read_queries('```json\\n{"queries": ["測定範囲 PT-300", "PT-300 の仕様"]}\\n```')
    ['測定範囲 PT-300', 'PT-300 の仕様']
    """
    reply = read_reply(said)
    array = _ARRAY.search(reply.text)
    listed = find_objects(f'{{"queries": {array.group()}}}') if array else []
    objects = [one.value for one in listed] or [one for one in reply.objects if not _is_lines(one, reply.lines)]
    found = [query for one in objects for query in _strings(one.values())] or list(reply.lines)
    cleaned = (_clean(query) for query in found)
    return list(dict.fromkeys(query for query in cleaned if re.search(r"\w", query)))


def _is_lines(one: Mapping[str, object], lines: Sequence[str]) -> bool:
    """Whether an object was made of ``key: value`` lines, which are no JSON and are read as lines."""
    return any(str(value).strip() in line for value in one.values() for line in lines)


def _strings(values: Iterable[object]) -> list[str]:
    found: list[str] = []
    for value in values:
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, Mapping):
            found += _strings(value.values())
        elif isinstance(value, list):
            found += _strings(value)
    return found


def _clean(line: str) -> str:
    text = _LABEL.sub("", fold(line).strip(" ,、;*")).strip()
    if text.endswith(":"):
        return ""
    if match := _WRAPPED.match(text):
        text = next(group for group in match.groups() if group).strip()
    return text


def _listed(tried: Sequence[str]) -> str:
    return "\n".join(f"- {query}" for query in tried)
