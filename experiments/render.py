"""How a table looks: in the terminal, and as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from mmc.experiments.tables import DIFFERS, INFEASIBLE, KNOWN, MATCH, NOT_RUN, Cell, Table

SYMBOL = {MATCH: "✓", KNOWN: "≈", DIFFERS: "✗", NOT_RUN: "–", "": ""}
_STYLE = {MATCH: "green", KNOWN: "yellow", DIFFERS: "red bold", NOT_RUN: "dim", "": ""}
_SPREADS = {
    "std": "standard deviation over repetitions",
    "se": "standard error over repetitions",
    "both": "standard deviation over repetitions (SE: the standard error of the mean)",
}
_LATEX = {MATCH: r"\checkmark", KNOWN: r"$\approx$", DIFFERS: r"$\neq$", NOT_RUN: "--", "": ""}


def measured(cell: Cell, spread: str = "std") -> str:
    """Return the measured number as text: mean and spread (std, se or both), × where infeasible, with its counts."""
    if cell.mean is None:
        if cell.infeasible == cell.trials and cell.trials:
            return INFEASIBLE + ("" if cell.distance is None else f" {100 * cell.distance:+.0f}%")
        if cell.infeasible:
            return f"{INFEASIBLE} {cell.infeasible}/{cell.trials}"
        return "not converged" if cell.failed and cell.trials else "–"
    text = f"{cell.mean:{cell.form or f'.{cell.decimals}f'}}"
    if around := spread_of(cell, spread):
        text += f" {around}"
    if cell.infeasible:
        text += f" ({INFEASIBLE} {cell.infeasible}/{cell.trials})"
    if cell.failed:
        text += f" (! {cell.failed}/{cell.trials})"
    return text + ("†" if cell.capped else "") + ("‡" if cell.tuned_first else "")


def spread_of(cell: Cell, spread: str = "std") -> str:
    """Return what stands behind ±: the standard deviation over repetitions, the standard error of the mean, or both.

    Of a single run it is the standard error that its test points leave, where there is one.
    """
    if len(cell.by_repetition) < 2:
        return f"± {cell.se:.{cell.decimals}f}" if cell.mean is not None and cell.sampling else ""
    std, se = (f"{value:.{cell.decimals}f}" for value in (cell.std, cell.se))
    return {"std": f"± {std}", "se": f"± {se}", "both": f"± {std} (SE {se})"}[spread]


def beside(cell: Cell) -> str:
    """Return the reported number, the difference and the verdict as text."""
    if cell.reported is None:
        return ""
    difference = "" if cell.difference is None else f" {cell.difference:+.{cell.decimals}f}"
    return f"{cell.reported}{difference} {SYMBOL[cell.verdict]}"


def grid_of(table: Table) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], dict[tuple[Any, Any], Cell]]:
    """Return the row keys, the column keys (metric last) and the cells by (row, column), in the order of the cells."""
    rows: dict[tuple[Any, ...], None] = {}
    columns: dict[tuple[Any, ...], None] = {}
    cells = {}
    for cell in table.cells:
        row = tuple(cell.keys.get(key, "") for key in table.rows)
        column = (*(cell.keys.get(key, "") for key in table.columns), cell.metric)
        rows[row] = columns[column] = None
        cells[row, column] = cell
    return list(rows), list(columns), cells


def summary(table: Table) -> str:
    """Return the verdicts in a sentence."""
    counts = table.counts()
    if not any(counts.values()):
        return ""
    text = f"{counts[MATCH]} of {sum(counts.values())} reported numbers match"
    if counts[KNOWN]:
        text += f", {counts[KNOWN]} deviate for a stated reason"
    if counts[DIFFERS]:
        text += f", {counts[DIFFERS]} differ"
    if counts[NOT_RUN]:
        text += f", {counts[NOT_RUN]} not run"
    return text


def notes(table: Table) -> Iterator[str]:
    """Yield the footnotes that a reader of the table needs."""
    once = any(cell.sampling for cell in table.cells)
    meaning = _once(table) if once else f"mean ± {_SPREADS[table.spread]}"
    if any(cell.reported for cell in table.cells):
        yield (
            f"Each cell: measured {meaning}; below it the number reported in "
            f"{table.source}, the difference and the verdict: "
            f"✓ within the 99 % {'confidence' if once else 'prediction'} interval, ≈ known deviation, ✗ differs."
        )
    elif once or table.spread != "std":
        yield f"Each cell: measured {meaning}."
    yield from table.remarks
    if any(cell.infeasible for cell in table.cells):
        yield (
            f"{INFEASIBLE}: infeasible, with how much more was asked than the data allow "
            "(k/n: on k of n splits; the mean is over repetitions without any)."
        )
    if any(cell.failed for cell in table.cells):
        yield "!: the solver stopped short on k of n splits; the mean is over repetitions without any."
    for cell in table.cells:
        if cell.trouble and cell.metric == table.metrics[0]:
            yield f"{_of(cell)}: {cell.trouble}"
    capped = [cell for cell in table.cells if cell.capped]
    if capped:
        most = max(capped, key=lambda c: c.capped / c.trials)
        yield f"†: the iteration was cut at its cap (on up to {most.capped} of {most.trials} splits), as configured."
    for first, names in _tuned_first(table).items():
        yield (
            f"‡ {', '.join(names)}: tuned by cross-validation inside each of the first {first} repetitions; "
            "the later ones take the grid point that was best over these."
        )
    for cell in table.cells:
        if cell.chosen and cell.metric == table.metrics[0]:
            yield f"{_of(cell)}: best at " + ", ".join(f"{table.label(k)} = {v:g}" for k, v in cell.chosen.items())
    yield from comparisons(table)
    for reason, see, count in _reasons(table):
        yield f"≈ {count} cell{'s' if count > 1 else ''}: {reason}" + (f" (see {see})" if see else "")


def comparisons(table: Table) -> Iterator[str]:
    """Yield what the same splits or test points say of two methods."""
    for pair in table.pairs:
        sure = abs(pair.difference) > pair.half_width
        yield (
            f"{pair.first} − {pair.second} on {pair.dataset}, {table.label(pair.metric)}: {pair.difference:+.2f} "
            f"± {pair.half_width:.2f} (95 %, {pair.repetitions} paired repetitions): "
            + ("a difference" if sure else "no significant difference")
        )
    for found in table.discordances:
        yield (
            f"{found.first} and {found.second} on {found.dataset}, the same {found.points} test points: "
            f"{found.only_first} are right with {found.first} only, {found.only_second} with {found.second} only "
            f"(McNemar's exact test: p = {found.p:.2g}): "
            + ("a difference" if found.p < 0.05 else "no significant difference")
        )


def _of(cell: Cell) -> str:
    return " on ".join(str(cell.keys[key]) for key in ("method", "dataset"))


def _once(table: Table) -> str:
    """Return what stands behind ± in a table of single runs."""
    line = any(cell.metric in ("slope", "intercept") for cell in table.cells)
    votes = any(cell.sampling and cell.metric not in ("slope", "intercept") for cell in table.cells)
    parts = ["the binomial standard error √(k(1−k/n)) of k errors on n test points"] if votes else []
    parts += ["the standard error of the regression over the pairs of classes"] if line else []
    return f"once ± {', or '.join(parts)}"


def _tuned_first(table: Table) -> dict[int, list[str]]:
    """Return on how many first repetitions only methods were tuned, and which ones."""
    found: dict[int, list[str]] = {}
    for cell in table.cells:
        if cell.tuned_first and cell.metric == table.metrics[0]:
            found.setdefault(cell.tuned_first, []).append(_of(cell))
    return found


def _reasons(table: Table) -> list[tuple[str, str | None, int]]:
    found: dict[tuple[str, str | None], int] = {}
    for cell in table.cells:
        if cell.verdict == KNOWN:
            found[cell.reason, cell.see] = found.get((cell.reason, cell.see), 0) + 1
    return [(reason, see, count) for (reason, see), count in found.items()]


def terminal(table: Table, width: int) -> Iterator[Any]:
    """Yield what rich prints: one wide table where it fits, else one per first column key."""
    rows, columns, cells = grid_of(table)
    room = width - sum(
        max(len(table.label(part)) for part in (key, *(r[i] for r in rows))) + 3 for i, key in enumerate(table.rows)
    )
    groups = _packed(columns, max(room // (24 if table.spread == "both" else 16), 1))
    yield table.title
    for group in groups:
        yield _rich(table, rows, group, cells)
    yield summary(table)
    yield from notes(table)


def _packed(columns: Sequence[tuple[Any, ...]], most: int) -> list[list[tuple[Any, ...]]]:
    """Return the columns in as few groups as fit beside each other; those of one method stay together."""
    families: dict[Any, list[tuple[Any, ...]]] = {}
    for column in columns:
        families.setdefault(column[:-1] or column, []).append(column)
    groups: list[list[tuple[Any, ...]]] = [[]]
    for family in families.values():
        if groups[-1] and len(groups[-1]) + len(family) > most:
            groups.append([])
        groups[-1] += family
    return groups


def _rich(table: Table, rows: Any, columns: Any, cells: Any) -> Any:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    out = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for key in table.rows:
        out.add_column(table.label(key), justify="left", no_wrap=True)
    for column in columns:
        heading = "\n".join(part for part in table.headings(column) if part)
        out.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        line: list[Any] = [table.label(part) for part in row]
        for column in columns:
            cell = cells.get((row, column))
            text = Text()
            if cell is not None:
                text.append(measured(cell, table.spread))
                if cell.reported is not None:
                    text.append("\n" + beside(cell), style=_STYLE[cell.verdict])
            line.append(text)
        out.add_row(*line)
    return out


CSV_FIELDS = [
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
]


def to_csv(table: Table) -> str:
    """Return the table as CSV: one line per cell, with everything that is known about it."""
    names = list(dict.fromkeys(["dataset", "method", *table.rows, *table.columns]))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, "chosen", *CSV_FIELDS])
    for cell in table.cells:
        chosen = " ".join(f"{k}={v}" for k, v in cell.chosen.items())
        mean = "" if cell.mean is None else f"{cell.mean:.6g}"
        std = "" if cell.mean is None else f"{cell.std:.6g}"
        difference = "" if cell.difference is None else f"{cell.difference:.6g}"
        row = [mean, std, len(cell.by_repetition), cell.trials, cell.infeasible, cell.failed, cell.capped]
        distance = "" if cell.distance is None else f"{cell.distance:.6g}"
        row += [cell.reported or "", difference, cell.verdict, cell.reason, distance, f"{cell.resolution:.6g}"]
        row += ["" if cell.mean is None else f"{cell.se:.6g}"]
        writer.writerow([*(cell.keys.get(n, "") for n in names), chosen, cell.metric, *row])
    return out.getvalue()


def to_markdown(table: Table) -> str:
    """Return the table in the paper's layout as Markdown."""
    rows, columns, cells = grid_of(table)
    heads = [table.label(key) for key in table.rows]
    heads += [" ".join(part for part in table.headings(column) if part) for column in columns]
    lines = [f"# {table.title}", "", _pipe(heads), _pipe(["---"] * len(table.rows) + ["---:"] * len(columns))]
    for row in rows:
        line = [table.label(part) for part in row]
        for column in columns:
            cell = cells.get((row, column))
            line.append(
                ""
                if cell is None
                else measured(cell, table.spread) + (f" <br> {beside(cell)}" if cell.reported else "")
            )
        lines.append(_pipe(line))
    lines += ["", *([f"**{summary(table)}.**", ""] if summary(table) else [])]
    lines += [f"- {note}" for note in notes(table)]
    return "\n".join(lines) + "\n"


