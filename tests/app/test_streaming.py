"""A run as a stream: what is told, and what becomes of its calls where the reader leaves."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from tadasu import Tadasu
from tadasu.answering.generation import AnswerComposer, ChatWriter, SentenceReleased
from tadasu.app.spending import spending
from tadasu.core.events import Event, RunEnded, RunStarted, Shown, TextReleased, TextRevised
from tadasu.core.usage import Outcome, Stage
from tadasu.errors import InputInvalid
from tadasu.ports import WritingTask
from tadasu.prompts import load
from tadasu.providers.openai import open_chat
from tadasu.providers.registry import ChatSettings
from tadasu.testing.chat_server import ChatServer, Hang, Say
from tests.answering.writing import Book, evidence

pytestmark = pytest.mark.enable_socket
ASKED = {
    "en": ("How long is the warranty of the PT-300?", "The warranty of the PT-300 is 36 months. [1]\n\n"),
    "ja": ("LD-90の保証期間はどのくらいですか？", "LD-90の保証期間は24か月です。[1]\n\n"),
}


def broken_off(tadasu: Tadasu) -> int:
    return spending(tadasu.container).broken_off.count


def opened(place: Path, server: ChatServer, **generation: str) -> Tadasu:
    chat = {"provider": "openai", "model": "m", "base_url": server.base_url, "price_in": 1.0, "price_out": 2.0}
    return Tadasu.open(place, chat=chat, generation=generation)


def in_flight(tadasu: Tadasu) -> int:
    return sum(sight.in_flight + sight.waiting for sight in tadasu.container.scheduler.look())


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("release", ["checked", "at_once"])
async def test_the_stream_ends_in_the_run_that_is_stored_and_loaded(place: Path, language: str, release: str) -> None:
    question, reply = ASKED[language]
    with ChatServer([Say(reply, piece=3)]) as server:
        async with opened(place, server, release=release) as tadasu:
            screen, heard = Shown(), list[Event]()
            async for event in tadasu.stream(question):
                heard.append(event)
                screen(event)
            whole = await tadasu.ask(question)
            assert isinstance(heard[0], RunStarted)
            assert isinstance(heard[-1], RunEnded)
            run = heard[-1].run
            loaded = tadasu.trace(run.id)
            assert in_flight(tadasu) == 0
    assert any(isinstance(event, TextRevised) for event in heard) is (release == "at_once")
    assert (screen.checked, screen.unchecked, screen.citations) == (run.answer.text, "", run.answer.citations)
    assert loaded.answer == run.answer == whole.answer
    assert run.cost == whole.cost


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_a_reader_who_closes_the_stream_cancels_the_call(place: Path, language: str) -> None:
    question, reply = ASKED[language]
    with ChatServer([Say(reply * 200, piece=5, pause_s=0.02)]) as server:
        async with opened(place, server) as tadasu:
            before = broken_off(tadasu)
            async with aclosing(tadasu.stream(question)) as events:
                async for event in events:
                    if isinstance(event, TextReleased):
                        assert in_flight(tadasu) == 1
                        break
            assert in_flight(tadasu) == 0
            assert broken_off(tadasu) == before + 1
        assert await asyncio.to_thread(server.hung_up.wait, 10)


async def test_a_task_that_is_cancelled_before_the_first_word_cancels_the_call(place: Path) -> None:
    with ChatServer([Hang()]) as server:
        async with opened(place, server) as tadasu:
            before = broken_off(tadasu)

            async def read() -> None:
                async for _ in tadasu.stream(ASKED["en"][0]):
                    pass

            reading = asyncio.create_task(read())
            assert await asyncio.to_thread(server.asked.wait, 20)
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            assert in_flight(tadasu) == 0
            assert broken_off(tadasu) == before + 1
        assert await asyncio.to_thread(server.hung_up.wait, 10)


async def test_what_a_run_raises_comes_out_of_the_stream(place: Path) -> None:
    async with Tadasu.open(place) as tadasu:
        with pytest.raises(InputInvalid):
            async for _ in tadasu.stream("x" * 5000):
                pass


@pytest.mark.parametrize("leaves", ["closed", "cancelled"])
async def test_the_ledger_says_cancelled_at_once(leaves: str) -> None:
    book = Book()
    with ChatServer([Say("The pump weighs 3 kg [1]. " * 200, piece=5, pause_s=0.02)]) as server:
        model = open_chat(ChatSettings(model="m", base_url=server.base_url))
        writer = ChatWriter(model, prompts={language: load("answer", language) for language in ("en", "ja")})
        task = WritingTask("How heavy?", "en", evidence("The pump weighs 3 kg."), "2026-01-01", "n0nce")
        events = AnswerComposer(writer).compose(task, ledger=book)

        async def read(events: AsyncIterator[object]) -> None:
            async for event in events:
                if isinstance(event, SentenceReleased):
                    if leaves == "closed":
                        return
                    reading.cancel()

        reading = asyncio.create_task(read(events))
        await asyncio.wait([reading])
        await events.aclose()
        [call] = [call for call in book.calls if call.stage is Stage.GENERATE]
        assert call.outcome is Outcome.CANCELLED
        assert await asyncio.to_thread(server.hung_up.wait, 10)
        await model.close()


def test_ctrl_c_cancels_the_call(place: Path) -> None:
    with ChatServer([Hang()]) as server:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TADASU_", "LC_", "LANG"))}
        chat = {"PROVIDER": "openai", "MODEL": "m", "BASE_URL": server.base_url}
        process = subprocess.Popen(
            [sys.executable, "-m", "tadasu", "ask", ASKED["en"][0]],
            cwd=place,
            env={**kept, "LANG": "C.UTF-8", **{f"TADASU_CHAT__{key}": value for key, value in chat.items()}},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert server.asked.wait(60)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert server.hung_up.wait(20)
    assert process.returncode == 130
    assert b"Traceback" not in said
