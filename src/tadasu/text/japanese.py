"""Japanese words by Sudachi, or character bigrams where it is not installed."""

from __future__ import annotations

import importlib.metadata
import re
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

from tadasu.text.wordlists import word_set

# Sudachi takes 49,149 bytes at once; an ideograph is three, a rare one four.
_CHUNK = 12_000
_BORDER = re.compile(r"[。！？!?、・\n]|(?<=[\u3041-\u3096])(?=[\u4e00-\u9fff])")
# Particles, auxiliaries, marks, white space.
_DROPPED = frozenset(("助詞", "助動詞", "補助記号", "空白"))
_NUMERAL = "数詞"
# Sudachi turns 二十三 into 23 and leaves a lone numeral as it is.
_FIGURES = {kanji: str(value) for value, kanji in enumerate("〇一二三四五六七八九十")} | {"百": "100", "千": "1000"}
_MARKS = frozenset(("補助記号", "空白"))
# Verbs and nouns that only carry grammar: する, ある, こと.
_EMPTY_FORMS = word_set("""
    為る する 有る ある 居る いる 成る なる 出来る 事 こと 物 もの 因る よる 於く おく 言う 其の 此の 其れ 此れ
    為 ため 御
    """)
_WORD = re.compile(
    r"[\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]+|[0-9]+(?:\.[0-9]+)?"
)

_SURROGATE = re.compile(r"[\ud800-\udfff]")

_local = threading.local()
_loading = threading.Lock()


def forms(run: str, *, drop: bool) -> Iterator[str]:
    """Normalised forms of the words of a Japanese run, in order.

    Args:
        run: folded text of one script run, any length.
        drop: leave out particles, auxiliaries and words without content of their own.
    """
    dictionary = loaded_dictionary()
    if dictionary is None:
        yield from _bigrams(run)
        return
    tokenizer = _tokenizer(dictionary)
    kinds = _kinds(dictionary)
    for chunk in _chunks(run):
        for morpheme in tokenizer.tokenize(chunk):
            kind = kinds(morpheme.part_of_speech_id())
            if kind in (_DROPPED if drop else _MARKS):
                continue
            form = morpheme.normalized_form()
            if kind == _NUMERAL:
                form = _FIGURES.get(form, form)
            if not (drop and form in _EMPTY_FORMS):
                yield form


def tagged(text: str) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Words of a short text (short units) as (surface, levels of its part of speech, where it begins), in order.

    Nothing where SudachiPy is not installed, the text is longer than a question can be, or holds half a character.
    """
    dictionary = loaded_dictionary()
    if dictionary is None or len(text) > _CHUNK or _SURROGATE.search(text):
        return
    for morpheme in _tokenizer(dictionary).tokenize(text):
        yield morpheme.surface(), tuple(morpheme.part_of_speech()), morpheme.begin()


def version() -> str:
    """The analyser in use, with its dictionary's version."""
    if loaded_dictionary() is None:
        return "bigram"
    return f"sudachi-{importlib.metadata.version('sudachipy')}/core-{importlib.metadata.version('sudachidict-core')}"


def loaded_dictionary() -> Any:
    """The dictionary, read once per process; ``None`` where SudachiPy or its dictionary is not installed."""
    with _loading:
        return _load()


@cache
def _load() -> Any:
    try:
        import sudachidict_core  # noqa: F401, PLC0415 - absent is a supported state
        from sudachipy import Dictionary  # noqa: PLC0415
    except ImportError:
        return None
    return Dictionary(dict="core")


def _tokenizer(dictionary: Any) -> Any:
    """This thread's tokenizer: Sudachi's refuses to be shared."""
    held: tuple[Any, Any] | None = getattr(_local, "held", None)
    if held is None or held[0] is not dictionary:
        from sudachipy import SplitMode  # noqa: PLC0415

        create = getattr(dictionary, "tokenizer", None) or dictionary.create
        held = _local.held = (dictionary, create(SplitMode.A))
    return held[1]


@cache
def _kinds(dictionary: Any) -> Any:
    """Function from a part-of-speech id to its first level, or 数詞 for a numeral."""
    known: dict[int, str] = {}

    def kind(pos: int) -> str:
        found = known.get(pos)
        if found is None:
            levels = dictionary.pos_of(pos)
            found = known[pos] = _NUMERAL if levels[1] == _NUMERAL else levels[0]
        return found

    return kind


def _chunks(run: str) -> Iterator[str]:
    while len(run) > _CHUNK:
        at = 0
        for match in _BORDER.finditer(run, _CHUNK // 2, _CHUNK):
            at = match.end()
        at = at or _CHUNK
        yield run[:at]
        run = run[at:]
    yield run


def _bigrams(run: str) -> Iterator[str]:
    for match in _WORD.finditer(run):
        word = match.group()
        if len(word) < 3 or word[0].isdigit():
            yield word
        else:
            yield from (word[at : at + 2] for at in range(len(word) - 1))
