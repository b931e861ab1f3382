"""A process that takes jobs until none is due, and writes what it took: for tests of several at once."""

from __future__ import annotations

import os
import signal
import sys

from tadasu.core.jobs import Ending, QueueRules, Settlement
from tadasu.runtime.world import SystemClock, SystemIds
from tadasu.storage.jobs import SqlJobQueue


def main(place: str, mode: str) -> None:
    """`all` takes and finishes every job; `die` takes one and kills this process with it."""
    rules = QueueRules(lease=600.0)
    queue = SqlJobQueue.open(place, clock=SystemClock(), ids=SystemIds(), rules=rules, busy_seconds=30.0)
    print("ready", flush=True)
    sys.stdin.readline()
    while (claim := queue.claim()) is not None:
        print(claim.job.id, flush=True)
        if mode == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        queue.settle(claim, Settlement(Ending.DONE))
    queue.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
