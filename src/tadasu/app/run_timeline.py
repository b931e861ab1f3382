"""Which calls belong to which round of a run, by the times that the run holds."""

from __future__ import annotations

from dataclasses import dataclass

from tadasu.core.runs import Round, Run
from tadasu.core.usage import Call, Stage


@dataclass(frozen=True, slots=True)
class RoundTime:
    """A round and the calls that began within it; milliseconds from the start of the run."""

    round: Round
    started_ms: float
    calls: tuple[Call, ...]

    @property
    def ended_ms(self) -> float:
        """When it was over."""
        return self.started_ms + self.round.duration_ms

    @property
    def grading_ms(self) -> float | None:
        """From the start of its first grading call to the end of its last; None where nothing was graded."""
        graded = [call for call in self.calls if call.stage is Stage.GRADE]
        if not graded:
            return None
        return max(call.started_ms + call.duration_ms for call in graded) - min(call.started_ms for call in graded)


@dataclass(frozen=True, slots=True)
class Timeline:
    """The rounds of a run in order, and the calls that belong to none: rewording before, writing and checking after."""

    rounds: tuple[RoundTime, ...]
    others: tuple[Call, ...]


def timeline(run: Run) -> Timeline:
    """Sort the calls of `run` into its rounds. Rounds written before they knew their start follow upon each other."""
    left = sorted(run.calls, key=lambda call: call.started_ms)
    rounds: list[RoundTime] = []
    ended = 0.0
    for one in run.rounds:
        started = max(one.started_ms, ended) if one.started_ms or not rounds else ended
        ended = started + one.duration_ms
        inside = [call for call in left if started <= call.started_ms <= ended]
        left = [call for call in left if not started <= call.started_ms <= ended]
        rounds.append(RoundTime(one, started, tuple(inside)))
    return Timeline(tuple(rounds), tuple(left))
