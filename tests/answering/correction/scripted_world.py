"""A whole world in which the correction loop runs: what each part does at each of its calls is drawn beforehand."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tadasu.answering.correction.loop import Corrected, CorrectionLoop
from tadasu.answering.correction.policy import CorrectionSettings, Reaction, ReservePolicy
from tadasu.answering.correction.query_writer import ChatQueryWriter
from tadasu.answering.retrieval.transient import merge_retrievals
from tadasu.core.documents import Origin, Scope
from tadasu.core.grades import Calibration, Grade, Thresholds, VerdictRule, ungraded
from tadasu.core.retrieved import Candidate, DroppedPage, Retrieval
from tadasu.core.runs import SearchMode
from tadasu.core.usage import Call, Stage, Tokens
from tadasu.errors import BudgetSpent, ProviderUnreachable
from tadasu.ports import ChatDelta, Ledger, Message
from tadasu.prompts import load
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger, timed
from tadasu.runtime.world import FixedWorld
from tests.answering.correction.jumping_loop import run_in
from tests.answering.correction.worlds import passage

OWN = [f"p{i}" for i in range(7)]
WEB = [f"w{i}" for i in range(4)]
QUESTIONS = [
    "What is the range of the PT-300?",
    "PT-300の測定範囲は何ですか？",
    "What is the difference between the PT-300 and the PT-500?",
    "PT-300とPT-500の今年の価格の違いは？",
    "warranty",
    "{x} %s 😀 　?",
    "?",
]
REPLIES = [
    "span of the PT-300\nmeasuring limits PT-300\nPT-300 specification",
    '{"queries": ["PT-300 の計測レンジ", "PT-300 仕様"]}',
    "range of the PT-300\nrange of the PT-500",
    "PT-300の今年の価格\nPT-500の今年の価格",
    "What is the range of the PT-300?",
    "{ nothing } 12345\n\n",
    "",
]


@dataclass
class World:
    """What happens. Lists are what a part does at its calls in turn, and from the beginning again."""

    question: str
    search: list[str]
    finds: list[list[str]]
    grader: list[str]
    levels: Mapping[str, float | None]
    web: list[str] | None
    pages: list[list[str]]
    chat: list[str] | None
    settings: CorrectionSettings
    limits: Limits
    merges: bool
    call_seconds: float


def _lists(values: Sequence[str], *, least: int = 1) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), min_size=least, max_size=4)


SEARCHES = [
    "finds",
    "finds",
    "finds",
    "same",
    "raises",
    "bug",
    "hangs",
    "spent",
    "breaks off",
    "nothing",
    "no retrieval",
]
GRADERS = ["grades", "grades", "grades", "misses", "NaN", "raises", "bug", "hangs", "breaks off", "doubles", "nothing"]
reactions = st.sampled_from(Reaction)
chosen = st.builds(
    CorrectionSettings,
    rule=st.sampled_from(VerdictRule),
    quality_threshold=st.sampled_from([0.0, 0.3, 1.0]),
    max_searches=st.integers(0, 5),
    max_web_searches=st.integers(0, 3),
    medium_kept=st.integers(0, 2),
    medium_kept_exhausted=st.integers(0, 3),
    ungraded=reactions,
    grader_failed=reactions,
    no_documents=reactions,
    search_failed=reactions,
    budget_spent=reactions,
    incorrect=st.sampled_from(ReservePolicy),
)
worlds = st.builds(
    World,
    question=st.sampled_from(QUESTIONS),
    search=_lists(SEARCHES),
    finds=st.lists(st.lists(st.sampled_from(OWN), max_size=5), min_size=1, max_size=4),
    grader=_lists(GRADERS),
    levels=st.dictionaries(st.sampled_from(OWN + WEB), st.sampled_from([None, 0.05, 0.1, 0.5, 0.9])),
    web=st.none() | _lists(SEARCHES),
    pages=st.lists(st.lists(st.sampled_from(WEB), max_size=4), min_size=1, max_size=3),
    chat=st.none() | _lists([*REPLIES, "raises", "bug", "hangs", "spent"]),
    settings=chosen,
    limits=st.builds(
        Limits,
        seconds=st.sampled_from([60.0, 60.0, 3.0, 0.5]),
        calls=st.none() | st.none() | st.integers(1, 30),
        usd=st.none() | st.sampled_from([0.0, 0.02, 1.0]),
    ),
    merges=st.booleans(),
    call_seconds=st.sampled_from([0.0, 0.0, 0.2, 1.5]),
)


async def _does(what: str, seconds: float) -> None:
    """Play what every part may do but its work."""
    await asyncio.sleep(seconds)
    match what:
        case "raises":
            raise ProviderUnreachable(provider="scripted", reason="down")
        case "bug":
            raise ZeroDivisionError("division by zero")
        case "hangs":
            await asyncio.sleep(1e9)
        case "spent":
            raise BudgetSpent(what="the day")
        case "breaks off":
            raise asyncio.CancelledError


@dataclass
class OwnDouble:
    world: World
    asked: list[tuple[str, SearchMode, Scope]] = field(default_factory=list)

    async def search(self, query: str, *, k: int, scope: Scope, mode: SearchMode, ledger: Ledger) -> Retrieval:
        turn = len(self.asked)
        self.asked.append((query, mode, scope))
        what = self.world.search[turn % len(self.world.search)]
        names = self.world.finds[turn % len(self.world.finds)]
        with timed(ledger, Stage.RETRIEVE, provider="own"):
            await _does(what, self.world.call_seconds)
            if what == "no retrieval":
                return None  # type: ignore[return-value]
            if what == "nothing":
                names = []
            allowed = names if what == "same" else [n for n in names if n not in scope.exclude_passages]
            return Retrieval(query, tuple(Candidate(passage(n), fused=1.0, queries=(query,)) for n in allowed[:k]))


@dataclass
class WebDouble:
    world: World
    asked: list[str] = field(default_factory=list)

    async def search(self, query: str, *, inside: Retrieval, limit: int, language: str, ledger: Ledger) -> Retrieval:
        turn = len(self.asked)
        self.asked.append(query)
        assert self.world.web is not None
        what = self.world.web[turn % len(self.world.web)]
        names = self.world.pages[turn % len(self.world.pages)] if what != "nothing" else []
        with timed(ledger, Stage.SEARCH, provider="web"):
            await _does(what, self.world.call_seconds)
            if what == "no retrieval":
                return None  # type: ignore[return-value]
            pages = [passage(name, origin=Origin.WEB) for name in names]
            return Retrieval(
                query,
                tuple(Candidate(page, fused=1.0, queries=(query,)) for page in pages),
                dropped=(DroppedPage("https://wall.example", "cookie_wall"),),
            )


@dataclass
class GraderDouble:
    world: World
    calls: int = 0
    id: str = "scripted@1"

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> Sequence[Grade]:
        assert question == self.world.question
        what = self.world.grader[self.calls % len(self.world.grader)]
        self.calls += 1
        with timed(ledger, Stage.GRADE, provider="grader", items=len(retrieval.candidates)):
            await _does(what, self.world.call_seconds)
            grades = [self._grade(candidate.passage.id, what) for candidate in retrieval.candidates]
            if what == "misses":
                grades = grades[1:]
            if what == "doubles":
                grades += grades[::-1]
            return None if what == "nothing" else grades  # type: ignore[return-value]

    def _grade(self, name: str, what: str) -> Grade:
        value = self.world.levels.get(name, 0.1)
        if what == "NaN":
            value = math.nan
        if value is None:
            return ungraded(name, reason="unreadable", grader=self.id)
        level = Thresholds().level(value)
        return Grade(name, level, value, "scripted", self.id, calibration=Calibration.PUBLIC)


@dataclass
class ChatDouble:
    world: World
    requests: list[str] = field(default_factory=list)
    id: str = "scripted/chat"

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        assert self.world.chat is not None
        said = self.world.chat[len(self.requests) % len(self.world.chat)]
        self.requests.append("\n".join(message.content for message in messages))
        try:
            await _does(said, self.world.call_seconds)
            yield ChatDelta(text=said)
            yield ChatDelta(tokens=Tokens(1, 1), finish="stop")
        finally:
            ledger.record(Call(stage, "chat", cost_usd=0.01))


@dataclass
class Played:
    """A world after its run."""

    world: World
    corrected: Corrected
    own: OwnDouble
    web: WebDouble | None
    grader: GraderDouble
    chat: ChatDouble | None
    ledger: RunLedger
    seconds: float

    def calls(self, stage: Stage) -> int:
        """How many calls of `stage` the ledger lists."""
        return sum(call.stage is stage for call in self.ledger.calls)


def play(world: World) -> Played:
    """Let the loop run in `world`, in its own time."""
    time = FixedWorld(seed=3)
    own, grader = OwnDouble(world), GraderDouble(world)
    web = WebDouble(world) if world.web is not None else None
    chat = ChatDouble(world) if world.chat is not None else None
    prompts: dict[str, Any] = {
        name: {language: load(name, language) for language in ("en", "ja")} for name in ("rewrite", "decompose")
    }
    loop = CorrectionLoop(
        search=own,
        grader=grader,
        outside=web,
        settings=world.settings,
        k=3,
        writer=ChatQueryWriter(chat, **prompts) if chat else None,
        merge=merge_retrievals if world.merges else None,
        clock=time,
    )
    ledger = RunLedger(time)
    work = loop.run(world.question, scope=Scope(), language="en", ledger=ledger, budget=Budget(world.limits, ledger))
    corrected = run_in(time, work)
    return Played(world, corrected, own, web, grader, chat, ledger, time.elapsed())
