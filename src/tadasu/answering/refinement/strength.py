"""How much refinement takes away, as one knob: each strength is a set of values chosen by measurement."""

from __future__ import annotations

from typing import Any

from tadasu.answering.refinement.selection import RefinementSettings
from tadasu.core.refining import Strength

_VALUES: dict[Strength, dict[str, Any]] = {
    Strength.OFF: {"strip_threshold": 0.0, "neighbours": 0},
    Strength.MILD: {"strip_threshold": 0.2, "neighbours": 1},
    Strength.STRONG: {"strip_threshold": 0.5, "neighbours": 0},
}


def of_strength(strength: Strength, **changes: Any) -> RefinementSettings:
    """The settings of a strength, with `changes` over them.

    Raises:
        ValueError: a value is out of its range.
    """
    return RefinementSettings(**{**_VALUES[strength], **changes})
