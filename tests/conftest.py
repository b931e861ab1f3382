"""Settings of the whole suite."""

from __future__ import annotations

from hypothesis import settings

# A property is about results: how long an example takes on a busy machine is for benchmarks/ to say.
settings.register_profile("tadasu", deadline=None)
settings.load_profile("tadasu")
