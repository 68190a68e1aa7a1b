"""One live display over all configs of a run; plain lines where the output is not a terminal."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mmc.experiments.config import Config
from mmc.experiments.run import Progress, earlier_seconds

_EVERY = 5.0
_WIDEST = 40


class Display:
    """Shows how far a run is: all configs, and the trials of the one at work.

    Use as a context, take the configs from ``each`` and let the runner call it with its Progress. In a terminal it stays
    below what ``out`` prints. The seconds that each config took before weigh them, so that the time left is that of all.
    """

    def __init__(self, out: Any, configs: Sequence[Config], results: Path) -> None:
        from rich.console import Console

        self._console = out if out.is_terminal else Console(stderr=True, highlight=False)
        self._live: Any = None
        self._configs = configs
        self._weights = _weights([earlier_seconds(results / config.name) for config in configs])
        self._started = time.monotonic()
        self._at = -1
        self._now: Progress | None = None  # of the config at work, once its trials are known
        self._begun = self._told = self._started
        self._taken = 0  # trials of the config at work that the store had
        self._first: tuple[float, int] | None = None  # when the first of the others were there, and how many trials
        self._run = self._fitted = self._stored = 0
        self._work = self._busy = 0.0  # weight of what was fitted in finished configs, and the seconds for it

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            from rich.live import Live

            self._live = Live(console=self._console, get_renderable=self._screen, transient=True)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def each(self) -> Iterator[Config]:
        """Yield the configs; the one that was yielded last is the one at work."""
        for at, config in enumerate(self._configs):
            self._at, self._now, self._first = at, None, None
            self._begun = self._told = time.monotonic()
            yield config
            self._work, self._busy = self._pace()
            if self._now is not None and self._now.done == self._now.total:
                self._run += 1
                self._fitted += self._now.total - self._taken
                self._stored += self._taken
        self._now = None

    def __call__(self, progress: Progress) -> None:
        """Show where the config at work is."""
        first = self._now is None
        now = time.monotonic()
        if first:
            self._taken = progress.done
        elif self._first is None:
            self._first = (now, progress.done)
        self._now = progress
        if self._live is not None:
            return
        place = f"[{self._at + 1}/{len(self._configs)}] " if len(self._configs) > 1 else ""
        if progress.done < progress.total and now - self._told >= _EVERY:
            self._told = now
            text = f"{place}{progress.config}: {progress.done} of {progress.total} trials{_note(progress)}"
            if left := self._left():
                text += f", about {left} left"
            if place and (left := self._left_of_all()):
                text += f"; of all about {left}"
            self._console.print(text, soft_wrap=True)
        elif progress.done == progress.total and not first:
            text = f"{place}{progress.config}: {progress.total} trials{_note(progress)} in {now - self._begun:.1f} s"
            text += f", {self._taken} of them from the store" if self._taken else ""
            self._console.print(text, soft_wrap=True)

    def closing(self) -> str:
        """Return a line on the whole: configs, trials, time."""
        count = len(self._configs)
        configs = f"{count}" if self._run == count else f"{self._run} of {count}"
        taken = f"{self._stored} taken from the store"
        return f"{configs} configs: {self._fitted} trials fitted, {taken}, in {span(time.monotonic() - self._started)}"

    def _screen(self) -> Any:
        """Return what a terminal shows at this moment."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        if self._at < 0:
            return ""
        rows = []
        if len(self._configs) > 1:
            clock = datetime.timedelta(seconds=int(time.monotonic() - self._started))
            left = self._left_of_all()
            text = f"{self._at}/{len(self._configs)} configs, {clock}" + (f", about {left} left" if left else "")
            rows.append(("all", (sum(self._weights) - self._ahead()) / sum(self._weights), text))
        text, share = "…", 0.0
        if (now := self._now) is not None:
            left = self._left()
            text = f"{now.done}/{now.total}" + (f", about {left} left" if left else "") + _note(now)
            text += ", writing" if now.done == now.total else ""
            share = now.done / max(now.total, 1)
        rows.append((self._configs[self._at].name, share, text))
        used = max(len(name) for name, _, _ in rows) + max(len(text) for _, _, text in rows) + 4
        width = min(_WIDEST, max(8, self._console.width - used))
        grid = Table.grid(padding=(0, 2, 0, 0))
        for _ in range(3):
            grid.add_column(no_wrap=True)
        for name, share, text in rows:
            grid.add_row(name, ProgressBar(total=1.0, completed=share, width=width), text)
        return grid

    def _left(self) -> str:
        """Return the time left for the config at work, if its trials are alike; the start of the workers does not count."""
        now = self._now
        if now is None or self._first is None or not self._first[1] < now.done < now.total:
            return ""
        begun, done = self._first
        return span((now.total - now.done) * (time.monotonic() - begun) / (now.done - done))

    def _left_of_all(self) -> str:
        work, busy = self._pace()
        return span(self._ahead() * busy / work) if work else ""

    def _pace(self) -> tuple[float, float]:
        """Return the weight of all that was fitted and the seconds that it took; what the store had counts for neither."""
        now = self._now
        if now is None or now.done == self._taken:
            return self._work, self._busy
        fitted = self._weights[self._at] * (now.done - self._taken) / now.total
        return self._work + fitted, self._busy + time.monotonic() - self._begun

    def _ahead(self) -> float:
        """Return the weight of what is not done."""
        done = self._now.done / max(self._now.total, 1) if self._now else 0.0
        return self._weights[self._at] * (1 - done) + sum(self._weights[self._at + 1 :])


def span(seconds: float) -> str:
    """Return a time as one would say it."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _weights(seconds: Sequence[float | None]) -> list[float]:
    """Return a weight for each config: its earlier seconds, the mean of the others' where it was never run."""
    known = [max(value, 0.1) for value in seconds if value is not None]
    mean = sum(known) / len(known) if known else 1.0
    return [mean if value is None else max(value, 0.1) for value in seconds]


def _note(progress: Progress) -> str:
    infeasible = progress.statuses.get("infeasible", 0)
    failed = sum(count for status, count in progress.statuses.items() if status in ("not-converged", "failed"))
    return (f", {infeasible} infeasible" if infeasible else "") + (f", {failed} failed" if failed else "")
