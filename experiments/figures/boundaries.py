"""Two-dimensional data with the decision boundaries of the methods, fitted on the training part of the first split."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mmc.experiments.errors import ConfigError
from mmc.experiments.figures import Drawing, refitted
from mmc.experiments.plan import Unit
from mmc.experiments.preparation import prepared, signs

_COLOURS = ("crimson", "seagreen", "black", "royalblue", "darkorange", "purple")


def draw(drawing: Drawing) -> Iterator[tuple[str, Any]]:
    """Yield one figure per data set. Options: ``datasets``, ``methods`` (labels; default all); ``dashed`` (labels)."""
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    experiment = drawing.config.experiment
    labels = drawing.options.get("methods") or list(experiment.methods)
    datasets = drawing.options.get("datasets") or list(experiment.datasets)
    for dataset in datasets:
        unit = next((u for u in drawing.units if u.source.label == dataset), None)
        data = unit.source.load() if unit else None
        if unit is None or data is None or data.X.shape[1] != 2:
            raise ConfigError(
                f"{drawing.config.file}: a figure of kind 'boundaries' needs data in the plane, unlike {dataset}; "
                "'datasets' says which are drawn"
            )
        ready, positive = prepared(unit.where), signs(unit.where) > 0
        train, test = ready.train, ready.test
        y_train, y_test = positive[ready.rows.train], positive[ready.rows.test]
        figure, axes = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
        for points, members, size, alpha, part in (
            (train, y_train, 20, 0.9, "training"),
            (test, y_test, 12, 0.45, "test"),
        ):
            for side, marker, name in ((True, "s", "positive"), (False, "x", "negative")):
                shade = "tab:pink" if side else "0.35"
                chosen = points[members == side]
                axes.scatter(
                    chosen[:, 0], chosen[:, 1], marker=marker, s=size, alpha=alpha, color=shade, label=f"{name}, {part}"
                )
        low, high = np.vstack([train, test]).min(axis=0), np.vstack([train, test]).max(axis=0)
        pad = 0.06 * (high - low)
        grid = [np.linspace(a, b, 240) for a, b in zip(low - pad, high + pad, strict=True)]
        mesh = np.stack(np.meshgrid(*grid), axis=-1)
        handles = axes.get_legend_handles_labels()[0]
        for colour, label in zip(_COLOURS, labels, strict=False):
            model = _fitted(drawing, unit, label)
            values = model.decision_function(mesh.reshape(-1, 2)).reshape(mesh.shape[:2])
            style: Any = "--" if label in drawing.options.get("dashed", []) else "-"
            axes.contour(*grid, values, levels=[0.0], colors=[colour], linestyles=[style], linewidths=1.8)
            handles.append(Line2D([], [], color=colour, linestyle=style, label=label))
        axes.set(xlabel="x₁", ylabel="x₂", title=drawing.table.label(dataset))
        figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize="small")
        yield (dataset if len(datasets) > 1 else ""), figure


def _fitted(drawing: Drawing, unit: Unit, label: str) -> Any:
    """Fit a method on the split of a unit."""
    mine = next(u for u in drawing.units if (u.source, u.label, u.split) == (unit.source, label, unit.split))
    return refitted(drawing, mine)
