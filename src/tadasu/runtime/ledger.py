"""Where the calls of one run are written down as they happen."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType

from tadasu.core.usage import Call, Outcome, Stage
from tadasu.ports import Clock, Ledger


class RunLedger:
    """The ledger of one run, in memory until the run is saved."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = clock.elapsed()
        self._calls: list[Call] = []

    def record(self, call: Call) -> None:
        """Add one call."""
        self._calls.append(call)

    def elapsed_ms(self) -> float:
        """Milliseconds since the run began."""
        return (self._clock.elapsed() - self._began) * 1000.0

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls so far, in the order they ended."""
        return tuple(self._calls)


@contextmanager
def timed(ledger: Ledger, stage: Stage, *, provider: str, model: str = "", items: int = 1) -> Iterator[None]:
    """Write the enclosed work, which is done on this machine and costs nothing, into `ledger`, however it ends."""
    started = ledger.elapsed_ms()
    outcome, error = Outcome.OK, ""
    try:
        yield
    except asyncio.CancelledError:
        outcome = Outcome.CANCELLED
        raise
    except BaseException as problem:
        outcome, error = Outcome.FAILED, f"{type(problem).__name__}: {problem}"
        raise
    finally:
        ledger.record(
            Call(
                stage=stage,
                provider=provider,
                model=model,
                started_ms=started,
                duration_ms=ledger.elapsed_ms() - started,
                items=items,
                outcome=outcome,
                error=error,
            )
        )


class Stopwatch:
    """Work on this machine that is done piece by piece, as one line: ``with watch:`` around each, `finish` at the end.

    The line begins where the first piece did, and lasts as long as the pieces together.
    """

    def __init__(self, ledger: Ledger, stage: Stage, *, provider: str, model: str = "") -> None:
        self._ledger = ledger
        self._call = Call(stage, provider, model)
        self._first: float | None = None
        self._since = 0.0
        self._took = 0.0
        self._pieces = 0

    def __enter__(self) -> None:
        self._since = self._ledger.elapsed_ms()
        self._first = self._since if self._first is None else self._first

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._took += self._ledger.elapsed_ms() - self._since
        self._pieces += 1

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Work within a piece that has a line of its own: its time is not counted here."""
        began = self._ledger.elapsed_ms()
        try:
            yield
        finally:
            self._since += self._ledger.elapsed_ms() - began

    def finish(self) -> None:
        """Write the line; none where no piece was begun."""
        if self._first is not None:
            self._ledger.record(replace(self._call, started_ms=self._first, duration_ms=self._took, items=self._pieces))
