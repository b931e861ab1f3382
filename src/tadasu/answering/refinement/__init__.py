"""Passages to strips to evidence: keep what matters, each thing once, within the budget, and account for the rest."""

from __future__ import annotations

from tadasu.answering.refinement.packing import Refined, refine, restore
from tadasu.answering.refinement.selection import RefinementSettings
from tadasu.answering.refinement.strength import of_strength
from tadasu.core.retrieved import GradedPassage

__all__ = ["GradedPassage", "Refined", "RefinementSettings", "of_strength", "refine", "restore"]
