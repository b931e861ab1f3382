"""Which run is going on in this task, for log lines and spans. Light enough to be loaded by anybody."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token

_run: ContextVar[str] = ContextVar("tadasu_run", default="")


def current_run() -> str:
    """The id of the run that is going on in this task; empty where none is."""
    return _run.get()


def bind_run(run_id: str) -> Token[str]:
    """From here on, this task (and what it starts) works on `run_id`; empty: on no run."""
    return _run.set(run_id)


@contextmanager
def no_run() -> Iterator[None]:
    """Whatever run is bound within ends with the block, also where the block raises."""
    token = bind_run("")
    try:
        yield
    finally:
        _run.reset(token)


def trace_id_of(run_id: str) -> str:
    """The trace id of a run, 32 hexadecimal digits: whoever knows one finds the other, with nothing stored.

    >>> trace_id_of("run-000001")
    '852252b6f041022a47b8a9b92d9c3037'
    """
    return hashlib.sha256(run_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def current_trace() -> str:
    """The trace that this task is part of: the one that the caller began, else that of the run; empty where none is."""
    # Who has begun a trace has loaded the package; nobody else pays for it.
    opentelemetry = sys.modules.get("opentelemetry.trace")
    if opentelemetry is not None:
        context = opentelemetry.get_current_span().get_span_context()
        if context.is_valid:
            return f"{context.trace_id:032x}"
    run_id = current_run()
    return trace_id_of(run_id) if run_id else ""
