from __future__ import annotations

from dataclasses import replace

import pytest

from tadasu.app.run_metrics import run_meters, sentence_fates
from tadasu.app.statistics import figures, percentile, statistics
from tadasu.core.answers import CheckedSentence, Support
from tadasu.core.documents import Reader
from tadasu.core.runs import Deferral, SearchMode
from tadasu.core.usage import Call, Pricing, Stage
from tests.cli.samples import Runs, Shelf, abstained, answered, candidate, document, round_of


def test_figures_count_what_happened() -> None:
    web = answered(rounds=(round_of(candidate("a")), round_of(candidate("b"), number=2, mode=SearchMode.WEB)))
    plain = answered(rounds=(round_of(candidate("a")),), duration_ms=100.0)
    paid = answered(calls=(Call(Stage.GENERATE, "x", cost_usd=0.25, pricing=Pricing.PRICED), Call(Stage.GENERATE, "y", cost_usd=None, pricing=Pricing.UNPRICED)))  # fmt: skip
    found = figures([web, plain, paid, abstained()])
    assert (found.runs, found.answered, found.abstained) == (4, 3, {"insufficient": 1})
    assert found.verdicts == {"correct": 3, "incorrect": 1}
    assert found.web_share == 0.25
    assert found.corrected_share == 0.5
    assert (found.median_ms, found.p95_ms) == (42.0, 100.0)
    assert (found.cost.usd, found.cost.unpriced_calls) == (0.25, 1)


def test_a_question_that_was_corrected_in_the_background_counts_once() -> None:
    first = replace(abstained(), id="run-1", deferred=Deferral.PENDING, duration_ms=20.0)
    better = replace(answered("q", run_id="run-2"), deferred=Deferral.DONE, corrects="run-1", duration_ms=900.0)
    waiting = replace(abstained(), id="run-3", deferred=Deferral.PENDING, duration_ms=30.0)
    found = figures([waiting, better, first])
    assert (found.runs, found.answered, sum(found.abstained.values())) == (2, 1, 1)
    assert sum(found.rounds.values()) == 2
    assert found.p95_ms == 30.0
    assert sum(stage.calls for stage in found.stages.values()) == len(first.calls + better.calls + waiting.calls)


def test_no_run_gives_no_share() -> None:
    found = figures([])
    assert found.runs == 0
    assert found.web_share is found.corrected_share is found.median_ms is found.p95_ms is None


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 10.0), (0.95, 19.0), (1.0, 20.0)])
def test_percentiles_are_nearest_rank(share: float, expected: float) -> None:
    assert percentile([float(number) for number in range(1, 21)], share) == expected


async def test_languages_are_told_apart_and_the_newest_runs_come_first() -> None:
    runs = Runs()
    for number, language in enumerate(("en", "ja", "ja")):
        runs.save(answered(run_id=f"run-{number}", language=language))
    found = await statistics(shelf=Shelf(document("a.md")), runs=runs, reader=Reader(), limit=2, shown=1)
    assert found.overall.runs == 2
    assert {language: one.runs for language, one in found.by_language.items()} == {"ja": 2}
    assert [run.id for run in found.latest] == ["run-2"]
    assert found.index.documents == 1


def test_the_share_of_unsupported_sentences_counts_what_was_written_whatever_became_of_it() -> None:
    good = [CheckedSentence(f"s{number}", (1,), Support.SUPPORTED) for number in range(3)]
    flagged = CheckedSentence("f", (), Support.UNSUPPORTED, ("number 4",))
    gone = CheckedSentence("g", (1,), Support.UNSUPPORTED, ("number 5",))
    again = replace(gone, instead="s2")
    lead = CheckedSentence("As follows:", (), Support.UNCITED)
    run = answered()
    mixed = replace(run, answer=replace(run.answer, sentences=(lead, *good, flagged), removed=(gone, again)))
    silent = replace(abstained(), id="run-2")
    silent = replace(silent, answer=replace(silent.answer, removed=(gone,)))
    found = figures([mixed, silent])
    assert found.claims == 2 + 3 + 1
    assert found.unsupported_share == pytest.approx(4 / 6)
    assert figures([abstained()]).unsupported_share is None
    assert sentence_fates(mixed.answer) == {"supported": 2, "removed": 1, "rewritten": 1, "flagged": 1}
    lines = run_meters([mixed, silent]).text()
    for fate, count in {"supported": 2, "removed": 2, "rewritten": 1, "flagged": 1}.items():
        assert f'tadasu_answer_sentences_total{{fate="{fate}"}} {count}.0' in lines
