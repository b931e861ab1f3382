"""How much refinement takes away, as one knob: each strength is a set of values chosen by measurement."""

from __future__ import annotations

from typing import Any

from tadasu.answering.refinement.selection import RefinementSettings
from tadasu.core.refining import Strength

_VALUES: dict[Strength, dict[str, Any]] = {
    Strength.OFF: {"strip_threshold": 0.0, "neighbours": 0},
    Strength.MILD: {"strip_threshold": 0.0, "shares": {"en": 0.08, "ja": 0.13}, "neighbours": 0},
    Strength.STRONG: {"strip_threshold": 0.0, "shares": {"en": 0.3, "ja": 0.3}, "neighbours": 0},
}


def of_strength(strength: Strength, **changes: Any) -> RefinementSettings:
    """The settings of a strength, with `changes` over them; a `strip_threshold` of its own takes the shares' place.

    Raises:
        ValueError: a value is out of its range.
    """
    values = {**_VALUES[strength], **changes}
    if "strip_threshold" in changes and "shares" not in changes:
        values.pop("shares", None)
    return RefinementSettings(**values)
