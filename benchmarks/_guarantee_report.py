"""The files of the guarantee benchmark: what was simulated and compared, as CSV, as tables and as a figure."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import binom

from benchmarks._guarantee_peers import CONFIDENCE, PEERS, RATE, Result
from benchmarks._guarantee_simulation import ABSTAIN, ONE, TWO, Row
from mmc.experiments.figures import save

ALPHA = 0.05  # the chance that a sound promise has any row called broken
# Okabe and Ito's colours, told apart with any colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73")
MARKERS = {"Gaussian": "o", "skewed": "^", "Gaussian, rounded": "s"}


def write(rows: Sequence[Row], results: Sequence[Result], folder: Path) -> None:
    """Write simulation.csv, .md, .svg, .png, and peers.csv, .md."""
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(
        folder / "simulation.csv",
        [{**asdict(row), "p_value": row.p_value, "verdict": verdict(row, rows)} for row in rows],
    )
    (folder / "simulation.md").write_text(simulation_text(rows), "utf-8")
    save("simulation", draw(rows), folder)
    write_csv(folder / "peers.csv", [asdict(result) for result in results])
    (folder / "peers.md").write_text(peers_text(results), "utf-8")


def verdict(row: Row, rows: Sequence[Row]) -> str:
    """Return "kept" unless chance explains the broken promises with a probability below 5 %, shared by all rows."""
    return "kept" if row.p_value >= ALPHA / len(rows) else "BROKEN"


def simulation_text(rows: Sequence[Row]) -> str:
    """Return the tables of the simulation and what must be known to read them."""
    kept = sum(verdict(row, rows) == "kept" for row in rows)
    off = [row for row in rows if not isnan(row.predicted)]
    inside = sum(_inside(row) for row in off)
    covered = [row.covered - row.confidence for row in rows if not isnan(row.covered)]
    lines = [
        "# Does the promise hold?",
        "",
        f"{rows[0].repetitions:,} calibration samples in each of {len(rows)} situations: the promise is kept in {kept}. In {inside} of the "
        f"{len(off)} situations where theory says exactly how often it is broken, the measured share lies in the 95 % range "
        f"of chance. The interval of the undecided share covers the truth in at least the stated share of the samples, or "
        f"{100 * max(0.0, -min(covered)):.1f} points less at worst.",
        "",
        "- **broken**: share of the samples whose rule has a true error above the rate asked for. It may be at most 1 − confidence; "
        "*predicted* is what theory says, where it is exact (no ties, no room between two limits).",
        "- **verdict**: *kept* unless an exact binomial test says that the share is too large, at a level of 5 % for the whole page.",
        "- **used**: mean true error ÷ rate asked for. 100 % cannot be reached: the rest is the price of certainty, and falls with n.",
        "- **other class**: mean true error of the class without a limit, and what it would be if the distributions were known.",
        "- **no rule**: samples with InfeasibleProblem. They break no promise, but see the last row of two limits: where a rule is rare, those "
        "that exist are the lucky ones. Abstaining has no such trap.",
        "- Scores: N(0, 1) against N(2, 1); exponential against lognormal; N(0, 1) against N(2, 1) rounded down to quarters, so that "
        "many are tied. For two limits the second class is moved until both could be kept, with some room. n: calibration "
        "examples of each class.",
    ]
    for kind in (ONE, TWO, ABSTAIN):
        extra = {
            ONE: ("other class",),
            TWO: ("no rule", "broken of those with a rule"),
            ABSTAIN: ("undecided", "interval covers"),
        }[kind]
        heads = ("scores", "rate", "confidence", "n", "broken", "may be", "predicted", "used", *extra, "verdict")
        lines += ["", f"## {kind.capitalize()}", "", _line(heads), "|---|" + "---:|" * (len(heads) - 2) + "---|"]
        for row in rows:
            if row.kind == kind:
                cells = (
                    row.scores,
                    _share(row.rate),
                    _share(row.confidence),
                    f"{row.n:,}",
                    _share(row.broken / row.repetitions),
                    _share(1 - row.confidence),
                    _share(row.predicted),
                    f"{100 * row.error / row.rate:.0f} %",
                )
                lines.append(_line((*cells, *_extra(row), verdict(row, rows))))
    return "\n".join(lines) + "\n"


def peers_text(results: Sequence[Result]) -> str:
    """Return the comparison and what must be known to read it."""
    heads = ("data", "n", "method", "no rule", f"error above {_share(RATE)}", "mean error", "other class", "ms")
    lines = [
        "# Beside MAPIE and scikit-learn",
        "",
        f"Asked for: at most {_share(RATE)} errors of the positive class, at {_share(CONFIDENCE)} confidence where the method has one. The same "
        "logistic regression, fitted on 40 % of a real set (200 examples of each class of a simulated one); the same calibration "
        f"samples, n of each class, {results[0].repetitions} of them, drawn with replacement from the rest, which is the population: true errors are exact. "
        f"A method that promises this may have *error above {_share(RATE)}* in at most {_share(1 - CONFIDENCE)} of the samples. *ms*: processor time to calibrate.",
        "",
        _line(("method", "promises", "settings")),
        "|---|---|---|",
        *(_line((peer.name, peer.promises, peer.settings)) for peer in PEERS),
        "",
        _line(heads),
        "|---|---:|---|" + "---:|" * (len(heads) - 3),
    ]
    for result in results:
        cells = (_share(result.no_rule / result.repetitions), _share(result.broken / result.repetitions))
        means = (_share(result.error), _share(result.other), f"{1e3 * result.seconds:.1f}")
        lines.append(_line((result.data, str(result.n), result.peer, *cells, *means)))
    missed = [result.broken / result.repetitions for result in results if result.peer == PEERS[-1].name]
    notes = [
        "",
        f"- scikit-learn's threshold meets the floor on the calibration sample, as asked. On new data it misses it in {_share(min(missed))} to "
        f"{_share(max(missed))} of the samples. The lower error of the other class is the other side of that.",
        "- MAPIE rests on the same binomial tail. Its default corrects for the number of thresholds it tries, which small samples cannot "
        "pay. In a fixed order nothing is to be corrected; what is left is its grid, and that version 1.6.0 counts one error too many "
        "where 1 − recall is rounded up (n × 0.01 becomes 1.0000000000000009, then 2). Both are on the safe side.",
    ]
    return "\n".join([*lines, *notes]) + "\n"


def draw(rows: Sequence[Row]) -> Figure:
    """Return the figure: broken promises over what is allowed, and how much of the rate is used, for each kind."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 3, figsize=(12, 7), sharex=True, sharey="row", layout="constrained")
    for column, kind in enumerate((ONE, TWO, ABSTAIN)):
        shown = [row for row in rows if row.kind == kind and row.scores in MARKERS]
        _broken(panels[0, column], shown)
        _used(panels[1, column], shown)
        panels[0, column].set_title(kind, fontsize="medium")
        panels[1, column].set_xlabel("calibration examples of each class")
    panels[0, 0].set_ylabel("broken promises ÷ those allowed")
    panels[1, 0].set_ylabel("mean true error ÷ rate asked for")
    figure.suptitle(
        "RateGuarantee: how often the promise is broken, and how much of the allowed error is used", fontsize="medium"
    )
    _legends(figure, panels)
    return figure


