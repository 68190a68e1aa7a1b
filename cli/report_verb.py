"""The verb that shows everything at once: the report as one HTML page, and the scoreboard in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.table import Table

from mmc.cli.choices import Places
from mmc.cli.shell import console
from mmc.experiments.config import bundled
from mmc.experiments.errors import ConfigError
from mmc.experiments.report import write
from mmc.experiments.scoreboard import PAPERS, VERDICTS, Number, by_paper, numbers, recall_all, score
from mmc.experiments.store import Store
from mmc.experiments.validation import load


def report(names: list[str] | None, out: Path, places: Places) -> None:
    """Write the page from the store, nothing is fitted; print the scoreboard."""
    configs = [load(name) for name in dict.fromkeys([*bundled(), *(names or [])])]
    if not places.store.exists():
        raise ConfigError(f"there is no store in {places.results}/ yet: `mmc run --all` makes it")
    with Store(places.store, readonly=True) as store:
        found = list(recall_all(configs, store, places.data_dir))
    write(found, places.results, out)
    board = numbers(found)
    screen = console()
    screen.print(_table(board))
    screen.print(f"{score(board)}.")
    problems = [f"{result.config.name}: not run: {result.problem}" for result in found if result.problem]
    for problem in dict.fromkeys(problems):
        screen.print(problem, soft_wrap=True)
    if problems:
        screen.print(f"A number counts as run where {places.store} has its records.", soft_wrap=True)
    screen.print(f"written to {out}", style="dim", soft_wrap=True)


def _table(board: Sequence[Number]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_footer=True)
    total = score(board)
    table.add_column("paper", footer="all")
    table.add_column("numbers", footer=str(total.total), justify="right")
    for verdict in VERDICTS:
        table.add_column(verdict, footer=total.shown(verdict), justify="right")
    for key, of in by_paper(board).items():
        table.add_row(PAPERS[key].authors, str(of.total), *map(of.shown, VERDICTS))
    return table
