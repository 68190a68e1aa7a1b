"""The sentences below a table."""

from __future__ import annotations

from collections.abc import Iterator

from mmc.experiments.cells import DIFFERS, INFEASIBLE, KNOWN, MATCH, NOT_RUN, Cell, Table
from mmc.experiments.metrics import LINE

_SPREADS = {
    "std": "standard deviation over repetitions",
    "se": "standard error over repetitions",
    "both": "standard deviation over repetitions (SE: the standard error of the mean)",
}


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
    line = any(cell.metric in LINE for cell in table.cells)
    votes = any(cell.sampling and cell.metric not in LINE for cell in table.cells)
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
