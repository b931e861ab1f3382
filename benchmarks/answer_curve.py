"""Coverage against accuracy over the threshold of abstention: as a table, and as a picture for the docs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from tadasu.core.proportions import wilson

THRESHOLDS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_WIDTH, _HEIGHT, _EDGE = 420, 320, 60
_COLOURS = ("#1f5f9e", "#b0652a", "#4b7a3a", "#7a4b8f")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question in one state: the score of sufficiency (-1: there was nothing to quote), and whether the quotation
    holds an answer.
    """

    state: str
    score: float
    right: bool


@dataclass(frozen=True, slots=True)
class Point:
    """What a threshold makes of a set.

    `answered` and `right` are shares of the questions whose article is there, `accuracy` is that of what was answered
    of them; `gone` and `neighbour` are the shares of abstentions where the article is gone, and where another name or
    attribute is asked for.
    """

    threshold: float
    answered: float
    right: float
    accuracy: float
    gone: float
    neighbour: float
    counts: dict[str, int]

    def interval(self, name: str) -> tuple[float, float]:
        """Wilson's 95 % interval of `right`, `answered`, `gone` or `neighbour`."""
        n = self.counts[name if name in self.counts else "there"]
        return wilson(round(getattr(self, name) * n), n)


def point(outcomes: Sequence[Outcome], threshold: float) -> Point:
    """One point of the curve; a state without questions counts as 0."""
    by_state = {state: [one for one in outcomes if one.state == state] for state in ("there", "gone", "neighbour")}
    shown = {state: [one for one in found if _answered(one, threshold)] for state, found in by_state.items()}
    right = sum(one.right for one in shown["there"])
    counts = {state: len(found) for state, found in by_state.items()}
    return Point(
        threshold=threshold,
        answered=_share(len(shown["there"]), counts["there"]),
        right=_share(right, counts["there"]),
        accuracy=_share(right, len(shown["there"])),
        gone=_share(counts["gone"] - len(shown["gone"]), counts["gone"]),
        neighbour=_share(counts["neighbour"] - len(shown["neighbour"]), counts["neighbour"]),
        counts=counts,
    )


def curve(outcomes: Sequence[Outcome]) -> list[Point]:
    """The points of `THRESHOLDS`."""
    return [point(outcomes, threshold) for threshold in THRESHOLDS]


def rows(name: str, points: Sequence[Point]) -> list[tuple[object, ...]]:
    """The curve as rows of a table."""
    return [(name, p.threshold, p.answered, p.right, p.accuracy, p.gone, p.neighbour) for p in points]


HEAD = ("set", "threshold", "answered", "right", "accuracy", "abstains: gone", "abstains: neighbour")


def picture(curves: Mapping[str, Sequence[Point]], *, at: float) -> str:
    """An SVG: accuracy of what is answered over its share, one line a set; `at` marks the default threshold."""
    wide, tall = _WIDTH + 2 * _EDGE + 120, _HEIGHT + 2 * _EDGE
    title = "What is answered, and how much of it is right"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{wide}" height="{tall}" fill="#ffffff"/>',
        f'<text x="{_EDGE}" y="28" font-size="15">{escape(title)}</text>',
        f'<rect x="{_EDGE}" y="{_EDGE}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#888888"/>',
    ]
    out += [
        f'<text x="{_x(tick)}" y="{_EDGE + _HEIGHT + 18}" text-anchor="middle">{tick:.0%}</text>'
        for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    ]
    for tick in (0.6, 0.7, 0.8, 0.9, 1.0):
        out.append(f'<text x="{_EDGE - 8}" y="{_y(tick) + 4}" text-anchor="end">{tick:.0%}</text>')
        out.append(f'<path d="M{_EDGE} {_y(tick)} h{_WIDTH}" stroke="#eeeeee"/>')
    under = "share of questions answered, with the article in the index"
    out.append(f'<text x="{_EDGE + _WIDTH / 2}" y="{tall - 20}" text-anchor="middle">{escape(under)}</text>')
    for number, (name, points) in enumerate(curves.items()):
        out += _line(name, points, number, at=at)
    return "\n".join([*out, "</svg>"]) + "\n"


def _line(name: str, points: Sequence[Point], number: int, *, at: float) -> list[str]:
    colour = _COLOURS[number % len(_COLOURS)]
    shown = [p for p in points if p.answered > 0.0]
    path = " ".join(f"{_x(p.answered)},{_y(p.accuracy)}" for p in shown)
    out = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>']
    for p in shown:
        size = 6 if p.threshold == at else 2.5
        out.append(f'<circle cx="{_x(p.answered)}" cy="{_y(p.accuracy)}" r="{size}" fill="{colour}"/>')
    x, y = _EDGE + _WIDTH + 12, _EDGE + 16 + 40 * number
    out.append(f'<text x="{x}" y="{y}" fill="{colour}">{escape(name)}</text>')
    default = next((p for p in points if p.threshold == at), None)
    if default is not None:
        told = f"large dot: threshold {at:g}"
        out.append(f'<text x="{x}" y="{y + 15}" font-size="10" fill="{colour}">{escape(told)}</text>')
    return out


def _answered(one: Outcome, threshold: float) -> bool:
    return one.score >= max(threshold, 0.0)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _x(share: float) -> float:
    return round(_EDGE + share * _WIDTH, 1)


def _y(share: float) -> float:
    return round(_EDGE + (1.0 - max(share, 0.6)) / 0.4 * _HEIGHT, 1)
