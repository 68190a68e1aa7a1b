"""A metric over the plane of two error rates: the best point marked, the infeasible region hatched.

The edge of the hatched region is exact: for every training part the smallest feasible rate of one class given the
other's, from the phase-1 value, not from the grid.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mmc.experiments.config import Experiment
from mmc.experiments.figures.drawing import Array, Drawing, Kind, Problem, shown, training_part
from mmc.experiments.metrics import Better, Costs
from mmc.experiments.plan import Unit
from mmc.experiments.records import Json, Record
from mmc.experiments.tables import metric_of, pooled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_RATES = ("eta_pos", "eta_neg")


class Plane(Kind):
    """``method`` is the label of an error-rate classifier with a grid over both rates, ``metric`` what is shown."""

    shows: ClassVar[str] = "a metric over the plane of two error rates, the infeasible region hatched"

    method: str
    metric: str

    def check(self, experiment: Experiment) -> Iterator[Problem]:
        yield from super().check(experiment)
        spec = experiment.methods.get(self.method)
        if spec is None:
            return
        grid = experiment.points_of(self.method)
        if spec.method != "error-rate" or not all(rate in point for point in grid for rate in _RATES):
            yield ("method",), f"{self.method!r} needs 'method: error-rate' and a grid over eta_pos and eta_neg"

    def draw(self, drawing: Drawing) -> Iterator[tuple[str, Figure]]:
        """Yield one figure per data set that the method is run on."""
        for dataset in drawing.experiment.datasets:
            if units := drawing.units_of(dataset, self.method):
                yield dataset, self._figure(drawing, dataset, units)

    def _figure(self, drawing: Drawing, dataset: str, units: Sequence[Unit]) -> Figure:
        import matplotlib.pyplot as plt

        xs, ys, values = self._surface(drawing, units)
        figure, axes = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
        shades = np.ma.masked_invalid(values)  # as pixels: between many small areas a browser leaves seams
        mesh = axes.pcolormesh(xs, ys, shades, cmap="viridis_r", shading="nearest", rasterized=True)
        figure.colorbar(mesh, ax=axes, label=f"{drawing.label(self.metric)}, mean over repetitions")
        _frontiers(axes, units)
        if not np.isnan(values).all():
            self._best(axes, drawing.experiment, xs, ys, values)
        axes.set(xlabel="η₁, bound on the error of the positive class", ylabel="η₂, of the negative class")
        title = f"{shown(self.method)} on {shown(dataset)}: {drawing.label(self.metric)}"
        axes.set(xlim=(0, 1.02), ylim=(0, 1.02), title=title)
        return figure

    def _surface(self, drawing: Drawing, units: Sequence[Unit]) -> tuple[Array, Array, Array]:
        """Return the axes and the mean metric at every grid point, NaN where any split is infeasible."""
        experiment = drawing.experiment
        grid = experiment.points_of(self.method)
        xs, ys = (np.array(sorted({_rate(point, rate) for point in grid})) for rate in _RATES)
        values = np.full((len(ys), len(xs)), np.nan)
        costs, metric = Costs(experiment.costs.pos, experiment.costs.neg), metric_of(self.metric, experiment)
        for index, point in enumerate(grid):
            repetitions: dict[int, list[Record | None]] = defaultdict(list)
            for unit in units:
                repetitions[unit.split.repetition].append(drawing.records.get(unit.trials[index].key))
            found = [pooled(metric, folds, costs) for folds in repetitions.values()]
            if found and None not in found:
                at = np.searchsorted(ys, _rate(point, "eta_neg")), np.searchsorted(xs, _rate(point, "eta_pos"))
                values[at] = np.mean(np.array(found, dtype=float))
        return xs, ys, values

    def _best(self, axes: Axes, experiment: Experiment, xs: Array, ys: Array, values: Array) -> None:
        more = metric_of(self.metric, experiment).better is Better.MORE
        row, column = np.unravel_index((np.nanargmax if more else np.nanargmin)(values), values.shape)
        best = float(xs[column]), float(ys[row])
        axes.plot(*best, "*", color="crimson", markersize=15, markeredgecolor="white")
        axes.annotate(
            f"{values[row, column]:.2f}",
            best,
            xytext=(-9 if best[0] > 0.85 else 9, -17 if best[1] > 0.9 else 7),
            textcoords="offset points",
            horizontalalignment="right" if best[0] > 0.85 else "left",
            color="crimson",
            fontweight="bold",
            bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
        )


def _rate(point: Mapping[str, Json], name: str) -> float:
    return float(str(point[name]))


def _frontiers(axes: Axes, units: Sequence[Unit]) -> None:
    """Draw the edge of feasibility of every split, and hatch what is infeasible on any."""
    from mmc.methods import ErrorRateClassifier

    rates = np.append(np.linspace(0.005, 0.995, 199), 1.0)
    curves = []
    for unit in units:
        own = {
            name: value for name, value in unit.task.params.items() if name not in (*_RATES, "solver", "solver_options")
        }
        curves.append(ErrorRateClassifier(**own).feasible_eta_neg(*training_part(unit), rates))
    edges = np.nan_to_num(np.array(curves), nan=1.1)  # beyond 1: no rate of the other class is feasible
    axes.plot(rates, edges.T, color="black", linewidth=0.4, alpha=0.5)
    axes.plot([], [], color="black", linewidth=0.4, alpha=0.5, label="of each split")
    worst = edges.max(axis=0)
    axes.fill_between(rates, 0, worst, facecolor="white", edgecolor="0.5", hatch="////", linewidth=0)
    axes.plot(rates, worst, color="black", linewidth=1.4, label="edge of what is feasible on every split")
    axes.legend(loc="lower left", framealpha=0.95, fontsize="small")
