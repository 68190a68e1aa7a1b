"""A limit of time for loops that could go on."""

from __future__ import annotations

import time

from mmc.methods.solution import NotConverged


class Clock:
    """Counts from when it is made."""

    def __init__(self, max_seconds: float):
        self._limit, self._start = max_seconds, time.perf_counter()

    def check(self, solver: str, steps: int, reached: float, what: str) -> None:
        """Raise NotConverged if the time is up; ``reached`` is the value of ``what`` so far."""
        if time.perf_counter() - self._start > self._limit:
            raise NotConverged(
                f"{solver} was stopped after max_seconds={self._limit:g} and {steps} steps: {what} was {reached:.2g}",
                steps,
                reached,
            )
