"""Tadasu for Python programs: open a workspace, ingest, ask, look at what happened."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tadasu.app.container import Container
from tadasu.app.settings import Settings, load_settings
from tadasu.app.streaming import events_of
from tadasu.app.workspace import Workspace, find_workspace
from tadasu.core.documents import Scope
from tadasu.core.events import Event, Listener, ignore
from tadasu.core.runs import Round, Run, SearchMode
from tadasu.core.usage import Priority
from tadasu.errors import InputInvalid

if TYPE_CHECKING:
    from tadasu.answering.ingestion.report import IngestReport, Progress
    from tadasu.app.deferred import Deferred
    from tadasu.app.worker import Attempt, Watcher

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
        defer: bool = False,
        priority: Priority = Priority.HIGH,
        listen: Listener = ignore,
    ) -> Run:
        """Answer `question`: the whole run, whose ``answer`` is what to show.

        `history` holds the earlier runs of the conversation, oldest first; `scope` narrows the search and defaults to
        all that the configured reader may see; `listen` hears rounds and checked text as they come. With `defer` the
        answer is that of the first search; where its verdict is not CORRECT the run is ``Deferral.PENDING``, and the
        correction is a job for `work`, here or in another process: `current` gives what stands. `priority` is that of
        its outside calls; where nobody waits for the answer, let those of others go first.
        """
        from tadasu.answering.pipeline import Inquiry

        _check(question)
        inquiry = Inquiry(
            question=question,
            scope=scope or Scope(reader=self.container.reader),
            history=tuple(history),
            session=session,
            language=language,
            priority=priority,
        )
        pipeline = self.container.pipeline_at_once if defer else self.container.pipeline
        with self.container.telemetry.watching(listen) as heard:
            return await pipeline.answer(inquiry, listen=heard)

    async def stream(self, question: str, **options: Any) -> AsyncGenerator[Event, None]:
        """Answer `question` and tell of it as it goes on; `options` are those of `ask`, but for ``listen``.

        The last event is RunEnded with the whole run. A reader who leaves ends the run: close the generator
        (``contextlib.aclosing``) or cancel the task that reads it, and the calls that are under way are cancelled.
        """
        async with aclosing(events_of(lambda listen: self.ask(question, listen=listen, **options))) as events:
            async for event in events:
                yield event

    async def work(
        self,
        *,
        until_empty: bool = True,
        at_most: int | None = None,
        stop: asyncio.Event | None = None,
        watch: Watcher | None = None,
    ) -> list[Attempt]:
        """Work off deferred corrections: every attempt that was made.

        Ends when nothing is due (what is to be tried later is left alone), after `at_most` attempts, or when `stop` is
        set; with ``until_empty=False`` only then. The corrections run as those who asked; `watch` hears of each
        attempt. Any number of workers may work at once, in this process and in others.
        """
        from tadasu.app.deferred import open_worker
        from tadasu.app.worker import unwatched

        worker = open_worker(self.container)
        return await worker.run(until_empty=until_empty, at_most=at_most, stop=stop, watch=watch or unwatched)

    async def search(
        self, query: str, *, k: int | None = None, mode: SearchMode = SearchMode.HYBRID, scope: Scope | None = None
    ) -> Round:
        """One retrieval with its grades and verdict, and nothing done about it."""
        from tadasu.answering.correction.rounds import one_round
        from tadasu.app.unrecorded import unrecorded

        _check(query)
        async with unrecorded(self.container, "search") as ledger:
            return await one_round(
                query,
                search=self.container.search,
                grader=self.container.grader,
                k=k or self.settings.retrieval.k,
                mode=mode,
                scope=scope or Scope(reader=self.container.reader),
                settings=self.container.correction,
                ledger=ledger,
            )

    def trace(self, run_id: str = "last") -> Run:
        """The run with that id, or the latest; raises RunNotFound."""
        return self.container.runs.load(run_id, reader=self.container.reader)

    def current(self, run_id: str = "last") -> Run:
        """The run that stands for the run of that id: its correction where there is one, else itself."""
        run = self.trace(run_id)
        by = self.container.runs.correction_of(run.id)
        return self.trace(by) if by else run

    def deferred(self, run: Run) -> Deferred:
        """How the correction of `run` stands, where it was put off."""
        from tadasu.app.deferred import standing

        return standing(self.container, run, reader=self.container.reader)

    def retry(self, run_id: str) -> None:
        """Begin the correction of that run anew if it was given up; all others stay as they are.

        Raises RunNotFound, and InputInvalid where nothing was put off.
        """
        from tadasu.app.deferred import put_again

        put_again(self.container, self.trace(run_id))

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

    def work(self, **options: Any) -> list[Attempt]:
        """See `Tadasu.work`."""
        return _wait(self._tadasu.work(**options))

    def trace(self, run_id: str = "last") -> Run:
        """See `Tadasu.trace`."""
        return self._tadasu.trace(run_id)

    def current(self, run_id: str = "last") -> Run:
        """See `Tadasu.current`."""
        return self._tadasu.current(run_id)

    def deferred(self, run: Run) -> Deferred:
        """See `Tadasu.deferred`."""
        return self._tadasu.deferred(run)

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
