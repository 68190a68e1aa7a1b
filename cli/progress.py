"""One live display over all configs of a run; plain lines where the output is not a terminal."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.table import Table

from mmc.cli.shell import console
from mmc.experiments.config import Config
from mmc.experiments.engines.base import Workers
from mmc.experiments.run import Progress

if TYPE_CHECKING:
    from rich.live import Live

_EVERY = 5.0
_WIDEST = 40
_SURE = 2.0  # seconds after which the pace of this machine is known
_NAME = 60  # the longest name that is shown in full


class Display:
    """Shows how far a run is: all configs, and the trials of the one at work.

    Use as a context, take the configs from ``each``, let the runner call it with its Progress and the engine call
    ``workers``. In a terminal it stays below what ``out`` prints.
    """

    def __init__(self, out: Console, configs: Sequence[Config]) -> None:
        self._console = out if out.is_terminal else console(stderr=True)
        self._live: Live | None = None
        self._configs = configs
        self._ahead: Sequence[float | None] = [None] * len(configs)
        self._started = time.monotonic()
        self._at = -1
        self._now: Progress | None = None  # of the config at work, once its trials are known
        self._begun = self._told = self._started
        self._taken = 0  # trials of the config at work that the store had
        self._run = self._fitted = self._stored = 0
        self._first: tuple[float, float] | None = (
            None  # when the first record came, and the seconds of fitting until then
        )
        self._spent = self._busy = 0.0  # seconds of fitting in finished configs, and of the clock
        self._workers = Workers(1)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            from rich.live import Live

            self._live = Live(console=self._console, get_renderable=self._screen, transient=True)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def expect(self, left: Sequence[float | None]) -> None:
        """Take note of the seconds of fitting that each config would take, None where nobody knows; nothing if empty."""
        self._ahead = left or self._ahead

    def workers(self, workers: Workers) -> None:
        """Take note of the workers that there are."""
        self._workers = workers

    def each(self) -> Iterator[Config]:
        """Yield the configs; the one that was yielded last is the one at work."""
        for at, config in enumerate(self._configs):
            self._at, self._now, self._first = at, None, None
            self._begun = self._told = time.monotonic()
            yield config
            self._spent, self._busy = self._pace()
            if self._now is not None and self._now.done == self._now.total:
                self._run += 1
                self._fitted += self._now.total - self._taken
                self._stored += self._taken
        self._now = None

    def __call__(self, progress: Progress) -> None:
        """Show where the config at work is."""
        now = time.monotonic()
        first = self._now is None
        if first:
            self._taken = progress.done
        elif self._first is None:
            self._first = (now, progress.spent)
        self._now = progress
        if self._live is not None:
            return
        place = f"[{self._at + 1}/{len(self._configs)}] " if len(self._configs) > 1 else ""
        name = place + _short(progress.config)
        if progress.done < progress.total and now - self._told >= _EVERY:
            self._told = now
            text = f"{name}: {progress.done} of {progress.total} trials{_note(progress)}{self._staff()}, {self._left()}"
            if place:
                text += f"; of all {self._left_of_all()}"
            self._console.print(text, soft_wrap=True)
        elif progress.done == progress.total and not first:
            text = f"{name}: {progress.total} trials{_note(progress)} in {now - self._begun:.1f} s"
            text += f", {self._taken} of them from the store" if self._taken else ""
            self._console.print(text, soft_wrap=True)

    def closing(self) -> str:
        """Return a line on the whole: configs, trials, time."""
        count = len(self._configs)
        configs = f"{count}" if self._run == count else f"{self._run} of {count}"
        taken = f"{self._stored} taken from the store"
        return f"{configs} configs: {self._fitted} trials fitted, {taken}, in {span(time.monotonic() - self._started)}"

    def _screen(self) -> Table | str:
        """Return what a terminal shows at this moment."""
        from rich.progress_bar import ProgressBar

        if self._at < 0:
            return ""
        now = self._now
        share, text = 0.0, "…"
        if now is not None:
            share = now.done / max(now.total, 1)
            rest = ", writing" if now.done == now.total else f", {self._left()}"
            text = f"{now.done}/{now.total}{rest}{_note(now)}{self._staff()}"
        rows = [(_short(self._configs[self._at].name), share, text)]
        if (count := len(self._configs)) > 1:
            clock = datetime.timedelta(seconds=int(time.monotonic() - self._started))
            whole = f"{self._at}/{count} configs, {clock}, {self._left_of_all()}"
            rows.insert(0, ("all", (self._at + share) / count, whole))
        used = max(len(name) for name, _, _ in rows) + max(len(text) for _, _, text in rows) + 4
        width = min(_WIDEST, max(8, self._console.width - used))
        grid = Table.grid(padding=(0, 2, 0, 0))
        for _ in range(3):
            grid.add_column(no_wrap=True)
        for name, share, text in rows:
            grid.add_row(name, ProgressBar(total=1.0, completed=share, width=width), text)
        return grid

    def _left(self) -> str:
        """Say how long the config at work still takes."""
        return self._said(self._now.left if self._now else None)

    def _left_of_all(self) -> str:
        """Say how long everything still takes."""
        parts = [self._now.left if self._now else self._ahead[self._at], *self._ahead[self._at + 1 :]]
        known = [part for part in parts if part is not None]
        return self._said(sum(known) if len(known) == len(parts) else None)

    def _said(self, seconds: float | None) -> str:
        if seconds is None:
            return "no estimate yet"
        spent, busy = self._pace()
        slowness = busy / spent if spent and busy > _SURE else 1 / max(self._workers.present, 1)
        return f"about {span(seconds * slowness)} left"

    def _pace(self) -> tuple[float, float]:
        """Return the seconds of fitting in this run, and those of the clock: several workers fit at once.

        The start of the workers, until the first record comes, counts for neither.
        """
        if self._now is None or self._first is None:
            return self._spent, self._busy
        begun, spent = self._first
        return self._spent + self._now.spent - spent, self._busy + time.monotonic() - begun

    def _staff(self) -> str:
        """Say how many workers there are, if there is more to say than that there is one."""
        of = self._workers
        changed = [f"{count} {what}" for count, what in ((of.joined, "joined"), (of.lost, "lost")) if count]
        return f", {', '.join([f'{of.present} workers', *changed])}" if of.present > 1 or changed else ""


def span(seconds: float) -> str:
    """Return a time as one would say it."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _short(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def _note(progress: Progress) -> str:
    infeasible = progress.statuses.get("infeasible", 0)
    failed = sum(count for status, count in progress.statuses.items() if status in ("not-converged", "failed"))
    return (f", {infeasible} infeasible" if infeasible else "") + (f", {failed} failed" if failed else "")
