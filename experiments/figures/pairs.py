"""Margin ratio on the training part against accuracy on the test points, one dot per pair of classes, and their line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mmc.experiments.config import Experiment
from mmc.experiments.figures.drawing import Drawing, Kind, Problem, shown
from mmc.experiments.model import Model
from mmc.experiments.multiclass import Cloud, votes
from mmc.experiments.regression import Line
from mmc.methods.registry import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CONFIDENCE = 0.95


class PrintedLine(Model):
    """The line that a paper printed."""

    slope: float
    intercept: float


class Pairs(Kind):
    """``method`` is a label; ``reported`` is the line of the paper."""

    shows: ClassVar[str] = "margin ratio and test accuracy of every pair of classes, and the line through them"
    several_classes: ClassVar[bool] = True

    method: str
    reported: PrintedLine | None = None

    def check(self, experiment: Experiment) -> Iterator[Problem]:
        yield from super().check(experiment)
        if not experiment.multiclass:
            yield ("kind",), "a figure of the pairs needs 'multiclass: one-vs-one'"
        spec = experiment.methods.get(self.method)
        if spec is not None and spec.method in METHODS and "margin_ratio" not in METHODS[spec.method].facts:
            yield ("method",), f"{self.method!r} has no margin ratio; only methods of the key 'mmrm' have one"

    def draw(self, drawing: Drawing) -> Iterator[tuple[str, Figure]]:
        """Yield one figure per data set, of the first split; none where fewer than three pairs have a ratio."""
        chosen = [unit for unit in drawing.units if unit.label == self.method]
        for unit, index, record in votes(chosen, drawing.records):
            cloud = record.cloud if record is not None else None
            line = cloud.line if cloud is not None else None
            if cloud is None or line is None or index or unit.split.repetition or unit.split.fold:
                continue
            figure = self._figure(cloud, line)
            figure.axes[0].set_title(f"{shown(unit.label)}: {drawing.label(unit.source.label)}")
            yield (unit.source.label if len(drawing.experiment.datasets) > 1 else ""), figure

    def _figure(self, cloud: Cloud, line: Line) -> Figure:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
        room = 0.04 * np.ptp(cloud.ratio)
        x = np.linspace(cloud.ratio.min() - room, cloud.ratio.max() + room, 201)
        y, half = line.slope * x + line.intercept, line.band(x, _CONFIDENCE)
        axes.fill_between(
            x, y - half, y + half, color="royalblue", alpha=0.15, linewidth=0, label="95 % band of the line"
        )
        quantile = line.quantile(_CONFIDENCE)
        terms = (
            f"slope {line.slope:.3f} ± {quantile * line.slope_se:.3f}\n"
            f"intercept {line.intercept:.2f} ± {quantile * line.intercept_se:.2f} (95 %)"
        )
        axes.plot(x, y, color="royalblue", label=terms)
        if self.reported:
            slope, intercept = self.reported.slope, self.reported.intercept
            words = f"paper: slope {slope:.3f}, intercept {intercept:.2f}"
            axes.plot(x, slope * x + intercept, color="crimson", linestyle="--", label=words)
        without = f" ({cloud.dropped} without a ratio)" if cloud.dropped else ""
        pairs = f"{len(cloud.ratio)} pairs of classes{without}"
        axes.plot(cloud.ratio, cloud.accuracy, "o", markersize=4, color="0.25", label=pairs)
        _name_the_lowest(axes, cloud)
        axes.set(xlabel="margin ratio on the training part", ylabel="accuracy on the test points of both classes, %")
        axes.set(xlim=(x[0], x[-1]), ylim=(min(cloud.accuracy.min(), (y - half).min()) - 0.15, 100.15))
        axes.grid(alpha=0.3)
        figure.legend(loc="outside lower center", ncols=2, fontsize="small")
        return figure


def _name_the_lowest(axes: Axes, cloud: Cloud) -> None:
    """Write beside the three lowest dots which pairs they are."""
    for index in np.argsort(cloud.accuracy, kind="stable")[:3]:
        at = (float(cloud.ratio[index]), float(cloud.accuracy[index]))
        name = shown(cloud.names[index])
        axes.annotate(name, at, (5, -2), textcoords="offset points", fontsize="x-small", color="0.25")
