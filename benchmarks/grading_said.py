"""The report as text: tables, what they say, and which goals are reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.grading_promise import Promise
from benchmarks.grading_sets import HARD, PairSet
from benchmarks.grading_speed import TOKENS, Latency
from benchmarks.grading_t5 import T5Speed
from benchmarks.grading_table import HEAD, Comparison, Line, Pooled
from benchmarks.grading_verdicts import PAPER, Verdicts
from benchmarks.harness import table

_TOPICAL: Final = [f"topical {language}{kind}" for kind in ("", " near", HARD) for language in ("en", "ja")]
AUC_GOALS: Final = {"jsquad": 0.970, "xquad_en": 0.990, "popqa": 0.940} | dict.fromkeys(_TOPICAL, 0.75)
TEACHER_AT_MOST, TOPICAL_PAIRS = 0.80, 500
ECE_GOAL, ECE_PAIRS, LOSS_GOAL = 0.03, 5000, 0.005
TEACHER_FACTOR, T5_FACTOR = 1.7, 120.0
P95_CASCADE, P95_FULL = 100.0, 150.0
FILES_MB: Final = {"grader": 30.0, "encoder": 42.0}
MEMORY_MB, KEPT_SHARE = 900.0, 0.95


@dataclass(frozen=True, slots=True)
class Speeds:
    """Pairs a second at `TOKENS` tokens, None where the model is not there; latencies; memory and files in MB."""

    ours: float | None
    teacher: float | None
    t5: T5Speed | None
    t5_reason: str
    latencies: Sequence[Latency]
    memory_mb: float
    files_mb: dict[str, float]


def say_sets(sets: Sequence[PairSet]) -> str:
    """How each set was made."""
    head = ["", "Sets, TEST splits only; passages that hold an alias without being the answer count nowhere:"]
    return "\n".join(head + [f"  {one.name}: {one.made}" for one in sets])


def say_table(lines: Sequence[Line], pools: Sequence[Pooled], comparisons: Sequence[Comparison]) -> str:
    """The table, its pooled figures, and the cascade against the full grader."""
    parts = ["", table(HEAD, [line.cells for line in lines]), ""]
    parts.append(
        "Thresholds: ours as shipped (the cross-encoder alone has those of the cascade), ms-marco .7 and .3 of its "
        "uncalibrated logistic; ECE over ten bins of equal mass. Intervals: bootstrap over questions, Wilson."
    )
    failed = sum(line.ungraded for line in lines)
    parts.append(f"Ungraded pairs: {failed}.")
    rows = [(one.grader, one.sets, one.pairs, one.ece, one.missed) for one in pools]
    parts += ["", table(("pooled, without the hard sets", "sets", "pairs", "ECE", "missed at tau_low"), rows)]
    if comparisons:
        shown = [
            (one.set, one.shipped, one.best_other, one.best_other_auc, "yes" if one.above else "NO", one.lost, one.read)
            for one in comparisons
        ]
        head = ("set", "cascade AUC", "best other row", "its AUC", "above", "lost to the full grader", "read by tier 2")
        parts += ["", table(head, shown)]
    return "\n".join(parts)


def say_verdicts(verdicts: Sequence[Verdicts]) -> str:
    """Verdicts on popqa."""
    head = ("popqa, the answer removed for a random half", "decided rightly [95 %]", "there: CORRECT",
            "gone: INCORRECT", "gone: CORRECT", "AMBIGUOUS", "majority class", "mean of 200 halves")  # fmt: skip
    rows = [
        (one.row, one.right, one.right_there.value, one.right_gone.value, one.wrong_correct.value, one.ambiguous.value,
         one.majority, one.over_halves)
        for one in verdicts
    ]  # fmt: skip
    note = (
        f"AMBIGUOUS counts as an error. The CRAG paper gives {PAPER:.3f} for its T5-large on PopQA, in its own "
        "setting (single passages of another search on other questions): it is a landmark, not a comparison."
    )
    return "\n".join(["", table(head, rows), note])


def say_promises(promises: Sequence[Promise]) -> str:
    """Whether the promise of tau_low is kept, and what it costs."""
    parts = ["", "tau_low for at most 10 % missed, chosen on a random half of the questions, seen on the other half:"]
    head = ("", "questions", "splits", "promised", "kept", "share kept", "missed, mean", "worst", "AMBIGUOUS",
            "without promise", "kept", "as shipped")  # fmt: skip
    rows = [
        (one.language, one.questions, one.splits, one.promised, one.kept, _share(one.kept, one.promised), one.missed,
         one.worst, one.ambiguous, one.ambiguous_without, one.kept_without, one.ambiguous_shipped)
        for one in promises
    ]  # fmt: skip
    note = (
        "AMBIGUOUS: share of the unseen half's questions, with the promised border, with one that just misses 10 % of "
        "the seen half, and with the shipped one."
    )
    return "\n".join([*parts, table(head, rows), note])


def say_speed(speeds: Speeds) -> str:
    """Speed, latency, memory and sizes."""
    rows: list[tuple[object, ...]] = []
    for name, value in _pair_speeds(speeds):
        rows.append((name, "-" if value is None else f"{value:.2f}", _ratio(speeds.ours, value)))
    parts = ["", table((f"pairs/s at {TOKENS} tokens, same run and threads", "pairs/s", "ours is faster by"), rows)]
    if speeds.t5 is None:
        parts.append(f"T5-large left out: {speeds.t5_reason}.")
    else:
        parts.append(
            f"T5-large: {speeds.t5.parameters:.0f} million random fp32 weights in PyTorch; the paper's classifier "
            "runs its decoder over the whole input, a scorer that decodes one token would be cheaper."
        )
    head = (f"ten passages of {TOKENS} tokens, milliseconds", "questions", "p50", "p95", "read by tier 2")
    parts += ["", table(head, [(one.grader, one.questions, one.p50, one.p95, one.read) for one in speeds.latencies])]
    files = ", ".join(f"{name} {size:.1f} MB" for name, size in speeds.files_mb.items())
    parts += ["", f"Files: {files}. Peak memory of a serving process: {speeds.memory_mb:.0f} MB."]
    return "\n".join(parts)


def _pair_speeds(speeds: Speeds) -> Iterator[tuple[str, float | None]]:
    yield "cross-encoder (ours, strips included)", speeds.ours
    yield "ms-marco MiniLM-L12 int8", speeds.teacher
    if speeds.t5 is not None:
        yield "T5-large as the paper's classifier", speeds.t5.classifier
        yield "T5-large, one decoding step", speeds.t5.one_step


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal of the project, what was reached, and whether that is enough (None: not measured)."""

    what: str
    wanted: str
    reached: str
    enough: bool | None


