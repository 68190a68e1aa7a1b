"""A live display of a run; plain lines where the output is not a terminal."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

from mmc.experiments.run import Progress

_EVERY = 5.0


class Display:
    """Shows trials done, infeasible and failed, and the time left. Use as a context; call with a Progress."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False)
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}
        self._begun: dict[str, tuple[float, int]] = {}
        self._told: dict[str, float] = {}

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[note]}"),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Show where a run is."""
        now = time.monotonic()
        begun, already = self._begun.setdefault(progress.config, (now, progress.done))
        note = _note(progress)
        if self._bar is not None:
            if progress.config not in self._tasks:
                self._tasks[progress.config] = self._bar.add_task(progress.config, total=progress.total, note=note)
            self._bar.update(self._tasks[progress.config], completed=progress.done, note=note)
        elif progress.done < progress.total and now - self._told.get(progress.config, begun) >= _EVERY:
            self._told[progress.config] = now
            rate = (progress.done - already) / (now - begun)
            left = f", about {(progress.total - progress.done) / rate:.0f} s left" if rate > 0 else ""
            self._console.print(f"{progress.config}: {progress.done} of {progress.total} trials{note}{left}")
        elif progress.done == progress.total and already < progress.total:
            text = f"{progress.config}: {progress.total} trials{note} in {now - begun:.1f} s"
            self._console.print(text + (f", {already} of them from the store" if already else ""))


def _note(progress: Progress) -> str:
    infeasible = progress.statuses.get("infeasible", 0)
    failed = sum(count for status, count in progress.statuses.items() if status in ("not-converged", "failed"))
    return (f", {infeasible} infeasible" if infeasible else "") + (f", {failed} failed" if failed else "")
