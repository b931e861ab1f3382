"""A run as a stream of events, which ends the run where its reader leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from tadasu.core.events import Event, Listener


async def events_of(ask: Callable[[Listener], Coroutine[Any, Any, object]]) -> AsyncGenerator[Event, None]:
    """What `ask` tells its listener, as it comes; raises what it raises, behind the last event.

    Closing the generator, or cancelling who waits for it, cancels the work, and waits until it has given back what it
    holds.
    """
    heard: asyncio.Queue[Event | None] = asyncio.Queue()
    work = asyncio.create_task(ask(heard.put_nowait))
    work.add_done_callback(lambda _: heard.put_nowait(None))
    try:
        while (event := await heard.get()) is not None:
            yield event
        await work
    finally:
        if not work.done():
            work.cancel()
            await asyncio.wait([work])
        if not work.cancelled():
            work.exception()  # whoever left does not want to hear of it
