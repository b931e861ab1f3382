"""The reliability diagram: in letters for a terminal, and as an SVG file. The diagonal is where all is well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tadasu.answering.grading.reliability import Bin

_WIDE, _TALL = 41, 11
_SIZE, _EDGE = 360, 56
_COLOURS = {"before": "#b0652a", "after": "#1f5f9e"}


def as_text(bins: Sequence[Bin]) -> list[str]:
    """Lines with ``o`` where a bin lies (``@`` on the diagonal), ``·`` for the diagonal, and the axes."""
    grid = [[" "] * _WIDE for _ in range(_TALL)]
    for column in range(_WIDE):
        grid[_row(column / (_WIDE - 1))][column] = "·"
    for one in bins:
        row, column = _row(one.found), round(one.said * (_WIDE - 1))
        grid[row][column] = "@" if grid[row][column] in "·@" else "o"
    lines = [f"{_tick(number)} │{''.join(row).rstrip()}" for number, row in enumerate(grid)]
    axis = "┬".join("─" * ((_WIDE - 1) // 4 - 1) for _ in range(4))
    return [*lines, f"    └{axis}─", "     0        .25       .50       .75       1"]


def as_svg(before: Sequence[Bin], after: Sequence[Bin], *, words: Mapping[str, str]) -> str:
    """One drawing with both series, their 95 % intervals, and axes from 0 to 1. `words` are the captions."""
    whole = _SIZE + 2 * _EDGE
    told = {name: escape(text) for name, text in words.items()}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{told['title']}</title>",
        f'<rect width="{whole}" height="{whole}" fill="#ffffff"/>',
        f'<text x="{_EDGE}" y="24" font-size="15">{told["title"]}</text>',
        f'<rect x="{_EDGE}" y="{_EDGE}" width="{_SIZE}" height="{_SIZE}" fill="none" stroke="#888888"/>',
        f'<path d="M{_x(0)} {_y(0)} L{_x(1)} {_y(1)}" stroke="#bbbbbb" stroke-dasharray="4 4"/>',
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(f'<text x="{_x(tick)}" y="{_y(0) + 18}" text-anchor="middle">{tick:g}</text>')
        parts.append(f'<text x="{_x(0) - 8}" y="{_y(tick) + 4}" text-anchor="end">{tick:g}</text>')
    middle = _EDGE + _SIZE / 2
    parts.append(f'<text x="{middle}" y="{whole - 16}" text-anchor="middle">{told["said"]}</text>')
    turned = f'transform="rotate(-90 16 {middle})"'
    parts.append(f'<text x="16" y="{middle}" text-anchor="middle" {turned}>{told["found"]}</text>')
    for number, (name, bins) in enumerate((("before", before), ("after", after))):
        colour = _COLOURS[name]
        parts.append(
            f'<text x="{_EDGE + 12}" y="{_EDGE + 20 + 18 * number}" fill="{colour}">● {told[name]}</text>'
        )  # fmt: skip
        parts += _series(bins, colour)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _series(bins: Sequence[Bin], colour: str) -> list[str]:
    points = " ".join(f"{_x(one.said)},{_y(one.found)}" for one in bins)
    parts = [f'<polyline points="{points}" fill="none" stroke="{colour}"/>'] if len(bins) > 1 else []
    for one in bins:
        x = _x(one.said)
        parts.append(f'<path d="M{x} {_y(one.low)} V{_y(one.high)}" stroke="{colour}" stroke-opacity="0.4"/>')
        parts.append(f'<circle cx="{x}" cy="{_y(one.found)}" r="4" fill="{colour}"/>')
    return parts


def _row(share: float) -> int:
    return (_TALL - 1) - round(share * (_TALL - 1))


def _tick(row: int) -> str:
    return {0: "1.0", (_TALL - 1) // 2: "0.5", _TALL - 1: "0.0"}.get(row, "   ")


def _x(share: float) -> float:
    return round(_EDGE + share * _SIZE, 1)


def _y(share: float) -> float:
    return round(_EDGE + (1.0 - share) * _SIZE, 1)
