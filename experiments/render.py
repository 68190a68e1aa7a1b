"""How a table looks as a file. A new format is one function and one line in ``FORMATS``."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from mmc.experiments.cells import Cell, Table
from mmc.experiments.escape import markdown, spreadsheet
from mmc.experiments.latex import to_latex
from mmc.experiments.layout import Grid, beside, measured
from mmc.experiments.notes import notes, summary

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