def goals(
    lines: Sequence[Line],
    pools: Sequence[Pooled],
    *,
    comparisons: Sequence[Comparison],
    verdicts: Sequence[Verdicts],
    promises: Sequence[Promise],
    speeds: Speeds,
    shipped: str = "cascade (shipped)",
) -> list[Goal]:
    """Every goal, in the order of the report."""
    auc = {(line.set, line.grader): line.auc for line in lines}
    found = [_least(f"AUC {name}", auc.get((name, shipped)), wanted) for name, wanted in AUC_GOALS.items()]
    found += [
        Goal(f"above every other row: {one.set}", f"> {one.best_other_auc:.4f}", f"{one.shipped:.4f}", one.above)
        for one in comparisons
    ]
    for name in ("topical en near", f"topical en{HARD}"):
        teacher = auc.get((name, "ms-marco MiniLM-L12 int8"))
        found.append(_most(f"ms-marco AUC, {name}", teacher, TEACHER_AT_MOST))
    for name in _TOPICAL[2:]:
        pairs = next((line.pairs for line in lines if line.set == name), None)
        found.append(_least(f"pairs, {name}", pairs, TOPICAL_PAIRS))
    pool = next((one for one in pools if one.grader == shipped), None)
    found.append(_least("pairs of the pooled ECE", pool.pairs if pool else None, ECE_PAIRS))
    found.append(_most("pooled ECE", pool.ece if pool else None, ECE_GOAL))
    found.append(_most("AUC lost to the full grader", max((one.lost for one in comparisons), default=None), LOSS_GOAL))
    right = next((one.right.value for one in verdicts if one.row == shipped), None)
    found.append(_least("popqa verdicts decided rightly", right, PAPER))
    for one in promises:
        kept = one.kept / one.promised if one.promised else None
        found.append(_least(f"promise of tau_low kept, {one.language}", kept, KEPT_SHARE))
    return found + _speed_goals(speeds, shipped=shipped)


def _speed_goals(speeds: Speeds, *, shipped: str) -> list[Goal]:
    p95 = {one.grader: one.p95 for one in speeds.latencies}
    t5 = speeds.t5.classifier if speeds.t5 is not None else None
    return [
        _least("times as fast as T5-large", speeds.ours / t5 if speeds.ours and t5 else None, T5_FACTOR),
        _least(
            "times as fast as ms-marco", speeds.ours / speeds.teacher if speeds.ours and speeds.teacher else None,
            TEACHER_FACTOR,
        ),
        _most("p95 of ten passages, cascade, ms", p95.get(shipped), P95_CASCADE),
        _most("p95 of ten passages, all read, ms", p95.get("full grader"), P95_FULL),
        *(_most(f"file of the {name}, MB", speeds.files_mb.get(name), limit) for name, limit in FILES_MB.items()),
        _most("memory of a serving process, MB", speeds.memory_mb, MEMORY_MB),
    ]  # fmt: skip


def say_goals(found: Sequence[Goal]) -> str:
    """The goals, reached or missed."""
    words = {True: "reached", False: "MISSED", None: "not measured"}
    rows = [(one.what, one.wanted, one.reached, words[one.enough]) for one in found]
    return "\n".join(["", table(("goal", "wanted", "measured", ""), rows)])


def _least(what: str, value: float | None, wanted: float) -> Goal:
    return Goal(what, f">= {wanted:g}", _shown(value), None if value is None else value >= wanted)


def _most(what: str, value: float | None, wanted: float) -> Goal:
    return Goal(what, f"<= {wanted:g}", _shown(value), None if value is None else value <= wanted)


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _share(part: int, of: int) -> str:
    return f"{part / of:.3f}" if of else "-"


def _ratio(ours: float | None, other: float | None) -> str:
    return f"{ours / other:.1f}x" if ours and other else "-"
