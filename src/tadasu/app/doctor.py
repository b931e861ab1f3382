"""Is everything in place? Findings with what to do about each; nothing is changed."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from tadasu.app.assets import models_folder
from tadasu.app.calibration_findings import calibration_finding
from tadasu.app.chat_findings import chat_findings
from tadasu.app.evidence import evidence_finding
from tadasu.app.findings import Finding, Health, broken, failure, ok, warning
from tadasu.app.price_findings import price_finding
from tadasu.app.statistics import cache_figures
from tadasu.app.telemetry_findings import telemetry_findings
from tadasu.errors import StoreDamaged, TadasuError
from tadasu.text.messages import LANGUAGES

if TYPE_CHECKING:
    from tadasu.app.container import Container
    from tadasu.app.tadasu import Tadasu

_OLDEST_PYTHON = (3, 11)
_LITTLE_SPACE = 1_000_000_000
_NO_SPACE = 100_000_000
_MEGABYTE = 1_000_000


async def diagnose(open_workspace: Callable[[], Tadasu], *, network: bool = True) -> tuple[Finding, ...]:
    """Every finding, the ones that others rest on first. Where the workspace cannot be opened, only what needs none.

    `network` False leaves out the checks that talk to an outside service.
    """
    found = [check_python(sys.version_info[:3]), check_analyser(), *check_shipped_models(models_folder())]
    try:
        tadasu = open_workspace()
    except TadasuError as problem:
        return (*found, failure("workspace", problem))
    container = tadasu.container
    found.append(ok("workspace", "The workspace is {folder}; its settings are valid.", folder=tadasu.workspace.root))
    found.append(check_space(tadasu.workspace.root))
    found.append(_guarded("encoder", lambda: _encoder(container)))
    found.append(_guarded("grader", lambda: _grader(container)))
    found.extend(_borders(container))
    found.extend(await _index(tadasu))
    found.append(await _cache(container))
    found.append(_guarded("runs", lambda: _runs(container)))
    found.append(_guarded("web", lambda: _web(container)))
    found.extend(await chat_findings(container, network=network))
    found.append(await _evidence(container, network=network))
    found.append(_guarded("prices", lambda: price_finding(container.settings)))
    found.extend(telemetry_findings(container.settings.telemetry, network=network))
    return tuple(found)


def check_python(version: tuple[int, ...]) -> Finding:
    """Whether this Python is new enough."""
    text = ".".join(str(part) for part in version)
    if version[:2] >= _OLDEST_PYTHON:
        return ok("python", "Python {version}.", version=text)
    return Finding(
        "python", Health.ERROR, "Python {version} is too old.", "Install Python 3.11 or later.", {"version": text}
    )


def check_analyser() -> Finding:
    """Whether Japanese is cut into words or only into pairs of letters."""
    from tadasu.text.analyze import analyzer_id

    analyser = analyzer_id()
    if analyser.startswith("sudachi"):
        return ok("analyser", "Japanese words by Sudachi ({analyser}).", analyser=analyser)
    return warning(
        "analyser",
        "Sudachi is not installed: Japanese keywords are pairs of letters ({analyser}).",
        "Install it with: pip install sudachipy sudachidict-core",
        analyser=analyser,
    )


def check_shipped_models(folder: Path) -> Iterator[Finding]:
    """Whether every file that a card below `folder` promises is there, with the bytes that it promises."""
    import hashlib
    import json

    for card in sorted(folder.glob("*/card.json")):
        name = card.parent.name
        problem = ""
        try:
            files = json.loads(card.read_text(encoding="utf-8")).get("files", {})
            for file, promised in files.items():
                if hashlib.sha256((card.parent / file).read_bytes()).hexdigest() != promised:
                    problem = f"{file} is not what its card promises: damaged or changed"
        except (OSError, ValueError, AttributeError) as trouble:
            problem = str(trouble)
        if problem:
            from tadasu.errors import ModelUnavailable

            yield failure("models", ModelUnavailable(path=card.parent, reason=problem))
        else:
            yield ok("models", "The model {name} is whole: {count} files as in its card.", name=name, count=len(files))


def check_space(folder: Path) -> Finding:
    """Whether the disk has room for the index to grow."""
    free = shutil.disk_usage(folder).free
    details = {"megabytes": free // _MEGABYTE, "folder": folder}
    if free >= _LITTLE_SPACE:
        return ok("disk", "{megabytes} MB are free on the disk of {folder}.", **details)
    health = Health.WARNING if free >= _NO_SPACE else Health.ERROR
    advice = "Make room, or move the workspace; an index takes about 4 KB a passage."
    return Finding("disk", health, "Only {megabytes} MB are free on the disk of {folder}.", advice, details)


def _guarded(check: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except TadasuError as problem:
        return failure(check, problem)
    except Exception as problem:  # noqa: BLE001 - a part may be anybody's plugin, and the other checks still count
        return broken(check, problem)


def _encoder(container: Container) -> Finding:
    encoder = container.encoder
    text = "The encoder {name} is loaded: {dimensions} dimensions."
    return ok("encoder", text, name=encoder.id, dimensions=encoder.dimensions)


def _grader(container: Container) -> Finding:
    return ok("grader", "The grader {name} is loaded.", name=container.grader.id)


def _borders(container: Container) -> Iterator[Finding]:
    """The borders between the levels by language; nothing where the grader names none, or cannot be loaded."""
    from tadasu.answering.correction.rounds import borders_of

    try:
        grader = container.grader
    except Exception:  # noqa: BLE001 - the finding on the grader says why it cannot be loaded
        return
    for language in LANGUAGES:
        borders = borders_of(grader, "", otherwise=language)
        if borders is not None:
            text = "HIGH from {high}, LOW below {low} ({spoken})"
            high, low = f"{borders.high:.2f}", f"{borders.low:.2f}"
            yield ok("borders", text, high=high, low=low, spoken=language)


async def _index(tadasu: Tadasu) -> list[Finding]:
    """The index can be read, was made with our encoder and analyser, finds something, and its grades are calibrated."""
    container = tadasu.container
    if not container.workspace.index_file.exists() and container.settings.store.engine == "sqlite":
        return [warning("index", "Nothing is ingested yet.", "Run `tadasu ingest FOLDER`.")]
    try:
        counts = await container.store.statistics(reader=container.reader)
        found = [
            ok(
                "index",
                "The index fits this encoder and analyser: {documents} documents, {passages} passages.",
                documents=counts.documents,
                passages=counts.passages,
            )
        ]
        if not counts.passages:
            return [warning("index", "The index holds no passage that you may see.", "Run `tadasu ingest FOLDER`.")]
        sources = await container.store.sources(reader=container.reader)
        document = await container.store.document(sources[0][0], reader=container.reader)
        words = (document.title if document else "") or sources[0][1]
        await tadasu.search(words)  # the first one loads what the next ones use
        probe = await tadasu.search(words)
        text = "A search takes {milliseconds} ms."
        found.append(ok("search", text, milliseconds=f"{probe.duration_ms:.0f}"))
        grades = [one.grade for one in probe.candidates]
        if grades and all(grade.probability is None for grade in grades):
            details = {"grader": container.grader.id, "reason": grades[0].reason}
            advice = "Check [grading] and [scorer] in tadasu.toml; until it works, questions are not answered."
            found.append(Finding("grading", Health.ERROR, "The grader {grader} failed ({reason}).", advice, details))
        elif (told := await calibration_finding(container, grades)) is not None:
            found.append(told)
    except TadasuError as problem:
        return [failure("index", problem)]
    except Exception as problem:  # noqa: BLE001 - a part may be anybody's plugin, and the other checks still count
        return [broken("index", problem)]
    return found


async def _cache(container: Container) -> Finding:
    """The cache of scores can be reached; how much it holds and saves."""
    engine = container.settings.cache.engine
    if not engine:
        return ok("cache", "The score cache is off: every passage is scored anew.")
    try:
        figures = await cache_figures(container.cache)
    except TadasuError as problem:
        return failure("cache", problem)
    except Exception as problem:  # noqa: BLE001 - a part may be anybody's plugin, and the other checks still count
        return broken("cache", problem)
    if figures is None:
        return ok("cache", "The score cache is {engine}; it keeps no counts.", engine=engine)
    if figures.trouble:
        return warning(
            "cache", "The score cache {engine} cannot be used ({reason}): every passage is scored anew.",
            "Start its server, or see to the folder and the disk; cache.engine in tadasu.toml chooses another.",
            engine=engine, reason=figures.trouble,
        )  # fmt: skip
    details = {"engine": engine, "count": figures.entries, "lookups": figures.hits + figures.misses}
    if figures.hit_rate is None:
        return ok("cache", "The score cache is {engine}: {count} scores, and nothing was looked up yet.", **details)
    text = "The score cache is {engine}: {count} scores, {rate} of {lookups} look-ups found."
    return ok("cache", text, rate=f"{figures.hit_rate:.0%}", **details)


async def _evidence(container: Container, *, network: bool) -> Finding:
    try:
        return await evidence_finding(container, network=network)
    except TadasuError as problem:
        return failure("evidence", problem)
    except Exception as problem:  # noqa: BLE001 - a part may be anybody's plugin, and the other checks still count
        return broken("evidence", problem)


def _runs(container: Container) -> Finding:
    path = container.workspace.state_file
    if not path.exists():
        return ok("runs", "No question has been asked yet.")
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as problem:
        raise StoreDamaged(path=path, reason=problem) from problem
    if verdict != "ok":
        raise StoreDamaged(path=path, reason=verdict)
    latest = container.runs.latest(limit=1, reader=container.reader)
    if not latest:
        return ok("runs", "The run book can be read and is empty.")
    return ok("runs", "The run book can be read; the latest run is {run}.", run=latest[0].id)


def _web(container: Container) -> Finding:
    """Who is asked, in order, and whose key is missing. Nobody is asked now: a search costs money."""
    from tadasu.app.outside import open_web

    web = open_web(container.settings, root=container.workspace.root, clock=container.clock)
    if web is None:
        return ok("web", "The web is off: questions never leave this machine for it.")
    names = ", ".join(provider.id for provider in web.providers)
    missing = [name for provider in web.providers if (name := getattr(provider, "missing_key", ""))]
    if not missing:
        return ok("web", "The web is on: {provider}.", provider=names)
    return warning(
        "web", "The web is on: {provider}; the environment holds no key in {variables}.",
        "Set it, or name another variable as key_variable in the provider's table under [web].",
        provider=names, variables=", ".join(missing),
    )  # fmt: skip
