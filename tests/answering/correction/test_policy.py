"""What follows each verdict and each state that is none, for every configured reaction."""

from __future__ import annotations

from typing import Any

import pytest

from tadasu.answering.correction.policy import (
    CorrectionSettings,
    Progress,
    Reaction,
    ReservePolicy,
    admitted,
    next_action,
)
from tadasu.core.grades import Level, Verdict
from tadasu.core.runs import ActionKind, SearchMode, StopReason

HIGH, MEDIUM, LOW, UNGRADED = Level.HIGH, Level.MEDIUM, Level.LOW, Level.UNGRADED
STATES = {
    Verdict.NO_DOCUMENTS: "no_documents",
    Verdict.GRADER_FAILED: "grader_failed",
    Verdict.SEARCH_FAILED: "search_failed",
    Verdict.BUDGET_SPENT: "budget_spent",
}


def reacting(name: str, reaction: Reaction) -> CorrectionSettings:
    chosen: dict[str, Any] = {name: reaction}
    return CorrectionSettings(**chosen)


def progress(*held: Level, settings: CorrectionSettings | None = None, **said: object) -> Progress:
    """Nothing is left to search, unless `said` otherwise."""
    values: dict[str, object] = {"probes_left": False, "searches": 2, "found": bool(held), **said}
    return Progress(held=frozenset(held), settings=settings or CorrectionSettings(), **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(("verdict", "name"), STATES.items())
def test_closed_uses_what_is_good_and_nothing_that_was_not_checked(verdict: Verdict, name: str) -> None:
    assert getattr(CorrectionSettings(), name) is Reaction.CLOSED
    for held, kind in (
        ((), ActionKind.ABSTAIN),
        ((LOW,), ActionKind.ABSTAIN),
        ((UNGRADED, LOW), ActionKind.ABSTAIN),
        ((MEDIUM, UNGRADED), ActionKind.COMBINE),
    ):
        action = next_action(verdict, progress(*held, found=False))
        assert (action.kind, action.stop) == (kind, StopReason(name))
        assert admitted(StopReason(name), progress(*held)) == frozenset(held) & {HIGH, MEDIUM}


@pytest.mark.parametrize(("verdict", "name"), STATES.items())
def test_open_uses_what_there_is_and_says_so(verdict: Verdict, name: str) -> None:
    opened = reacting(name, Reaction.OPEN)
    for held, kind, word in (
        ((), ActionKind.ABSTAIN, ""),
        ((UNGRADED, LOW), ActionKind.COMBINE, "unchecked"),
        ((LOW,), ActionKind.COMBINE, "reserve"),
        ((HIGH, UNGRADED), ActionKind.COMBINE, "good passages"),
    ):
        action = next_action(verdict, progress(*held, settings=opened, found=False))
        assert (action.kind, action.stop) == (kind, StopReason(name))
        assert word in action.reason


@pytest.mark.parametrize(("verdict", "name"), STATES.items())
def test_abstain_ends_at_once_whatever_is_held_or_left(verdict: Verdict, name: str) -> None:
    strict = reacting(name, Reaction.ABSTAIN)
    held = () if verdict is Verdict.NO_DOCUMENTS else (HIGH, MEDIUM)
    now = progress(*held, settings=strict, probes_left=True, searches=0, web_available=True)
    action = next_action(verdict, now)
    assert (action.kind, action.stop) == (ActionKind.ABSTAIN, StopReason(name))
    assert "as configured" in action.reason


def test_a_later_round_that_brings_nothing_is_no_lack_of_documents() -> None:
    strict = CorrectionSettings(no_documents=Reaction.ABSTAIN)
    action = next_action(Verdict.NO_DOCUMENTS, progress(MEDIUM, settings=strict))
    assert (action.kind, action.stop) == (ActionKind.COMBINE, StopReason.SEARCHES_EXHAUSTED)
    action = next_action(Verdict.NO_DOCUMENTS, progress(LOW, settings=strict, was_incorrect=True))
    assert (action.kind, action.stop) == (ActionKind.ABSTAIN, StopReason.INCORRECT)


def test_a_single_ungraded_passage_forbids_an_answer_only_where_that_is_configured() -> None:
    held = (HIGH, UNGRADED)
    assert next_action(Verdict.CORRECT, progress(*held)).kind is ActionKind.REFINE
    strict = next_action(Verdict.CORRECT, progress(*held, settings=CorrectionSettings(ungraded=Reaction.ABSTAIN)))
    assert (strict.kind, strict.stop) == (ActionKind.ABSTAIN, StopReason.UNGRADED)


def test_ambiguous_searches_again_then_the_web_then_combines() -> None:
    left = progress(MEDIUM, probes_left=True, searches=0, web_available=True)
    assert next_action(Verdict.AMBIGUOUS, left).kind is ActionKind.SEARCH_AGAIN
    assert next_action(Verdict.AMBIGUOUS, progress(MEDIUM, web_available=True)).kind is ActionKind.SEARCH_WEB
    end = next_action(Verdict.AMBIGUOUS, progress(MEDIUM, web_available=True, web_searches=1))
    assert (end.kind, end.stop) == (ActionKind.COMBINE, StopReason.SEARCHES_EXHAUSTED)
    assert next_action(Verdict.AMBIGUOUS, progress(MEDIUM, searches=1)).stop is StopReason.NO_OTHER_SEARCH


def test_ambiguous_for_want_of_grades_alone_is_no_evidence() -> None:
    end = next_action(Verdict.AMBIGUOUS, progress(LOW, UNGRADED))
    assert end.kind is ActionKind.ABSTAIN
    opened = progress(LOW, UNGRADED, settings=CorrectionSettings(ungraded=Reaction.OPEN))
    assert next_action(Verdict.AMBIGUOUS, opened).kind is ActionKind.COMBINE


def test_incorrect_asks_the_web_at_once_and_keeps_the_reserve_until_it_has_answered() -> None:
    reserve = CorrectionSettings(incorrect=ReservePolicy.USE_WITH_WARNING)
    first = progress(LOW, settings=reserve, probes_left=True, searches=0, web_available=True, was_incorrect=True)
    assert next_action(Verdict.INCORRECT, first).kind is ActionKind.SEARCH_WEB
    for verdict in (Verdict.INCORRECT, Verdict.NO_DOCUMENTS, Verdict.SEARCH_FAILED):
        after = progress(LOW, settings=reserve, web_available=True, web_searches=1, was_incorrect=True)
        end = next_action(verdict, after)
        assert end.kind is ActionKind.COMBINE
        assert "reserve" in end.reason
        plain = progress(LOW, web_available=True, web_searches=1, was_incorrect=True)
        assert next_action(verdict, plain).kind is ActionKind.ABSTAIN


def test_a_web_that_is_incorrect_does_not_end_what_is_ambiguous() -> None:
    now = progress(MEDIUM, probes_left=True, searches=1, web_available=True, web_searches=1, last_mode=SearchMode.WEB)
    assert next_action(Verdict.INCORRECT, now).kind is ActionKind.SEARCH_AGAIN
    end = next_action(Verdict.INCORRECT, progress(MEDIUM, web_available=True, web_searches=1))
    assert (end.kind, end.stop) == (ActionKind.COMBINE, StopReason.SEARCHES_EXHAUSTED)


def test_where_the_web_cannot_be_searched_our_documents_get_their_other_searches() -> None:
    now = progress(LOW, probes_left=True, searches=0, web_available=True, web_searches=1, last_mode=SearchMode.WEB)
    assert next_action(Verdict.SEARCH_FAILED, now).kind is ActionKind.SEARCH_AGAIN
    assert next_action(Verdict.NO_DOCUMENTS, now).kind is ActionKind.SEARCH_AGAIN


def test_where_meaning_ranks_all_and_nothing_is_left_no_further_search_is_made() -> None:
    now = progress(LOW, probes_left=True, searches=1, seen_all=True)
    assert next_action(Verdict.NO_DOCUMENTS, now).kind is ActionKind.ABSTAIN
    words_only = progress(LOW, probes_left=True, searches=1, seen_all=False)
    assert next_action(Verdict.NO_DOCUMENTS, words_only).kind is ActionKind.SEARCH_AGAIN
