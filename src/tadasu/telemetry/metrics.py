"""Counters and histograms in a registry of their own, in the form that Prometheus reads."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, start_http_server
from prometheus_client.metrics_core import Metric
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
    """The counts of one process (or of one reading of stored runs). Thread-safe.

    >>> cups = Family("cups", "Cups of tea.", ("kind",))
    >>> meters = Meters([cups])
    >>> meters.add(cups, "sencha")
    >>> print(meters.text().splitlines()[-1])
    cups_total{kind="sencha"} 1.0
    """

    def __init__(self, families: Sequence[Family]) -> None:
        self._inner = CollectorRegistry()
        self._made = {family.name: self._make(family) for family in families}
        self._seen: dict[tuple[str, str], set[str]] = {}
        self._lock = threading.Lock()
        self.registry = CollectorRegistry()
        """What a server mounts."""
        self.registry.register(_WithoutBirthdays(self._inner))

    def add(self, family: Family, *values: str, amount: float = 1.0) -> None:
        """Count `amount` (0 or more) under these label values, in the order of the family's labels."""
        self._at(family, values).inc(amount)

    def observe(self, family: Family, *values: str, seconds: float) -> None:
        """Put a duration into a histogram."""
        self._at(family, values).observe(seconds)

    def put(self, family: Family, *values: str, value: float) -> None:
        """Set a gauge."""
        self._at(family, values).set(value)

    def mention(self, family: Family, *values: str) -> None:
        """Show these labels from the start, at 0: a rate cannot see the first step of what was not there before."""
        self._at(family, values)

    def text(self) -> str:
        """The exposition, text format 0.0.4."""
        return generate_latest(self.registry).decode("utf-8")

    def samples(self) -> Iterator[tuple[str, dict[str, str], float]]:
        """Every sample: name, labels, value."""
        for metric in self.registry.collect():
            for sample in metric.samples:
                yield sample.name, dict(sample.labels), sample.value

    def serve(self, *, host: str, port: int) -> MetricsServer:
        """Answer ``GET /metrics`` until closed; port 0 takes a free one. Raises OSError where the port is taken."""
        return MetricsServer(self.registry, host=host, port=port)

    def _make(self, family: Family) -> Counter | Gauge | Histogram:
        if family.buckets:
            return Histogram(family.name, family.help, family.labels, buckets=family.buckets, registry=self._inner)
        kind = Gauge if family.falls else Counter
        return kind(family.name, family.help, family.labels, registry=self._inner)

    def _at(self, family: Family, values: Sequence[str]) -> Any:
        made = self._made[family.name]
        if not family.labels:
            return made
        return made.labels(*(self._kept(family.name, *pair) for pair in zip(family.labels, values, strict=True)))

    def _kept(self, family: str, label: str, value: str) -> str:
        value = value[:_LONGEST_VALUE]
        with self._lock:
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


class _WithoutBirthdays(Collector):
    """What another registry holds, less the times at which each series was made: they mean nothing for stored runs."""

    def __init__(self, inner: CollectorRegistry) -> None:
        self._inner = inner

    def collect(self) -> Iterable[Metric]:
        for metric in self._inner.collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric
