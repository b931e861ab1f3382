"""JSON lines: every line is a document of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from tadasu.answering.ingestion.decode import decode
from tadasu.answering.ingestion.parsers.csv import DATE_NAMES, ID_NAMES, LANGUAGE_NAMES, TEXT_NAMES, TITLE_NAMES
from tadasu.answering.ingestion.parsers.dates import iso_date
from tadasu.answering.ingestion.parsers.parsed import Limits, Parsed, RowProblem, TextBuilder
from tadasu.answering.ingestion.parsers.text import text_blocks
from tadasu.core.documents import Block, BlockKind

_NESTING_LIMIT = 6


def parse_jsonl(data: bytes, *, source: str, limits: Limits) -> Iterator[Parsed | RowProblem]:
    """One document a line, named ``#id`` or ``#<line>``.

    Running text comes from ``text``, ``content`` or ``body`` (本文, 内容); an object without one is read as
    ``name: value`` lines, so that nothing of it is lost. ``title``, ``date``, ``language`` and ``metadata`` are taken
    where given; other scalars become metadata. A line that is no JSON object is a bad row.
    """
    del limits
    decoded = decode(data, source=source)
    lines = [(number, line) for number, text in enumerate(decoded.text.split("\n"), start=1) if (line := text.strip())]
    ids = {key for _, line in lines if isinstance(row := _object(line), dict) and (key := _field(row, ID_NAMES))}
    seen: dict[str, int] = {}
    for number, line in lines:
        yield _row(line, number, seen, by_number=f"row-{number}" if str(number) in ids else str(number))


def _object(line: str) -> dict[str, object] | str:
    """The JSON object of a line, or why there is none."""
    try:
        loaded = json.loads(line)
    except json.JSONDecodeError as error:
        return f"no JSON ({error.msg} at character {error.pos + 1})"
    except (RecursionError, ValueError) as error:
        return f"JSON that cannot be read ({type(error).__name__})"
    if not isinstance(loaded, dict):
        return f"a JSON object was expected, not {_kind(loaded)}"
    return {str(name).strip(): value for name, value in loaded.items()}


def _row(line: str, number: int, seen: dict[str, int], *, by_number: str) -> Parsed | RowProblem:
    row = _object(line)
    if isinstance(row, str):
        return RowProblem(number, row)
    key = _field(row, ID_NAMES) or by_number
    if key in seen:
        return RowProblem(number, f"the id {key} was used in row {seen[key]}")
    text, blocks = _content(row)
    if not text.strip():
        return RowProblem(number, "it holds no text")
    seen[key] = number
    return Parsed(
        text=text,
        blocks=blocks,
        media_type="application/jsonl",
        title=_field(row, TITLE_NAMES),
        date=iso_date(_field(row, DATE_NAMES)),
        language=_field(row, LANGUAGE_NAMES).lower(),
        key=key,
        fingerprint=hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest(),
        metadata=_metadata(row),
    )


def _content(row: Mapping[str, object]) -> tuple[str, tuple[Block, ...]]:
    name = _name(row, TEXT_NAMES)
    value = row.get(name) if name else None
    if isinstance(value, str):
        text = _sound(value)
        return text, text_blocks(text)
    builder = TextBuilder()
    special = {_name(row, names) for names in (ID_NAMES, DATE_NAMES, LANGUAGE_NAMES)}
    lines = [line for field, entry in row.items() if field not in special for line in _lines(field, entry, 0)]
    builder.add(BlockKind.TABLE, _sound("\n".join(lines)))
    return builder.text, builder.blocks


def _lines(name: str, value: object, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping) and depth < _NESTING_LIMIT:
        for field, entry in value.items():
            yield from _lines(f"{name}.{field}", entry, depth + 1)
    elif isinstance(value, list) and depth < _NESTING_LIMIT and any(isinstance(entry, (dict, list)) for entry in value):
        for entry in value:
            yield from _lines(name, entry, depth + 1)
    elif isinstance(value, list):
        yield f"{name}: {', '.join(map(_scalar, value))}"
    elif value is not None and value != "":
        yield f"{name}: {_scalar(value)}"


def _metadata(row: Mapping[str, object]) -> dict[str, str]:
    special = {_name(row, names) for names in (TEXT_NAMES, TITLE_NAMES, DATE_NAMES, LANGUAGE_NAMES, ID_NAMES)}
    given = row.get("metadata")
    pairs = [(name, value) for name, value in row.items() if name not in special and name != "metadata"]
    if isinstance(given, Mapping):
        pairs += list(given.items())
    return {str(n): _sound(_scalar(v)) for n, v in pairs if v is not None and not isinstance(v, (dict, list))}


def _name(row: Mapping[str, object], wanted: tuple[str, ...]) -> str:
    lowered = {name.lower(): name for name in row}
    return next((lowered[name] for name in wanted if name in lowered), "")


def _field(row: Mapping[str, object], wanted: tuple[str, ...]) -> str:
    value = row.get(_name(row, wanted))
    return _sound(_scalar(value)).strip() if isinstance(value, (str, int, float)) else ""


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _sound(text: str) -> str:
    """Lone surrogates (``\\ud800`` escapes) cannot be stored as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8") if any("\ud800" <= c <= "\udfff" for c in text) else text


def _kind(value: object) -> str:
    return {list: "a list", str: "a string", int: "a number", float: "a number", bool: "a truth value"}.get(
        type(value), "null"
    )
