"""What the benchmarks share: the clock, the row of a table, and data that may not be on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from mmc.datasets import REGISTRY, DataError
from mmc.datasets.finding import absent


def quickest(work: Callable[[], Any], times: int, clock: Callable[[], float] = time.perf_counter) -> tuple[float, Any]:
    """Return the seconds of the quickest of several runs, and the last one's answer."""
    seconds = []
    for _ in range(times):
        start = clock()
        answer = work()
        seconds.append(clock() - start)
    return min(seconds), answer


def row(
    name: str, against: str, target: float | None, ours: float, theirs: float, note: str | None = None
) -> dict[str, Any]:
    """Return one comparison; a note is printed below the table."""
    row = {"name": name, "against": against, "ours": ours, "theirs": theirs, "ratio": theirs / ours, "target": target}
    return row if note is None else {**row, "note": note}


def need(name: str) -> None:
    """Raise DataError if a large data set is not on this machine: nothing is downloaded for a benchmark."""
    if absent(REGISTRY[name], None):
        raise DataError(
            f"{name} is not on this machine: set MMC_DATA_DIR to where its files are, or `mmc data fetch {name}`"
        )
