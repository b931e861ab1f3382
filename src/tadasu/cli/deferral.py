"""How a correction that was put off stands, in words and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tadasu.core.jobs import JobState

if TYPE_CHECKING:
    from datetime import datetime

    from tadasu.app.deferred import Deferred
    from tadasu.cli.frame import Frame


def deferral_words(frame: Frame, deferred: Deferred) -> str:
    """One line: what has become of the correction, and what to do about it."""
    job, run = deferred.job, deferred.run_id
    if deferred.corrected_by:
        return frame.say("Corrected: `tadasu trace {run}` is the better answer.", run=deferred.corrected_by)
    if job is None:
        return frame.say("Its correction is nobody's job any more.")
    match job.state:
        case JobState.RUNNING:
            return frame.say("A worker is at the correction now.")
        case JobState.DEAD:
            text = "The correction was given up ({reason}). `tadasu jobs --retry {run}` begins it anew."
            return frame.say(text, reason=reason_words(frame, job.reason), run=run)
        case JobState.WAITING if job.reason:
            text = "The correction failed ({reason}); it is tried again from {when} on."
            return frame.say(text, reason=reason_words(frame, job.reason), when=moment(job.due))
        case JobState.WAITING:
            return frame.say("The correction waits for a worker: `tadasu work` is one.")
        case JobState.DONE:
            return frame.say("Its correction is nobody's job any more.")


def reason_words(frame: Frame, reason: str) -> str:
    """Why an attempt failed, on the way into a longer sentence. Jobs keep the words of an error, not its code."""
    from tadasu.cli.error_words import retold

    return retold(frame, reason).rstrip(".。")


def deferral_object(deferred: Deferred) -> dict[str, Any]:
    """The same for scripts."""
    job = deferred.job
    return {
        "state": None if job is None else job.state.value,
        "attempts": 0 if job is None else job.attempts,
        "due": None if job is None else moment(job.due),
        "reason": "" if job is None else job.reason,
        "corrected_by": deferred.corrected_by or None,
    }


def moment(when: datetime) -> str:
    """A time as runs carry it, to the second."""
    return when.isoformat(timespec="seconds")
