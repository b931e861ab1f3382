"""Tadasu: a RAG system that corrects itself and proves it.

::

    from tadasu import Tadasu

    tadasu = Tadasu.open("my-workspace")
    tadasu.sync.ingest("handbook/")
    run = tadasu.sync.ask("How long is the warranty?")
    print(run.answer.text, run.answer.citations)

Everything promised is listed in ``__all__``; a test holds the list. Nothing heavy is imported before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tadasu.errors import TadasuError

if TYPE_CHECKING:
    from tadasu.app.tadasu import SyncTadasu, Tadasu
    from tadasu.core.answers import Answer, AnswerStatus, Citation, Reason
    from tadasu.core.documents import Reader, Scope
    from tadasu.core.grades import Grade, Level, Verdict
    from tadasu.core.runs import Deferral, Run

__version__ = "0.1.0"

_HOMES = {
    "Answer": "tadasu.core.answers",
    "AnswerStatus": "tadasu.core.answers",
    "Citation": "tadasu.core.answers",
    "Deferral": "tadasu.core.runs",
    "Grade": "tadasu.core.grades",
    "Level": "tadasu.core.grades",
    "Reader": "tadasu.core.documents",
    "Reason": "tadasu.core.answers",
    "Run": "tadasu.core.runs",
    "Scope": "tadasu.core.documents",
    "SyncTadasu": "tadasu.app.tadasu",
    "Tadasu": "tadasu.app.tadasu",
    "Verdict": "tadasu.core.grades",
}

__all__ = [
    "Answer",
    "AnswerStatus",
    "Citation",
    "Deferral",
    "Grade",
    "Level",
    "Reader",
    "Reason",
    "Run",
    "Scope",
    "SyncTadasu",
    "Tadasu",
    "TadasuError",
    "Verdict",
    "__version__",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tadasu' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
