"""How a table looks: in the terminal, and as files. A new format is one function and one line in ``FORMATS``."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mmc.experiments.cells import Cell, Place, Table
from mmc.experiments.escape import markdown, plain, spreadsheet
from mmc.experiments.latex import to_latex
from mmc.experiments.layout import LOOKS, Grid, beside, measured
from mmc.experiments.notes import notes, summary

if TYPE_CHECKING:
    from rich.table import Table as RichTable
    from rich.text import Text

CSV_FIELDS = (
    "metric",
    "mean",
    "std",
    "repetitions",
    "trials",
    "infeasible",
    "failed",
    "capped",
    "reported",
    "difference",
    "verdict",
    "reason",
    "distance",
    "resolution",
    "se",
    "draws",
    "df",
    "discordant",
    "half_width",
    "runs",
    "same_as",
    "see",
)


def to_csv(table: Table) -> str:
    """Return the table as CSV: one line per cell, with everything that is known about it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*map(spreadsheet, table.keys), "chosen", *CSV_FIELDS])
    for cell in table.cells:
        keys = [spreadsheet(str(cell.keys.get(name, ""))) for name in table.keys]
        writer.writerow([*keys, *_csv(cell)])
    return out.getvalue()


def _csv(cell: Cell) -> Iterator[str | int]:
    """Yield the fields of a cell, in the order of "chosen" and ``CSV_FIELDS``."""
    known = cell.mean is not None
    yield spreadsheet(" ".join(f"{key}={value}" for key, value in cell.chosen.items()))
    yield cell.metric
    yield _digits(cell.mean)
    yield _digits(cell.std if known else None)
    yield from (len(cell.by_repetition), cell.trials, cell.infeasible, cell.failed, cell.capped)
    yield spreadsheet(cell.reported or "")
    yield _digits(cell.difference)
    yield cell.verdict
    yield spreadsheet(cell.reason)
    yield from (_digits(cell.distance), _digits(cell.resolution), _digits(cell.se if known else None))
    yield from (cell.draws, _digits(cell.df if math.isfinite(cell.df) else None))
    yield "" if cell.discordant is None else cell.discordant
    yield _digits(cell.half_width)
    yield cell.runs if cell.verdict else ""
    yield from (spreadsheet(cell.same_as), spreadsheet(cell.see or ""))


def _digits(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"


def to_markdown(table: Table) -> str:
    """Return the table in the paper's layout as Markdown."""
    grid = Grid.of(table)
    heads = [table.label(key) for key in table.rows]
    heads += [" ".join(part for part in table.headings(column) if part) for column in grid.columns]
    lines = [f"# {markdown(table.title)}", "", _pipe(map(markdown, heads))]
    lines.append(_pipe(["---"] * len(table.rows) + ["---:"] * len(grid.columns)))
    for row in grid.rows:
        line = [markdown(table.label(part)) for part in row]
        for cell in grid.line(row):
            shown = [measured(cell, table.spread), *([beside(cell)] if cell.reported else [])] if cell else []
            line.append(" <br> ".join(map(markdown, shown)))
        lines.append(_pipe(line))
    lines += ["", *([f"**{summary(table)}.**", ""] if summary(table) else [])]
    lines += [f"- {markdown(note)}" for note in notes(table)]
    return "\n".join(lines) + "\n"


def _pipe(parts: Iterator[str] | Sequence[str]) -> str:
    return "| " + " | ".join(parts) + " |"


FORMATS: Mapping[str, Callable[[Table], str]] = {"csv": to_csv, "md": to_markdown, "tex": to_latex}


def terminal(table: Table, width: int) -> Iterator[RichTable | Text]:
    """Yield what rich prints: one wide table where it fits, else one per first column key. No text is markup."""
    from rich.text import Text

    grid = Grid.of(table)
    room = width - sum(
        max(len(table.label(part)) for part in (key, *(row[i] for row in grid.rows))) + 3
        for i, key in enumerate(table.rows)
    )
    widest = max(
        (len(text) for cell in table.cells for text in (measured(cell, table.spread), beside(cell))), default=0
    )
    groups = _packed(grid.columns, max(room // (widest + 2), 1))
    yield Text(plain(table.title))
    for group in groups:
        yield _rich(table, grid, group)
    yield from (Text(plain(line)) for line in (summary(table), *notes(table)) if line)


def _packed(columns: Sequence[Place], most: int) -> list[list[Place]]:
    """Return the columns in as few groups as fit beside each other; those of one method stay together."""
    families: dict[Place, list[Place]] = {}
    for column in columns:
        families.setdefault(column[:-1] or column, []).append(column)
    groups: list[list[Place]] = [[]]
    for family in families.values():
        if groups[-1] and len(groups[-1]) + len(family) > most:
            groups.append([])
        groups[-1] += family
    return groups


def _rich(table: Table, grid: Grid, columns: Sequence[Place]) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    out = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for key in table.rows:
        out.add_column(Text(plain(table.label(key))), justify="left", no_wrap=True)
    for column in columns:
        heading = "\n".join(plain(part) for part in table.headings(column) if part)
        out.add_column(Text(heading), justify="right", no_wrap=True)
    for row in grid.rows:
        line = [Text(plain(table.label(part))) for part in row]
        for cell in grid.line(row, columns):
            text = Text()
            if cell is not None:
                text.append(measured(cell, table.spread))
                if cell.reported is not None:
                    text.append("\n" + plain(beside(cell)), style=LOOKS[cell.verdict].style)
            line.append(text)
        out.add_row(*line)
    return out
