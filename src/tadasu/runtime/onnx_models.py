"""Models on disk, opened for work on this machine's processor: ONNX Runtime sessions and Hugging Face tokenizers.

One input a run, several runs at a time: padded batches are slower on a processor, and an int8 model scales its
activations over the whole input, so that in a batch every result would depend on its neighbours (measured:
decision 0006 and ``docs/design/grading.md``). A session therefore has one thread, and `Workers` has several.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import onnxruntime
from tokenizers import Tokenizer

from tadasu.errors import ModelUnavailable

_HALVES = re.compile("[\ud800-\udfff]")

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def sound(text: str) -> str:
    """`text` without halves of surrogate pairs, which no tokenizer takes; of the same length, so that offsets hold.

    >>> len(sound("\\ud83dab"))
    3
    """
    return _HALVES.sub("\ufffd", text)


def read_bytes(path: Path, *, sha256: str = "") -> bytes:
    """The bytes of a file, once they are those that `sha256` promises (empty: no promise); raises ModelUnavailable."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelUnavailable(path=path, reason=error.strerror or str(error)) from error
    found = hashlib.sha256(data).hexdigest() if sha256 else ""
    if found != sha256:
        reason = f"its SHA-256 is {found[:12]}…, the card says {sha256[:12]}…: damaged or changed"
        raise ModelUnavailable(path=path, reason=reason)
    return data


def open_tokenizer(data: bytes, path: Path) -> Tokenizer:
    """A tokenizer that neither cuts nor pads; `path` is named where it cannot be read (ModelUnavailable)."""
    try:
        tokenizer = Tokenizer.from_buffer(data)
    except Exception as error:  # the library raises plain Exception
        raise ModelUnavailable(path=path, reason=str(error)) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def open_session(model: bytes | Path, path: Path) -> Any:
    """A session on one thread. A model with weights in files of their own is opened by its path, not by its bytes."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Plans of memory are kept per input length; with hundreds of lengths they are a leak.
    options.enable_mem_pattern = False
    try:
        source = str(model) if isinstance(model, Path) else model
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's errors have no base of their own
        raise ModelUnavailable(path=path, reason=str(error)) from error


class Workers:
    """Threads that run a model; made at the first use. One item runs in the caller's own thread."""

    def __init__(self, threads: int, *, name: str) -> None:
        self._threads = max(1, threads)
        self._name = name
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    def map(self, work: Callable[[_Item], _Result], items: Sequence[_Item]) -> Iterator[_Result]:
        """`work` of every item, in order. A single item, a question most of all, does not queue behind a long list."""
        if len(items) <= 1 or self._threads == 1:
            return map(work, items)
        return self._opened().map(work, items)

    def _opened(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix=self._name)
            return self._pool
