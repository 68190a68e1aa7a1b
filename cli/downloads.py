"""A live display of downloads; a plain line for each where the output is not a terminal."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from mmc.cli.shell import console


class Downloads:
    """Makes a bar for each file. Use as a context; call with the file's name."""

    def __init__(self) -> None:
        self._console = console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._bars.stop()

    def __call__(self, file: str) -> Bar:
        """Return the bar of a download that is about to begin."""
        if not self._console.is_terminal:
            self._console.print(f"downloading {file}")
        return Bar(self._bars, file)


class Bar:
    """What pooch tells of a download, in the manner of tqdm: a new total says that it begins, perhaps once more."""

    def __init__(self, bars: Progress, file: str) -> None:
        self._bars = bars
        self._task = bars.add_task(file, total=None)

    @property
    def total(self) -> int | None:
        size = self._bars.tasks[self._task].total
        return None if size is None else int(size)

    @total.setter
    def total(self, size: int) -> None:
        self._bars.reset(self._task, total=size or None)

    def update(self, size: int) -> None:
        self._bars.advance(self._task, size)

    def reset(self) -> None:
        self._bars.reset(self._task)

    def close(self) -> None:
        self._bars.refresh()
