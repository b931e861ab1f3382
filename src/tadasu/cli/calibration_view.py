"""How a calibration looks: on a terminal, and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tadasu.cli.frame import Frame, clean
from tadasu.cli.label_rows import counts_line, problem_lines, problems_object, row_counts
from tadasu.core.grades import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rich.console import Console

    from tadasu.answering.grading.fitting import Fitted
    from tadasu.answering.grading.thresholds import Border
    from tadasu.app.calibration import Across, Moved, Outcome
    from tadasu.app.labels import LabelFile


def outcome_object(
    frame: Frame, read: LabelFile, outcome: Outcome, *, kept: Path | None, plot: Path | None
) -> dict[str, Any]:
    """The JSON of a calibration: labels, what was fitted per language, verdicts before and after, problems by row."""
    graded = outcome.graded
    return {
        "grader": outcome.calibration.grader,
        "calibration": outcome.calibration.id,
        "kept": str(kept) if kept is not None else None,
        "plot": str(plot) if plot is not None else None,
        "targets": outcome.targets,
        "labels": {
            **row_counts(read, graded, across=outcome.across.pairs),
            "relevant": sum(one.relevant for one in outcome.counted),
            "questions": len(graded.asked),
            "added": graded.added,
            "not_in_index": graded.loose,
            "flat_questions": graded.flat,
        },
        "across_languages": outcome.across,
        "moved": outcome.moved,
        "languages": {language: _fitted_object(one) for language, one in outcome.fitted.items()},
        "verdicts": {"before": _counts(outcome.before), "after": _counts(outcome.after)},
        "parts": outcome.parts,
        "warnings": warnings_of(frame, outcome),
        **problems_object(frame, read, graded),
    }


def show_outcome(frame: Frame, read: LabelFile, outcome: Outcome, *, kept: Path | None, plot: Path | None) -> None:
    """Counts, curves, borders, what they cost, the diagram, and every row that did not count."""
    from tadasu.answering.grading.fitting import ALL

    console = frame.out()
    graded = outcome.graded
    text = "{counted} labelled pairs of {questions} questions count: {relevant} relevant, {irrelevant} not."
    if len(outcome.counted) == 1:
        text = "{counted} labelled pair of {questions} questions counts: {relevant} relevant, {irrelevant} not."
    relevant = sum(one.relevant for one in outcome.counted)
    counts = {"counted": len(outcome.counted), "questions": len(graded.asked), "relevant": relevant}
    _line(console, frame.say(text, irrelevant=len(outcome.counted) - relevant, **counts), style="bold")
    rows = row_counts(read, graded, across=outcome.across.pairs)
    if rows["rows"] != rows["counted"]:
        _line(console, counts_line(frame, rows))
    for language, one in outcome.fitted.items():
        console.print()
        name = frame.say("all languages together") if language == ALL else language
        _line(console, f"{name} ({one.pairs})", style="bold")
        for line in _about(frame, one):
            _line(console, f"  {line}")
        if language == ALL and outcome.across.pairs:
            _line(console, f"  {_across(frame, outcome.across)}")
    console.print()
    for moved in outcome.moved:
        _line(console, _moved(frame, moved))
    _verdicts(frame, console, outcome)
    _parts(frame, console, outcome)
    _diagram(frame, console, outcome.fitted[ALL])
    for words in warnings_of(frame, outcome):
        _line(console, frame.say("Note: {text}", text=words), style="yellow")
    for words in problem_lines(frame, read, graded):
        _line(console, words, style="red")
    if plot is not None:
        _line(console, frame.say("The diagram is in {path}.", path=plot))
    if kept is None:
        _line(console, frame.say("Nothing was kept (--dry-run)."), style="bold")
    else:
        _line(console, frame.say("Kept in {path}; it applies from the next question on.", path=kept), style="bold")


def warnings_of(frame: Frame, outcome: Outcome) -> list[str]:
    """What a reader of the figures should know about them."""
    from tadasu.answering.grading.fitting import ALL

    found = []
    whole, graded = outcome.fitted[ALL], outcome.graded
    if whole.flat:
        text = (
            "all labelled scores lie within {spread}: this grader hardly tells these passages apart. Use one that goes "
            "by ranks and leads too (grading.grader = features or cascade)."
        )
        found.append(frame.say(text, spread=f"{whole.spread:.3f}"))
    if graded.flat:
        text = "in {count} of {questions} searches the cosines lay within 0.06; ranks and leads were used instead."
        found.append(frame.say(text, count=graded.flat, questions=len(graded.asked)))
    if whole.auc < 0.6:
        text = "the grader sorts these pairs little better than chance (AUC {auc}): check the labels, or the grader."
        found.append(frame.say(text, auc=f"{whole.auc:.2f}"))
    shared = {row.language for row in graded.scores if row.language not in outcome.fitted and ">" not in row.language}
    if shared and len({row.language for row in graded.scores}) > 1:
        text = (
            "too few labels for curves of their own (30 of either kind): {languages}. The one of all together applies."
        )
        found.append(frame.say(text, languages=", ".join(sorted(shared))))
    if outcome.across.pairs:
        text = "passages in another language than the question's keep the grader's own grades: {pairs}."
        found.append(frame.say(text, pairs=", ".join(outcome.across.languages)))
    if graded.loose:
        text = "{count} passages are not in the index; they were graded as the labels write them."
        if graded.loose == 1:
            text = "{count} passage is not in the index; it was graded as the label writes it."
        found.append(frame.say(text, count=graded.loose))
    if graded.ruled:
        text = "{count} pairs were decided by the language model's own rules and do not count."
        found.append(frame.say(text, count=graded.ruled))
    return found


def _about(frame: Frame, one: Fitted) -> list[str]:
    method = {
        "as_given": frame.say("no curve: the grader's own probabilities did best on labels not seen"),
        "platt": frame.say("curve: Platt (a logistic line), best on labels not seen"),
        "isotonic": frame.say("curve: isotonic (steps that never fall), best on labels not seen"),
    }[one.curve.method.value]
    names = {
        "as_given": frame.say("as given"),
        "platt": frame.say("Platt"),
        "isotonic": frame.say("isotonic"),
    }
    losses = ", ".join(f"{names[kind.value]} {loss:.3f}" for kind, loss in one.losses.items())
    text = "calibration error (ECE, held out): {before} before, {after} after; AUC {auc}"
    values = {"before": f"{one.error_before:.3f}", "after": f"{one.error_after:.3f}", "auc": f"{one.auc:.3f}"}
    return [
        f"{method} ({frame.say('log loss')}: {losses})",
        frame.say(text, **values),
        _low(frame, one),
        _high(frame, one),
        _missed(frame, one),
    ]


def _low(frame: Frame, one: Fitted) -> str:
    border = one.low
    values = _in_force(frame, {language: borders.low for language, borders in one.borders.items()})
    shown = {"value": values, "target": _percent(border.target)}
    if border.promised:
        text = (
            "tau_low {value}: of the next relevant passages at most {bound} are called LOW (target {target}), "
            "{confidence} sure; here {hits} of {counted}"
        )
        return frame.say(text, **shown, **_seen(border))
    text = (
        "tau_low stays at {value}: {counted} relevant labels are too few to promise {target}; about {needed} more "
        "relevant ones are needed"
    )
    if one.curve.method.value != "as_given":
        text = (
            "tau_low is {value} after the curve: {counted} relevant labels are too few to promise {target}; about "
            "{needed} more relevant ones are needed"
        )
    return frame.say(text, counted=border.counted, needed=border.needed, **shown)


def _high(frame: Frame, one: Fitted) -> str:
    border = one.high
    values = _in_force(frame, {language: borders.high for language, borders in one.borders.items()})
    shown = {"value": values, "target": _percent(border.target)}
    if border.promised:
        text = (
            "tau_high {value}: at least {bound} of the HIGH passages are relevant (target {target}), {confidence} "
            "sure; here {hits} of {counted}"
        )
        return frame.say(text, **shown, **_seen(border))
    plain = one.curve.method.value == "as_given"
    shown |= {"hits": str(border.hits), "counted": str(border.counted)}
    if border.needed is None:
        text = "tau_high stays at {value}: of {counted} passages above it {hits} are relevant, short of {target}"
        if not plain:
            text = (
                "tau_high is {value} after the curve: of {counted} passages above it {hits} are relevant, short of "
                "{target}"
            )
        return frame.say(text, **shown)
    text = (
        "tau_high stays at {value}: of {counted} passages above it {hits} are relevant; about {needed} more labels up "
        "there are needed to promise {target}"
    )
    if not plain:
        text = (
            "tau_high is {value} after the curve: of {counted} passages above it {hits} are relevant; about {needed} "
            "more labels up there are needed to promise {target}"
        )
    return frame.say(text, needed=border.needed, **shown)


def _in_force(frame: Frame, borders: Mapping[str, float]) -> str:
    """One number, or one for each language where they differ."""
    if len(set(borders.values())) == 1:
        return f"{next(iter(borders.values())):.3f}"
    each = (
        frame.say("{value} ({pair})", value=f"{value:.3f}", pair=language)
        for language, value in sorted(borders.items())
    )
    return ", ".join(each)


def _single(values: set[float]) -> float | None:
    return next(iter(values)) if len(values) == 1 else None


def _moved(frame: Frame, one: Moved) -> str:
    values = {"border": one.border, "pair": one.language, "before": _fine(one.before), "after": _fine(one.after)}
    if one.told is None:
        return frame.say("{border} ({pair}): {before} -> {after}", **values)
    text = "{border} ({pair}): {before} -> {after} of the grader's own probability ({told} after the curve)"
    return frame.say(text, told=_fine(one.told), **values)


def _fine(value: float) -> str:
    return f"{value:.3f}" if value >= 0.01 else f"{value:.2g}"


def _across(frame: Frame, across: Across) -> str:
    text = (
        "{pairs} pairs across languages ({relevant} relevant) are not in this fit; {missed} of those relevant are "
        "called LOW"
    )
    if across.pairs == 1:
        text = (
            "{pairs} pair across languages ({relevant} relevant) is not in this fit; {missed} of those relevant are "
            "called LOW"
        )
    return frame.say(text, pairs=across.pairs, relevant=across.relevant, missed=across.missed)


def _missed(frame: Frame, one: Fitted) -> str:
    from tadasu.core.proportions import wilson

    low, high = wilson(*one.missed)
    text = (
        "relevant passages called LOW (false negatives): {hits} of {counted}, "
        "interval {low} to {high} (Wilson, 95 percent)"
    )
    return frame.say(text, hits=one.missed[0], counted=one.missed[1], low=_percent(low), high=_percent(high))


def _seen(border: Border) -> dict[str, object]:
    return {
        "bound": _percent(border.bound),
        "confidence": _percent(border.confidence),
        "hits": border.hits,
        "counted": border.counted,
    }


def _verdicts(frame: Frame, console: Console, outcome: Outcome) -> None:
    before, after = sum(outcome.before.values()), sum(outcome.after.values())
    if not before or not after:
        return
    text = "AMBIGUOUS: {after} of {questions} questions, {before} before; CORRECT {correct}, INCORRECT {incorrect}"
    values = {
        "after": outcome.after.get(Verdict.AMBIGUOUS, 0),
        "before": outcome.before.get(Verdict.AMBIGUOUS, 0),
        "correct": outcome.after.get(Verdict.CORRECT, 0),
        "incorrect": outcome.after.get(Verdict.INCORRECT, 0),
    }
    _line(console, frame.say(text, questions=after, **values))


def _parts(frame: Frame, console: Console, outcome: Outcome) -> None:
    if len(outcome.parts) < 2:
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in (frame.say("documents"), frame.say("pairs"), frame.say("relevant"), frame.say("called LOW")):
        table.add_column(heading, justify="left" if not table.columns else "right", overflow="fold")
    table.add_column(frame.say("said (mean)"), justify="right")
    table.add_column(frame.say("found"), justify="right")
    for part in outcome.parts:
        found = part.relevant / part.pairs
        figures = (str(part.pairs), str(part.relevant), str(part.missed), f"{part.said:.2f}", f"{found:.2f}")
        table.add_row(clean(part.prefix), *figures)
    console.print(table)


def _diagram(frame: Frame, console: Console, whole: Fitted) -> None:
    from tadasu.cli.reliability_plot import as_text

    console.print()
    _line(console, frame.say("Reliability, held out: share found relevant over the probability said; · is perfect"))
    for line in as_text(whole.bins_after):
        _line(console, line)
    console.print()


def _fitted_object(one: Fitted) -> dict[str, Any]:
    from tadasu.answering.grading.calibration import border_object

    return {
        "method": one.curve.method.value,
        "held_out_loss": {method.value: loss for method, loss in one.losses.items()},
        "tau_high": _single({borders.high for borders in one.borders.values()}),
        "tau_low": _single({borders.low for borders in one.borders.values()}),
        "borders": {
            language: {"tau_high": borders.high, "tau_low": borders.low} for language, borders in one.borders.items()
        },
        "high": border_object(one.high),
        "low": border_object(one.low),
        "pairs": one.pairs,
        "relevant": one.relevant,
        "questions": one.questions,
        "ece_before": one.error_before,
        "ece_after": one.error_after,
        "auc": one.auc,
        "false_negatives": {"missed": one.missed[0], "relevant": one.missed[1], "interval": _interval(one)},
        "medium": {"pairs": one.between[0], "of": one.between[1]},
        "reliability": {"before": one.bins_before, "after": one.bins_after},
    }


def _interval(one: Fitted) -> list[float]:
    from tadasu.core.proportions import wilson

    return list(wilson(*one.missed))


def _counts(verdicts: Mapping[Verdict, int]) -> dict[str, int]:
    return {verdict.value: count for verdict, count in verdicts.items()}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if math.isfinite(share) else "–"


def _line(console: Console, text: str, *, style: str | None = None) -> None:
    console.print(clean(text), style=style, soft_wrap=True, markup=False)
