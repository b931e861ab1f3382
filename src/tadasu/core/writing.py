"""The choices of writing: what becomes of a sentence that nothing supports, and when the reader sees text."""

from __future__ import annotations

import enum


class Unsupported(enum.Enum):
    """What becomes of a sentence of the answer that the evidence does not support."""

    REMOVE = "remove"
    REWRITE = "rewrite"
    """The model writes it once more, told what was found; what it writes is checked again, and then removed."""
    FLAG = "flag"
    """It is shown with a mark in the reader's language and without a citation, where anything else is supported."""


class ChatMode(enum.Enum):
    """How the chat model words answers."""

    PLAIN = "plain"
    """It writes, and we check."""
    REFLECTIVE = "reflective"
    """It is asked about its own draft before we check: is the evidence relevant, is the draft supported and useful?"""
    SELF_RAG = "self_rag"
    """It is a Self-RAG model behind a completion endpoint, whose reflection tokens are read."""


class Release(enum.Enum):
    """When text reaches those who watch a run."""

    CHECKED = "checked"
    """Sentence by sentence, each when it has been checked."""
    AT_ONCE = "at_once"
    """As it is written, said to be unchecked, and put right when it has been checked."""


class OnConflict(enum.Enum):
    """What happens where the evidence contradicts itself about what is asked."""

    TELL = "tell"
    """Both sides are told, with their sources."""
    ABSTAIN = "abstain"
    """There is no answer, and CONFLICT is the reason."""