def _broken(axes: Axes, rows: Sequence[Row]) -> None:
    for confidence, colour in zip(sorted({row.confidence for row in rows}), COLOURS, strict=True):
        for row in (row for row in rows if row.confidence == confidence):
            axes.plot(
                row.n,
                row.broken / row.repetitions / (1 - confidence),
                MARKERS[row.scores],
                color=colour,
                ms=4.5,
                alpha=0.75,
                mew=0,
            )
        limit = binom.isf(ALPHA / 2, rows[0].repetitions, 1 - confidence) / rows[0].repetitions / (1 - confidence)
        axes.axhline(limit, color=colour, linestyle=":", linewidth=1)
    axes.axhline(1, color="black", linewidth=1)
    axes.set(xscale="log", ylim=(-0.05, 1.6))
    _plain(axes)


def _used(axes: Axes, rows: Sequence[Row]) -> None:
    for rate, colour in zip(sorted({row.rate for row in rows}), COLOURS, strict=True):
        for row in (row for row in rows if row.rate == rate):
            axes.plot(row.n, row.error / rate, MARKERS[row.scores], color=colour, ms=4.5, alpha=0.75, mew=0)
    axes.axhline(1, color="black", linewidth=1)
    axes.set(ylim=(0, 1.08))
    _plain(axes)


def _plain(axes: Axes) -> None:
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _legends(figure: Figure, panels: np.ndarray[tuple[int, int], np.dtype[np.object_]]) -> None:
    from matplotlib.lines import Line2D

    def dots(words: Sequence[str]) -> list[Line2D]:
        return [Line2D([], [], color=c, marker="o", linestyle="", label=w) for c, w in zip(COLOURS, words, strict=True)]

    dotted = Line2D([], [], color="grey", linestyle=":", label="97.5 % limit of chance")
    confidences = [f"{c} % confidence" for c in (90, 95, 99)]
    panels[0, 2].legend(handles=[*dots(confidences), dotted], fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    panels[1, 2].legend(
        handles=dots([f"rate {r} %" for r in (1, 5, 10)]), fontsize="small", loc="upper left", bbox_to_anchor=(1, 1)
    )
    shapes = [Line2D([], [], color="grey", marker=m, linestyle="", label=name) for name, m in MARKERS.items()]
    figure.legend(handles=shapes, fontsize="small", loc="outside lower center", ncols=3)


def _inside(row: Row) -> bool:
    low, high = binom.interval(0.95, row.repetitions, row.predicted)
    return bool(low <= row.broken <= high)


def _extra(row: Row) -> tuple[str, ...]:
    if row.kind == ONE:
        return (_share(row.other) + ("" if isnan(row.other_known) else f" ({_share(row.other_known)})"),)
    if row.kind == TWO:
        ruled = row.repetitions - row.no_rule
        return _share(row.no_rule / row.repetitions), _share(row.broken / ruled) if ruled else "–"
    return _share(row.undecided), _share(row.covered)


def _share(value: float) -> str:
    return "–" if isnan(value) else f"{100 * value:.3g} %" if value >= 0.1 or value == 0 else f"{100 * value:.2g} %"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def write_csv(path: Path, rows: Sequence[dict[str, object]]) -> None:
    """Write rows with numbers of six digits."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)