def _pipe(parts: Sequence[str]) -> str:
    return "| " + " | ".join(part.replace("|", r"\|") for part in parts) + " |"


def to_latex(table: Table) -> str:
    """Return the table in the paper's layout for LaTeX with booktabs: measured, and reported in brackets."""
    rows, columns, cells = grid_of(table)
    lines = [
        "% needs \\usepackage{booktabs,amssymb}; compile with a Unicode engine or utf8 input",
        rf"\begin{{tabular}}{{{'l' * len(table.rows)}{'r' * len(columns)}}}",
        r"\toprule",
    ]
    for depth in range(len(table.columns)):
        lines.append(_spanning(table, columns, depth))
    heads = [_tex(table.label(key)) for key in table.rows] + [_tex(table.label(column[-1])) for column in columns]
    lines += [" & ".join(heads) + r" \\", r"\midrule"]
    for row in rows:
        line = [_tex(table.label(part)) for part in row]
        for column in columns:
            cell = cells.get((row, column))
            line.append("" if cell is None else _tex_cell(cell, table.spread))
        lines.append(" & ".join(line) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *(f"% {note}" for note in notes(table))]) + "\n"


def _spanning(table: Table, columns: Sequence[tuple[Any, ...]], depth: int) -> str:
    parts = ["" for _ in table.rows]
    start = 0
    while start < len(columns):
        stop = start
        while stop < len(columns) and columns[stop][: depth + 1] == columns[start][: depth + 1]:
            stop += 1
        parts.append(rf"\multicolumn{{{stop - start}}}{{c}}{{{_tex(table.headings(columns[start])[depth])}}}")
        start = stop
    return " & ".join(parts) + r" \\"


def _tex_cell(cell: Cell, spread: str) -> str:
    text = _tex(measured(cell, spread))
    if cell.reported is None:
        return text
    return rf"{text} ({_tex(cell.reported)}{_LATEX[cell.verdict]})"


def _tex(text: str) -> str:
    for plain, tex in (
        ("\\", r"\textbackslash{}"),
        ("&", r"\&"),
        ("%", r"\%"),
        ("_", r"\_"),
        ("#", r"\#"),
        ("^", r"\^{}"),
    ):
        text = text.replace(plain, tex)
    for plain, tex in (
        ("±", r"$\pm$"),
        ("×", r"$\times$"),
        ("†", r"$\dagger$"),
        ("‡", r"$\ddagger$"),
        ("η₁", r"$\eta_1$"),
        ("η₂", r"$\eta_2$"),
    ):
        text = text.replace(plain, tex)
    return text.replace("−", "$-$")
