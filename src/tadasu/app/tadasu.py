"""Tadasu for Python programs: open a workspace, ingest, ask, look at what happened."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tadasu.app.container import Container
from tadasu.app.settings import Settings, load_settings
from tadasu.app.workspace import Workspace, find_workspace
from tadasu.core.documents import Scope
from tadasu.core.events import Listener, ignore
from tadasu.core.runs import Round, Run, SearchMode
from tadasu.errors import InputInvalid

if TYPE_CHECKING:
    from tadasu.answering.ingestion.report import IngestReport, Progress

LONGEST_QUESTION = 4_000
"""Characters. Longer input is a document, not a question."""

T = TypeVar("T")


class Tadasu:
    """One open workspace. Asynchronous; `sync` has the same methods for programs without an event loop.

    Parts are built on first use: opening costs nothing, the first question loads the models.
    """

    def __init__(self, container: Container) -> None:
        self.container = container

    @classmethod
    def open(cls, path: Path | str = ".", **overrides: Any) -> Tadasu:
        """The workspace at `path` or the nearest one above it.

        `overrides` replace settings by section, as in ``Tadasu.open(".", retrieval={"k": 20})``. Raises
        WorkspaceMissing, SettingsInvalid.
        """
        workspace = find_workspace(Path(path))
        return cls(Container(workspace, load_settings(workspace.settings_file, **overrides)))

    @property
    def workspace(self) -> Workspace:
        """Where it lives."""
        return self.container.workspace

    @property
    def settings(self) -> Settings:
        """What it was told."""
        return self.container.settings

    @property
    def sync(self) -> SyncTadasu:
        """The same, blocking."""
        return SyncTadasu(self)

    async def ingest(
        self,
        *paths: Path | str,
        groups: Iterable[str] = (),
        public: bool = False,
        on_progress: Callable[[Progress], None] | None = None,
        prune: bool = True,
        rebuild: bool = False,
    ) -> IngestReport:
        """Take in files and folders; only what changed is touched, what is gone below them is removed if `prune`.

        `groups` restrict what is below `paths` to their members, from now on; `public` opens it to the whole tenant;
        with neither, each document keeps what it has. Access files in the folders come before both.

        Bad files are listed in the report and the rest goes on. `rebuild` throws the index away first (never the
        runs): all folders have to be ingested again then. Raises InputInvalid for a path that does not exist, and for
        `groups` with `public`.
        """
        named = frozenset(groups)
        if named and public:
            reason = "groups and public exclude each other"
            raise InputInvalid(where="ingest", reason=reason, fix="Leave one out.")
        if rebuild:
            await self.container.drop_index()
        return await self.container.ingestion.run(
            [Path(path) for path in paths],
            tenant=self.container.reader.tenant,
            base=self.workspace.root,
            groups=named if named or public else None,
            on_progress=on_progress,
            prune=prune,
        )

    async def ask(
        self,
        question: str,
        *,
        history: Sequence[Run] = (),
        session: str = "",
        language: str = "",
        scope: Scope | None = None,
        listen: Listener = ignore,
    ) -> Run:
        """Answer `question`: the whole run, whose ``answer`` is what to show.

        `history` holds the earlier runs of the conversation, oldest first; `scope` narrows the search and defaults to
        all that the configured reader may see; `listen` hears rounds and checked text as they come.
        """
        from tadasu.answering.pipeline import Inquiry

        _check(question)
        inquiry = Inquiry(
            question=question,
            scope=scope or Scope(reader=self.container.reader),
            history=tuple(history),
            session=session,
            language=language,
        )
        with self.container.telemetry.watching(listen) as heard:
            return await self.container.pipeline.answer(inquiry, listen=heard)

    async def search(
        self, query: str, *, k: int | None = None, mode: SearchMode = SearchMode.HYBRID, scope: Scope | None = None
    ) -> Round:
        """One retrieval with its grades and verdict, and nothing done about it."""
        from tadasu.answering.correction.rounds import one_round
        from tadasu.runtime.ledger import RunLedger

        _check(query)
        return await one_round(
            query,
            search=self.container.search,
            grader=self.container.grader,
            k=k or self.settings.retrieval.k,
            mode=mode,
            scope=scope or Scope(reader=self.container.reader),
            settings=self.container.correction,
            ledger=RunLedger(self.container.clock),
        )

    def trace(self, run_id: str = "last") -> Run:
        """The run with that id, or the latest; raises RunNotFound."""
        return self.container.runs.load(run_id, reader=self.container.reader)

    async def close(self) -> None:
        """Give back files and connections."""
        await self.container.close()

    async def __aenter__(self) -> Tadasu:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class SyncTadasu:
    """Tadasu for programs without an event loop: the same methods, blocking.

    One background thread runs the loop for all of them, so that it works inside notebooks too.
    """

    def __init__(self, tadasu: Tadasu) -> None:
        self._tadasu = tadasu

    def ingest(self, *paths: Path | str, **options: Any) -> IngestReport:
        """See `Tadasu.ingest`."""
        return _wait(self._tadasu.ingest(*paths, **options))

    def ask(self, question: str, **options: Any) -> Run:
        """See `Tadasu.ask`."""
        return _wait(self._tadasu.ask(question, **options))

    def search(self, query: str, **options: Any) -> Round:
        """See `Tadasu.search`."""
        return _wait(self._tadasu.search(query, **options))

    def trace(self, run_id: str = "last") -> Run:
        """See `Tadasu.trace`."""
        return self._tadasu.trace(run_id)

    def close(self) -> None:
        """See `Tadasu.close`."""
        _wait(self._tadasu.close())


def _check(question: str) -> None:
    """Refuse what cannot be a question, before any work: raises InputInvalid."""
    if len(question) > LONGEST_QUESTION:
        raise InputInvalid(
            where="question",
            reason=f"has {len(question):,} characters, and {LONGEST_QUESTION:,} are the most",
            fix="Ask in fewer words; put documents where `tadasu ingest` finds them.",
        )
    try:
        question.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputInvalid(
            where="question", reason="holds half a surrogate pair, which is no character", fix="Send it as valid UTF-8."
        ) from error


_loop: asyncio.AbstractEventLoop | None = None
_loop_lock = threading.Lock()


def _wait(work: Coroutine[Any, Any, T]) -> T:
    global _loop  # noqa: PLW0603 - one loop for the process, so that locks and limits are shared
    with _loop_lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="tadasu-sync", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(work, _loop).result()
