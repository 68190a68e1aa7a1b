"""The files of the benchmark of bound warnings: what was simulated, as CSV, as tables and as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks._bound_simulation import ALLOWED, CLASSES, SETTINGS, SIZES, Row
from benchmarks._guarantee_report import ALPHA, write_csv
from mmc.experiments.figures import save

COLOURS = ("#0072B2", "#56B4E9", "#D55E00", "#E69F00")  # Okabe and Ito's
ENOUGH = 20  # draws of which a share is drawn


def write(rows: Sequence[Row], folder: Path) -> None:
    """Write simulation.csv, .md, .svg and .png."""
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(
        folder / "simulation.csv",
        [{**asdict(row), "p_value": row.p_value, "verdict": verdict(row, rows)} for row in rows],
    )
    (folder / "simulation.md").write_text(text(rows), "utf-8")
    save("simulation", draw(rows), folder)


def verdict(row: Row, rows: Sequence[Row]) -> str:
    """Return "ok" unless chance explains the false alarms with a probability below 5 %, shared by all well-posed rows."""
    if not row.well_posed:
        return "ill-posed"
    return "ok" if row.p_value >= ALPHA / sum(one.well_posed for one in rows) else "TOO MANY"


def text(rows: Sequence[Row]) -> str:
    """Return the tables and what must be known to read them."""
    posed = sum(row.well_posed for row in rows)
    fine = sum(verdict(row, rows) == "ok" for row in rows)
    total = {
        name: sum(getattr(row, name) for row in rows) for name in ("holds", "false_alarms", "twice", "far", "caught")
    }
    heads = (
        "setting",
        "method",
        "n",
        "p",
        "draws",
        "no fit",
        "bounds hold",
        "false alarms",
        "twice",
        "broken by far",
        "caught",
        "verdict",
    )
    lines = [
        "# Does the warning mean something?",
        "",
        f"{len(rows)} situations. In {total['holds']:,} draws both bounds hold: `fit` warns in {total['false_alarms']:,} of them "
        f"({_share(total['false_alarms'], total['holds'])}), and at most {100 * ALLOWED:g} % is kept within chance in {fine} of the {posed} well-posed situations. "
        f"In {total['far']:,} draws a bound is broken by far: `fit` warns in {total['caught']:,} ({_share(total['caught'], total['far'])}).",
        "",
        "- **bounds hold**: share of the draws in which the true error of each class is at most its bound on the training moments.",
        "- **false alarms**: of these, the share with a BoundWarning. **twice**: what it would be if `fit` warned where `bound_check_` is more "
        "than twice a bound. A bound by Chebyshev is far above the error of most classes, so it may be wrong by half and still hold.",
        "- **broken by far**: share of the draws with a true error of more than twice the bound, and more than 5 points above it. "
        "**caught**: of these, the share with a BoundWarning. Fifteen points cannot tell an error of 10 % from one of 3 %.",
        "- **verdict**: *ok* unless an exact binomial test says that false alarms are more than 1 %, at a level of 5 % for the whole page. "
        "*ill-posed*: a bound is broken in more than half of the draws; then those that hold are the lucky ones, and nothing is asked.",
        '- Settings: kernel and ridge; rbf has gamma "scale". bmpm keeps 20 % of class 0. n: training points of each class, p: features. '
        "*no fit*: infeasible, or no certified answer.",
    ]
    for classes in CLASSES:
        lines += [
            "",
            f"## {classes[0].upper()}{classes[1:]}",
            "",
            _line(heads),
            "|---|---|" + "---:|" * (len(heads) - 3) + "---|",
        ]
        for row in rows:
            if row.classes == classes:
                fits = row.draws - row.no_fit
                cells = (
                    row.setting,
                    row.method,
                    str(row.n),
                    str(row.p),
                    str(row.draws),
                    _share(row.no_fit, row.draws),
                    _share(row.holds, fits),
                    _share(row.false_alarms, row.holds),
                    _share(row.twice, row.holds),
                    _share(row.far, fits),
                    _share(row.caught, row.far),
                )
                lines.append(_line((*cells, verdict(row, rows))))
    return "\n".join(lines) + "\n"


def draw(rows: Sequence[Row]) -> Figure:
    """Return the figure: false alarms over n, and what is caught of the bounds that are broken by far."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    figure, panels = plt.subplots(2, len(CLASSES), figsize=(12, 6), sharex=True, sharey="row", layout="constrained")
    for column, classes in enumerate(CLASSES):
        shown = [row for row in rows if row.classes == classes]
        _dots(panels[0, column], [(row, row.false_alarms, row.holds) for row in shown])
        _dots(panels[1, column], [(row, row.caught, row.far) for row in shown])
        panels[0, column].axhline(100 * ALLOWED, color="black", linewidth=1)
        panels[0, column].set(title=classes, ylim=(-0.3, 6))
        panels[1, column].set(xlabel="training points of each class", xscale="log", xticks=SIZES, ylim=(-5, 105))
        panels[1, column].set_xticklabels(SIZES)
        panels[1, column].minorticks_off()
    panels[0, 0].set_ylabel("false alarms, %")
    panels[1, 0].set_ylabel("caught of those broken by far, %")
    figure.suptitle(
        "BoundWarning: how often it is wrong (line: 1 %), and how often it comes where it is due. "
        f"Situations with {ENOUGH} such draws or more",
        fontsize="medium",
    )
    handles = [
        Line2D([], [], color=c, marker="o", linestyle="", label=s) for s, c in zip(SETTINGS, COLOURS, strict=True)
    ]
    figure.legend(handles=handles, fontsize="small", loc="outside lower center", ncols=4)
    return figure


def _dots(axes: Axes, shares: Sequence[tuple[Row, int, int]]) -> None:
    for place, (setting, colour) in enumerate(zip(SETTINGS, COLOURS, strict=True)):
        found = [
            (row.n * 1.08 ** (place - 1.5), 100 * part / whole)
            for row, part, whole in shares
            if row.setting == setting and whole >= ENOUGH
        ]
        axes.plot([x for x, _ in found], [y for _, y in found], "o", color=colour, ms=4.5, alpha=0.6, mew=0)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2g} %" if whole and part < whole else "100 %" if whole else "–"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
