"""Who picks: settings in, objects out, each built on first use."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tadasu.app.assets import models_folder
from tadasu.app.settings import Settings
from tadasu.app.workspace import Workspace
from tadasu.core.documents import Reader
from tadasu.core.ids import digest
from tadasu.providers.registry import load_plugin
from tadasu.runtime.world import SystemChance, SystemClock, SystemIds

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from tadasu.answering.conversation import Restate
    from tadasu.answering.correction.policy import CorrectionSettings
    from tadasu.answering.generation.compose import AnswerComposer
    from tadasu.answering.generation.extractive import ExtractiveWriter
    from tadasu.answering.grading.calibration import CorpusCalibration
    from tadasu.answering.ingestion.pipeline import Ingestion
    from tadasu.answering.outside import WebReader
    from tadasu.answering.pipeline import Pipeline
    from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
    from tadasu.answering.retrieval.fusion import FusionTable
    from tadasu.answering.retrieval.hybrid import HybridSearch
    from tadasu.app.chat import ChatModels
    from tadasu.app.telemetry import Telemetry
    from tadasu.ports import (
        Chance,
        ChatModel,
        Clock,
        CompletionModel,
        Grader,
        GraderParts,
        Ids,
        PairScorer,
        PromptSpace,
        PromptTemplate,
        ScoreCache,
        SpanReader,
        Store,
        SupportModel,
    )
    from tadasu.providers.fetching.fetcher import PageFetcher
    from tadasu.providers.websearch.chain import SearchChain
    from tadasu.runtime.scheduling.scheduler import CallScheduler
    from tadasu.storage.jobs import SqlJobQueue
    from tadasu.storage.runs import SqlRunBook


class Container:
    """Every part of one workspace. Imports of heavy parts happen where they are first needed."""

    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        self.workspace = workspace
        self.settings = settings
        self.clock: Clock = SystemClock()
        self.ids: Ids = SystemIds()
        self.chance: Chance = SystemChance()

    @property
    def reader(self) -> Reader:
        """Who asks through the command line and the Python API."""
        return Reader(tenant=self.settings.reader.tenant, groups=frozenset(self.settings.reader.groups))

    @cached_property
    def encoder(self) -> OnnxEncoder:
        """Text to vectors; counts tokens too."""
        from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder

        folder = self.settings.encoder.path
        return OnnxEncoder.load(
            Path(folder).expanduser() if folder else models_folder() / "encoder", threads=self.settings.encoder.threads
        )

    @cached_property
    def store(self) -> Store:
        """The index."""
        from tadasu.text.analyze import analyzer_id

        open_store = load_plugin("tadasu.stores", self.settings.store.engine)
        store: Store = open_store(
            self.workspace.index_file,
            encoder_id=self.encoder.id,
            dimensions=self.encoder.dimensions,
            analyzer_id=analyzer_id(),
        )
        return store

    @cached_property
    def search(self) -> HybridSearch:
        """Dense and keyword search, fused."""
        from tadasu.answering.retrieval.hybrid import HybridSearch

        return HybridSearch(search=self.store, terms=self.store, encoder=self.encoder, weights=self.fusion)

    @cached_property
    def fusion(self) -> FusionTable:
        """How dense and keyword scores are weighed."""
        from tadasu.answering.retrieval.fusion import load_weights

        return load_weights(models_folder() / "fusion.json")

    @cached_property
    def grader(self) -> Grader:
        """Grades passages, by this workspace's own calibration where there is one."""
        from tadasu.app.grading import calibrated_grader

        return calibrated_grader(self)

    @cached_property
    def grader_as_made(self) -> Grader:
        """The grader without this workspace's calibration and borders: what `tadasu calibrate` fits."""
        from tadasu.app.grading import open_grader

        return open_grader(self, replace(self.grader_parts, tau_high=None, tau_low=None))

    @cached_property
    def calibration(self) -> CorpusCalibration | None:
        """What `tadasu calibrate` fitted to the documents here; None where it never ran. Raises CalibrationDamaged."""
        if not self.workspace.calibration_file.exists():
            return None
        from tadasu.answering.grading.calibration import read

        return read(self.workspace.calibration_file)

    @property
    def grader_parts(self) -> GraderParts:
        """What the grader is made of, as the settings chose."""
        from tadasu.app.grading import grader_parts

        return grader_parts(self)

    @cached_property
    def scorer(self) -> PairScorer | None:
        """The second tier of grading, remembering its scores; None where the settings name none."""
        from tadasu.app.grading import open_scorer

        return open_scorer(self)

    @cached_property
    def span_reader(self) -> SpanReader:
        """Finds where in a text an answer stands; the shipped grader's model, loaded once for both."""
        from tadasu.app.reading import open_span_reader

        return open_span_reader(self)

    @cached_property
    def support_model(self) -> SupportModel | None:
        """Says how likely it is that a source supports a sentence; None where rules alone are to check."""
        from tadasu.app.checking import open_support_model

        return open_support_model(self)

    @cached_property
    def assessor(self) -> Grader | None:
        """The third tier of grading, a language model; None where the settings do not ask for it."""
        from tadasu.app.grading import open_assessor

        return open_assessor(self)

    @cached_property
    def cache(self) -> ScoreCache | None:
        """Where scores are remembered; None where the settings turn it off."""
        from tadasu.app.grading import open_cache

        return open_cache(self)

    @cached_property
    def web(self) -> SearchChain | None:
        """Search outside, one provider behind the other; None where none is configured."""
        from tadasu.app.outside import open_web
        from tadasu.app.scheduling import web_in_turns

        return open_web(self.settings, root=self.workspace.root, clock=self.clock, scheduled=web_in_turns(self))

    @cached_property
    def outside(self) -> WebReader | None:
        """The web as the correction loop sees it, where one is configured."""
        if self.web is None:
            return None
        from tadasu.answering.outside import WebReader
        from tadasu.answering.web_files import WebFiles

        return WebReader(
            web=self.web,
            encoder=self.encoder,
            counter=self.encoder,
            weights=self.fusion,
            fetch=self.fetch,
            files=WebFiles(seconds=self.settings.fetch.parse_seconds),
            passages_per_page=self.settings.fetch.passages_per_page,
        )

    @cached_property
    def fetch(self) -> PageFetcher | None:
        """Who gets the pages that the web search finds; None where none are fetched."""
        from tadasu.app.outside import open_fetch

        return open_fetch(
            self.settings, cache_file=self.workspace.pages_file, clock=self.clock, scheduler=self.scheduler
        )

    @cached_property
    def chats(self) -> ChatModels:
        """The chat models by role."""
        from tadasu.app.chat import ChatModels

        return ChatModels(self)

    @cached_property
    def chat(self) -> ChatModel | None:
        """The chat model that words answers, where one is configured."""
        return self.chats.of("answer")

    @cached_property
    def completions(self) -> CompletionModel:
        """The Self-RAG model, where ``chat.mode`` asks for one."""
        from tadasu.app.writers import open_completion_model

        return open_completion_model(self)

    @cached_property
    def scheduler(self) -> CallScheduler:
        """The one way out, for every call of an outside service."""
        from tadasu.app.scheduling import open_scheduler

        telemetry = self.telemetry
        scheduler = open_scheduler(self.settings, clock=self.clock, chance=self.chance, listen=telemetry.happened)
        telemetry.look_at(scheduler.look)
        return scheduler

    @cached_property
    def composer(self) -> AnswerComposer:
        """Words and checks answers: the chat model with quotations to fall back on, or quotations alone."""
        from tadasu.app.writing import open_composer

        return open_composer(self)

    @cached_property
    def extractive(self) -> ExtractiveWriter:
        """Quotes the evidence where no chat model words it."""
        from tadasu.app.abstention import open_extractive

        return open_extractive(self)

    @cached_property
    def restate(self) -> Restate:
        """Follow-ups to standalone queries: by the chat model where there is one, else by rules."""
        from tadasu.answering.conversation import RestateByChat, restate_by_rules

        chat = self.chats.of("rewrite")
        if chat is None:
            return restate_by_rules
        return RestateByChat(chat, self.prompts("standalone"), self.chance)

    def prompts(self, name: str) -> dict[str, PromptTemplate]:
        """The prompt `name` in each language."""
        from tadasu.prompts.registry import LANGUAGES, load

        return {language: load(name, language) for language in LANGUAGES}

    @cached_property
    def runs(self) -> SqlRunBook:
        """The run book."""
        from tadasu.storage.runs import SqlRunBook

        return SqlRunBook(self.state)

    @cached_property
    def queue(self) -> SqlJobQueue:
        """Jobs that go on in the background."""
        from tadasu.app.deferred import open_queue

        return open_queue(self)

    @cached_property
    def pipeline_at_once(self) -> Pipeline:
        """Answers from the first search alone, and leaves the correction to a job."""
        from tadasu.app.deferred import at_once

        return at_once(self)

    @cached_property
    def state(self) -> Engine:
        """The state database: runs, and all else that cannot be made anew."""
        from tadasu.storage.database import open_database

        return open_database(self.workspace.state_file)

    @cached_property
    def telemetry(self) -> Telemetry:
        """What is told about runs: spans, counters, log lines."""
        from tadasu.app.telemetry import Telemetry

        return Telemetry(self.settings)

    @property
    def correction(self) -> CorrectionSettings:
        """Bounds and choices of the correction loop."""
        from tadasu.app.correction import correction_settings

        return correction_settings(self.settings)

    @property
    def settings_hash(self) -> str:
        """One word for all settings that may change answers."""
        telling = self.settings.model_dump_json(exclude={"telemetry", "deferred", "limits"})
        return digest(telling, self.calibration.id if self.calibration else "")[:16]

    @cached_property
    def prompt_space(self) -> PromptSpace:
        """How the answering model counts tokens, and how much evidence its window leaves room for."""
        from tadasu.app.evidence import ModelSpace

        return ModelSpace(self)

    @cached_property
    def pipeline(self) -> Pipeline:
        """Answers questions."""
        from tadasu.answering.pipeline import Pipeline
        from tadasu.app.budgets import day_rules_of, limits_of
        from tadasu.app.correction import correction_loop
        from tadasu.app.evidence import open_refinery
        from tadasu.storage.spending import SqlDayBook

        chosen = self.settings
        return Pipeline(
            restate=self.restate,
            correction=correction_loop(self),
            composer=self.composer,
            refinery=open_refinery(self),
            limits=limits_of(chosen),
            days=day_rules_of(chosen, SqlDayBook(self.state)),
            runs=self.runs,
            clock=self.clock,
            ids=self.ids,
            chance=self.chance,
            settings_hash=self.settings_hash,
            shelf=self.store,
        )

    @cached_property
    def ingestion(self) -> Ingestion:
        """From files to the index."""
        from tadasu.answering.ingestion.pipeline import Ingestion
        from tadasu.answering.ingestion.reading import IngestionSettings
        from tadasu.answering.ingestion.tags import TagMemory

        return Ingestion(
            index=self.store,
            encoder=self.encoder,
            counter=self.encoder,
            clock=self.clock,
            settings=IngestionSettings(**dict(self.settings.ingestion)),
            memory=TagMemory(self.workspace.tags_file),
        )

    async def drop_index(self) -> None:
        """Remove the index, and every part that holds it open; the runs stay."""
        if "store" in self.__dict__:
            await self.store.close()
        for part in ("store", "search", "pipeline", "pipeline_at_once", "ingestion"):
            self.__dict__.pop(part, None)
        index = self.workspace.index_file
        for file in index.parent.glob(f"{index.name}*"):
            file.unlink(missing_ok=True)

    async def close(self) -> None:
        """Give back what was opened."""
        if "telemetry" in self.__dict__:
            await asyncio.to_thread(self.telemetry.close)
        if "store" in self.__dict__:
            await self.store.close()
        if self.__dict__.get("cache") is not None:
            await self.cache.close()  # type: ignore[union-attr]
        if "state" in self.__dict__:
            self.state.dispose()
        for part in ("scorer", "chats", "completions", "web", "outside", "fetch", "scheduler"):
            close = getattr(self.__dict__.get(part), "close", None)
            if close is not None:
                await close()
