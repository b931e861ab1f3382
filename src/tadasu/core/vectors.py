"""Shapes that pass between the encoder, the store and the graders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatMatrix: TypeAlias = NDArray[np.float32]
    FloatVector: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PassageText:
    """What the encoder needs of a passage: its text, its strips (spans relative to the text) and its title."""

    text: str
    strips: tuple[tuple[int, int], ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """One pass over a passage: its vector (d,) and one per strip (s, d), float32, L2-normalised."""

    passage: FloatVector
    strips: FloatMatrix
