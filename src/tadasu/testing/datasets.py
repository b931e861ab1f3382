"""The shared public data as typed rows.

Files are gzipped JSON lines in the folder that ``TADASU_DATA`` names, by default ``../shared/data`` beside the
repository. Nothing here ships data: where a file is missing, `DataAbsent` says which, and tests and benchmarks skip
with that reason. Which rows may be used for what is decided by `tadasu.testing.splits` alone.
"""

from __future__ import annotations

import enum
import gzip
import hashlib
import json
import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tadasu.errors import TadasuError

_BESIDE_REPOSITORY = Path(__file__).resolve().parents[4] / "shared" / "data"
_SEPARATOR = " [SEP] "


class DataAbsent(TadasuError):
    """A shared data set is not on this machine."""

    code = "data_absent"
    message = "{path} is not there, so nothing can be measured on it."
    hint_template = "Set TADASU_DATA to the folder with the shared data sets."


class Part(enum.Enum):
    """A part of a shared data set; the value is where it lies, folder and prefix of its files."""

    JAQUAD_TRAIN = "jaquad/train_"
    JAQUAD_DEV = "jaquad/dev_"
    JSQUAD_VALID = "jsquad/valid_"
    XQUAD_EN = "xquad_en/"
    COVIDQA = "covidqa/"
    POPQA = "popqa/"
    WIKI_EN = "wiki_en/"
    NQ_OPEN = "nq_open/dev"
    HALUEVAL_QA = "halueval_qa/items"
    OPENQA_EVAL = "openqa_eval/items"
    JNLI_VALID = "jnli/valid"
    JSTS_TRAIN = "jsts/train"
    JSTS_VALID = "jsts/valid"
    TIAGE_TRAIN = "tiage/train"
    TIAGE_DEV = "tiage/dev"
    SUPERDIALSEG = "superdialseg/validation"
    JMULTIWOZ_TOPICS = "jmultiwoz_topics/dialogues"


PASSAGE_PARTS = frozenset(
    {Part.JAQUAD_TRAIN, Part.JAQUAD_DEV, Part.JSQUAD_VALID, Part.XQUAD_EN, Part.COVIDQA, Part.POPQA, Part.WIKI_EN}
)
"""Parts whose rows are passages (wiki_en has no questions)."""


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage (covidqa: a whole paper) as its set gives it; `key` decides its split."""

    part: Part
    id: str
    title: str
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its accepted answers, and the passages known to hold one; `key` decides its split."""

    part: Part
    id: str
    text: str
    answers: tuple[str, ...]
    gold: tuple[str, ...]
    key: str


def folder() -> Path:
    """Where the shared data is expected."""
    return Path(os.environ.get("TADASU_DATA") or _BESIDE_REPOSITORY)


def normal(text: str) -> str:
    """`text` as keys and fingerprints see it: NFKC, case and underscores folded, white space collapsed.

    >>> normal("Super_Bowl　５０")
    'super bowl 50'
    """
    return " ".join(unicodedata.normalize("NFKC", text).replace("_", " ").casefold().split())


def rows(part: Part, name: str = "") -> Iterator[dict[str, Any]]:
    """The raw rows of one file; raises `DataAbsent` where it is missing."""
    path = folder() / f"{part.value}{name}.jsonl.gz"
    if not path.is_file():
        raise DataAbsent(path=path)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def keys(part: Part) -> Iterator[str]:
    """The split key of every row of `part`.

    Kinds of keys never meet by accident: ``title:``, ``image:``, ``question:``, or the part's own name.
    """
    if part in PASSAGE_PARTS:
        yield from (row.key for row in passages(part))
        yield from (row.key for row in questions(part))
        return
    for row in rows(part):
        yield item_key(part, row)


