"""A table for LaTeX with booktabs: measured, and reported in brackets."""

from __future__ import annotations

from mmc.experiments.cells import Cell, Table
from mmc.experiments.escape import latex, plain
from mmc.experiments.layout import Grid, headings, measured, sign
from mmc.experiments.notes import notes


def to_latex(table: Table) -> str:
    """Return the table in the paper's layout."""
    grid = Grid.of(table)
    lines = [
        "% needs \\usepackage{booktabs,amssymb}; compile with a Unicode engine or utf8 input",
        rf"\begin{{tabular}}{{{'l' * len(table.rows)}{'r' * len(grid.columns)}}}",
        r"\toprule",
    ]
    for row in headings(table, grid.columns):
        above = [rf"\multicolumn{{{heading.span}}}{{c}}{{{latex(heading.text)}}}" for heading in row]
        lines.append(" & ".join([""] * len(table.rows) + above) + r" \\")
    names = [*table.rows, *(column[-1] for column in grid.columns)]
    lines += [" & ".join(latex(table.label(name)) for name in names) + r" \\", r"\midrule"]
    for place in grid.rows:
        line = [latex(table.label(part)) for part in place]
        line += ["" if cell is None else _cell(cell, table.spread) for cell in grid.line(place)]
        lines.append(" & ".join(line) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *(f"% {plain(note)}" for note in notes(table))]) + "\n"


def _cell(cell: Cell, spread: str) -> str:
    text = latex(measured(cell, spread))
    return text if cell.reported is None else rf"{text} ({latex(cell.reported)}{latex(sign(cell))})"
