"""Whatever search, grader, web and chat model do: the loop ends, each round differs, and the record is true."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from tadasu.answering.correction.policy import Reaction, ReservePolicy
from tadasu.answering.correction.rewrite import same_query
from tadasu.core.documents import Origin
from tadasu.core.grades import Level, Recommendation, Verdict
from tadasu.core.runs import ActionKind, SearchMode, StopReason
from tadasu.core.usage import Stage
from tests.answering.correction.scripted_world import Played, World, play, worlds

EXHAUSTED = {StopReason.SEARCHES_EXHAUSTED, StopReason.NO_OTHER_SEARCH}
ENDS = {
    Verdict.CORRECT: {StopReason.CORRECT},
    Verdict.AMBIGUOUS: EXHAUSTED,
    Verdict.INCORRECT: {StopReason.INCORRECT} | EXHAUSTED,
    Verdict.NO_DOCUMENTS: {StopReason.NO_DOCUMENTS, StopReason.INCORRECT} | EXHAUSTED,
    Verdict.GRADER_FAILED: {StopReason.GRADER_FAILED},
    Verdict.SEARCH_FAILED: {StopReason.SEARCH_FAILED},
    Verdict.BUDGET_SPENT: {StopReason.BUDGET_SPENT},
}


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(worlds)
def test_every_scripted_world_ends_within_its_bounds_changes_each_round_and_says_the_truth(world: World) -> None:
    played = play(world)
    _stays_within_its_bounds(played)
    _changes_something_every_round(played)
    _makes_the_calls_that_it_lists(played)
    _says_truly_why_it_stopped(played)
    _lets_on_what_the_settings_allow(played)


def _stays_within_its_bounds(played: Played) -> None:
    rounds, chosen, limits = played.corrected.rounds, played.world.settings, played.world.limits
    assert 1 <= sum(done.mode is not SearchMode.WEB for done in rounds) <= 1 + chosen.max_searches
    assert sum(done.mode is SearchMode.WEB for done in rounds) <= chosen.max_web_searches
    assert limits.seconds is not None
    assert played.seconds <= limits.seconds + 1e-6
    if limits.calls is not None:
        assert len(played.ledger.calls) <= limits.calls + 3  # the parts of one round begin together
    assert played.chat is None or len(played.chat.requests) <= 2


def _changes_something_every_round(played: Played) -> None:
    ruled_out: set[str] = set()
    keys = set()
    for done in played.corrected.rounds:
        keys.add((frozenset(map(same_query, done.queries or (done.query,))), done.mode))
        assert not ruled_out & {one.passage_id for one in done.candidates}
        ruled_out |= {one.passage_id for one in done.candidates if one.grade.level is Level.LOW}
    assert len(keys) == len(played.corrected.rounds)
    assert [bool(done.changed) for done in played.corrected.rounds] == [
        done.number > 1 for done in played.corrected.rounds
    ]
    assert played.own.asked == [] or played.own.asked[0][0] == played.world.question


def _makes_the_calls_that_it_lists(played: Played) -> None:
    rounds = played.corrected.rounds
    own = [done for done in rounds if done.mode is not SearchMode.WEB]
    listed = [(query, done.mode) for done in own for query in (done.queries or (done.query,))]
    assert played.calls(Stage.RETRIEVE) == len(played.own.asked)
    made = [(query, mode) for query, mode, _ in played.own.asked]
    assert made == [search for search in listed if search in made]
    whole = [done for done in own if not done.error]
    assert sum(done.searches for done in whole) <= len(made) <= len(listed)
    if all(done.verdict is not Verdict.BUDGET_SPENT and "of the run" not in done.error for done in own):
        refused = sum(done.searches - 1 for done in own if "searches failed" in done.error)
        assert len(listed) - refused <= len(made)
    asked_outside = len(played.web.asked) if played.web else 0
    outside = [done for done in rounds if done.mode is SearchMode.WEB]
    assert played.calls(Stage.SEARCH) == asked_outside
    assert sum(done.verdict is not Verdict.BUDGET_SPENT for done in outside) <= asked_outside <= len(outside)
    assert played.calls(Stage.GRADE) == played.grader.calls <= len(rounds)
    assert played.calls(Stage.REWRITE) == (len(played.chat.requests) if played.chat else 0)
    for done in outside:
        assert (done.verdict in (Verdict.SEARCH_FAILED, Verdict.BUDGET_SPENT)) or done.dropped


def _says_truly_why_it_stopped(played: Played) -> None:
    corrected = played.corrected
    last = corrected.rounds[-1]
    assert corrected.stop_reason == last.action.reason != ""
    assert corrected.stop is last.action.stop is not None
    assert all(done.action.stop is None for done in corrected.rounds[:-1])
    assert corrected.stop in ENDS[last.verdict] | {StopReason.UNGRADED}
    assert bool(corrected.passages) is (last.action.kind is not ActionKind.ABSTAIN)
    own = [done for done in corrected.rounds if done.mode is not SearchMode.WEB]
    if corrected.stop in EXHAUSTED:
        exhausted = len(own) == 1 + played.world.settings.max_searches
        assert exhausted is (corrected.stop is StopReason.SEARCHES_EXHAUSTED)
    if corrected.stop is StopReason.NO_DOCUMENTS:
        assert not any(done.candidates for done in own)
    if corrected.stop is StopReason.INCORRECT:
        assert Verdict.INCORRECT in {done.verdict for done in corrected.rounds}
        assert not {item.grade.level for item in corrected.passages} & {Level.HIGH, Level.MEDIUM}
    for done in corrected.rounds:
        levels = {one.grade.level for one in done.candidates}
        assert done.verdict is not Verdict.INCORRECT or levels == {Level.LOW}
        if done.verdict in (Verdict.SEARCH_FAILED, Verdict.GRADER_FAILED, Verdict.BUDGET_SPENT):
            assert done.error
        for one in done.candidates:
            if one.grade.level is Level.UNGRADED:
                assert one.grade.recommendation is Recommendation.MANUAL_REVIEW
                assert one.grade.reason


def _lets_on_what_the_settings_allow(played: Played) -> None:
    chosen, corrected = played.world.settings, played.corrected
    levels = {item.grade.level for item in corrected.passages}
    opened = chosen.reaction(corrected.stop) is Reaction.OPEN
    if Level.UNGRADED in levels:
        assert chosen.ungraded is Reaction.OPEN or opened
        assert any("could not be graded" in warning for warning in corrected.warnings)
    if Level.LOW in levels:
        assert levels == {Level.LOW}
        assert all(item.passage.origin is Origin.INTERNAL for item in corrected.passages)
        assert opened or chosen.incorrect is ReservePolicy.USE_WITH_WARNING
        assert any("graded LOW" in warning for warning in corrected.warnings)
    if chosen.reaction(corrected.stop) is Reaction.ABSTAIN and corrected.stop is not StopReason.NO_DOCUMENTS:
        assert not corrected.passages
