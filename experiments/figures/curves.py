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
    from matplotlib.artist import Artist
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
        """Yield one figure: a column of panels for every data set, or if bands would hide each other, for every line."""
        import matplotlib.pyplot as plt

        table, datasets = drawing.table, list(drawing.experiment.datasets)
        cells = [c for c in table.cells if c.keys["method"] == self.method and c.mean is not None]
        values = sorted({_at(c, self.lines) for c in cells})
        apart = len(values) > _BANDS
        if apart:
            rows = [(dataset, metric) for dataset in datasets for metric in table.metrics]
            shape, size = (len(rows), len(values)), (1.2 + 1.7 * len(values), 2.0 * len(rows) + 0.6)
        else:
            shape = len(table.metrics), len(datasets)
            size = 4.6 * shape[1], 2.9 * shape[0]
        figure, panels = plt.subplots(
            *shape, figsize=size, sharex=True, sharey="row" if apart else False, layout="constrained", squeeze=False
        )
        for index, dataset in enumerate(datasets):
            for row, metric in enumerate(table.metrics):
                chosen = [c for c in cells if (c.keys["dataset"], c.metric) == (dataset, metric)]
                across = panels[index * len(table.metrics) + row] if apart else panels[row][index : index + 1]
                for number, axes in enumerate(across):
                    self._panel(axes, drawing, chosen, values, {number} if apart else set(range(len(values))))
                    level = self.reported.get(dataset, {}).get(metric)
                    if level is not None:
                        axes.axhline(level, color="crimson", linestyle="--", linewidth=1, label="reported")
                if apart or index == 0:
                    where = f"{drawing.label(dataset)}\n" if apart and len(datasets) > 1 else ""
                    across[0].set_ylabel(where + drawing.label(metric), fontsize="small" if apart else None)
        heads = [self._name(drawing, value) for value in values] if apart else [drawing.label(d) for d in datasets]
        for axes, head in zip(panels[0], heads, strict=True):
            axes.set_title(head, fontsize="medium")
        for axes in panels[-1]:
            axes.set_xlabel(drawing.label(self.x), fontsize="small" if apart else None)
        named: dict[str, Artist] = {}
        for axes in reversed(list(panels.flat)):  # the first panel's own come last, and stay
            handles, labels = axes.get_legend_handles_labels()
            named |= dict(zip(labels, handles, strict=True))
        figure.legend(
            named.values(),
            named.keys(),
            loc="outside lower center",
            ncols=min(len(named), 4),
            title="bands: ± one standard deviation over repetitions",
        )
        yield "", figure

    def _name(self, drawing: Drawing, value: float) -> str:
        return f"{drawing.table.label(self.lines)} = {value:g}"

    def _panel(self, axes: Axes, drawing: Drawing, cells: list[Cell], values: list[float], shown: set[int]) -> None:
        """Draw the lines with the numbers ``shown``, each with its band; the others are grey."""
        from matplotlib import colormaps

        alone = len(shown) < len(values)
        colours = colormaps["viridis"](np.linspace(0, 0.85, len(values)))
        for index, (colour, value) in enumerate(zip(colours, values, strict=True)):
            chosen = sorted((c for c in cells if _at(c, self.lines) == value), key=lambda c: _at(c, self.x))
            at = [_at(c, self.x) for c in chosen]
            mean, std = np.array([c.mean for c in chosen]), np.array([c.std for c in chosen])
            if index not in shown:
                axes.plot(at, mean, color="0.75", linewidth=0.8, zorder=1, label="the other columns")
                continue
            low, high = _cut(mean - std, mean + std, any(c.percent for c in chosen))
            style = "-" if alone else _STYLES[index % len(_STYLES)]
            name = "this column" if alone else self._name(drawing, value)
            axes.plot(at, mean, color=colour, linestyle=style, marker="o", markersize=3, label=name)
            axes.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.set(xscale="log" if self.logx else "linear")
        axes.grid(alpha=0.3)


def _cut(low: Array, high: Array, percent: bool) -> tuple[Array, Array]:
    """Return the ends of a band; no share is below 0 or above 100 %."""
    return (np.clip(low, 0, 100), np.clip(high, 0, 100)) if percent else (low, high)


def _at(cell: Cell, key: str) -> float:
    return float(str(cell.keys[key]))
