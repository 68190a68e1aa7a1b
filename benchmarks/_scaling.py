"""What was measured over the number of points, as CSV, as a figure and as a short table, with the power laws through it.

A power law, t = a nᵖ, is a line through the logarithms. It is drawn on to ten times the pair that was measured, with the 95 %
band of that line. Memory that is too little for a process's peak to show takes no part in it; where a program's own
setting limits its memory, the law ends there. Beside it stand the numbers of earlier code, from before.csv, measured in the same way.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from mmc.experiments.figures import save
from mmc.experiments.regression import Line
from mmc.methods.numerics.kernels import Array

AHEAD = 118_000
CONFIDENCE = 0.95
LEAST = {"seconds": 0.0, "megabytes": 1.0}
LIMITS = {("SVM, libsvm", "megabytes"): 200.0}  # scikit-learn's cache_size: nearly all that libsvm takes is its cache
# Okabe and Ito's colours, told apart with any colour vision; in grey by line style and marker.
SUCCESSORS = {"M4, cone programs": "M4, Newton"}  # what takes the place of a solver of earlier code
STYLES: tuple[tuple[str, Any, str], ...] = (
    ("#0072B2", "-", "o"),
    ("#0072B2", "--", "^"),
    ("#009E73", "-", "v"),
    ("#D55E00", "-", "D"),
    ("#D55E00", "--", "d"),
    ("#CC79A7", "-", "P"),
    ("#E69F00", "-", "X"),
    ("#000000", "-.", "s"),
)
NOTES = """\
- One pair of MNIST, 4 against 9, in 80 principal components, grey values from 0 to 1, γ = 2⁻⁵, C = 10; nested random parts of
  its 11,791 points. RMM has B = 1.2, M4 C = 0.1 and ridge 0.01, error-rate and BMPM ridge 0.001. MMRM is certified to a relative
  gap of 1e-4, the others to 1e-6 (largest found: {gap:.1e}).
- Time: seconds of the processor, one thread; the best of three fits where they are short. Memory: what the peak of
  the fit's own process grew by, in MB; what is below 1 MB cannot be told and takes no part in the fit.
- p ± its standard error from least squares on the logarithms, t = a nᵖ. The last column extends that law to ten times the
  pair, with the 95 % confidence band of the line.
- **The last column is an extrapolation**, not a measurement: the band holds only if one law holds throughout. For column
  generation it need not: its master program is dense and grows with the points near the margin, and solving it with their
  cube; above 5,792 points the kernel matrix is no longer held as a whole, which bends its memory between 4,000 and 8,000; the
  rows that it keeps stop at 4 GB (`solver_options: {{memory: …}}`). libsvm's cache stops at 200 MB (scikit-learn's default),
  and time is then spent on making rows anew. The whole program has three sizes only, hence the width of its band.
- Error-rate and BMPM decompose the Gram matrix up to 2,000 points and make passes over its rows above: two laws, so the one through all sizes fits neither."""
_BEFORE = "- Before: the code of commit ab6dadb, measured in the same way on a machine of the same kind, some time before (before.csv); RMM by libsvm."


_WHEN = ("before", "now", "p before", "p now")


@dataclass(frozen=True)
class Fit:
    """What one fit took: seconds of the processor, megabytes of memory, and the certified gap (None: it has none)."""

    model: str
    n: int
    seconds: float
    megabytes: float
    gap: float | None


@dataclass(frozen=True)
class Law:
    """The power law through what was measured of one model, and the limit at which it ends."""

    line: Line
    limit: float

    def __call__(self, n: Array) -> tuple[Array, Array, Array]:
        """Return the law at n, and its band."""
        middle = self.line.slope * np.log(n) + self.line.intercept
        half = self.line.band(np.log(n), CONFIDENCE)
        law, low, high = (np.minimum(np.exp(y), self.limit) for y in (middle, middle - half, middle + half))
        return law, low, high

    @property
    def exponent(self) -> tuple[str, str]:
        """p and its standard error, with as many digits as the error has."""
        digits = 2 if self.line.slope_se >= 0.005 else 3
        return f"{self.line.slope:.{digits}f}", f"{self.line.slope_se:.{digits}f}"


def write(fits: Sequence[Fit], folder: Path) -> None:
    """Write scaling.csv, .svg, .png and .md."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "scaling.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, [field.name for field in fields(Fit)], lineterminator="\n")
        rows.writeheader()
        rows.writerows(asdict(fit) for fit in fits)
    save("scaling", draw(fits), folder)
    (folder / "scaling.md").write_text(text(fits, earlier(folder)), "utf-8")


def earlier(folder: Path) -> list[Fit]:
    """Return what was measured of earlier code, if that is there."""
    file = folder / "before.csv"
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as rows:
        return [
            Fit(
                row["model"],
                int(row["n"]),
                float(row["seconds"]),
                float(row["megabytes"]),
                float(row["gap"]) if row["gap"] else None,
            )
            for row in csv.DictReader(rows)
        ]