def item_key(part: Part, row: dict[str, Any]) -> str:
    """The key of a row that is neither passage nor question on a passage."""
    match part:
        case Part.JNLI_VALID | Part.JSTS_TRAIN | Part.JSTS_VALID:
            # ``10125-11130-11134`` and ``10005_480798-…``: the picture, then its captions. Pairs of one picture share
            # sentences.
            picture = str(row["yjcaptions_id"]).split("-", 1)[0].split("_", 1)[0]
            return f"image:{picture}"
        case Part.NQ_OPEN | Part.OPENQA_EVAL | Part.HALUEVAL_QA:
            return f"question:{normal(row['question']).rstrip('?？ ')}"
        case _:
            return f"{part.value}:{row['dialogue_id']}"


@cache
def passages(part: Part) -> tuple[PassageRow, ...]:
    """The passages of a part.

    jsquad's texts begin with their title and `` [SEP] ``, an input format of BERT: both are taken off, since the title
    is a field of its own. covidqa has no titles: the first line of a paper is its title. popqa gives two paragraphs per
    question: equal ones are one passage.
    """
    if part is Part.POPQA:
        return tuple({row.id: row for item in rows(part, "questions") for row in _supporting(item)}.values())
    return tuple(_passage(part, row) for row in rows(part, "passages"))


def _passage(part: Part, row: dict[str, Any]) -> PassageRow:
    title, text = row["title"], row["text"]
    if part is Part.JSQUAD_VALID:
        text = text.removeprefix(f"{title}{_SEPARATOR}")
    elif part is Part.COVIDQA:
        title = text.partition("\n")[0].strip()
    return PassageRow(part=part, id=row["passage_id"], title=title, text=text, key=f"title:{normal(title)}")


def _supporting(item: dict[str, Any]) -> Iterator[PassageRow]:
    for found in item["passages"]:
        mark = hashlib.sha256(f"{found['title']}\n{found['text']}".encode()).hexdigest()[:12]
        key = f"title:{normal(found['title'])}"
        yield PassageRow(part=Part.POPQA, id=f"popqa-{mark}", title=found["title"], text=found["text"], key=key)


@cache
def questions(part: Part) -> tuple[Question, ...]:
    """The questions of a part, keyed as their passage is; empty for wiki_en."""
    if part is Part.WIKI_EN:
        return ()
    if part is Part.POPQA:
        return tuple(_popqa_question(item) for item in rows(part, "questions"))
    key_of = {row.id: row.key for row in passages(part)}
    return tuple(
        Question(
            part=part,
            id=row["question_id"],
            text=row["question"],
            answers=tuple(row["answers"]),
            gold=(row["passage_id"],),
            key=key_of[row["passage_id"]],
        )
        for row in rows(part, "questions")
    )


def _popqa_question(item: dict[str, Any]) -> Question:
    """Gold is what names the subject and holds an answer; the article on politicians says nothing of one of them."""
    answers, subject = tuple(item["answers"]), normal(item["subject"])
    return Question(
        part=Part.POPQA,
        id=item["question_id"],
        text=item["question"],
        answers=answers,
        gold=tuple(
            row.id
            for row in _supporting(item)
            if subject in normal(f"{row.title} {row.text}") and holds_answer(row.text, answers)
        ),
        key=f"title:{subject}",
    )


def holds_answer(text: str, answers: tuple[str, ...]) -> bool:
    """Whether any of `answers` occurs in `text`, both normalised; short Latin answers only as whole words.

    >>> holds_answer("She was a politician.", ("pol",)), holds_answer("高さ約１５メートル", ("約15メートル",))
    (False, True)
    """
    folded = normal(text)
    return any(_occurs(normal(answer), folded) for answer in answers if answer.strip())


def _occurs(answer: str, text: str) -> bool:
    at = text.find(answer)
    while at >= 0:
        end = at + len(answer)
        clear_before = at == 0 or not (answer[0].isascii() and answer[0].isalnum() and text[at - 1].isalnum())
        clear_after = end == len(text) or not (answer[-1].isascii() and answer[-1].isalnum() and text[end].isalnum())
        # Japanese leaves no space around a number or a Latin word.
        if (clear_before or not text[at - 1].isascii()) and (clear_after or not text[end].isascii()):
            return True
        at = text.find(answer, at + 1)
    return False
