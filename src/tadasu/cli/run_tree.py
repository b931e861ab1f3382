"""A run drawn as a tree, top to bottom in the order in which things happened."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from rich.text import Text
from rich.tree import Tree

from tadasu.cli.answer_view import cost_words, findings_words, one_line, seconds, source_line
from tadasu.cli.dropped_pages import dropped_words
from tadasu.cli.error_words import refusal_words
from tadasu.cli.search import calibration_words, grade_words
from tadasu.core.grades import Grade, Level, Thresholds, Verdict
from tadasu.core.runs import GradedCandidate, Packing, Round, Run, StripFate, StripRecord
from tadasu.core.usage import DOLLARS, Call, Money, Outcome
from tadasu.text.language import detect

if TYPE_CHECKING:
    from tadasu.cli.frame import Frame

_LEVELS = {Level.HIGH: "green", Level.MEDIUM: "yellow", Level.LOW: "red", Level.UNGRADED: "magenta"}
_KEPT = (StripFate.SELECTED, StripFate.NEIGHBOUR)


def run_tree(frame: Frame, run: Run, *, money: Money = DOLLARS) -> Tree:
    """The whole of `run`, amounts as `money` shows them."""
    tree = Tree(_line(f"{run.id} · {run.created_at}", "bold"))
    tree.add(_line(frame.say("question: {text}", text=one_line(run.question, 500))))
    if run.query != run.question:
        tree.add(_line(frame.say("searched for: {query}", query=one_line(run.query, 500))))
    if filters := _filters(run):
        tree.add(_line(frame.say("filters: {text}", text=filters)))
    for one in run.rounds:
        _add_round(frame, tree, one)
    if told := calibration_words(frame, [one.grade for done in run.rounds for one in done.candidates]):
        tree.add(_line(told, "dim"))
    if borders := next((one.borders for one in run.rounds if one.borders is not None), None):
        found = detect(run.query)
        tree.add(_line(borders_words(frame, borders, run.language if found == "und" else found), "dim"))
    tree.add(_line(frame.say("ended because: {reason}", reason=frame.say(run.stop_reason))))
    _add_strips(frame, tree, run)
    _add_answer(frame, tree, run)
    _add_calls(frame, tree, run, money)
    for warning in run.warnings:
        tree.add(_line(frame.say("Warning: {warning}", warning=refusal_words(frame, warning)), "yellow"))
    return tree


def _line(text: str, style: str = "") -> Text:
    return Text(one_line(text, 2000), style=style)


def _filters(run: Run) -> str:
    scope = run.scope
    named = (("source", scope.source_prefix), ("since", scope.since), ("until", scope.until))
    parts = [f"{name} {value}" for name, value in named if value]
    return ", ".join([*parts, f"language {scope.language}"] if scope.language else parts)


def _add_round(frame: Frame, tree: Tree, one: Round) -> None:
    head = frame.say(
        "round {number}: {mode}, {took}", number=one.number, mode=one.mode.value, took=seconds(one.duration_ms)
    )
    branch = tree.add(_line(head, "bold"))
    branch.add(_line(frame.say("query: {text}", text=one_line(one.query, 500))))
    if one.changed:
        changed = "; ".join(frame.say(part) for part in one.changed.split("; "))
        branch.add(_line(frame.say("changed: {text}", text=changed)))
    if one.excluded_passages or one.excluded_documents:
        text = "ruled out: {passages} passages, {documents} documents"
        branch.add(_line(frame.say(text, passages=one.excluded_passages, documents=one.excluded_documents), "dim"))
    candidates = branch.add(_line(frame.say("{count} candidates", count=len(one.candidates))))
    for rank, candidate in enumerate(one.candidates, 1):
        candidates.add(_candidate(frame, rank, candidate))
    if one.candidates:
        branch.add(_line(tiers_words(frame, one), "dim"))
    if one.dropped:
        text = "{count} web pages left out, in whole or in part"
        left_out = branch.add(_line(frame.say(text, count=len(one.dropped))))
        for page in one.dropped:
            left_out.add(_line(dropped_words(frame, page), "dim"))
    if one.error:
        branch.add(_line(refusal_words(frame, one.error), "red"))
    style = "green" if one.verdict is Verdict.CORRECT else "yellow"
    branch.add(
        _line(frame.say("verdict {verdict} by the rule {rule}", verdict=one.verdict.name, rule=one.rule.value), style)
    )
    action = one.action
    branch.add(_line(frame.say("then {action}: {reason}", action=action.kind.value, reason=frame.say(action.reason))))


def tiers_words(frame: Frame, one: Round) -> str:
    """Which tier of the grader decided how many passages, and how many no model had to read."""
    graded = [candidate.grade for candidate in one.candidates if candidate.grade.level is not Level.UNGRADED]
    tiers = Counter(_tier(grade) or frame.say("none") for grade in graded)
    named = ", ".join(f"{tier} {count}" for tier, count in tiers.most_common()) or frame.say("none")
    unread, count = tiers["features"], len(one.candidates)
    if unread and unread < count:
        text = "decided by {tiers}; {unread} of {count} were read by no model"
        words = frame.say(text, tiers=named, unread=unread, count=count)
    else:
        words = frame.say("decided by {tiers}", tiers=named)
    if len(graded) == count:
        return words
    return f"{words}; " + frame.say("{failed} of {count} could not be graded", failed=count - len(graded), count=count)


def _tier(grade: Grade) -> str:
    """What decided; a grader that is a scorer alone goes by the scorer's name."""
    scorer = grade.grader.removeprefix("scorer/")
    return scorer.partition("@")[0].partition("+")[0] if grade.tier == "scorer" and scorer else grade.tier


