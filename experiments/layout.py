"""The words and the grid that every format of a table shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mmc.experiments.cells import INFEASIBLE, Cell, Place, Table, Verdict
from mmc.experiments.records import Json


@dataclass(frozen=True)
class Look:
    """How a verdict looks: in a cell, counted, in the terminal, on the page; and what it means."""

    symbol: str
    one: str
    many: str
    style: str
    slug: str
    meaning: str


LOOKS: Mapping[Verdict, Look] = {
    Verdict.MATCH: Look(
        *("✓", "informative match", "informative matches", "green", "match"),
        "inside an interval that is narrow enough to tell",
    ),
    Verdict.WEAK: Look(
        *("(✓)", "weak match", "weak matches", "cyan", "weak"),
        "inside an interval that is too wide to tell: its half-width stands behind it",
    ),
    Verdict.FITTED: Look(
        *("(f)", "fitted", "fitted", "cyan", "fitted"),
        "inside, but a setting was chosen with the printed number in sight",
    ),
    Verdict.CONSTRUCTED: Look(
        *("(c)", "by construction", "by construction", "cyan", "constructed"),
        "holds by construction",
    ),
    Verdict.INFEASIBLE: Look(
        *("×✓", "infeasible as printed", "infeasible as printed", "green", "infeasible"),
        "the paper prints ×, and there is no classifier here either",
    ),
    Verdict.KNOWN: Look(
        *("≈", "explained deviation", "explained deviations", "yellow", "known"),
        "outside, for a stated reason",
    ),
    Verdict.DIFFERS: Look(*("✗", "differs", "differ", "red bold", "differs"), "outside, and we do not know why"),
    Verdict.NOT_RUN: Look(*("–", "not run", "not run", "dim", "notrun"), "no record of it"),
    Verdict.NONE: Look(*("", "not judged", "not judged", "", "none"), "another reading of the paper, not judged"),
}


@dataclass(frozen=True)
class Grid:
    """A table laid out: the keys of its rows, those of its columns (the metric last), and the cells where they meet."""

    rows: Sequence[Place]
    columns: Sequence[Place]
    cells: Mapping[tuple[Place, Place], Cell]

    @classmethod
    def of(cls, table: Table) -> Grid:
        """Lay a table out in the order of its cells."""
        rows: dict[Place, None] = {}
        columns: dict[Place, None] = {}
        cells = {}
        for cell in table.cells:
            row = tuple(_single(cell.keys.get(key, "")) for key in table.rows)
            column = (*(_single(cell.keys.get(key, "")) for key in table.columns), cell.metric)
            rows[row] = columns[column] = None
            cells[row, column] = cell
        return cls(list(rows), list(columns), cells)

    def line(self, row: Place, columns: Sequence[Place] | None = None) -> Iterator[Cell | None]:
        """Yield the cells of a row, None where there is none."""
        return (self.cells.get((row, column)) for column in columns or self.columns)


def _single(value: Json) -> Json:
    """Return a value that can name a row: a list or a mapping as text."""
    return value if isinstance(value, (str, int, float)) else str(value)


@dataclass(frozen=True)
class Heading:
    """A cell above several columns."""

    text: str
    span: int


def headings(table: Table, columns: Sequence[Place]) -> Iterator[list[Heading]]:
    """Yield the rows above the metrics: each value of a column key once, above its columns."""
    for depth in range(len(table.columns)):
        row: list[Heading] = []
        last: Place | None = None
        for column in columns:
            if column[: depth + 1] == last:
                row[-1] = Heading(row[-1].text, row[-1].span + 1)
            else:
                row.append(Heading(table.headings(column)[depth], 1))
            last = column[: depth + 1]
        yield row


def measured(cell: Cell, spread: str = "std") -> str:
    """Return the measured number as text: mean and spread (std, se or both), × where infeasible, with its counts."""
    if cell.mean is None:
        if cell.missing:
            return f"{cell.done} of {cell.trials} run" if cell.done else "–"
        if cell.infeasible == cell.trials and cell.trials:
            return INFEASIBLE + ("" if cell.distance is None else f" {100 * cell.distance:+.0f}%")
        if cell.infeasible:
            failed = f" (! {cell.failed}/{cell.trials})" if cell.failed else ""
            return f"{INFEASIBLE} {cell.infeasible}/{cell.trials}{failed}"
        if cell.metric == "gap" and cell.trials > cell.failed + cell.missing + cell.infeasible:
            return "none"  # a classifier from outside has no certificate
        return "no classifier" if cell.failed and cell.trials else "–"
    text = f"{cell.mean:{cell.form or f'.{cell.decimals}f'}}"
    if around := spread_of(cell, spread):
        text += f" {around}"
    if cell.infeasible:
        text += f" ({INFEASIBLE} {cell.infeasible}/{cell.trials})"
    if cell.failed:
        text += f" (! {cell.failed}/{cell.trials})"
    if cell.missing:
        text += f" ({cell.done} of {cell.trials} run)"
    return text + ("†" if cell.capped else "") + ("‡" if cell.tuned_first else "")


def spread_of(cell: Cell, spread: str = "std") -> str:
    """Return what stands behind ±: the standard deviation over repetitions, the standard error of the mean, or both.

    Of a single run it is the standard error that its test points leave, where there is one.
    """
    if len(cell.by_repetition) < 2:
        return f"± {cell.se:.{cell.decimals}f}" if cell.mean is not None and cell.sampling else ""
    std, se = (f"{value:{cell.form or f'.{cell.decimals}f'}}" for value in (cell.std, cell.se))
    return {"std": f"± {std}", "se": f"± {se}", "both": f"± {std} (SE {se})"}[spread]


def beside(cell: Cell) -> str:
    """Return the reported number, the difference and the verdict as text."""
    if cell.reported is None:
        return ""
    difference = "" if cell.difference is None else f" {cell.difference:+.{cell.decimals}f}"
    return f"{cell.reported}{difference} {sign(cell)}"


def sign(cell: Cell) -> str:
    """Return the verdict as text: its symbol, what a weak one could not have told apart, how many draws it is of."""
    symbol = LOOKS[cell.verdict].symbol.removeprefix(cell.reported or "")  # × stands before it already
    if cell.verdict is Verdict.WEAK and cell.half_width is not None:
        symbol = f"(✓ ±{cell.half_width:.{min(cell.decimals, 1)}f})"
    return f"{symbol} {cell.partly}" if cell.partly and cell.verdict else symbol
