"""Who is next: priorities with ageing, tenants in turn, first come first served among the calls of one tenant."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from itertools import count
from typing import Generic, Protocol, TypeVar

from tadasu.core.usage import Priority


class Waiting(Protocol):
    """What the line needs to know of one who waits; `since` is on a clock in seconds."""

    @property
    def priority(self) -> Priority:
        """How urgent it was from the beginning."""
        ...

    @property
    def tenant(self) -> str:
        """Whom it is for."""
        ...

    @property
    def since(self) -> float:
        """When it first asked; an attempt after a failure keeps the time of the first."""
        ...


W = TypeVar("W", bound=Waiting)
_Heap = list[tuple[float, int, W]]


class WaitingLine(Generic[W]):
    """A line with three priorities. It is a value without a lock: its owner guards it.

    Urgent calls go first. A call of priority p that has waited for ``(p - 1) * ageing_s`` is overdue, and overdue calls
    get every second turn at least, so that

    - a LOW call is served within ``2 * ageing_s`` plus two turns, and two more for each overdue call before it, however
      many HIGH ones keep coming;
    - thousands of LOW calls that became overdue at the same time leave every second turn to HIGH ones.

    Within a priority the tenants take turns; a tenant with a thousand calls delays another's single one by one turn.
    """

    def __init__(self, *, ageing_s: float) -> None:
        self._ageing_s = ageing_s
        self._classes: dict[Priority, OrderedDict[str, _Heap[W]]] = {one: OrderedDict() for one in Priority}
        self._here: dict[int, W] = {}
        self._numbers = count()
        self._overdue_was_last = False

    def __len__(self) -> int:
        return len(self._here)

    def add(self, waiter: W) -> None:
        """Put `waiter` in, by when it first asked."""
        self._here[id(waiter)] = waiter
        heap = self._classes[waiter.priority].setdefault(waiter.tenant, [])
        heapq.heappush(heap, (waiter.since, next(self._numbers), waiter))

    def remove(self, waiter: W) -> None:
        """Take `waiter` out, unserved; nothing where it is not in."""
        self._here.pop(id(waiter), None)
        if not self._here:
            for tenants in self._classes.values():
                tenants.clear()

    def first(self, now: float) -> W | None:
        """Whose turn is next; the same until somebody comes, goes, is served or becomes overdue."""
        usual = self._usual()
        if usual is None or self._overdue_was_last or usual.priority is Priority.LOW:
            return usual
        return self._overdue(now, above=usual.priority) or usual

    def served(self, waiter: W, now: float) -> None:
        """Take `waiter` out: it has its turn, and its tenant goes to the end of its priority."""
        usual = self._usual()
        passed = usual is not None and usual.priority < waiter.priority
        self._overdue_was_last = passed and self._is_overdue(waiter, now)
        tenants = self._classes[waiter.priority]
        if waiter.tenant in tenants:
            tenants.move_to_end(waiter.tenant)
        self.remove(waiter)

    def everybody(self) -> list[W]:
        """All who wait, in no order."""
        return list(self._here.values())

    def _usual(self) -> W | None:
        for priority in Priority:
            tenants = self._classes[priority]
            while tenants:
                tenant = next(iter(tenants))
                head = self._head(priority, tenant)
                if head is not None:
                    return head
        return None

    def _overdue(self, now: float, *, above: Priority) -> W | None:
        """An overdue call below `above`: of the priority that is longest overdue, tenants in turn."""
        best: W | None = None
        for priority in Priority:
            if priority <= above:
                continue
            heads = (self._head(priority, tenant) for tenant in list(self._classes[priority]))
            found = next((head for head in heads if head is not None and self._is_overdue(head, now)), None)
            if found is not None and (best is None or self._due(found) < self._due(best)):
                best = found
        return best

    def _head(self, priority: Priority, tenant: str) -> W | None:
        """The oldest call of a tenant; a tenant without any leaves the table."""
        heap = self._classes[priority][tenant]
        while heap and id(heap[0][2]) not in self._here:
            heapq.heappop(heap)
        if heap:
            return heap[0][2]
        del self._classes[priority][tenant]
        return None

    def _due(self, waiter: W) -> float:
        return waiter.since + (waiter.priority - 1) * self._ageing_s

    def _is_overdue(self, waiter: W, now: float) -> bool:
        return waiter.priority > Priority.HIGH and now >= self._due(waiter)