def borders_words(frame: Frame, borders: Thresholds, language: str) -> str:
    """The borders between the levels, such as ``HIGH from 0.58, LOW below 0.04 (en)``."""
    text = "HIGH from {high}, LOW below {low} ({spoken})"
    return frame.say(text, high=f"{borders.high:.2f}", low=f"{borders.low:.2f}", spoken=language)


def _candidate(frame: Frame, rank: int, one: GradedCandidate) -> Text:
    page = f" · {frame.say('page {page}', page=one.page)}" if one.page is not None else ""
    text = Text(f"{rank:>2}. ")
    text.append(grade_words(one), style=_LEVELS[one.grade.level])
    text.append(f" {one_line(one.source, 200)}{page}")
    text.append(f" · {ranks_words(frame, one)}", style="dim")
    reason = one.grade.reason
    if reason:
        text.append(f" · {one_line(reason, 200)}", style="dim")
    return text


def ranks_words(frame: Frame, one: GradedCandidate) -> str:
    """Where a candidate stood in each ranking."""
    missing = frame.say("none")
    dense = missing if one.dense is None else f"{one.dense:.3f}"
    lexical = missing if one.lexical is None else f"{one.lexical:.1f}"
    dense += f" ({one.dense_rank})" if one.dense_rank is not None else ""
    lexical += f" ({one.lexical_rank})" if one.lexical_rank is not None else ""
    return frame.say("dense {dense}, keywords {lexical}", dense=dense, lexical=lexical)


def strip_words(frame: Frame, record: StripRecord) -> str:
    """Why a strip was kept or dropped."""
    words = {
        StripFate.SELECTED: "kept: it answers",
        StripFate.NEIGHBOUR: "kept: beside a kept one",
        StripFate.BELOW_THRESHOLD: "dropped: below the threshold",
        StripFate.DUPLICATE: "dropped: says the same as another",
        StripFate.OVER_BUDGET: "dropped: over the token budget",
        StripFate.HOSTILE: "dropped: it speaks to a language model",
    }[record.fate]
    detail = f" ({one_line(record.detail, 120)})" if record.detail else ""
    return f"{frame.say(words)} · {record.score:.2f}{detail}"


