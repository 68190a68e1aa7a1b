"""Runs units in this process, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mmc.experiments.engines.base import Tell, Work, Workers, attempt, untold
from mmc.experiments.records import Record
from mmc.experiments.trials import run_unit
from mmc.experiments.units import Unit


class Here:
    """The engine without workers; BLAS has one thread, as in every worker."""

    def __init__(self, tell: Tell = untold, work: Work = run_unit) -> None:
        self._work = work
        tell(Workers(1))

    def __call__(self, units: Sequence[Unit]) -> Iterator[Sequence[Record]]:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1):
            for unit in units:
                yield attempt(unit, self._work)

    def close(self) -> None:
        """There is nothing to end."""
