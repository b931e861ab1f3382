"""Settings of the whole suite."""

from __future__ import annotations

import signal

from hypothesis import settings

# A shell that starts the suite in the background ignores Ctrl-C for it, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A property is about results: how long an example takes on a busy machine is for benchmarks/ to say.
settings.register_profile("tadasu", deadline=None)
settings.load_profile("tadasu")
