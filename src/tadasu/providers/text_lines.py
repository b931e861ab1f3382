"""Lines of a byte stream that comes in pieces, cut anywhere: in the middle of a letter, between CR and LF."""

from __future__ import annotations

import codecs
import re

_END = re.compile(r"\r\n|\n|\r(?!\Z)")
"""A CR at the very end of what came may be the first half of CR LF."""


class Lines:
    """Puts pieces of UTF-8 together and gives the lines that are whole, without their ends (LF, CR LF or CR).

    >>> lines = Lines()
    >>> lines.feed(b"data: 1\\r"), lines.feed(b"\\ndata: \\xe4"), lines.feed(b"\\xbf\\x9d\\n\\n"), lines.rest()
    ([], ['data: 1'], ['data: 保', ''], [])
    """

    __slots__ = ("_decoder", "_held")

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, piece: bytes) -> list[str]:
        """The lines that `piece` completes."""
        *whole, self._held = _END.split(self._held + self._decoder.decode(piece))
        return whole

    def rest(self) -> list[str]:
        """At the end of the stream: the last line where no line end followed it."""
        left, self._held = self._held + self._decoder.decode(b"", final=True), ""
        return [left.removesuffix("\r")] if left else []

    @property
    def held(self) -> int:
        """Letters of the line that is not whole yet."""
        return len(self._held)
