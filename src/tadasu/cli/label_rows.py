"""What became of the rows of a file of labels: counts that add up, and every row that does not count, in order."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tadasu.cli.error_words import details_of, retold
from tadasu.cli.frame import Frame, clean, write_line
from tadasu.cli.jsonable import error_object

if TYPE_CHECKING:
    from tadasu.app.labelled_pairs import GradedLabels
    from tadasu.app.labels import LabelFile
    from tadasu.errors import TadasuError

_SHOWN = 10
_WIDTH = "{found} fields, the header has {width}"


def row_counts(read: LabelFile, graded: GradedLabels, *, across: int) -> dict[str, int]:
    """Rows by what became of them; all but `rows` add up to it. `across` pairs are in no fit."""
    return {
        "rows": read.rows,
        "counted": len(graded.scores) - across,
        "repeated": read.repeated + graded.repeated,
        "bad": len(read.bad) + len(graded.contradicted),
        "absent": len(graded.absent),
        "failed": len(graded.failed),
        "ruled_by_language_model": graded.ruled,
        "across_languages": across,
    }


def counts_line(frame: Frame, counts: dict[str, int]) -> str:
    """The counts in one line; what is 0 is left out."""
    words = {
        "counted": frame.say("counted {count}", count=counts["counted"]),
        "repeated": frame.say("repeated {count}", count=counts["repeated"]),
        "bad": frame.say("unusable {count}", count=counts["bad"]),
        "absent": frame.say("not found in the index {count}", count=counts["absent"]),
        "failed": frame.say("not graded {count}", count=counts["failed"]),
        "ruled_by_language_model": frame.say(
            "decided by the language model {count}", count=counts["ruled_by_language_model"]
        ),
        "across_languages": frame.say("across languages {count}", count=counts["across_languages"]),
    }
    parts = [text for name, text in words.items() if counts[name] or name == "counted"]
    return frame.say("Rows given {rows} = {parts}", rows=counts["rows"], parts=" + ".join(parts))


def row_problems(frame: Frame, read: LabelFile, graded: GradedLabels) -> list[str]:
    """A sentence for every row that cannot be used, is not there or could not be graded, in the file's order."""
    told = [(row, _words(frame, error)) for row, error in _errors(read, graded)]
    text = "{name}, row {row}: it could not be graded ({reason}) and counts as nothing."
    for row, reason in graded.failed:
        told.append((row, frame.say(text, name=read.name, row=row, reason=retold(frame, reason))))
    return [words for _, words in sorted(told, key=lambda one: one[0])]


def problem_lines(frame: Frame, read: LabelFile, graded: GradedLabels) -> list[str]:
    """The first ten of `row_problems`, and how many more there are."""
    listed = row_problems(frame, read, graded)
    if len(listed) <= _SHOWN:
        return listed
    return [*listed[:_SHOWN], frame.say("… and {count} more; --json lists all.", count=len(listed) - _SHOWN)]


def problems_object(frame: Frame, read: LabelFile, graded: GradedLabels) -> dict[str, Any]:
    """The rows that do not count, as JSON."""
    return {
        "failed": [{"row": row, "reason": reason} for row, reason in graded.failed],
        "bad": [
            {"row": row, "error": error_object(error, message=_words(frame, error), hint=frame.message_of(error)[1])}
            for row, error in _errors(read, graded)
        ],
    }


def show_refusal(frame: Frame, read: LabelFile, graded: GradedLabels, error: TadasuError) -> None:
    """`error`, which ends a calibration, with all that is known of the rows."""
    across = sum(">" in row.language for row in graded.scores)
    counts = row_counts(read, graded, across=across)
    if frame.json:
        message, hint = frame.message_of(error)
        told = {"error": error_object(error, message=message, hint=hint), "labels": counts}
        frame.emit(told | problems_object(frame, read, graded))
        return
    write_line(sys.stderr, clean(counts_line(frame, counts)))
    for words in problem_lines(frame, read, graded):
        write_line(sys.stderr, clean(words))
    frame.show_error(error)


def _errors(read: LabelFile, graded: GradedLabels) -> list[tuple[int, TadasuError]]:
    return sorted((*read.bad, *graded.absent, *graded.contradicted), key=lambda one: one[0])


def _words(frame: Frame, error: TadasuError) -> str:
    reason = str(error.details.get("reason", ""))
    if reason and (width := details_of(_WIDTH, reason)) is not None:
        return frame.say(error.message, **{**error.details, "reason": frame.say(_WIDTH, **width)})
    return frame.message_of(error)[0]
