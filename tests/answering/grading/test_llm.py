"""The grader that asks a language model: what it asks, what it makes of replies, what it says where there is none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence

import pytest

from tadasu.answering.correction.rounds import grade_all
from tadasu.answering.correction.verdicts import verdict_of
from tadasu.answering.grading.llm import open_grader
from tadasu.core.grades import Calibration, Level, Recommendation, Verdict, VerdictRule
from tadasu.core.usage import Outcome, Stage
from tadasu.errors import KeyMissing, ProviderLimited, ProviderRefused, ProviderUnreachable, SettingsInvalid
from tadasu.ports import GraderParts, Message
from tadasu.providers.scripted import Reply, ScriptedChat
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.cache import MemoryCache, Room
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld
from tests.answering.grading.judges import (
    BAD,
    GOOD,
    QUESTION,
    blocks,
    by,
    graded,
    grader,
    honest,
    ledger,
    lines,
    retrieval,
    row,
)

UNREADABLE = [
    "",
    "   ",
    "{",
    "[[[[",
    '{"id": ',
    "I think they are all fine.",
    "どれも役に立ちそうです。",
    "\ufeff",
    "0.9",
]


class Shelf(MemoryCache):
    """The cache in memory, and the keys that were ever put there."""

    def __init__(self) -> None:
        super().__init__(Room(entries=100, bytes=1_000_000, seconds=1e6))
        self.keys: set[str] = set()

    async def put(self, entries: Mapping[str, bytes]) -> None:
        self.keys |= entries.keys()
        await super().put(entries)


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_levels_scores_and_advice_reach_the_grades(language: str) -> None:
    def answer(shown: Mapping[str, str]) -> str:
        good, bad = shown
        return lines(
            row(good, 0.9, 1.0, 0.8),
            row(bad, 0.1, 0.0, 0.0, issues=["別の話題"], recommendation="discard"),
        )

    found = await graded(by(answer), GOOD[language], BAD[language], language=language)
    good, bad = found["p0"], found["p1"]
    assert (good.level, good.probability, good.tier) == (Level.HIGH, 0.9, "llm")
    assert (bad.level, bad.recommendation, bad.issues) == (Level.LOW, Recommendation.DISCARD, ("別の話題",))
    assert good.signals == {"relevance": 0.9, "factuality": 1.0, "completeness": 0.8}
    assert good.calibration is Calibration.NONE
    assert bad.reason == "relevance 0.10, factuality 0.00, completeness 0.00; advice: discard; 別の話題"
    assert f"grade/{language}@" in good.grader
    assert good.grader.startswith("llm-1 scripted/script grade/en@")


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_the_sheet_is_in_the_questions_language_and_holds_question_and_passages(language: str) -> None:
    chat = by(lambda shown: lines(*honest(shown)))
    book = ledger()
    await graded(chat, GOOD[language], BAD[language], language=language, book=book)
    [messages] = chat.requests
    assert QUESTION[language] in messages[-1].content
    assert [text.splitlines()[-1] for text in blocks(messages).values()] == [GOOD[language], BAD[language]]
    assert ("質問:" in messages[-1].content) is (language == "ja")
    assert [call.stage for call in book.calls] == [Stage.GRADE]


async def test_passages_go_out_in_batches_and_every_call_is_in_the_ledger() -> None:
    chat, book = by(lambda shown: lines(*honest(shown))), ledger()
    found = await graded(chat, *[f"Text {n}." for n in range(11)], GOOD["en"], batch=5, book=book)
    assert sorted(len(blocks(messages)) for messages in chat.requests) == [2, 5, 5]
    assert len(book.calls) == 3
    assert [one.level for one in found.values()] == [Level.LOW] * 11 + [Level.HIGH]


async def test_long_passages_fill_a_call_before_their_number_does_and_none_is_cut() -> None:
    chat = by(lambda shown: lines(*honest(shown)))
    long = ["word " * 3000 + f"end{n}." for n in range(3)]
    await graded(chat, *long, batch=5)
    assert [len(blocks(messages)) for messages in chat.requests] == [1, 1, 1]
    assert {text.split()[-1] for messages in chat.requests for text in blocks(messages).values()} == {
        "end0.",
        "end1.",
        "end2.",
    }


class Noting(ScriptedChat):
    """Keeps the room that each reply is given."""

    rooms: list[int]

    def stream(self, messages, *, max_tokens, temperature, ledger, stage):  # type: ignore[no-untyped-def]
        self.rooms = [*getattr(self, "rooms", []), max_tokens]
        assert temperature == 0.0
        return super().stream(messages, max_tokens=max_tokens, temperature=temperature, ledger=ledger, stage=stage)


async def test_the_room_for_the_reply_grows_with_the_passages_and_at_the_second_attempt() -> None:
    one, five = Noting([""] * 2), Noting([""] * 2)
    await graded(one, "a")
    await graded(five, *"abcde")
    assert one.rooms[0] < five.rooms[0] < five.rooms[1]
    assert one.rooms[1] > one.rooms[0]


async def test_rows_in_any_order_belong_to_their_passages() -> None:
    found = await graded(by(lambda shown: lines(*reversed(honest(shown)))), BAD["en"], BAD["ja"], GOOD["en"])
    assert [one.level for one in found.values()] == [Level.LOW, Level.LOW, Level.HIGH]


async def test_a08_a_row_without_a_score_is_one_failure_among_twenty_and_the_mean_is_over_nineteen() -> None:
    def answer(shown: Mapping[str, str]) -> str:
        rows = [row(name, *((0.2,) * 3 if "number 7." in text else (0.8,) * 3)) for name, text in shown.items()]
        for one, text in zip(rows, shown.values(), strict=True):
            if "number 7." in text:
                del one["completeness"]
        return json.dumps(rows)

    found = await graded(by(answer), *[f"Passage number {n}." for n in range(20)], batch=20)
    scores = [one.probability for one in found.values() if one.probability is not None]
    failed = [one for one in found.values() if one.level is Level.UNGRADED]
    assert len(scores) == 19
    assert sum(scores) / len(scores) == pytest.approx(0.8)
    assert [one.passage_id for one in failed] == ["p7"]
    assert "unparsed" in failed[0].reason
    assert "lacks completeness" in failed[0].reason
    assert failed[0].recommendation is Recommendation.MANUAL_REVIEW


async def test_a42_a_missing_and_a_doubled_row_shift_nothing() -> None:
    def answer(shown: Mapping[str, str]) -> str:
        names = list(shown)
        rows = [row(name, *(at / 10,) * 3) for at, name in enumerate(names)]
        return lines(*rows[1:4], rows[3], *rows[4:], row("zz9zz", 1.0, 1.0, 1.0)) if len(names) > 1 else "Hm."

    chat = by(answer)
    found = await graded(chat, *[f"Passage {n}." for n in range(6)], batch=6)
    assert found["p0"].level is Level.UNGRADED
    assert "unknown ids" not in found["p0"].reason  # the second attempt, which had no rows at all, has the last word
    assert [found[f"p{n}"].probability for n in range(1, 6)] == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert [len(blocks(messages)) for messages in chat.requests] == [6, 1]


async def test_two_rows_that_differ_are_none_and_the_reason_says_so() -> None:
    def answer(shown: Mapping[str, str]) -> str:
        return lines(*honest(shown), *(row(name, 0.5, 0.5, 0.5) for name in shown))

    found = await graded(by(answer), GOOD["en"], BAD["en"])
    assert [one.level for one in found.values()] == [Level.UNGRADED] * 2
    assert "more than once" in found["p0"].reason


@pytest.mark.parametrize("said", UNREADABLE)
async def test_what_cannot_be_read_is_asked_for_once_more_and_is_then_ungraded(said: str) -> None:
    chat, book = ScriptedChat([said] * 9), ledger()
    found = await graded(chat, GOOD["en"], BAD["ja"], book=book)
    assert len(chat.requests) == len(book.calls) == 2
    assert {one.level for one in found.values()} == {Level.UNGRADED}
    assert all(one.probability is None and "(unparsed)" in one.reason for one in found.values())


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_the_second_attempt_is_about_the_missing_only_and_says_that_it_is_one(language: str) -> None:
    def script(messages: Sequence[Message]) -> Reply:
        rows = honest(blocks(messages))
        return lines(*(rows if len(rows) == 1 else rows[:-1]))

    chat = ScriptedChat(script)
    found = await graded(chat, BAD[language], "x", GOOD[language], language=language)
    first, second = chat.requests
    assert [text.splitlines()[-1] for text in blocks(second).values()] == [GOOD[language]]
    assert set(blocks(first)).isdisjoint(blocks(second))
    note = "先に届いた返答" if language == "ja" else "earlier reply"
    assert note in second[-1].content
    assert note not in first[-1].content
    assert found["p2"].level is Level.HIGH


async def test_a_reply_cut_off_keeps_its_rows_and_names_the_cut() -> None:
    class Cut(ScriptedChat):
        pass

    def script(messages: Sequence[Message]) -> Reply:
        return lines(*honest(blocks(messages)))[:130]

    found = await graded(Cut(script, finish="length"), BAD["en"], GOOD["en"], BAD["ja"])
    assert found["p0"].level is Level.LOW
    assert {found[name].level for name in ("p1", "p2")} >= {Level.UNGRADED}
    assert "truncated" in found["p2"].reason or "truncated" in found["p1"].reason


@pytest.mark.parametrize(
    ("fault", "words", "calls"),
    [
        (ProviderUnreachable(provider="x", reason="no answer within 60 s"), "no answer within 60 s", 1),
        (ProviderLimited(provider="x", reason="HTTP 429"), "HTTP 429", 1),
        (ProviderRefused(provider="x", reason="HTTP 401: bad key", status=401), "bad key", 1),
        (KeyMissing(provider="x", variable="K", setting="s"), "K is not set", 1),
        (ProviderRefused(provider="x", reason="content filter"), "refused", 3),
    ],
)
async def test_a_providers_fault_is_the_reason_and_no_grade(fault: Exception, words: str, calls: int) -> None:
    def script(messages: Sequence[Message]) -> Reply:
        raise fault

    chat, shelf = ScriptedChat(script), Shelf()
    found = await graded(chat, GOOD["en"], BAD["ja"], cache=shelf)
    assert all(one.level is Level.UNGRADED and words in one.reason for one in found.values())
    assert len(chat.requests) == calls
    assert shelf.keys == set()


async def test_a_passage_that_is_refused_does_not_cost_its_neighbours_their_grades() -> None:
    def script(messages: Sequence[Message]) -> Reply:
        shown = blocks(messages)
        if any("forbidden" in text for text in shown.values()):
            return "I'm sorry, but I can't help with that."
        return lines(*honest(shown))

    found = await graded(ScriptedChat(script), GOOD["en"], "A forbidden matter.", BAD["en"])
    assert [one.level for one in found.values()] == [Level.HIGH, Level.UNGRADED, Level.LOW]
    assert "(refused)" in found["p1"].reason


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_a11_a_grader_that_fails_is_grader_failed_and_never_incorrect_nor_cached(language: str) -> None:
    def script(messages: Sequence[Message]) -> Reply:
        raise RuntimeError("out of memory")

    shelf = Shelf()
    made = grader(ScriptedChat(script), cache=shelf)
    given = await grade_all(made, QUESTION[language], retrieval(GOOD[language], BAD[language]), ledger=ledger())
    assert verdict_of(given, rule=VerdictRule.ANY_HIGH) is Verdict.GRADER_FAILED
    assert all("out of memory" in one.reason for one in given)
    assert shelf.keys == set()


async def test_what_was_said_is_kept_by_content_and_question_and_asked_for_once() -> None:
    chat, shelf, book = by(lambda shown: lines(*honest(shown))), Shelf(), ledger()
    made = grader(chat, cache=shelf)
    first = await made.grade(QUESTION["en"], retrieval(GOOD["en"], BAD["en"]), ledger=book)
    again = await made.grade(f"  {QUESTION['en']} ", retrieval(GOOD["en"], BAD["en"]), ledger=book)
    assert first == again
    assert len(chat.requests) == len(book.calls) == 1
    await made.grade(QUESTION["en"], retrieval(GOOD["en"], "The canteen is closed."), ledger=book)
    assert [next(iter(blocks(messages).values())).splitlines()[-1] for messages in chat.requests[1:]] == [
        "The canteen is closed."
    ]
    await made.grade("Another question?", retrieval(GOOD["en"]), ledger=book)
    assert len(chat.requests) == 3


async def test_a_damaged_entry_of_the_cache_is_asked_for_anew() -> None:
    chat, shelf = by(lambda shown: lines(*honest(shown))), Shelf()
    made = grader(chat, cache=shelf)
    [first] = await made.grade(QUESTION["en"], retrieval(GOOD["en"]), ledger=ledger())
    for damage in (
        b"",
        b"\xff",
        b"[2, 0, 0, [], null]",
        b'["a", null, null, [], null]',
        b'[1, 1, 1, [], "burn"]',
        b"{}",
    ):
        await shelf.put(dict.fromkeys(shelf.keys, damage))
        assert await made.grade(QUESTION["en"], retrieval(GOOD["en"]), ledger=ledger()) == [first]


async def test_a_part_that_failed_is_not_kept_and_the_rest_is() -> None:
    shelf = Shelf()
    await graded(
        by(lambda shown: lines(*honest(shown)[:1]) if len(shown) > 1 else "Hm."), GOOD["en"], BAD["en"], cache=shelf
    )
    assert len(shelf.keys) == 1


async def test_the_same_passages_asked_for_at_the_same_time_cost_one_call() -> None:
    chat, book = by(lambda shown: lines(*honest(shown))), ledger()
    made = grader(chat)
    every = await asyncio.gather(
        *(made.grade(QUESTION["ja"], retrieval(GOOD["ja"], BAD["ja"]), ledger=book) for _ in range(8))
    )
    assert all(one == every[0] for one in every)
    assert len(chat.requests) == 1


async def test_twins_in_one_retrieval_are_asked_about_once_and_both_graded() -> None:
    chat = by(lambda shown: lines(*honest(shown)))
    found = await graded(chat, GOOD["en"], GOOD["en"].replace("PT", "PT"), BAD["en"])
    assert len(found) == 3
    assert found["p0"].level is Level.HIGH


async def test_blank_passages_are_low_without_a_call() -> None:
    chat = by(lambda shown: lines(*honest(shown)))
    found = await graded(chat, "", "  \n", "\u3000")
    assert {one.level for one in found.values()} == {Level.LOW}
    assert chat.requests == []
    assert await grader(chat).grade("?", retrieval(), ledger=ledger()) == []


async def test_a_budget_that_is_spent_leaves_passages_ungraded_and_makes_no_further_call() -> None:
    chat, book = by(lambda shown: lines(*honest(shown))), ledger()
    budget = Budget(Limits(calls=2), book)
    found = await graded(chat, *[f"Passage {n}." for n in range(5)], batch=1, book=budget)
    assert len(chat.requests) == len(book.calls) == 2
    assert [one.level for one in found.values()].count(Level.UNGRADED) == 3
    assert all("budget is spent" in one.reason for one in found.values() if one.level is Level.UNGRADED)


async def test_a_deadline_ends_calls_that_are_under_way() -> None:
    class Slow(ScriptedChat):
        async def stream(self, messages, *, max_tokens, temperature, ledger, stage):  # type: ignore[no-untyped-def]
            async for delta in super().stream(
                messages, max_tokens=max_tokens, temperature=temperature, ledger=ledger, stage=stage
            ):
                yield delta
                await asyncio.sleep(30)

    book = ledger()
    budget = Budget(Limits(seconds=0.05), book)
    found = await graded(Slow(lambda messages: lines(*honest(blocks(messages)))), GOOD["en"], book=budget)
    assert found["p0"].level is Level.UNGRADED
    assert "time of the run was over" in found["p0"].reason
    world = FixedWorld()
    over = Budget(Limits(seconds=1.0), late := RunLedger(world))
    world.advance(1.0)
    chat = ScriptedChat([])
    found = await graded(chat, GOOD["en"], book=over)
    assert (found["p0"].level, chat.requests, late.calls) == (Level.UNGRADED, [], ())


async def test_a_grading_that_is_cancelled_ends_its_calls_and_frees_their_places() -> None:
    class Endless(ScriptedChat):
        async def stream(self, messages, *, max_tokens, temperature, ledger, stage):  # type: ignore[no-untyped-def]
            if QUESTION["en"] in messages[-1].content:
                await asyncio.sleep(30)
            async for delta in super().stream(
                messages, max_tokens=max_tokens, temperature=temperature, ledger=ledger, stage=stage
            ):
                yield delta

    made = grader(Endless(lambda messages: lines(*honest(blocks(messages)))), batch=1, calls=2)
    task = asyncio.create_task(made.grade(QUESTION["en"], retrieval("a", "b", "c"), ledger=ledger()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    given = await asyncio.wait_for(made.grade(QUESTION["ja"], retrieval(GOOD["ja"]), ledger=ledger()), 5)
    assert given[0].level is Level.HIGH


async def test_a_call_that_fails_is_in_the_ledger_as_failed() -> None:
    book = ledger()
    await graded(ScriptedChat([ProviderUnreachable(provider="x", reason="down")]), GOOD["en"], book=book)
    assert [(call.stage, call.outcome) for call in book.calls] == [(Stage.GRADE, Outcome.FAILED)]


def test_used_alone_it_needs_a_chat_model(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SettingsInvalid, match="chat model"):
        open_grader(GraderParts(folder=tmp_path))
    made = grader(ScriptedChat([]))
    assert open_grader(GraderParts(folder=tmp_path, assessor=made)) is made


@pytest.mark.parametrize(("batch", "calls"), [(0, 1), (1, 0)])
def test_batches_and_calls_are_at_least_one(batch: int, calls: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        grader(ScriptedChat([]), batch=batch, calls=calls)
