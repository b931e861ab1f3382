"""What Prometheus is told about the way out: waits, refusals, slow-downs and circuits, as the scheduler sees them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from tadasu.app.run_words import word
from tadasu.core.usage import Stage
from tadasu.runtime.scheduling.breaker import Circuit
from tadasu.runtime.scheduling.happenings import Happening, Kind
from tadasu.runtime.scheduling.scheduler import Sight
from tadasu.telemetry.metrics import Family, Meters

QUEUE_SECONDS: Final = Family(
    "tadasu_queue_seconds",
    "Time that a call waited for its turn.",
    ("provider", "priority"),
    (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
REFUSED: Final = Family("tadasu_refused_turns", "Calls that got no turn.", ("provider", "reason"))
LIMITED: Final = Family("tadasu_rate_limited", "Times that a provider asked for fewer calls.", ("provider",))
OPENED: Final = Family("tadasu_circuit_opened", "Times that a failing provider was left alone.", ("provider",))
WAITING: Final = Family("tadasu_calls_waiting", "Calls that wait for their turn now.", ("provider",), falls=True)
IN_FLIGHT: Final = Family("tadasu_calls_in_flight", "Calls that are under way now.", ("provider",), falls=True)
CIRCUIT: Final = Family("tadasu_circuit_open", "1 while a provider is left alone, else 0.", ("provider",), falls=True)

FAMILIES: Final = (QUEUE_SECONDS, REFUSED, LIMITED, OPENED, WAITING, IN_FLIGHT, CIRCUIT)


def count_happening(meters: Meters, happening: Happening) -> None:
    """Count one event of the scheduler."""
    errand = happening.errand
    provider = "web" if errand.stage is Stage.FETCH else word(errand.provider)
    match happening.kind:
        case Kind.STARTED:
            meters.observe(QUEUE_SECONDS, provider, errand.priority.name.lower(), seconds=happening.seconds)
            meters.mention(OPENED, provider)
            meters.mention(LIMITED, provider)
        case Kind.REFUSED:
            meters.add(REFUSED, provider, word(happening.reason))
        case Kind.SLOWED:
            meters.add(LIMITED, provider)
        case Kind.CIRCUIT_OPENED:
            meters.add(OPENED, provider)
        case _:
            pass


def show_line(meters: Meters, look: Callable[[], Iterable[Sight]]) -> None:
    """Set the gauges to what `look` sees; providers that share a name (hosts of pages) are added up."""
    waiting: Counter[str] = Counter()
    in_flight: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    for sight in look():
        name = word(sight.provider)
        waiting[name] += sight.waiting
        in_flight[name] += sight.in_flight
        broken[name] += sight.circuit is Circuit.OPEN
    for name in waiting:
        meters.put(WAITING, name, value=waiting[name])
        meters.put(IN_FLIGHT, name, value=in_flight[name])
        meters.put(CIRCUIT, name, value=float(broken[name] > 0))
