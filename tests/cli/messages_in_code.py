"""Every sentence of the source that is meant for the catalogues."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import typer.main

import tadasu
from tadasu.answering.correction import policy
from tadasu.app.settings_file import HEAD, settings_tables
from tadasu.cli.application import app
from tadasu.cli.demo import PATHS
from tadasu.cli.dropped_pages import WORDS
from tadasu.cli.error_words import kinds
from tadasu.cli.exits import MEANINGS
from tadasu.cli.help_language import help_texts

PACKAGE = Path(tadasu.__file__).parent
_SPEAKERS = {"say": 0, "ok": 1, "warning": 1, "Finding": 2}


def messages() -> set[str]:
    """All of them."""
    found = {*HEAD, *PATHS.values(), *MEANINGS.values(), *WORDS.values(), "Exit codes", "Example:", "Examples:"}
    for folder in ("cli", "app"):
        for file in sorted((PACKAGE / folder).glob("*.py")):
            found |= set(_spoken(ast.parse(file.read_text(encoding="utf-8")), doctor=folder == "app"))
    for kind in kinds().values():
        found |= {kind.message, kind.hint_template}
    for table in settings_tables():
        found |= {table.description, *(entry.description for entry in table.entries)}
    found |= set(help_texts(typer.main.get_command(app)))
    found |= set(_reasons())
    return {text for text in found if any(char.isalpha() for char in text)}


def _spoken(tree: ast.AST, *, doctor: bool) -> Iterator[str]:
    """First arguments of `say`, and the sentences of findings; names are looked up where they are assigned to."""
    assigned: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets = [name for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            for name in targets:
                assigned.setdefault(name.id, set()).update(_strings(node.value))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if getattr(node.func, "id", "") == "InputInvalid":
            yield from (
                text for word in node.keywords if word.arg in {"reason", "fix"} for text in _strings(word.value)
            )
        called = node.func.attr if isinstance(node.func, ast.Attribute) else str(getattr(node.func, "id", ""))
        if called == "say" or (doctor and called in _SPEAKERS):
            first = _SPEAKERS[called]
            last = {"say": 1, "ok": 2, "warning": 3, "Finding": 4}[called]
            for argument in node.args[first:last]:
                if isinstance(argument, ast.Name):
                    yield from (text for text in assigned.get(argument.id, ()) if " " in text)
                else:
                    yield from _strings(argument)


def _strings(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _strings(node.body)
        yield from _strings(node.orelse)
    elif isinstance(node, ast.Tuple):
        for element in node.elts:
            yield from _strings(element)
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict):
        for value in node.value.values:
            yield from _strings(value)


def _reasons() -> Iterator[str]:
    """Reasons of actions: what `next_action` can say, found by asking it everything."""
    from itertools import combinations, product

    from tadasu.core.grades import Level, Verdict
    from tadasu.core.runs import SearchMode

    flags = (True, False)
    held = [frozenset(some) for count in range(len(Level) + 1) for some in combinations(Level, count)]
    modes = (SearchMode.HYBRID, SearchMode.WEB)
    for incorrect, reaction in product(policy.ReservePolicy, policy.Reaction):
        settings = policy.CorrectionSettings(
            incorrect=incorrect,
            ungraded=reaction,
            grader_failed=reaction,
            no_documents=reaction,
            search_failed=reaction,
            budget_spent=reaction,
        )
        for verdict, spent, web, asked, left in product(Verdict, flags, flags, flags, flags):
            for levels, found, was_incorrect, seen_all, mode in product(held, flags, flags, flags, modes):
                progress = policy.Progress(
                    searches=settings.max_searches if spent else 0,
                    web_searches=int(asked),
                    web_available=web,
                    probes_left=left,
                    held=levels,
                    found=found,
                    was_incorrect=was_incorrect,
                    seen_all=seen_all,
                    last_mode=mode,
                    settings=settings,
                )
                yield policy.next_action(verdict, progress).reason
