"""The books of a cluster's client: which worker has which orders, what waits, and which units workers have died of."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Protocol

from mmc.experiments.engines.base import failed, gigabytes
from mmc.experiments.engines.remote import Answer
from mmc.experiments.records import Record
from mmc.experiments.units import Unit

TRIES = 3
MOST = 64  # units in one order


class Promise(Protocol):
    """What is asked of dask's futures."""

    @property
    def status(self) -> str | None: ...
    def result(self) -> Answer: ...


@dataclass(eq=False)
class Sent:
    """An order that a worker has. ``alone``: it gets no other one meanwhile."""

    units: Sequence[Unit]
    member: Member
    alone: bool
    future: Promise


@dataclass(eq=False)
class Member:
    """A worker of the cluster, and its orders, the oldest first: it is at as many of them as it has threads."""

    address: str
    threads: int
    memory: int = 0
    size: int = 1
    orders: list[Sent] = field(default_factory=list)

    def __str__(self) -> str:
        return self.address + (f" with a memory limit of {gigabytes(self.memory)}" if self.memory else "")

    @property
    def hungry(self) -> bool:
        """Whether it may get another order.

        One per thread; with short units one more, so that no thread waits for the next. A long unit is not kept
        behind another one: a free worker would wait for it.
        """
        most = self.threads + (self.size > 1)
        return len(self.orders) < most and not any(sent.alone for sent in self.orders)


class Waiting:
    """The units that wait. Those that a worker may have died of come last, and have a worker to themselves.

    So the second time the unit that kills is known for sure, whatever else ran beside it the first time.
    """

    def __init__(self, units: Iterable[Unit]) -> None:
        self._units = deque(units)
        self._suspects: deque[Unit] = deque()
        self._deaths: Counter[int] = Counter()  # by the unit's identity: the caller holds the units

    def __bool__(self) -> bool:
        return bool(self._units or self._suspects)

    def take(self, member: Member, slots: int) -> tuple[list[Unit], bool] | None:
        """Return units for a worker, and whether it must be alone with them; None if there are none for it now."""
        if self._units and member.hungry:
            count = min(member.size, max(1, len(self._units) // (2 * slots)))
            return [self._units.popleft() for _ in range(min(count, len(self._units)))], False
        if self._suspects and not member.orders:
            return [self._suspects.popleft()], True
        return None

    def back(self, units: Sequence[Unit]) -> None:
        """Let units wait again that were not run."""
        for unit in reversed(units):
            (self._suspects if self._deaths[id(unit)] else self._units).appendleft(unit)

    def blame(self, units: Sequence[Unit], member: Member) -> Iterator[list[Record]]:
        """A worker died that was at these units. Yield the records of one that was there too often: it is given up."""
        for unit in units:
            self._deaths[id(unit)] += 1
            if self._deaths[id(unit)] < TRIES:
                self._suspects.append(unit)
            else:
                yield failed(unit, f"{TRIES} workers died of it, the last one {member}; perhaps it needs more memory")


def still_open(member: Member) -> list[Sent]:
    """Return the orders that a worker was at when it was lost."""
    return [sent for sent in member.orders if sent.future.status != "finished"][: member.threads]


def answer_of(sent: Sent) -> Answer | BaseException:
    """Wait for the answer to an order; return it, or the error in its place."""
    try:
        return sent.future.result()
    except (Exception, CancelledError) as error:
        return error
