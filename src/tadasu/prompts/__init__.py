"""Prompts: versioned texts in English and Japanese, with checked placeholders."""

from __future__ import annotations

from tadasu.prompts.registry import Prompt, load

__all__ = ["Prompt", "load"]
