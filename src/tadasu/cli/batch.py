"""`tadasu ask --batch`: questions as JSONL in, answers as JSONL out, in the order in which they are ready."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from tadasu.cli.consent import agreed
from tadasu.cli.error_words import refusal_words
from tadasu.cli.exits import WITHOUT_VERDICT, Exit, exit_of_run
from tadasu.cli.frame import Frame, clean, write_line
from tadasu.cli.jsonable import answer_object, error_object, to_text
from tadasu.cli.shared import Unexpected
from tadasu.core.usage import Priority
from tadasu.errors import InputInvalid, StoreError, TadasuError, UsageError

if TYPE_CHECKING:
    from tadasu.app.tadasu import Tadasu
    from tadasu.core.documents import Scope
    from tadasu.core.runs import Run

_EVERY_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Line:
    """One usable line: its number in the file, id, question, and whatever else stood in it."""

    number: int
    id: str | int
    question: str
    rest: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BadLine:
    """One line that cannot be used."""

    number: int
    error: InputInvalid


@dataclass(slots=True)
class Tally:
    """How a batch went.

    `errors` holds one object a failed line: line, id (null where there is none), error. `unassessed` holds one for each
    question that has no answer because it could not be searched or graded: line, id, run, reason, warnings.
    """

    answered: int = 0
    abstained: int = 0
    skipped: int = 0
    errors: list[dict[str, Any]] = field(default_factory=list)
    unassessed: list[dict[str, Any]] = field(default_factory=list)

    @property
    def done(self) -> int:
        """Lines that are dealt with."""
        return self.answered + self.abstained + self.skipped + len(self.errors) + len(self.unassessed)


def ask_batch(
    frame: Frame,
    tadasu: Tadasu,
    runner: asyncio.Runner,
    source: str,
    *,
    out: Path | None,
    concurrency: int,
    scope: Scope,
    defer: bool = False,
    yes: bool = False,
) -> Exit | None:
    """Ask every line of `source` (``-``: stdin), `concurrency` at once, if somebody agrees to what that may cost.

    With `out`, answers are appended to it and ids that it holds already are skipped; failed lines, and questions that
    could not be searched or graded, are not written there, so that the next call tries them again. Without, answers
    and failures go to stdout.
    """
    rows = list(read_lines(_bytes_of(source), name="stdin" if source == "-" else source))
    if out is not None and source != "-" and out.exists() and out.samefile(Path(source).expanduser()):
        reason = "is the file of the questions"
        raise InputInvalid(where=str(out), reason=reason, fix="Name another file with --out.")
    tally = Tally()
    known = frozenset() if out is None else resume(out)
    new = sum(isinstance(row, Line) and str(row.id) not in known for row in rows)
    if not agreed(frame, tadasu, questions=new, yes=yes, concurrency=concurrency, stdin_is_input=source == "-"):
        return Exit.INTERRUPTED
    with contextlib.nullcontext(sys.stdout) if out is None else _appending(out) as target:
        batch = _Batch(frame, tadasu, target=target, known=known, tally=tally, scope=scope, defer=defer)
        runner.run(batch.run(rows, concurrency=concurrency))
    _conclude(frame, tally, out)
    return Exit.PARTIAL if tally.errors or tally.unassessed else None


def read_lines(data: bytes, *, name: str) -> Iterator[Line | BadLine]:
    """The lines of a JSONL file; one that cannot be used comes with the error that says why. Blank lines are none."""
    seen: set[str] = set()
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not raw.strip():
            continue
        line = _line(number, raw)
        if isinstance(line, Line) and str(line.id) in seen:
            line = f"the id {line.id} was used before"
        if isinstance(line, Line):
            seen.add(str(line.id))
            yield line
        else:
            where = f"{name}, line {number}"
            fix = 'Each line is an object with a text "question", and an "id" of its own if it has one.'
            yield BadLine(number, InputInvalid(where=where, reason=line, fix=fix))


def _line(number: int, raw: bytes) -> Line | str:
    """The line, or what is wrong with it."""
    try:
        row = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except json.JSONDecodeError as problem:
        return f"it is not JSON ({problem.msg} at column {problem.colno})"
    except (ValueError, RecursionError):
        return "it is not JSON that can be read"
    if not isinstance(row, dict):
        return "it is not a JSON object"
    question, chosen = row.pop("question", None), row.pop("id", f"line-{number}")
    if not isinstance(question, str) or not question.strip():
        return 'it has no text "question"'
    if isinstance(chosen, bool) or not isinstance(chosen, (str, int)):
        return "its id is neither text nor an integer"
    return Line(number, chosen, question, row)


def _appending(out: Path) -> TextIO:
    try:
        return out.open("a", encoding="utf-8")
    except OSError as problem:
        reason = f"cannot be written ({problem.strerror or problem})"
        raise InputInvalid(where=str(out), reason=reason, fix="Check the path and its permissions.") from problem


_FIRST_BYTES = b'{"id": '


def resume(out: Path) -> frozenset[str]:
    """The ids that `out` holds. A last line that was cut off (the process was killed) is taken out of the file.

    Raises InputInvalid, and changes nothing, where the file was not written by a batch.
    """
    if not out.exists():
        return frozenset()
    data = out.read_bytes()
    whole = data.rfind(b"\n") + 1
    known: set[str] = set()
    for number, raw in enumerate(data[:whole].split(b"\n"), 1):
        if raw.strip():
            chosen, final = _id_in(raw, f"{out}, line {number}")
            if final:
                known.add(chosen)
    rest = data[whole:]
    if rest:
        if not (_FIRST_BYTES.startswith(rest) or rest.startswith(_FIRST_BYTES)):
            raise _foreign(str(out))
        with out.open("r+b") as file:
            file.truncate(whole)
    return frozenset(known)


def _id_in(raw: bytes, where: str) -> tuple[str, bool]:
    """The id of a line, and whether it is final: earlier versions wrote what could not be searched or graded too."""
    try:
        row = json.loads(raw)
        run, chosen = row["run"], row["id"]
    except (ValueError, KeyError, TypeError):
        raise _foreign(where) from None
    if not isinstance(run, str):
        raise _foreign(where)
    failed = row.get("reason") in {reason.value for reason in WITHOUT_VERDICT} and row.get("deferred") != "pending"
    return str(chosen), not failed


def _foreign(where: str) -> InputInvalid:
    reason = "is not a line that `tadasu ask --batch` wrote"
    return InputInvalid(where=where, reason=reason, fix="Name another file with --out.")


def _bytes_of(source: str) -> bytes:
    if source == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(source).expanduser().read_bytes()
    except OSError as problem:
        reason = f"cannot be read ({problem.strerror or problem})"
        raise InputInvalid(where=source, reason=reason, fix="Check the path of the file.") from problem


class _Batch:
    """One batch on its way: several workers take lines in turn and write answers as they are ready."""

    def __init__(
        self,
        frame: Frame,
        tadasu: Tadasu,
        *,
        target: TextIO,
        known: frozenset[str],
        tally: Tally,
        scope: Scope,
        defer: bool,
    ) -> None:
        self._frame, self._tadasu = frame, tadasu
        self._target, self._known, self._tally = target, known, tally
        self._scope, self._defer = scope, defer

    async def run(self, rows: Sequence[Line | BadLine], *, concurrency: int) -> None:
        """Ask all of `rows`; raises what every other question would fail with too."""
        shown = Progress(self._frame, len(rows))
        pending = iter(rows)

        async def work() -> None:
            for row in pending:
                await self._deal_with(row)
                shown.show(self._tally)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(concurrency):
                    group.create_task(work())
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    async def _deal_with(self, row: Line | BadLine) -> None:
        if isinstance(row, BadLine):
            self._fail(row.error, row.number, None)
        elif str(row.id) in self._known:
            self._tally.skipped += 1
        else:
            await self._ask(row)

    async def _ask(self, row: Line) -> None:
        try:
            run = await self._tadasu.ask(
                row.question,
                language=self._frame.lang,
                scope=self._scope,
                defer=self._defer,
                priority=Priority.LOW,
            )
        except (UsageError, StoreError):
            raise
        except TadasuError as error:
            self._fail(error, row.number, row.id)
            return
        except Exception as problem:  # noqa: BLE001 - a bug met by one question must not cost the others their answers
            self._fail(Unexpected(kind=type(problem).__name__, text=problem), row.number, row.id)
            return
        if exit_of_run(run) is not None:
            self._not_assessed(row, run)
            return
        self._tally.answered += run.answer.reason is None
        self._tally.abstained += run.answer.reason is not None
        write_line(self._target, to_text({"id": row.id, **answer_object(run), "input": row.rest}, indent=None))

    def _not_assessed(self, row: Line, run: Run) -> None:
        reason = run.answer.reason
        warnings = [refusal_words(self._frame, warning) for warning in run.warnings]
        entry = {"line": row.number, "id": row.id, "run": run.id, "reason": reason, "warnings": warnings}
        self._tally.unassessed.append(entry)
        cause = warnings[0] if warnings else run.answer.text
        write_line(sys.stderr, clean(f"{row.id}: {cause} [{reason.value if reason else ''}]"))
        if self._target is sys.stdout:
            write_line(self._target, to_text({"id": row.id, **answer_object(run), "input": row.rest}, indent=None))

    def _fail(self, error: TadasuError, number: int, chosen: str | int | None) -> None:
        message, hint = self._frame.message_of(error)
        entry = {"line": number, "id": chosen, "error": error_object(error, message=message, hint=hint)}
        self._tally.errors.append(entry)
        write_line(sys.stderr, clean(f"{message} {hint} [{error.code}]"))
        if self._target is sys.stdout:
            write_line(self._target, to_text(entry, indent=None))


class Progress:
    """A line on stderr every few seconds: how many, how fast."""

    def __init__(self, frame: Frame, total: int) -> None:
        self._frame, self._total = frame, total
        self._began = self._last = time.monotonic()

    def show(self, tally: Tally) -> None:
        """Say how far it is, if the last word was long enough ago."""
        now = time.monotonic()
        if now - self._last < _EVERY_SECONDS:
            return
        self._last = now
        rate = (tally.done - tally.skipped) / max(now - self._began, 1e-9)
        text = "{done} of {total} questions, {rate} a second"
        write_line(sys.stderr, self._frame.say(text, done=tally.done, total=self._total, rate=f"{rate:.1f}"))


def _conclude(frame: Frame, tally: Tally, out: Path | None) -> None:
    if frame.json and out is not None:
        frame.emit(
            {
                "answered": tally.answered,
                "abstained": tally.abstained,
                "skipped": tally.skipped,
                "failed": tally.errors,
                "unassessed": tally.unassessed,
                "out": str(out),
            }
        )
        return
    text = "{answered} answered, {abstained} abstained, {skipped} skipped (answered before), {failed} failed"
    words = frame.say(
        text,
        answered=tally.answered,
        abstained=tally.abstained,
        skipped=tally.skipped,
        failed=len(tally.errors),
    )
    write_line(sys.stderr, words)
    if tally.unassessed:
        text = "{count} could not be searched or graded: `tadasu doctor` says more, and the next run tries them again"
        if out is None:
            text = "{count} could not be searched or graded: `tadasu doctor` says more"
        write_line(sys.stderr, frame.say(text, count=len(tally.unassessed)))
