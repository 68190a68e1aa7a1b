"""A metric over the plane of two error rates: the best point marked, the infeasible region hatched.

The edge of the hatched region is exact: for every training part the smallest feasible rate of one class given the
other's, from the phase-1 value, not from the grid.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from mmc.experiments.figures import Drawing, training_part
from mmc.experiments.metrics import Costs
from mmc.experiments.tables import metric_of, pooled


def draw(drawing: Drawing) -> Iterator[tuple[str, Any]]:
    """Yield one figure per data set. Options: ``method`` (a label with a grid), ``metric``."""
    import matplotlib.pyplot as plt

    experiment = drawing.config.experiment
    label, name = drawing.options["method"], drawing.options["metric"]
    grid = experiment.points_of(label)
    for dataset in experiment.datasets:
        units = [u for u in drawing.units if u.source.label == dataset and u.label == label]
        xs, ys, values = _surface(drawing, units, grid, name)
        figure, axes = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
        shown = np.ma.masked_invalid(values)  # as pixels: between many small areas a browser leaves seams
        mesh = axes.pcolormesh(xs, ys, shown, cmap="viridis_r", shading="nearest", rasterized=True)
        figure.colorbar(mesh, ax=axes, label=f"{drawing.table.label(name)}, mean over repetitions")
        _frontiers(axes, units)
        row, column = np.unravel_index(np.nanargmin(values), values.shape)
        best = xs[column], ys[row]
        axes.plot(*best, "*", color="crimson", markersize=15, markeredgecolor="white")
        axes.annotate(
            f"{values[row, column]:.2f}",
            best,
            xytext=(-9 if best[0] > 0.85 else 9, -17 if best[1] > 0.9 else 7),
            textcoords="offset points",
            horizontalalignment="right" if best[0] > 0.85 else "left",
            color="crimson",
            fontweight="bold",
        )
        axes.set(xlabel="η₁, bound on the error of the positive class", ylabel="η₂, of the negative class")
        axes.set(xlim=(0, 1.02), ylim=(0, 1.02), title=f"{label} on {dataset}: {drawing.table.label(name)}")
        yield dataset, figure


def _surface(drawing: Drawing, units: Any, grid: Any, name: str) -> tuple[Any, Any, Any]:
    """Return the axes and the mean metric at every grid point, NaN where any split is infeasible."""
    xs = np.array(sorted({p["eta_pos"] for p in grid}))
    ys = np.array(sorted({p["eta_neg"] for p in grid}))
    values = np.full((len(ys), len(xs)), np.nan)
    experiment = drawing.config.experiment
    costs, metric = Costs(experiment.costs.pos, experiment.costs.neg), metric_of(name, experiment)
    for index, point in enumerate(grid):
        repetitions: dict[int, list[Any]] = defaultdict(list)
        for unit in units:
            repetitions[unit.split.repetition].append(drawing.records.get(unit.trials[index].key))
        found = [pooled(metric, folds, costs) for folds in repetitions.values()]
        if found and None not in found:
            at = np.searchsorted(ys, point["eta_neg"]), np.searchsorted(xs, point["eta_pos"])
            values[at] = np.mean(np.array(found, dtype=float))
    return xs, ys, values


def _frontiers(axes: Any, units: Any) -> None:
    from mmc.methods import ErrorRateClassifier

    rates = np.append(np.linspace(0.005, 0.995, 199), 1.0)
    curves = []
    for unit in units:
        curves.append(ErrorRateClassifier().feasible_eta_neg(*training_part(unit), rates))
    edges = np.nan_to_num(np.array(curves), nan=1.1)  # beyond 1: no rate of the other class is feasible
    axes.plot(rates, edges.T, color="black", linewidth=0.4, alpha=0.5)
    worst = edges.max(axis=0)
    axes.fill_between(rates, 0, worst, facecolor="white", edgecolor="0.5", hatch="////", linewidth=0)
    axes.plot(rates, worst, color="black", linewidth=1.4, label="edge of feasibility on every split")
    axes.legend(loc="lower left", framealpha=0.95, fontsize="small")
