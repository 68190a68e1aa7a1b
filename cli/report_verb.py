"""The verb that shows everything at once: the report as one HTML page, and the scoreboard in the terminal."""

from __future__ import annotations

import re
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
        table = _table(board)
        if screen.measure(table, options=screen.options.update(width=1000)).minimum <= screen.width:
            screen.print(table)
        else:
            for key, of in by_paper(board).items():
                screen.print(f"{PAPERS[key].authors}: {of}.")
        screen.print(f"All: {score(board)}.")
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
    """Return a row for each verdict: papers have few words, verdicts have many. No name is cut."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    papers = {PAPERS[key].authors: of for key, of in by_paper(board).items()} | {"all": score(board)}
    table.add_column("verdict", no_wrap=True)
    for authors in papers:  # broken before the last author: six columns fit into 80
        table.add_column(re.sub(r" (?=\S+$|et al)", "\n", authors, count=1), justify="right", no_wrap=True)
    for verdict in VERDICTS:
        table.add_row(verdict, *(of.shown(verdict) for of in papers.values()))
    table.add_section()
    table.add_row("numbers", *(str(of.total) for of in papers.values()))
    return table
