"""A process of its own for the libraries that may hang, crash or eat memory on a hostile file; killed at the limit.

It is started as a fresh interpreter, not forked and not by `multiprocessing` spawn, which would run a user's script
again. It stays warm between files and ends when its input is closed, so a parent that dies leaves nothing behind.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, cast

from tadasu.answering.ingestion.parsers.parsed import Limits, Parsed, RowProblem
from tadasu.answering.ingestion.parsers.registry import parse_bytes
from tadasu.errors import DocumentError, ParserCrashed, ParserTimeout

_LENGTH = struct.Struct(">Q")
_START_SECONDS = 60.0
_READY = "ready"


@dataclass(frozen=True, slots=True)
class Task:
    """One file to parse, with its time limit in seconds; `web` says that it is an HTML page of the web."""

    name: str
    data: bytes
    source: str
    limits: Limits
    seconds: float
    web: bool = False


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A DocumentError on its way between processes: exceptions with keyword arguments do not travel by themselves."""

    kind: type[DocumentError]
    details: dict[str, object]


class ParserProcess:
    """Parses files one after another in its process; safe to use from several threads. Starts at the first file."""

    def __init__(self, *, memory_mb: int = 4096) -> None:
        self._memory_mb = memory_mb
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def parse(self, task: Task) -> list[Parsed | RowProblem]:
        """What `parse_bytes` gives for the file.

        Raises:
            ParserTimeout: it took longer than `task.seconds`; the process was killed, the next file gets a new one.
            ParserCrashed: the process died, or a library failed in a way that its parser does not know.
            DocumentError: whatever the parser says of the file.
        """
        with self._lock:
            if self._closed:
                raise ParserCrashed(source=task.source, reason="the ingest was stopped")
            process = self._started(task.source)
            expired = threading.Event()

            def expire() -> None:
                expired.set()
                process.kill()

            timer = threading.Timer(task.seconds, expire)
            timer.daemon = True
            timer.start()
            try:
                _send(cast("IO[bytes]", process.stdin), task)
                answer = _receive(cast("IO[bytes]", process.stdout))
            except (EOFError, OSError):
                self._stop()
                if expired.is_set():
                    raise ParserTimeout(source=task.source, seconds=f"{task.seconds:g}") from None
                raise ParserCrashed(source=task.source, reason=_ending(process.returncode)) from None
            finally:
                timer.cancel()
        if isinstance(answer, _Refusal):
            raise answer.kind(**answer.details)
        return cast("list[Parsed | RowProblem]", answer)

    def close(self) -> None:
        """End the process, whatever it is doing; later files fail at once."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()  # frees a thread that waits for an answer, and with it the lock
        with self._lock:
            self._stop()

    def _started(self, source: str) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._stop()
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONWARNINGS": "ignore"}
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            # Not `-m`: the classes that travel between the processes must belong to this module in both.
            [sys.executable, "-c", f"from {__name__} import main; main()", str(self._memory_mb)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        timer = threading.Timer(_START_SECONDS, self._process.kill)
        timer.start()
        try:
            _receive(cast("IO[bytes]", self._process.stdout))
        except (EOFError, OSError):
            self._stop()
            raise ParserCrashed(source=source, reason="it could not be started") from None
        finally:
            timer.cancel()
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue  # what was still to be written to a dead process
        process.wait()


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"ended by signal {signal.Signals(-code).name}"
    return f"ended with code {code}"


def _send(stream: IO[bytes], value: object) -> None:
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def _receive(stream: IO[bytes]) -> object:
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return pickle.loads(_exactly(stream, length))  # noqa: S301 - from our own process


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def parse_here(task: Task) -> list[Parsed | RowProblem]:
    """Parse in this process. Whatever a library raises becomes an error of this one document: the batch goes on."""
    try:
        if task.web:
            from tadasu.answering.ingestion.parsers.html import (  # noqa: PLC0415 - as every parser, where it is needed
                WEB_SHARE,
                html_document,
            )

            return [html_document(task.data, source=task.source, kept_share=WEB_SHARE, as_seen=True)]
        return list(parse_bytes(task.name, task.data, source=task.source, limits=task.limits))
    except DocumentError:
        raise
    except MemoryError:
        raise ParserCrashed(source=task.source, reason="it needs more memory than it may have") from None
    except Exception as error:  # noqa: BLE001 - parsers of hostile files fail in ways that no list is complete for
        raise ParserCrashed(source=task.source, reason=f"{type(error).__name__}: {error}"[:200]) from None


def _serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    _send(replies, _READY)
    alarm: Callable[[int], int] | None = getattr(signal, "alarm", None)
    for task in _tasks(requests):
        if alarm:  # the parent kills at the limit; should it be gone, this ends a parser that hangs
            alarm(int(task.seconds) + 10)
        answer: object
        try:
            answer = parse_here(task)
        except DocumentError as error:
            answer = _Refusal(type(error), error.details)
        if alarm:
            alarm(0)
        _send(replies, answer)


def _tasks(requests: IO[bytes]) -> Iterator[Task]:
    while True:
        try:
            yield cast("Task", _receive(requests))
        except EOFError:
            return


def main() -> None:
    """Serve tasks from standard input; what libraries print goes nowhere near the replies."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        import resource  # noqa: PLC0415 - not on Windows

        limit = int(sys.argv[1]) * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    except (ImportError, ValueError, OSError):
        pass  # no limit on this system; the time limit stands
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _serve(sys.stdin.buffer, replies)
