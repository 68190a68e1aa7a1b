"""What all engines share: the contract, what they tell a display, and units that fail."""

from __future__ import annotations

import platform
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from mmc.experiments.records import Record
from mmc.experiments.units import Unit
from mmc.methods.solution import Status

Work = Callable[[Unit], Sequence[Record]]
TERMINAL = {getattr(signal, name) for name in ("SIGINT", "SIGQUIT", "SIGHUP") if hasattr(signal, name)}
BATCH_SECONDS = 0.05  # shorter units are sent several at a time


class Engine(Protocol):
    """Takes units, yields records as they come. Nothing outside knows how they are run."""

    def __call__(self, units: Sequence[Unit]) -> Iterator[Sequence[Record]]:
        """Yield the records of all units, in any order. A unit whose workers die leaves failed records."""

    def close(self) -> None:
        """End the workers."""


@dataclass(frozen=True)
class Workers:
    """What a display is told: how many workers there are, how many joined later, and how many were lost."""

    present: int = 0
    joined: int = 0
    lost: int = 0


Tell = Callable[[Workers], None]


def untold(workers: Workers) -> None:
    """Tell nobody."""


def attempt(unit: Unit, work: Work) -> Sequence[Record]:
    """Run a unit. One that asks for more memory than there is leaves failed records."""
    try:
        return work(unit)
    except MemoryError as error:
        return failed(unit, f"out of memory ({error or 'no more is known'}); {memory_hint()}")


def failed(unit: Unit, why: str) -> list[Record]:
    """Return the records of a unit that could not be run. The next run tries it again."""
    return [Record(trial.key, Status.FAILED, message=f"{unit}: {why}") for trial in unit.trials]


def ended(code: int | None, largest: int = 0) -> str:
    """Say how a worker ended, from its exit code and the most memory in bytes that it may have used."""
    if code is None:
        return "vanished"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    used = f"it had used up to {gigabytes(largest)}; " if largest else ""
    return f"was killed by {name}" + (f" ({used}{memory_hint()})" if name == "SIGKILL" else "")


@contextmanager
def kept_off() -> Iterator[None]:
    """Block the signals of the terminal: a process that is started meanwhile never gets them, its parent ends it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, TERMINAL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def memory_hint() -> str:
    """Say how much memory this machine has, and what would need less."""
    import psutil

    there = gigabytes(psutil.virtual_memory().total)
    return (
        f"{platform.node() or 'this machine'} has {there} of memory for all its workers: "
        "fewer of them (--jobs), another solver or fewer rows need less"
    )


def gigabytes(size: float) -> str:
    """Return a size in bytes as one would say it."""
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{size / 2**20:.0f} MB"
