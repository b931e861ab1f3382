"""How an answer looks on a terminal: text, numbered sources, the path of verdicts, what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tadasu.cli.error_words import refusal_words
from tadasu.cli.frame import Frame, clean
from tadasu.core.answers import AnswerStatus, CheckedSentence, Citation
from tadasu.core.documents import Origin
from tadasu.core.runs import ActionKind, Round, Run
from tadasu.core.usage import DOLLARS, Cost, Money
from tadasu.text.messages import finding

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST_QUOTE = 300


def action_words(frame: Frame, kind: ActionKind) -> str:
    """What was done, in one or two words; empty for going on with what was found."""
    match kind:
        case ActionKind.SEARCH_AGAIN:
            return frame.say("searched again")
        case ActionKind.SEARCH_WEB:
            return frame.say("searched the web")
        case ActionKind.COMBINE:
            return frame.say("combined")
        case ActionKind.ABSTAIN:
            return frame.say("abstained")
        case ActionKind.REFINE:
            return ""


def step_words(frame: Frame, one: Round) -> str:
    """What goes on after a round, while it goes on; empty where nothing more is searched."""
    match one.action.kind:
        case ActionKind.SEARCH_AGAIN:
            return frame.say("{verdict}: searching again …", verdict=one.verdict.name)
        case ActionKind.SEARCH_WEB:
            return frame.say("{verdict}: searching the web …", verdict=one.verdict.name)
        case _:
            return ""


def verdict_path(frame: Frame, run: Run) -> str:
    """The verdicts of `run` and what followed each, such as ``AMBIGUOUS → searched again → CORRECT``."""
    steps: list[str] = []
    for one in run.rounds:
        steps.append(one.verdict.name)
        words = action_words(frame, one.action.kind)
        if words:
            steps.append(words)
    abstained = run.answer.status is AnswerStatus.ABSTAINED
    if abstained and run.rounds and run.rounds[-1].action.kind is not ActionKind.ABSTAIN:
        steps.append(action_words(frame, ActionKind.ABSTAIN))
    return " → ".join(steps)


def one_line(text: str, longest: int = _LONGEST_QUOTE) -> str:
    """`text` on one line, safe for a terminal, cut with an ellipsis after `longest` letters.

    >>> one_line("a\\n  b", 10), one_line("abcdef", 4)
    ('a b', 'abc…')
    """
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def source_line(frame: Frame, citation: Citation) -> str:
    """Where a citation comes from: source, page, date, whether it is from the web, and who else says the same."""
    parts = [one_line(citation.source)]
    if citation.page is not None:
        parts.append(frame.say("page {page}", page=citation.page))
    parts.append(citation.date or frame.say("undated"))
    if citation.origin is Origin.WEB:
        parts.append(frame.say("from the web"))
    if citation.also:
        parts.append(frame.say("also in {sources}", sources=", ".join(map(one_line, citation.also))))
    return " · ".join(parts)


def seconds(milliseconds: float) -> str:
    """A duration as people read it.

    >>> seconds(12.34), seconds(2345)
    ('12 ms', '2.3 s')
    """
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def cost_words(frame: Frame, run: Run, money: Money = DOLLARS) -> str:
    """What a run cost, and how many calls had no price."""
    return money_words(frame, run.cost, money)


def money_words(frame: Frame, cost: Cost, money: Money) -> str:
    """`cost` in the currency of `money`, and how many calls had no price."""
    shown = money.shown(cost.usd)
    if not cost.unpriced_calls:
        return shown
    return frame.say("{money} + {count} unpriced calls", money=shown, count=cost.unpriced_calls)


def print_sources(frame: Frame, console: Console, run: Run) -> None:
    """The numbered citations with their quotes."""
    for citation in run.answer.citations:
        console.print(f"[{citation.marker}] {source_line(frame, citation)}", style="cyan", soft_wrap=True)
        console.print(f"    “{one_line(citation.quote)}”", style="dim", soft_wrap=True)


def findings_words(frame: Frame, sentence: CheckedSentence) -> str:
    """What the check found in a sentence."""
    return ", ".join(finding(one, frame.language) for one in sentence.findings)


def print_footer(frame: Frame, console: Console, run: Run, *, money: Money = DOLLARS) -> None:
    """Warnings, the path of verdicts, cost, time and the run's id."""
    for sentence in run.answer.removed:
        console.print(
            frame.say(
                "Written again: “{sentence}” ({findings})"
                if sentence.instead
                else "Removed: “{sentence}” ({findings})",
                sentence=one_line(sentence.text, 160),
                findings=findings_words(frame, sentence),
            ),
            style="yellow",
            soft_wrap=True,
        )
    for warning in (*run.warnings, *run.answer.warnings):
        console.print(
            frame.say("Warning: {warning}", warning=refusal_words(frame, warning)), style="yellow", soft_wrap=True
        )
    parts = (verdict_path(frame, run), cost_words(frame, run, money), seconds(run.duration_ms), run.id)
    console.print(" · ".join(part for part in parts if part), style="dim", soft_wrap=True)
