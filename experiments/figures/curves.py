"""Metrics along one parameter, one line per value of another, one panel per data set and metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mmc.experiments.figures import Drawing


def draw(drawing: Drawing) -> Iterator[tuple[str, Any]]:
    """Yield one figure. Options: ``x`` and ``lines`` (parameters), ``method``; ``logx``; ``reported``, levels to mark."""
    import matplotlib.pyplot as plt

    table, options = drawing.table, drawing.options
    x, lines = options["x"], options["lines"]
    cells = [c for c in table.cells if c.keys["method"] == options["method"] and c.mean is not None]
    datasets = list(drawing.config.experiment.datasets)
    figure, panels = plt.subplots(
        len(table.metrics),
        len(datasets),
        figsize=(4.6 * len(datasets), 2.9 * len(table.metrics)),
        sharex=True,
        layout="constrained",
        squeeze=False,
    )
    values = sorted({c.keys[lines] for c in cells}, key=float)
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(values)))
    for column, dataset in enumerate(datasets):
        for row, metric in enumerate(table.metrics):
            axes = panels[row][column]
            for colour, value in zip(colours, values, strict=True):
                chosen = [c for c in cells if (c.keys["dataset"], c.metric, c.keys[lines]) == (dataset, metric, value)]
                chosen.sort(key=lambda c: float(c.keys[x]))
                at = [float(c.keys[x]) for c in chosen]
                mean = np.array([c.mean for c in chosen])
                std = np.array([c.std for c in chosen])
                axes.plot(at, mean, "o-", markersize=3, color=colour, label=f"{table.label(lines)} = {value:g}")
                axes.fill_between(at, mean - std, mean + std, color=colour, alpha=0.15, linewidth=0)
            level = (options.get("reported") or {}).get(dataset, {}).get(metric)
            if level is not None:
                axes.axhline(level, color="crimson", linestyle="--", linewidth=1, label="reported")
            axes.set(xscale="log" if options.get("logx", True) else "linear")
            axes.grid(alpha=0.3)
            if row == 0:
                axes.set_title(table.label(dataset))
            if column == 0:
                axes.set_ylabel(table.label(metric))
            if row == len(table.metrics) - 1:
                axes.set_xlabel(table.label(x))
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=min(len(values) + 1, 4))
    yield "", figure
