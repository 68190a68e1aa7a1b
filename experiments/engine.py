"""The engine: takes units of work and yields their records as they come. Nothing else knows how they are run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mmc.experiments.records import Record
from mmc.experiments.trials import run_unit

Engine = Callable[[Sequence[Any]], Iterator[list[Record]]]


def engine(jobs: int) -> Engine:
    """Return the engine for this machine: this process for one job, joblib's loky for more."""
    return _here if jobs == 1 else _loky(jobs)


def _here(units: Sequence[Any]) -> Iterator[list[Record]]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        yield from map(run_unit, units)


def _loky(jobs: int) -> Engine:
    def run(units: Sequence[Any]) -> Iterator[list[Record]]:
        from joblib import Parallel, delayed, parallel_config

        with parallel_config(backend="loky", inner_max_num_threads=1):
            yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(run_unit)(u) for u in units)

    return run
