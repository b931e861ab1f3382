"""Errors as exit codes: the only place of the command line that maps one to the other."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from tadasu.core.answers import Reason
from tadasu.core.runs import Deferral
from tadasu.errors import (
    BudgetSpent,
    DocumentError,
    GradingFailed,
    NotFound,
    ProviderError,
    SearchFailed,
    StoreError,
    TadasuError,
    UsageError,
)

if TYPE_CHECKING:
    from tadasu.core.runs import Run


class Exit(enum.IntEnum):
    """Exit codes; stable."""

    OK = 0
    UNEXPECTED = 1
    USAGE = 2
    PARTIAL = 3
    NOT_FOUND = 4
    PROVIDER = 5
    STORE = 6
    INTERRUPTED = 130
    PIPE_CLOSED = 141


MEANINGS: dict[Exit, str] = {
    Exit.OK: "done",
    Exit.UNEXPECTED: "an unexpected error, a failed check of doctor, or a demo that did not go as expected",
    Exit.USAGE: "the command or the settings cannot be used",
    Exit.PARTIAL: "done, but some files or lines failed (each is listed)",
    Exit.NOT_FOUND: "the run or document named does not exist",
    Exit.PROVIDER: "an outside service failed",
    Exit.STORE: "the index, the state database or a model cannot be used",
    Exit.INTERRUPTED: "stopped with Ctrl-C, or not agreed to",
    Exit.PIPE_CLOSED: "the reader of the output went away",
}

WITHOUT_VERDICT = frozenset({Reason.GRADER_FAILED, Reason.SEARCH_FAILED})
"""Reasons of abstentions that say nothing of the documents: something failed."""

_KINDS: tuple[tuple[type[TadasuError], Exit], ...] = (
    (UsageError, Exit.USAGE),
    (NotFound, Exit.NOT_FOUND),
    (DocumentError, Exit.PARTIAL),
    (StoreError, Exit.STORE),
    (ProviderError, Exit.PROVIDER),
    (GradingFailed, Exit.PROVIDER),
    (SearchFailed, Exit.PROVIDER),
    (BudgetSpent, Exit.PROVIDER),
)


def exit_of_run(run: Run) -> Exit | None:
    """The exit code for a run: PROVIDER where it has no answer because a search or the grader failed.

    A correction that was put off goes on, so that nothing is final.
    """
    pending = run.deferred is Deferral.PENDING
    return Exit.PROVIDER if run.answer.reason in WITHOUT_VERDICT and not pending else None


def exit_of(error: TadasuError) -> Exit:
    """The exit code for `error`.

    >>> from tadasu.errors import RunNotFound
    >>> exit_of(RunNotFound(run="r-1")).value
    4
    """
    return exit_of_kind(type(error))


def exit_of_kind(kind: type[TadasuError]) -> Exit:
    """The exit code for errors of one kind."""
    return next((code for base, code in _KINDS if issubclass(kind, base)), Exit.UNEXPECTED)
