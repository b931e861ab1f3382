"""Pages as tests compose them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """A page and the reason for which it must be dropped, empty where it must pass."""

    name: str
    reason: str
    page: str


def html(title: str, paragraphs: Sequence[str], *, extra: str = "", head: str = "") -> str:
    """A page with a menu and a footer around its paragraphs."""
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return (
        f"<!DOCTYPE html><html><head><title>{title}</title>{head}<style>p {{color: black}}</style></head><body>"
        f"<nav><a href='/'>Home</a> <a href='/about'>About</a></nav><main><h1>{title}</h1>{body}{extra}</main>"
        f"<footer>© 2026 Example</footer><script>console.log('x')</script></body></html>"
    )
