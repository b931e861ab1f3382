"""The demo: a workspace made of the shipped corpus, its questions, and what is expected of each answer."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tadasu.answering.explain import matches
from tadasu.app.settings_file import settings_text
from tadasu.app.workspace import SETTINGS_FILE, Workspace, create_workspace
from tadasu.core.documents import Origin
from tadasu.core.runs import Run
from tadasu.errors import InputInvalid

QUESTIONS_FILE = "questions.jsonl"
DOCUMENTS_FOLDER = "documents"
WEB_FOLDER = "web"
FOLDER_NAME = "tadasu-demo"
_SETTINGS = {"web.provider": "folder", "web.folder": WEB_FOLDER}


@dataclass(frozen=True, slots=True)
class Expectation:
    """What an answer of the demo has to be.

    `verdicts` is the whole path of verdicts, nothing where any will do. `sources` must all be cited, and all citations
    must come from `citations_from` (``documents``, ``web`` or ``none``; empty: anywhere).
    """

    status: str
    verdicts: tuple[str, ...] = ()
    answer_contains: tuple[str, ...] = ()
    not_contains: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    citations_from: str = ""


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question of the demo and the path through the pipeline that it shows."""

    id: str
    path: str
    question: str
    language: str
    expect: Expectation


def prepare_demo(shipped: Path, target: Path) -> Workspace:
    """A workspace in `target` with a copy of the `shipped` corpus; one that is there already is used as it is.

    The copy appears whole or not at all. Raises InputInvalid where `target` holds something else.
    """
    target = target.expanduser().resolve()
    if (target / SETTINGS_FILE).is_file() and (target / QUESTIONS_FILE).is_file():
        return Workspace(target)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        reason = "is there already and is no Tadasu demo"
        raise InputInvalid(where=str(target), reason=reason, fix="Name another folder: tadasu demo FOLDER.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            for name in (DOCUMENTS_FOLDER, WEB_FOLDER):
                shutil.copytree(shipped / name, partial / name)
            shutil.copyfile(shipped / QUESTIONS_FILE, partial / QUESTIONS_FILE)
            create_workspace(partial, settings_text(_SETTINGS))
            partial.chmod(0o755)
            if target.exists():
                target.rmdir()
            partial.rename(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as problem:
        reason = f"cannot be made ({problem.strerror or problem})"
        raise InputInvalid(
            where=str(target), reason=reason, fix="Name another folder, or use --temporary."
        ) from problem
    return Workspace(target)


def demo_questions(folder: Path) -> tuple[DemoQuestion, ...]:
    """The questions in `folder`; raises InputInvalid with the line that cannot be read."""
    file = folder / QUESTIONS_FILE
    found: list[DemoQuestion] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(_question(json.loads(line)))
        except (ValueError, KeyError, TypeError) as problem:
            where = f"{file}, line {number}"
            raise InputInvalid(where=where, reason=f"is no question of the demo ({problem})") from problem
    return tuple(found)


def _question(row: dict[str, object]) -> DemoQuestion:
    expect = row["expect"]
    if not isinstance(expect, dict):
        raise TypeError("expect is no object")
    return DemoQuestion(
        id=str(row["id"]),
        path=str(row["path"]),
        question=str(row["question"]),
        language=str(row["language"]),
        expect=Expectation(
            status=str(expect["status"]),
            verdicts=tuple(expect.get("verdicts", ())),
            answer_contains=tuple(expect.get("answer_contains", ())),
            not_contains=tuple(expect.get("not_contains", ())),
            sources=tuple(expect.get("sources", ())),
            citations_from=str(expect.get("citations_from", "")),
        ),
    )


def unmet(expect: Expectation, run: Run) -> tuple[str, ...]:
    """What `run` does not do of what was expected, one sentence each; nothing where all of it holds."""
    answer = run.answer
    found: list[str] = []
    if answer.status.value != expect.status:
        found.append(f"it is {answer.status.value}, not {expect.status}")
    verdicts = tuple(one.verdict.value for one in run.rounds)
    if expect.verdicts and verdicts != expect.verdicts:
        found.append(f"the verdicts are {' → '.join(verdicts) or 'none'}, not {' → '.join(expect.verdicts)}")
    found += [f"the answer lacks {text}" for text in expect.answer_contains if text not in answer.text]
    shown = "\n".join((answer.text, *(citation.quote for citation in answer.citations)))
    found += [f"the answer contains {text}" for text in expect.not_contains if text in shown]
    cited = answer.citations
    found += [
        f"{source} is not cited"
        for source in expect.sources
        if not any(matches(source, citation.document_id, citation.source) for citation in cited)
    ]
    origins = {citation.origin for citation in answer.citations}
    wanted = {"documents": {Origin.INTERNAL}, "web": {Origin.WEB}, "none": set()}.get(expect.citations_from)
    if wanted is not None and origins != wanted:
        named = ", ".join(sorted(origin.value for origin in origins)) or "nothing"
        found.append(f"citations come from {named}, not from {expect.citations_from}")
    return tuple(found)
