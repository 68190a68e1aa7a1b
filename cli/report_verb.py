"""The verb that shows everything at once: the report as one HTML page, and the scoreboard in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.table import Table

from mmc.cli.choices import Places, Selection
from mmc.cli.shell import console
from mmc.experiments.errors import ConfigError
from mmc.experiments.report import write
from mmc.experiments.scoreboard import PAPERS, VERDICTS, Number, by_paper, numbers, recall_all, score
from mmc.experiments.store import Store


def report(names: list[str] | None, out: Path, places: Places) -> None:
    """Write the page from the store, nothing is fitted: of the studies that are named, or of all papers with the scoreboard.

    What was not run here is shown from the references.
    """
    configs = Selection(tuple(names or ()), everything=not names).configs(places.results)
    with Store(places.store if places.store.exists() else None, readonly=True) as store:
        found = list(recall_all(configs, store, places.data_dir, places.reference))
    if names and (absent := [result for result in found if result.problem]):
        raise ConfigError("\n".join(f"{result.config.name}: {result.problem}" for result in absent))
    write(found, places.results, out, papers=not names)
    screen = console()
    if not names:
        board = numbers(found)
        screen.print(_table(board))
        screen.print(f"{score(board)}.")
    if kept := [result.config.name for result in found if result.reference]:
        names_or_count = f"all {len(kept)} configs" if len(kept) == len(found) > 3 else ", ".join(kept)
        text = f"From the references, because not run here: {names_or_count}"
        screen.print(text, style="yellow", soft_wrap=True)
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
