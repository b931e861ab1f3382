"""What users read, in their language: gettext catalogues keyed by the English sentence.

Catalogues are ``locales/<language>/LC_MESSAGES/tadasu.po``, shipped compiled; see ``docs/how-to/messages.md``.
A message may hold ``{named}`` places. What fills them is text, never a template: braces in it stay as they are.
"""

from __future__ import annotations

import gettext
import re
from functools import cache
from pathlib import Path

DOMAIN = "tadasu"
LOCALES = Path(__file__).parent / "locales"
LANGUAGES = ("en", "ja")

_PLACE = re.compile(r"\{([a-z_][a-z0-9_]*)\}")

ABSTENTIONS: dict[str, str] = {
    "no_documents": "Not known: there are no documents to answer from yet.",
    "all_filtered": "Not known: no document that you may read fits the chosen filters.",
    "search_failed": "Not known: the search could not be carried out, so nothing could be checked.",
    "grader_failed": (
        "Not known: passages that were found could not be assessed, and the answer may stand in one of them."
    ),
    "insufficient": "Not known: the documents do not say enough to answer this question.",
    "unsupported": "Not known: no answer could be given that the documents support.",
    "conflict": "Not known: the documents contradict each other on this question.",
    "budget_spent": "Not known: the limit of time or cost was reached before enough evidence was found.",
    "no_question": (
        "That is not a question about the documents. I answer questions from them and name my sources: ask me about "
        "anything that they may say."
    ),
}
"""Reason code of an abstention (``tadasu.core.answers.Reason``) to its message id."""


def translate(message_id: str, language: str, **params: object) -> str:
    """The message in `language`, with its named places filled.

    A language without a catalogue, or a message without a translation, is shown in English. A place that `params`
    does not name stays visible.

    >>> translate("as of {date}", "ja", date="2024-03-05")
    '2024-03-05 時点'
    """
    text = catalogue(language).gettext(message_id) if message_id else ""
    return _PLACE.sub(lambda m: str(params[m[1]]) if m[1] in params else m[0], text)


def abstention(code: str, language: str) -> str:
    """Why there is no answer, as a sentence for the one who asked; an unknown code gets the general one."""
    return translate(ABSTENTIONS.get(code, ABSTENTIONS["insufficient"]), language)


FINDINGS: dict[str, str] = {
    "number": "not in its source: the number {what}",
    "date": "not in its source: the date {what}",
    "name": "not in its source: the name {what}",
    "wording": "only {what} of its words are in its source",
    "negation": "its source says the opposite",
    "other": "its source says {what} of something else",
    "language": "nothing in it can be compared with its source, which is in another language",
    "support": "a model finds it supported by its source with only {what}",
    "uncited": "it names no source, and none says it",
    "refusal": "it says that something is not known",
}
"""First word of a check's finding (``tadasu.core.answers.CheckedSentence``) to its message id."""


def finding(found: str, language: str) -> str:
    """What a check found, as words for a reader; a finding of another kind stays as it is.

    >>> finding("number 42 kg", "en")
    'not in its source: the number 42 kg'
    """
    kind, _, what = found.partition(" ")
    return translate(FINDINGS[kind], language, what=what) if kind in FINDINGS else found


def catalogue(language: str) -> gettext.NullTranslations:
    """Translations for a language tag such as ``ja`` or ``ja-JP``; English, the source, for any other."""
    return _load(re.split(r"[-_.]", language, maxsplit=1)[0].lower())


@cache
def _load(language: str) -> gettext.NullTranslations:
    if language not in LANGUAGES:
        language = "en"
    return gettext.translation(DOMAIN, localedir=LOCALES, languages=[language], fallback=True)
