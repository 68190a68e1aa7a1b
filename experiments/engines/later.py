"""An engine that starts in the background, while the client plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from mmc.experiments.engines.base import Engine
from mmc.experiments.records import Record
from mmc.experiments.units import Unit


class Later:
    """Waits for the engine when the first units come. If it could not be started, the reason is raised then."""

    def __init__(self, make: Callable[[], Engine]) -> None:
        starter = ThreadPoolExecutor(1, "mmc-start")
        self._engine = starter.submit(make)
        starter.shutdown(wait=False)

    def __call__(self, units: Sequence[Unit]) -> Iterator[Sequence[Record]]:
        yield from self._engine.result()(units)

    def close(self) -> None:
        """End the workers, if there are any."""
        if self._engine.exception() is None:
            self._engine.result().close()
