"""Margin ratio on the training part against accuracy on the test points, one dot per pair of classes, and their line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mmc.experiments.figures import Drawing
from mmc.experiments.multiclass import votes

_CONFIDENCE = 0.95


def draw(drawing: Drawing) -> Iterator[tuple[str, Any]]:
    """Yield one figure per data set. Options: ``method``; ``reported``, the slope and intercept of the paper's line."""
    import matplotlib.pyplot as plt

    options = drawing.options
    chosen = [unit for unit in drawing.units if unit.label == options["method"]]
    for unit, index, record in votes(chosen, drawing.records):
        cloud = record.cloud if record is not None else None
        line = cloud.line if cloud is not None else None
        if cloud is None or line is None or index or unit.split.repetition or unit.split.fold:
            continue
        quantile = line.quantile(_CONFIDENCE)
        figure, axes = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
        room = 0.04 * np.ptp(cloud.ratio)
        x = np.linspace(cloud.ratio.min() - room, cloud.ratio.max() + room, 201)
        y, half = line.slope * x + line.intercept, line.band(x, _CONFIDENCE)
        axes.fill_between(
            x, y - half, y + half, color="royalblue", alpha=0.15, linewidth=0, label="95 % band of the line"
        )
        terms = (
            f"slope {line.slope:.3f} ± {quantile * line.slope_se:.3f}\n"
            f"intercept {line.intercept:.2f} ± {quantile * line.intercept_se:.2f} (95 %)"
        )
        axes.plot(x, y, color="royalblue", label=terms)
        if reported := options.get("reported"):
            slope, intercept = float(reported["slope"]), float(reported["intercept"])
            words = f"paper: slope {slope:.3f}, intercept {intercept:.2f}"
            axes.plot(x, slope * x + intercept, color="crimson", linestyle="--", label=words)
        pairs = f"{len(cloud.ratio)} pairs of classes" + (
            f" ({cloud.dropped} without a ratio)" if cloud.dropped else ""
        )
        axes.plot(cloud.ratio, cloud.accuracy, "o", markersize=4, color="0.25", label=pairs)
        _name_the_lowest(axes, cloud)
        axes.set(xlabel="margin ratio on the training part", ylabel="accuracy on the test points of both classes, %")
        axes.set(title=f"{unit.label}: {drawing.table.label(unit.source.label)}")
        axes.set(xlim=(x[0], x[-1]), ylim=(min(cloud.accuracy.min(), (y - half).min()) - 0.15, 100.15))
        axes.grid(alpha=0.3)
        figure.legend(loc="outside lower center", ncols=2, fontsize="small")
        yield (unit.source.label if len(drawing.config.experiment.datasets) > 1 else ""), figure


def _name_the_lowest(axes: Any, cloud: Any) -> None:
    """Write beside the three lowest dots which pairs they are."""
    for index in np.argsort(cloud.accuracy, kind="stable")[:3]:
        at = (cloud.ratio[index], cloud.accuracy[index])
        axes.annotate(cloud.names[index], at, (5, -2), textcoords="offset points", fontsize="x-small", color="0.25")