def packing_words(frame: Frame, packing: Packing) -> str:
    """How much evidence there was, who counted it, and whether whole passages were given to a second try."""
    words = frame.say(
        "{tokens} of {budget} tokens of evidence, counted by {counter}; refinement: {strength}",
        tokens=packing.tokens,
        budget=packing.budget,
        counter=packing.counted_by or "–",
        strength=packing.strength or "–",
    )
    if not packing.restored:
        return words
    told = "nothing was found in the strips, so whole passages were given to a second try"
    return f"{words}; {frame.say(told)}"


def _add_strips(frame: Frame, tree: Tree, run: Run) -> None:
    kept = sum(record.fate in _KEPT for record in run.strips)
    text = "strips: {kept} kept, {dropped} dropped"
    branch = tree.add(_line(frame.say(text, kept=kept, dropped=len(run.strips) - kept), "bold"))
    if run.packing is not None:
        branch.add(_line(packing_words(frame, run.packing), "dim"))
    for source, records in groupby(run.strips, key=lambda record: record.strip.source):
        passage = branch.add(_line(source))
        for record in records:
            style = "" if record.fate in _KEPT else "dim"
            passage.add(_line(f"{strip_words(frame, record)}: {one_line(record.strip.text, 160)}", style))


def _add_answer(frame: Frame, tree: Tree, run: Run) -> None:
    answer = run.answer
    status = answer.status.value if answer.reason is None else f"{answer.status.value} ({answer.reason.value})"
    branch = tree.add(
        _line(frame.say("answer: {status}, by {writer}", status=status, writer=answer.writer or "–"), "bold")
    )
    branch.add(_line(answer.text))
    for sentence in answer.sentences:
        markers = "".join(f"[{marker}]" for marker in sentence.markers)
        findings = f" ({findings_words(frame, sentence)})" if sentence.findings else ""
        branch.add(_line(f"{sentence.support.value} {markers}{findings}: {one_line(sentence.text, 160)}", "dim"))
    for sentence in answer.removed:
        findings = findings_words(frame, sentence)
        text = "Written again: “{sentence}” ({findings})" if sentence.instead else "Removed: “{sentence}” ({findings})"
        branch.add(_line(frame.say(text, sentence=one_line(sentence.text, 160), findings=findings), "yellow"))
    for citation in answer.citations:
        branch.add(
            _line(f"[{citation.marker}] {source_line(frame, citation)}: “{one_line(citation.quote, 160)}”", "cyan")
        )
    for warning in answer.warnings:
        branch.add(_line(frame.say("Warning: {warning}", warning=frame.say(warning)), "yellow"))


def _add_calls(frame: Frame, tree: Tree, run: Run, money: Money) -> None:
    text = "{count} calls, {cost}, {took}"
    cost = cost_words(frame, run, money)
    branch = tree.add(_line(frame.say(text, count=len(run.calls), cost=cost, took=seconds(run.duration_ms)), "bold"))
    for call in run.calls:
        branch.add(_call(call, money))


def _call(call: Call, money: Money) -> Text:
    name = f"{call.provider}/{call.model}" if call.model else call.provider
    parts = [f"{call.stage.value} · {name} · {seconds(call.duration_ms)}"]
    if call.items != 1:
        parts.append(f"{call.items} items")
    if call.cached:
        parts.append(f"{call.cached} from the cache")
    if call.tokens.input or call.tokens.output:
        about = "about " if call.tokens.estimated else ""
        parts.append(f"{about}{call.tokens.input} + {call.tokens.output} tokens")
    parts.append("unpriced" if call.cost_usd is None else money.shown(call.cost_usd))
    if call.attempt > 1:
        parts.append(f"attempt {call.attempt}")
    if call.outcome is not Outcome.OK:
        parts.append(f"{call.outcome.value}: {call.error}")
    return _line(" · ".join(parts), "" if call.outcome is Outcome.OK else "red")
