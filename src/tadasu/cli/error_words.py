"""An error that is only known by its code and its English words, in another language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from tadasu.cli.frame import Frame
from tadasu.errors import TadasuError
from tadasu.text.run_warnings import TEMPLATES

_OWN_WORDS = 10
_PLACE = re.compile(r"\{([a-z_]+)\}")


def translated(frame: Frame, code: str, message: str, hint: str) -> tuple[str, str]:
    """`message` and `hint` of the error with `code` in the language of `frame`; unchanged where that is English.

    A report keeps words, not details: they are read back out of the words with the error's own template.
    """
    if frame.language == "en":
        return message, hint
    kind = kinds().get(code)
    if kind is None:
        return message, hint
    return _through(frame, kind.message, message), _through(frame, kind.hint_template, hint)


def retold(frame: Frame, message: str) -> str:
    """`message` in the language of `frame`, whichever error it is of; unchanged where it is of none."""
    said = frame.say(message)
    if frame.language == "en" or said != message:
        return said
    templates = {kind.message for kind in kinds().values()}
    fitting = [template for template in templates if details_of(template, message) is not None]
    # Where several fit, the one with the most words of its own says most.
    best = max(fitting, key=lambda template: len(_PLACE.sub("", template)), default="")
    return _through(frame, best, message) if len(_PLACE.sub("", best)) > _OWN_WORDS else message


def refusal_words(frame: Frame, sentence: str) -> str:
    """A warning of a run in the language of `frame`; where it is what a budget refused, with what to do about it."""
    for code in ("run_budget_spent", "day_budget_spent", "price_unknown"):
        kind = kinds()[code]
        details = details_of(kind.message, sentence)
        if details is not None:
            spoken = {name: frame.say(value) for name, value in details.items()}
            gap = "" if frame.language == "ja" else " "
            return frame.say(kind.message, **spoken) + gap + frame.say(kind.hint_template, **spoken)
    for template in TEMPLATES:
        details = details_of(template, sentence)
        if details is not None:
            if "reason" in details:
                details["reason"] = retold(frame, details["reason"] + ".").rstrip(".。")
            return frame.say(template, **details)
    return retold(frame, sentence)


def _through(frame: Frame, template: str, text: str) -> str:
    details = details_of(template, text)
    if details is None:
        return frame.say(text)  # a way out of its own, in place of the usual one
    return frame.say(template, **{name: frame.say(value) for name, value in details.items()})


def details_of(template: str, text: str) -> dict[str, str] | None:
    """What fills the places of `template` in `text`; None where `text` was not made from it.

    >>> details_of("{source}, row {row}: {reason}.", "a.csv, row 3: too short.")
    {'source': 'a.csv', 'row': '3', 'reason': 'too short'}
    """
    pattern, seen, at = "", set(), 0
    for place in _PLACE.finditer(template):
        name = place[1]
        pattern += re.escape(template[at : place.start()])
        pattern += f"(?P={name})" if name in seen else f"(?P<{name}>.*?)"
        seen.add(name)
        at = place.end()
    match = re.fullmatch(pattern + re.escape(template[at:]), text, re.DOTALL)
    return match.groupdict() if match else None


@cache
def kinds() -> dict[str, type[TadasuError]]:
    """Every kind of error of `tadasu.errors` by its code; plugins' own kinds have no translation."""
    return {kind.code: kind for kind in _below(TadasuError) if kind.__module__ == TadasuError.__module__}


def _below(kind: type[TadasuError]) -> Iterator[type[TadasuError]]:
    for inner in kind.__subclasses__():
        yield inner
        yield from _below(inner)
