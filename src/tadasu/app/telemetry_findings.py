"""Can traces be sent where the settings want them?"""

from __future__ import annotations

import socket
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tadasu.app.findings import Finding, failure, ok, warning
from tadasu.errors import ExtraMissing

if TYPE_CHECKING:
    from tadasu.app.sections.running import TelemetrySection

_PACKAGES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
_PORTS = {"http": 80, "https": 443}


def telemetry_findings(chosen: TelemetrySection, *, network: bool) -> list[Finding]:
    """Nothing where no collector is set; else whether its package is installed and somebody listens there."""
    if not chosen.endpoint:
        return []
    if not all(map(_installed, _PACKAGES)):
        return [failure("traces", ExtraMissing(feature="sending traces", package="opentelemetry", extra="telemetry"))]
    if not network:
        return [ok("traces", "Traces go to {where}.", where=_plain(chosen.endpoint))]
    address = urlsplit(chosen.endpoint)
    try:
        port = address.port or _PORTS[address.scheme]
        socket.create_connection((address.hostname or "", port), timeout=chosen.timeout_s).close()
    except (OSError, ValueError) as problem:
        return [
            warning(
                "traces", "Nobody answers at {where} ({reason}): traces are lost, questions are answered all the same.",
                "Start the collector, or correct telemetry.endpoint in tadasu.toml.",
                where=_plain(chosen.endpoint), reason=problem,
            )
        ]  # fmt: skip
    return [ok("traces", "Traces go to {where}; somebody listens there.", where=_plain(chosen.endpoint))]


def _installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _plain(endpoint: str) -> str:
    """The address without a password that somebody may have put into it."""
    address = urlsplit(endpoint)
    return f"{address.scheme}://{address.netloc.rpartition('@')[2]}{address.path}"
