"""The sentences below a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from mmc.experiments.cells import INFEASIBLE, Cell, Table, Verdict
from mmc.experiments.feasible import feasible_instead
from mmc.experiments.layout import LOOKS
from mmc.experiments.metrics import LINE
from mmc.experiments.score import Score

_SPREADS = {
    "std": "standard deviation over repetitions",
    "se": "standard error over repetitions",
    "both": "standard deviation over repetitions (SE: the standard error of the mean)",
}


def summary(table: Table) -> str:
    """Return the verdicts in a sentence: first what is evidence."""
    return str(Score.of(table.judged)) if table.judged else ""


def notes(table: Table) -> Iterator[str]:
    """Yield all sentences below a table."""
    yield from footnotes(table)
    yield from comparisons(table)
    for reason in reasons(table):
        yield str(reason)


def footnotes(table: Table) -> Iterator[str]:
    """Yield what a reader needs to read the table."""
    once = any(cell.sampling for cell in table.cells)
    meaning = _once(table) if once else f"mean ± {_SPREADS[table.spread]}"
    if table.judged:
        present = dict.fromkeys(
            cell.verdict for cell in sorted(table.judged, key=lambda c: list(Verdict).index(c.verdict))
        )
        signs = "; ".join(f"{LOOKS[verdict].symbol} {LOOKS[verdict].meaning}" for verdict in present)
        yield (
            f"Each cell: measured {meaning}; below it the number reported in {table.source}, the difference and the verdict. "
            f"{signs}. {_interval(table)}"
        )
        if any(cell.partly for cell in table.judged):
            yield "k/n draws: the verdict is on the mean of the k draws that are feasible, the printed one need not be."
    elif once or table.spread != "std":
        yield f"Each cell: measured {meaning}."
    yield from table.remarks
    yield from data_notes(table)
    missing = [cell for cell in table.cells if cell.missing and cell.metric == table.metrics[0]]
    if missing:
        done, trials = sum(cell.done for cell in table.cells), sum(cell.trials for cell in table.cells)
        yield (
            f"This is a part of a run, {100 * done / trials:.0f} % of its trials: k of n run says how much stands behind a cell, "
            "– that nothing does. No cell of a part is judged."
        )
    if any(cell.infeasible for cell in table.cells):
        yield (
            f"{INFEASIBLE}: infeasible, with how much more was asked than the data allow "
            "(k/n: on k of n splits; the mean is over repetitions without any)."
        )
        yield from feasible_instead(table)
    if any(cell.failed for cell in table.cells):
        yield "!: on k of n splits the solver stopped short or the fit failed; the mean is over repetitions without any."
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
            yield f"{_of(cell)}: best at " + ", ".join(
                f"{table.label(k)} = {table.label(v)}" for k, v in cell.chosen.items()
            )
    yield from joint(table)


def data_notes(table: Table) -> Iterator[str]:
    """Yield what the data were, and which class a rate is of."""
    yield from filter(None, map(str, table.data))
    if table.class_names and {"eta_pos", "eta_neg"} <= {*table.rows, *table.columns}:
        pos, neg = table.class_names
        yield f"{table.label('eta_pos')} bounds the error of {pos}, {table.label('eta_neg')} that of {neg}."


def comparisons(table: Table) -> Iterator[str]:
    """Yield what the same splits or test points say of two methods."""
    for pair in table.pairs:
        sure = abs(pair.difference) > pair.half_width
        yield (
            f"{pair.first} − {pair.second} on {pair.dataset}, {table.label(pair.metric)}: {pair.difference:+.2f} "
            f"± {pair.half_width:.2f} (95 %, {pair.repetitions} paired repetitions): "
            + ("a difference" if sure else "no significant difference")
            + (" on these rows" if pair.same_rows else "")
        )
    if any(pair.same_rows for pair in table.pairs):
        yield "Every repetition tests the same rows, so these intervals are about other partitions of them, not about new rows."
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


@dataclass(frozen=True)
class Reason:
    """What the config says of some cells, and the experiment that shows it."""

    verdict: Verdict
    text: str
    see: str | None
    cells: int

    def __str__(self) -> str:
        counted = f"{self.cells} cell{'s' if self.cells > 1 else ''}"
        return f"{LOOKS[self.verdict].symbol} {counted}: {self.text}".lstrip() + (
            f" (see {self.see})" if self.see else ""
        )


def reasons(table: Table) -> list[Reason]:
    """Return what the config says of cells, each sentence once."""
    found = Counter((cell.verdict, cell.reason, cell.see) for cell in table.cells if cell.reason)
    return [Reason(*of, count) for of, count in found.items()]


def joint(table: Table) -> Iterator[str]:
    """Yield whether the printed numbers of each data set are plausible together."""
    for test in table.joint:
        left = ", ".join(f"{count} {why}" for why, count in test.unused)
        yield (
            f"{', '.join(map(table.label, test.place))}: {test.used} printed numbers together: p = {test.p:.2g}"
            + (f" (not used: {left})" if left else "")
            + (": they do not fit together" if test.p < 0.01 else "")
        )


def _interval(table: Table) -> str:
    """Return what the interval of a verdict is."""
    runs = sorted({cell.runs for cell in table.judged if cell.half_width is not None})
    kinds = []
    if any(len(cell.by_repetition) > 1 for cell in table.judged):
        some = " or ".join(map(str, runs))
        kinds.append(f"the 99 % prediction interval for a mean of {some} run{'' if runs == [1] else 's'}")
    if any(cell.discordant is not None for cell in table.judged):
        kinds.append("2.6 √d points, where the most similar other method decides otherwise on d test points")
    elif any(cell.sampling for cell in table.judged):
        kinds.append("the 99 % confidence interval")
    return f"The interval is {', or '.join(kinds)}, widened by the rounding of the printed number." if kinds else ""
