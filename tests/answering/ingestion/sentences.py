"""The fixed sentences that errors of ingestion are filled with: reasons, and ways out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tadasu.answering import ingestion
from tadasu.answering.ingestion import identify, walk

PACKAGE = Path(ingestion.__file__).parent
_FILLED = frozenset({"reason", "way_out", "found"})


def sentences() -> set[str]:
    """All of them; what is put together from parts of a file (``7 fields, the header has 6``) is not among them."""
    found = {way_out for _, way_out in identify._UNSUPPORTED.values()} | {reason for _, reason in walk._SPECIAL}
    found |= {name for _, name in identify._MAGIC}
    for file in PACKAGE.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        constants = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            words = [word.value for word in call.keywords if word.arg in _FILLED]
            if getattr(call.func, "id", "") == "RowProblem":
                words.append(call.args[1])
            for word in words:
                found |= set(_texts(word, constants))
    return found


def _texts(node: ast.expr, constants: dict[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Name) and node.id in constants:
        yield constants[node.id]
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body, constants)
        yield from _texts(node.orelse, constants)
