"""How pages are fetched."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """See the section [fetch] of the settings, where each is explained. Times in seconds, sizes in MiB."""

    calls: int = 5
    timeout_s: float = 10.0
    first_byte_s: float = 5.0
    max_mb: float = 5.0
    redirects: int = 5
    ports: tuple[int, ...] = (80, 443)
    private_hosts: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    per_domain: int = 2
    robots: bool = True
    use_snippets: bool = True
    pdf: bool = True
    proxy: str = ""