def text(fits: Sequence[Fit], before: Sequence[Fit] = ()) -> str:
    """Return the tables and what must be known to read them."""
    sizes = sorted({fit.n for fit in fits})
    lines = ["# Time and memory over the number of points", ""]
    for title, what, words in (("seconds", "seconds", duration), ("MB", "megabytes", amount)):
        heads = [title, *(f"n = {n:,}" for n in sizes), "p", f"n = {AHEAD:,}, extrapolated"]
        lines += [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
        for name in dict.fromkeys(fit.model for fit in fits):
            found = {fit.n: getattr(fit, what) for fit in fits if fit.model == name}
            cells = ["–" if n not in found else _small(found[n], LEAST[what]) for n in sizes]
            law = _law(fits, name, what)
            if law is None:
                cells += ["–", "–"]
            else:
                cells.append(" ± ".join(law.exponent))
                middle, low, high = map(float, law(np.array(AHEAD)))
                cells.append(
                    f"{words(middle)} ({words(low)} to {words(high)})"
                    if low < law.limit
                    else f"{words(low)}, its limit"
                )
            lines.append(f"| {' | '.join([name, *cells])} |")
        lines.append("")
    gap = max(fit.gap for fit in fits if fit.gap is not None)
    compared = _compared(before, fits)
    return "\n".join([*lines, *compared, NOTES.format(gap=gap), *([_BEFORE] if compared else [])]) + "\n"


def _compared(before: Sequence[Fit], after: Sequence[Fit]) -> list[str]:
    """Return the table of earlier code beside this one: at the largest size that both have, and the powers."""
    lines = []
    for name in dict.fromkeys(fit.model for fit in before):
        now = SUCCESSORS.get(name, name)
        old, new = ({fit.n: fit for fit in fits if fit.model == of} for fits, of in ((before, name), (after, now)))
        if not (both := old.keys() & new.keys()):
            continue
        n = max(both)
        cells = [name if now == name else f"{name} → {now}", f"{n:,}"]
        for what in ("seconds", "megabytes"):
            laws = _law(before, name, what), _law(after, now, what)
            cells += [_small(getattr(fit, what), LEAST[what]) for fit in (old[n], new[n])]
            cells += ["–" if law is None else " ± ".join(law.exponent) for law in laws]
        lines.append(f"| {' | '.join(cells)} |")
    heads = ["before and after", "n"] + [f"{unit}, {when}" for unit in ("s", "MB") for when in _WHEN]
    return [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1), *lines, ""] if lines else []


def draw(fits: Sequence[Fit]) -> Any:
    """Return the figure: a panel of time and one of memory, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
    for axes, what, label, words in (
        (panels[0], "seconds", "processor time, s", duration),
        (panels[1], "megabytes", "memory, MB", amount),
    ):
        ends = []
        for name, (colour, style, marker) in zip(dict.fromkeys(fit.model for fit in fits), STYLES, strict=False):
            n, measured = _measured(fits, name, what)
            axes.plot(n, measured, marker, color=colour, markersize=5)
            law = _law(fits, name, what)
            if law is None:
                continue
            inside, ahead = n[[0, -1]], np.geomspace(n[-1], AHEAD, 200)
            axes.plot(inside, law(inside)[0], linestyle=style, color=colour, linewidth=1.6)
            middle, low, high = law(ahead)
            axes.plot(ahead, middle, linestyle=":", color=colour, linewidth=1.4)
            axes.fill_between(ahead, low, high, color=colour, alpha=0.1, linewidth=0)
            axes.plot(AHEAD, middle[-1], marker, color=colour, markersize=7, fillstyle="none", clip_on=False)
            exponent = r"$n^{{{} \pm {}}}$".format(*law.exponent)
            reached = words(middle[-1]) + (", its limit" if middle[-1] == law.limit else "")
            ends.append((float(middle[-1]), f"{name}\n{exponent}, {reached}", colour))
        axes.set(xscale="log", yscale="log", xlabel="points", ylabel=label)
        axes.set_xlim(right=AHEAD)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        _label(axes, ends)
    figure.suptitle(
        "MNIST, 4 against 9: measured (filled), power laws, and their extrapolation to ten times the pair "
        f"(dotted, {100 * CONFIDENCE:.0f} % band)",
        fontsize="medium",
    )
    return figure


def _label(axes: Any, ends: list[tuple[float, str, str]]) -> None:
    """Write beside the right end of every line what it is, the lowest first, none over another."""
    bottom, top = np.log(axes.get_ylim())
    free = 0.0
    for value, words, colour in sorted(ends):
        place = max((np.log(value) - bottom) / (top - bottom), free)
        free = place + 0.11
        axes.text(1.03, place, words, transform=axes.transAxes, va="center", fontsize="small", color=colour)


def duration(seconds: float) -> str:
    """Return a time in the unit that fits it."""
    for unit, size in (("years", 365.25 * 86400), ("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{_two(seconds / size)} {unit}"
    return f"{_two(seconds)} s"


def amount(megabytes: float) -> str:
    """Return an amount of memory in the unit that fits it."""
    for unit, size in (("PB", 1e9), ("TB", 1e6), ("GB", 1e3)):
        if megabytes >= size:
            return f"{_two(megabytes / size)} {unit}"
    return f"{_two(megabytes)} MB"


def _two(value: float) -> str:
    return f"{float(f'{value:.2g}'):,.10g}"


def _small(value: float, least: float) -> str:
    return f"< {least:g}" if value < least else f"{value:#.2g}" if value < 10 else f"{value:,.0f}"


def _measured(fits: Sequence[Fit], name: str, what: str) -> tuple[Array, Array]:
    """Return the sizes of a model and what was measured there, as far as it could be told."""
    told = [(fit.n, getattr(fit, what)) for fit in fits if fit.model == name and getattr(fit, what) > LEAST[what]]
    n, measured = np.array(told, dtype=float).reshape(-1, 2).T
    return n, measured


def _law(fits: Sequence[Fit], name: str, what: str) -> Law | None:
    """Return the law; None for fewer than three sizes."""
    n, measured = _measured(fits, name, what)
    line = Line.through(np.log(n), np.log(measured))
    return None if line is None else Law(line, LIMITS.get((name, what), inf))
