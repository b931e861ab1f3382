"""Evidence to a checked, cited answer, or to "not known" with its reason."""

from __future__ import annotations

from tadasu.answering.generation.abstention import abstain
from tadasu.answering.generation.chat import ChatWriter, ChatWriterSettings
from tadasu.answering.generation.compose import AnswerComposer, AnswerFinished, ComposeEvent, SentenceReleased
from tadasu.answering.generation.extractive import ExtractiveSettings, ExtractiveWriter

__all__ = [
    "AnswerComposer",
    "AnswerFinished",
    "ChatWriter",
    "ChatWriterSettings",
    "ComposeEvent",
    "ExtractiveSettings",
    "ExtractiveWriter",
    "SentenceReleased",
    "abstain",
]
