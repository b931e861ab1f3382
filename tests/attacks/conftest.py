"""Parts that every test of hostile pages shares: made once, closed at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.attacks.harness import Bench


@pytest.fixture(scope="session")
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    asyncio.run(made.close())
