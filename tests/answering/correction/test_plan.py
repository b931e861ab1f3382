"""Which search comes after which, and that a model is asked only where its queries are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from tadasu.answering.correction.plan import Plan, Probe
from tadasu.answering.correction.query_writer import Written
from tadasu.answering.correction.rewrite import same_query
from tadasu.core.runs import SearchMode
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld

TODAY = date(2026, 3, 5)
ONE_THING = ["How accurate is the LD-90 at 50 m?", "LD-90は50 mでどれくらい正確ですか？"]
TWO_THINGS = ["What is the difference between the PT-300 and the PT-500?", "PT-300とPT-500の違いは何ですか？"]


class Writer:
    """A QueryWriter that says what it was told to, and counts what it was asked."""

    def __init__(self, *, rewrites: Written | None = None, parts: Written | None = None) -> None:
        self._rewrites, self._parts = rewrites or Written(), parts or Written()
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def rewrites(self, question: str, tried: Sequence[str], *, today: date, budget: Budget) -> Written:
        self.asked.append(("rewrites", tuple(tried)))
        return self._rewrites

    async def parts(self, question: str, tried: Sequence[str], *, today: date, budget: Budget) -> Written:
        self.asked.append(("parts", tuple(tried)))
        return self._parts


async def searches(plan: Plan) -> list[Probe]:
    budget = Budget(Limits(), RunLedger(FixedWorld()))
    found = []
    while plan.left:
        await plan.prepare(budget)
        if plan.left:
            found.append(plan.take())
    return found


def plan(question: str, writer: Writer | None = None, *, merges: bool = True) -> Plan:
    return Plan(question, k=10, today=TODAY, writer=writer, merges=merges)


@pytest.mark.parametrize("question", [*ONE_THING, *TWO_THINGS, "warranty"])
async def test_the_first_search_is_the_question_and_no_two_are_the_same(question: str) -> None:
    made = await searches(plan(question))
    assert made[0] == Probe((question,), SearchMode.HYBRID, 10)
    assert len({(frozenset(map(same_query, one.queries)), one.mode) for one in made}) == len(made) >= 3
    assert all(one.changed for one in made[1:])


@pytest.mark.parametrize("question", ["?", "", " 。"])
async def test_a_question_without_a_word_is_searched_for_once(question: str) -> None:
    assert await searches(plan(question)) == [Probe((question,), SearchMode.HYBRID, 10)]


@pytest.mark.parametrize("question", ONE_THING)
async def test_by_rules_meaning_comes_first_then_more_candidates_then_the_words_alone(question: str) -> None:
    made = await searches(plan(question))
    assert [(one.mode, one.k) for one in made[1:]] == [
        (SearchMode.DENSE, 20),
        (SearchMode.HYBRID, 20),
        (SearchMode.LEXICAL, 20),
    ]
    assert all("LD-90" in one.query and "50" in one.query for one in made)


@pytest.mark.parametrize("question", TWO_THINGS)
async def test_a_question_about_two_things_is_searched_for_part_by_part_in_one_round(question: str) -> None:
    made = await searches(plan(question))
    assert made[1].queries == ("PT-300", "PT-500")
    assert made[1].k == 10  # as many in all as a wide search brings
    alone = await searches(plan(question, merges=False))
    assert all(len(one.queries) == 1 for one in alone)


async def test_a_models_rewrites_are_one_round_before_the_rules_and_it_is_asked_once() -> None:
    writer = Writer(rewrites=Written(("LD-90 50 m accuracy", "precision of the LD-90 at 50 m")))
    made = await searches(plan(ONE_THING[0], writer))
    assert made[1].queries == ("LD-90 50 m accuracy", "precision of the LD-90 at 50 m")
    assert made[1].mode is SearchMode.HYBRID
    assert writer.asked == [("rewrites", (ONE_THING[0],))]
    assert [one.mode for one in made[2:]] == [SearchMode.DENSE, SearchMode.HYBRID, SearchMode.LEXICAL]


@pytest.mark.parametrize("question", TWO_THINGS)
async def test_a_model_takes_the_question_apart_and_then_rewrites_knowing_what_was_tried(question: str) -> None:
    writer = Writer(parts=Written(("about the PT-300", "about the PT-500")), rewrites=Written(("PT-300 PT-500 x",)))
    made = await searches(plan(question, writer))
    assert [one.queries for one in made[1:3]] == [("about the PT-300", "about the PT-500"), ("PT-300 PT-500 x",)]
    assert writer.asked == [
        ("parts", (question,)),
        ("rewrites", (question, "about the PT-300", "about the PT-500")),
    ]


async def test_nothing_is_asked_of_a_model_before_its_queries_are_wanted() -> None:
    writer = Writer(rewrites=Written(("x",)))
    made = plan(ONE_THING[0], writer)
    await made.prepare(Budget(Limits(), RunLedger(FixedWorld())))
    made.take()
    assert made.left
    assert writer.asked == []


@pytest.mark.parametrize("question", [ONE_THING[0], TWO_THINGS[0]])
async def test_where_the_models_queries_cannot_be_used_rules_search_and_the_run_says_so(question: str) -> None:
    writer = Writer(rewrites=Written((), "it lost LD-90"), parts=Written((), "the reply holds no query"))
    made = await searches(plan(question, writer))
    by_rules = await searches(plan(question))
    assert [(one.queries, one.mode) for one in made] == [(one.queries, one.mode) for one in by_rules]
    said = [one.changed for one in made if "the chat model's queries were not used" in one.changed]
    assert said
    assert said[-1].endswith("it lost LD-90")


async def test_web_queries_differ_from_each_other_and_run_out() -> None:
    made = plan("What is the latest price of the PT-300 probe in Osaka, and where is it sold?")
    asked = []
    while made.web_left:
        asked.append(made.take_web(results=5))
    assert len({same_query(one.query) for one in asked}) == len(asked) >= 2
    assert all(one.mode is SearchMode.WEB and "2026" in one.query for one in asked)
