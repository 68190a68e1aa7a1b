"""Ways to run units, one module each. An engine takes units and yields their records as they come."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mmc.experiments.engines.base import Engine, Tell, untold
from mmc.experiments.engines.later import Later
from mmc.experiments.errors import EngineError

_QUOTA = Path("/sys/fs/cgroup/cpu.max")
_log = logging.getLogger("mmc")


def cores() -> int:
    """Return the number of cores that this process may use: a container may have a part of the machine's."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text("ascii").split()
        return max(1, min(count, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):  # no Linux, no limit ("max"), or one of the first kind
        return count


def engine(jobs: int | None = None, tell: Tell = untold) -> Engine:
    """Return the engine of this machine: this process for one job, worker processes for more (default: one per core).

    More workers than cores would only wait for each other, so there are never more.
    """
    most = cores()
    if jobs is not None and jobs > most:
        _log.warning("--jobs %d: this machine has %d cores, so %d workers are used", jobs, most, most)
    if min(jobs or most, most) == 1:
        from mmc.experiments.engines.here import Here

        return Here(tell)
    from mmc.experiments.engines.loky import Loky

    return Loky(min(jobs or most, most), tell)


@contextmanager
def opened(jobs: int | None = None, cluster: str | None = None, tell: Tell = untold) -> Iterator[Engine]:
    """Open an engine for many calls: its workers stay from one call to the next, and end with the context.

    ``cluster`` is the address of a dask scheduler, or local:N. It is reached in the background: if that fails, the first
    call says so.
    """
    made = engine(jobs, tell) if cluster is None else Later(partial(_cluster, cluster, tell))
    try:
        yield made
    finally:
        made.close()


def _cluster(address: str, tell: Tell) -> Engine:
    try:
        from mmc.experiments.engines.dask import Dask
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("dask", "distributed"):
            raise
        raise EngineError(
            "--cluster needs dask.distributed: `pip install 'max-margin-classifiers[cluster]'` brings it"
        ) from None
    return Dask(address, tell)
