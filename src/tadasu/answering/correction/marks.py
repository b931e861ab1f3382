"""What a run is warned of: what failed on the way, and what the passages that go on lack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tadasu.core.grades import Calibration, Level, Verdict
from tadasu.core.retrieved import GradedPassage
from tadasu.core.runs import Round
from tadasu.text.run_warnings import FOREIGN, SEARCH_FAILED, UNFITTED, UNGRADED_SOME, warning_of


def failures(rounds: Iterable[Round]) -> Iterator[str]:
    """What could not be searched or graded, each with its first cause; what a budget refused is told by the budget."""
    told = [one for one in rounds if one.verdict is not Verdict.BUDGET_SPENT]
    errors = (one.error for one in told if one.error and one.verdict is not Verdict.GRADER_FAILED)
    for error in dict.fromkeys(errors):
        yield warning_of(SEARCH_FAILED, reason=error)
    seen = {candidate.passage_id for one in told for candidate in one.candidates}
    failed = {
        candidate.passage_id: candidate.grade.reason
        for one in reversed(told)
        for candidate in reversed(one.candidates)
        if candidate.grade.level is Level.UNGRADED
    }
    if failed:
        first = list(failed.values())[-1]
        yield warning_of(UNGRADED_SOME, reason=first, count=len(failed), total=len(seen))


def of_passages(passages: Iterable[GradedPassage], language: str) -> Iterator[str]:
    """What the grades of the passages that go on do not promise, the question being in `language`."""
    items = list(passages)
    if any(item.grade.level is Level.LOW for item in items):
        yield "the verdict was INCORRECT: the answer rests on passages graded LOW"
    known = [item for item in items if item.grade.probability is not None]
    bare = [item for item in known if item.grade.calibration is Calibration.NONE]
    foreign = [item for item in bare if item.passage.language not in {language, "und"}]
    rest = len(bare) - len(foreign)
    if foreign:
        yield warning_of(FOREIGN, count=len(foreign), total=len(items))
    if rest and rest == len(known):
        yield "the grades are not calibrated"
    elif rest:
        yield warning_of(UNFITTED, count=rest, total=len(items))
    if any(item.grade.calibration is Calibration.STALE for item in known):
        yield "the calibration of the grades may no longer hold; `tadasu doctor` says why"
    if len(known) < len(items):
        yield "the answer rests on passages that could not be graded"
