"""Metrics along one parameter, one line per value of another, one panel per data set and metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mmc.experiments.cells import Cell
from mmc.experiments.config import Experiment
from mmc.experiments.figures.drawing import Array, Drawing, Kind, Problem
from mmc.words import nearest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BANDS = 3  # more would hide each other
_STYLES = ("-", "--", "-.", ":")


class Curves(Kind):
    """``x`` and ``lines`` are parameters of a ``method`` with a grid.

    ``reported`` marks levels, {data set: {metric: level}}; ``logx: false`` makes the axis of x linear.
    """

    shows: ClassVar[str] = "metrics along one parameter, a line for every value of another"
    several_classes: ClassVar[bool] = True

    method: str
    x: str
    lines: str
    logx: bool = True
    reported: Mapping[str, Mapping[str, float]] = {}

    def check(self, experiment: Experiment) -> Iterator[Problem]:
        yield from super().check(experiment)
        if self.method not in experiment.methods:
            return
        spec = experiment.methods[self.method]
        if spec.tune is not None or spec.best is not None:
            yield ("method",), f"method {self.method!r} shows one point of its grid; a figure of curves needs them all"
            return
        points = [{**spec.params, **point} for point in experiment.points_of(self.method)]
        for name in ("x", "lines"):
            key = getattr(self, name)
            values = [point.get(key) for point in points]
            if None in values:
                yield (name,), f"{self.method} has no parameter {key!r} at every point: {nearest(key, points[0])}"
            elif not all(isinstance(value, (int, float)) for value in values):
                yield (name,), f"{name}: {key!r} is not a number at every point of the grid"
            elif name == "x" and self.logx and any(value <= 0 for value in values if isinstance(value, (int, float))):
                yield (
                    ("logx",),
                    f"{key!r} is not positive at every point; a logarithmic axis cannot show it: logx: false",
                )
        for dataset, levels in self.reported.items():
            if dataset not in experiment.datasets:
                yield ("reported", dataset), f"no data set {dataset!r}: {nearest(dataset, experiment.datasets)}"
            for metric in levels:
                if metric not in experiment.table.metrics:
                    hint = nearest(metric, experiment.table.metrics)
                    yield ("reported", dataset, metric), f"the table has no metric {metric!r}: {hint}"

    def draw(self, drawing: Drawing) -> Iterator[tuple[str, Figure]]:
        """Yield one figure."""
        import matplotlib.pyplot as plt

        table = drawing.table
        cells = [c for c in table.cells if c.keys["method"] == self.method and c.mean is not None]
        datasets = list(drawing.experiment.datasets)
        figure, panels = plt.subplots(
            len(table.metrics),
            len(datasets),
            figsize=(4.6 * len(datasets), 2.9 * len(table.metrics)),
            sharex=True,
            layout="constrained",
            squeeze=False,
        )
        values = sorted({_at(c, self.lines) for c in cells})
        for column, dataset in enumerate(datasets):
            for row, metric in enumerate(table.metrics):
                axes = panels[row][column]
                chosen = [c for c in cells if (c.keys["dataset"], c.metric) == (dataset, metric)]
                self._panel(axes, drawing, chosen, values)
                level = self.reported.get(dataset, {}).get(metric)
                if level is not None:
                    axes.axhline(level, color="crimson", linestyle="--", linewidth=1, label="reported")
                axes.set(xscale="log" if self.logx else "linear")
                axes.grid(alpha=0.3)
                if row == 0:
                    axes.set_title(drawing.label(dataset))
                if column == 0:
                    axes.set_ylabel(drawing.label(metric))
                if row == len(table.metrics) - 1:
                    axes.set_xlabel(drawing.label(self.x))
        named = panels[0][0].get_legend_handles_labels()
        spread = "band" if len(values) <= _BANDS else "bar"
        title = f"{spread}s: ± one standard deviation over repetitions"
        figure.legend(*named, loc="outside lower center", ncols=min(len(values) + 1, 4), title=title)
        yield "", figure

    def _panel(self, axes: Axes, drawing: Drawing, cells: list[Cell], values: list[float]) -> None:
        from matplotlib import colormaps

        colours = colormaps["viridis"](np.linspace(0, 0.85, len(values)))
        for index, (colour, value) in enumerate(zip(colours, values, strict=True)):
            chosen = sorted((c for c in cells if _at(c, self.lines) == value), key=lambda c: _at(c, self.x))
            at = [_at(c, self.x) for c in chosen]
            mean, std = np.array([c.mean for c in chosen]), np.array([c.std for c in chosen])
            low, high = _cut(mean - std, mean + std, any(c.percent for c in chosen))
            style = {"color": colour, "linestyle": _STYLES[index % len(_STYLES)], "marker": "o", "markersize": 3}
            name = f"{drawing.table.label(self.lines)} = {value:g}"
            if len(values) <= _BANDS:
                axes.plot(at, mean, label=name, **style)
                axes.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)
            else:  # many bands would hide each other
                axes.errorbar(at, mean, (mean - low, high - mean), elinewidth=0.7, capsize=2, label=name, **style)


def _cut(low: Array, high: Array, percent: bool) -> tuple[Array, Array]:
    """Return the ends of a band; no share is below 0 or above 100 %."""
    return (np.clip(low, 0, 100), np.clip(high, 0, 100)) if percent else (low, high)


def _at(cell: Cell, key: str) -> float:
    return float(str(cell.keys[key]))
