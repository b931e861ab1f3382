"""Every reason that a run may give, and every change that a round may name, has its Japanese words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from tadasu.answering.correction.policy import CorrectionSettings, Progress, Reaction, ReservePolicy, next_action
from tadasu.core.grades import Level, Verdict
from tadasu.core.runs import Action, ActionKind, SearchMode
from tadasu.text.messages import catalogue
from tadasu.text.run_warnings import TEMPLATES

CHANGES = [
    "one search for each thing that the question asks about",
    "other wordings, written by the chat model",
    "the keywords of the question, by meaning alone",
    "only the keywords of the question, twice as many candidates",
    "only names, numbers and terms, by keywords alone",
    "the web instead of our documents",
    "without the passages graded LOW",
    "the chat model's queries were not used",
]


def every_action() -> Iterator[Action]:
    """What may follow, over all that the policy looks at."""
    held = [
        (),
        (Level.LOW,),
        (Level.UNGRADED,),
        (Level.UNGRADED, Level.LOW),
        (Level.MEDIUM,),
        (Level.HIGH, Level.UNGRADED),
    ]
    for verdict, levels, reaction, reserve in product(Verdict, held, Reaction, ReservePolicy):
        settings = CorrectionSettings(
            ungraded=reaction,
            grader_failed=reaction,
            no_documents=reaction,
            search_failed=reaction,
            budget_spent=reaction,
            incorrect=reserve,
        )
        closed = CorrectionSettings(
            grader_failed=reaction,
            no_documents=reaction,
            search_failed=reaction,
            budget_spent=reaction,
            incorrect=reserve,
        )
        for chosen, left, searches, web, found in product(
            (settings, closed), (True, False), (0, 2), (True, False), (True, False)
        ):
            yield next_action(
                verdict,
                Progress(
                    searches=searches,
                    web_searches=0 if web else 1,
                    web_available=web,
                    probes_left=left,
                    held=frozenset(levels),
                    found=found,
                    last_mode=SearchMode.WEB if left else SearchMode.DENSE,
                    was_incorrect=found,
                    settings=chosen,
                ),
            )


def test_an_action_ends_the_loop_exactly_where_it_names_why() -> None:
    for action in every_action():
        goes_on = action.kind in (ActionKind.SEARCH_AGAIN, ActionKind.SEARCH_WEB)
        assert (action.stop is None) is goes_on, action


@pytest.mark.parametrize("words", sorted({action.reason for action in every_action()} | set(CHANGES)))
def test_the_words_are_in_both_catalogues(words: str) -> None:
    assert catalogue("ja").gettext(words) != words
    assert catalogue("en").gettext(words) == words


@pytest.mark.parametrize("template", [*TEMPLATES])
def test_a_warning_with_a_cause_is_in_both_catalogues(template: str) -> None:
    assert catalogue("ja").gettext(template) != template
    assert catalogue("en").gettext(template) == template
