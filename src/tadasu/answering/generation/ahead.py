"""The text that is shown before it has been checked."""

from __future__ import annotations

from tadasu.core.events import TextRevised
from tadasu.core.writing import Release


class Ahead:
    """What stands, unchecked, behind the checked text, and the events by which a reader keeps up with it.

    Never a citation: those come with the checked sentence. Where text is released when checked, it stays empty.
    """

    __slots__ = ("_shown", "_text")

    def __init__(self, release: Release) -> None:
        self._shown = release is Release.AT_ONCE
        self._text = ""

    def more(self, text: str, *, first: bool) -> list[TextRevised]:
        """`text` follows; `first`: nothing checked stands before."""
        return self.become(self._text + text, first=first)

    def become(self, text: str, *, first: bool = False) -> list[TextRevised]:
        """`text` takes the place of all that stood here."""
        if not self._shown:
            return []
        text = text.lstrip() if first else text
        if text == self._text:
            return []
        keep = next((at for at, (old, new) in enumerate(zip(self._text, text, strict=False)) if old != new), None)
        keep = min(len(self._text), len(text)) if keep is None else keep
        event = TextRevised(taken=self._text[keep:], text=text[keep:])
        self._text = text
        return [event]
