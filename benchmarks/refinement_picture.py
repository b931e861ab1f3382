"""The trade-off of refinement as a drawing: how many answers survive for which share of the tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDE, _TALL, _EDGE, _LEGEND = 520, 340, 60, 190
_LOWEST = 0.85
_COLOURS = ("#1f5f9e", "#b0652a", "#3a7d44", "#8e4585", "#5a5a5a", "#c0392b")
_Point = tuple[float, float, str]


@dataclass(frozen=True, slots=True)
class Curve:
    """Points (share of tokens, survival, label) of one rule with one number of neighbours, along its borders."""

    name: str
    points: tuple[_Point, ...]


def as_svg(name: str, curves: Sequence[Curve], *, marks: Sequence[_Point], wanted: tuple[float, float]) -> str:
    """The drawing; `marks` are the strengths, `wanted` the corner of what is good enough. Below 0.85 it is cut off."""
    wide, tall = _WIDE + _LEGEND + 2 * _EDGE, _TALL + 2 * _EDGE
    right, top = _x(wanted[0]), _y(wanted[1])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(name)}: what survives refinement, and for which share of the tokens</title>",
        f'<rect width="{wide}" height="{tall}" fill="#ffffff"/>',
        f'<text x="{_EDGE}" y="36" font-size="15">{escape(name)}</text>',
        f'<rect x="{_EDGE}" y="{_y(1)}" width="{right - _EDGE}" height="{top - _y(1)}" fill="#e6f2e6"/>',
        f'<rect x="{_EDGE}" y="{_EDGE}" width="{_WIDE}" height="{_TALL}" fill="none" stroke="#888888"/>',
    ]
    parts += [
        f'<text x="{_x(tick)}" y="{_EDGE + _TALL + 18}" text-anchor="middle">{tick:g}</text>'
        for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    ]
    for tick in (0.85, 0.9, 0.95, 0.98, 1.0):
        parts.append(f'<text x="{_EDGE - 8}" y="{_y(tick) + 4}" text-anchor="end">{tick:g}</text>')
        parts.append(f'<path d="M{_EDGE} {_y(tick)} h{_WIDE}" stroke="#dddddd"/>')
    middle = _EDGE + _TALL / 2
    parts += [
        f'<text x="{_EDGE + _WIDE / 2}" y="{tall - 16}" text-anchor="middle">share of the tokens that are kept</text>',
        f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">'
        "the answer is still there</text>",
    ]
    for number, curve in enumerate(curves):
        colour = _COLOURS[number % len(_COLOURS)]
        shown = [point for point in curve.points if point[1] >= _LOWEST]
        line = " ".join(f"{_x(share)},{_y(survival)}" for share, survival, _ in shown)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [
            f'<circle cx="{_x(share)}" cy="{_y(survival)}" r="2.5" fill="{colour}"><title>'
            f"{escape(curve.name)}, from {label}: {survival:.3f} for {share:.2f}</title></circle>"
            for share, survival, label in shown
        ]
        legend = _EDGE + _WIDE + 16
        parts.append(f'<text x="{legend}" y="{_EDGE + 14 + 18 * number}" fill="{colour}">● {escape(curve.name)}</text>')
    for share, survival, label in marks:
        if survival >= _LOWEST:
            parts.append(f'<circle cx="{_x(share)}" cy="{_y(survival)}" r="5" fill="none" stroke="#000000"/>')
            parts.append(f'<text x="{_x(share) + 8}" y="{_y(survival) + 14}">{escape(label)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _x(share: float) -> float:
    return round(_EDGE + share * _WIDE, 1)


def _y(survival: float) -> float:
    return round(_EDGE + (1.0 - survival) / (1.0 - _LOWEST) * _TALL, 1)
