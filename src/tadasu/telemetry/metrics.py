"""Counters, gauges and histograms of one process or of stored work, in the form that Prometheus reads."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

OTHER = "other"
"""The label of what would have been one value too many."""
MOST_VALUES = 50
"""Different values that one label of one family may take; a label that grows without end fills Prometheus's memory."""
_LONGEST_VALUE = 80


@dataclass(frozen=True, slots=True)
class Family:
    """A metric: its name (without ``_total``, which counters get), what it counts, its labels.

    With `buckets` (upper bounds, ascending, ``+Inf`` understood) it is a histogram, else a counter, or a gauge where
    `falls`: a value that can go down too.
    """

    name: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    falls: bool = False


class Meters:
    """What was counted under each family's labels. Thread-safe.

    A series is one list of numbers: a single one for counters and gauges; for histograms how many fell into each
    bucket (the last one without a bound), then their sum.

    >>> cups = Family("cups", "Cups of tea.", ("kind",))
    >>> meters = Meters([cups])
    >>> meters.add(cups, "sencha")
    >>> print(meters.text().splitlines()[-1])
    cups_total{kind="sencha"} 1.0
    """

    def __init__(self, families: Sequence[Family]) -> None:
        self._families = {family.name: family for family in families}
        self._series: dict[str, dict[tuple[str, ...], list[float]]] = {name: {} for name in self._families}
        self._seen: dict[tuple[str, str], set[str]] = {}
        self._lock = threading.Lock()
        self._before: list[Callable[[], None]] = []
        self.registry = CollectorRegistry()
        """What a server mounts."""
        self.registry.register(_Shown(self))
        for family in families:
            if not family.labels:
                self.mention(family)

    def add(self, family: Family, *values: str, amount: float = 1.0) -> None:
        """Count `amount` (0 or more) under these label values, in the order of the family's labels."""
        if amount < 0:
            raise ValueError(f"a counter never falls, and {family.name} was to by {-amount}")
        with self._lock:
            self._at(family, values)[0] += amount

    def observe(self, family: Family, *values: str, seconds: float) -> None:
        """Put a duration into a histogram."""
        with self._lock:
            series = self._at(family, values)
            series[bisect_left(family.buckets, seconds)] += 1
            series[-1] += seconds

    def put(self, family: Family, *values: str, value: float) -> None:
        """Set a gauge."""
        with self._lock:
            self._at(family, values)[0] = value

    def move(self, family: Family, *values: str, by: float) -> None:
        """Let a gauge rise, or fall where `by` is below 0."""
        with self._lock:
            self._at(family, values)[0] += by

    def mention(self, family: Family, *values: str) -> None:
        """Show these labels from the start, at 0: a rate cannot see the first step of what was not there before."""
        with self._lock:
            self._at(family, values)

    def before_showing(self, look: Callable[[], None]) -> None:
        """Let `look` set gauges each time that somebody asks for the numbers."""
        self._before.append(look)

    def text(self) -> str:
        """The exposition, text format 0.0.4."""
        return generate_latest(self.registry).decode("utf-8")

    def samples(self) -> Iterator[tuple[str, dict[str, str], float]]:
        """Every sample: name, labels, value."""
        for metric in self.registry.collect():
            for sample in metric.samples:
                yield sample.name, dict(sample.labels), float(sample.value)

    def state(self) -> dict[str, list[list[Any]]]:
        """All series as plain values: family → [label values, numbers]; `restore` takes it."""
        with self._lock:
            return {
                name: [[list(values), list(numbers)] for values, numbers in series.items()]
                for name, series in self._series.items()
            }

    def restore(self, state: Mapping[str, Iterable[Sequence[Any]]]) -> None:
        """Add what `state` gave. Raises ValueError where it is not of these families; then nothing is added."""
        fresh = [
            (self._families[name], tuple(map(str, values)), list(map(float, numbers)))
            for name, series in state.items()
            if name in self._families
            for values, numbers in series
        ]
        if state.keys() != self._families.keys() or any(
            len(values) != len(family.labels) or len(numbers) != _length(family) for family, values, numbers in fresh
        ):
            raise ValueError("it was counted in other families")
        with self._lock:
            for family, values, numbers in fresh:
                series = self._at(family, values)
                series[:] = [a + b for a, b in zip(series, numbers, strict=True)]

    def serve(self, *, host: str, port: int) -> MetricsServer:
        """Answer ``GET /metrics`` until closed; port 0 takes a free one. Raises OSError where the port is taken."""
        return MetricsServer(self.registry, host=host, port=port)

    def collected(self) -> list[Metric]:
        """Every family with its series, for exposition."""
        for look in self._before:
            look()
        with self._lock:
            return [_metric(self._families[name], series) for name, series in self._series.items()]

    def _at(self, family: Family, values: Sequence[str]) -> list[float]:
        series = self._series[family.name]
        key = tuple(values)
        if key not in series:
            key = tuple(self._kept(family.name, *pair) for pair in zip(family.labels, values, strict=True))
        return series.setdefault(key, [0.0] * _length(family))

    def _kept(self, family: str, label: str, value: str) -> str:
        value = value[:_LONGEST_VALUE]
        seen = self._seen.setdefault((family, label), set())
        if value not in seen and len(seen) >= MOST_VALUES:
            return OTHER
        seen.add(value)
        return value


class MetricsServer:
    """Serves ``/metrics`` from a thread of its own."""

    def __init__(self, registry: CollectorRegistry, *, host: str, port: int) -> None:
        self._server, self._thread = start_http_server(port, addr=host, registry=registry)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_port)

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Shown(Collector):
    """Meters as the library's registry wants to see them."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters

    def collect(self) -> Iterable[Metric]:
        return self._meters.collected()


def _length(family: Family) -> int:
    return len(family.buckets) + 2 if family.buckets else 1


def _metric(family: Family, series: Mapping[tuple[str, ...], list[float]]) -> Metric:
    if family.buckets:
        histogram = HistogramMetricFamily(family.name, family.help, labels=family.labels)
        bounds = [str(bound) for bound in family.buckets] + ["+Inf"]
        for values, numbers in sorted(series.items()):
            counts = list(zip(bounds, accumulate(numbers[:-1]), strict=True))
            histogram.add_metric(values, buckets=counts, sum_value=numbers[-1])
        return histogram
    kind = GaugeMetricFamily if family.falls else CounterMetricFamily
    plain = kind(family.name, family.help, labels=family.labels)
    for values, numbers in sorted(series.items()):
        plain.add_metric(values, numbers[0])
    return plain
