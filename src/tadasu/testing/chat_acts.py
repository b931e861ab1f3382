"""What a scripted chat server does with a request, whichever protocol it speaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Fault:
    """An error that comes within a reply, after a status of 200. `kind` is the service's own word for it."""

    message: str = "scripted fault"
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with `text`, streamed in pieces of `piece` characters.

    `usage` is (prompt, completion) tokens, or None for a server that does not count. `finish` is ``stop``, ``length``
    or ``refusal`` (put into the protocol's own word), or such a word itself. `cut_after` breaks the connection off
    after so many pieces; where there is a `fault`, that comes then instead. `wait_s` is how long it thinks before the
    first word, `pause_s` before each further piece.
    """

    text: str
    piece: int = 5
    usage: tuple[int, int] | None = (100, 20)
    finish: str = "stop"
    cut_after: int | None = None
    wait_s: float = 0.0
    pause_s: float = 0.0
    fault: Fault | None = None

    @property
    def pieces(self) -> list[str]:
        """The text as it is streamed."""
        return [self.text[at : at + self.piece] for at in range(0, len(self.text), self.piece)]


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer with an HTTP error. `code` is the service's own word for it; empty: its usual one for the status."""

    status: int
    message: str = "scripted error"
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    param: str = ""


@dataclass(frozen=True, slots=True)
class Hang:
    """Take the request and say nothing for `seconds`, or until the client or the server is gone."""

    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Raw:
    """Answer 200 with a body of one's own, in or out of the protocol."""

    body: str
    content_type: str = "text/event-stream"


Act = Say | Fail | Hang | Raw
