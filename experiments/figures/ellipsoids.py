"""The geometry of Nath & Bhattacharyya's Figure 4: classes as ellipsoids, their closest points, the hyperplanes.

One panel per data set of the config, each fitted on the whole set: this is a picture of solutions, not of errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mmc.experiments.figures import Drawing
from mmc.methods import CATALOGUE

_COLOURS = ("crimson", "royalblue", "seagreen", "darkorange")


def draw(drawing: Drawing) -> Iterator[tuple[str, Any]]:
    """Yield one figure. Options: ``method``, the label of the error-rate classifier whose ellipsoids are drawn."""
    import matplotlib.pyplot as plt

    experiment = drawing.config.experiment
    sources = {unit.source.label: unit.source for unit in drawing.units}
    figure, panels = plt.subplots(
        1,
        len(sources),
        figsize=(5.2 * len(sources), 3.0),
        sharex=True,
        sharey=True,
        layout="constrained",
        squeeze=False,
    )
    for axes, (dataset, source) in zip(panels[0], sources.items(), strict=True):
        data = source.load()
        sign = data.sign()
        for side, marker, name in ((1, "o", "positive"), (-1, "s", "negative")):
            points = data.X[sign == side]
            axes.scatter(
                *points.T, marker=marker, s=16, facecolor="none" if side < 0 else "0.3", edgecolor="0.3", label=name
            )
        models = {
            label: CATALOGUE[spec.method].load()(**spec.params).fit(data.X, sign)
            for label, spec in experiment.methods.items()
        }
        colours = dict(zip(models, _COLOURS, strict=False))
        drawn = drawing.options["method"]
        _ellipsoids(axes, data.X, sign, models[drawn], colours[drawn])
        span = axes.get_xlim(), axes.get_ylim()
        for label, model in models.items():
            _hyperplane(axes, model, span, colours[label], label)
        axes.set(
            xlim=span[0], ylim=span[1], title=drawing.table.label(dataset), xlabel="x₁", ylabel="x₂", aspect="equal"
        )
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    yield "", figure


def closest_points(X: Any, sign: Any, model: Any) -> tuple[Any, Any]:
    """Return z1 and z2 of (3.25): where the hyperplanes w·x - b = ±1 touch the ellipsoids."""
    w = model.coef_[0]
    found = []
    for side, eta in ((1, model.eta_pos), (-1, model.eta_neg)):
        points = X[sign == side]
        covariance = np.cov(points.T, bias=True)
        kappa = np.sqrt((1 - eta) / eta)
        found.append(points.mean(axis=0) - side * kappa * covariance @ w / np.sqrt(w @ covariance @ w))
    return found[0], found[1]


def _ellipsoids(axes: Any, X: Any, sign: Any, model: Any, colour: str) -> None:
    angle = np.linspace(0, 2 * np.pi, 200)
    circle = np.array([np.cos(angle), np.sin(angle)])
    for side, eta in ((1, model.eta_pos), (-1, model.eta_neg)):
        points = X[sign == side]
        root = np.linalg.cholesky(np.cov(points.T, bias=True))
        edge = points.mean(axis=0)[:, None] + np.sqrt((1 - eta) / eta) * root @ circle
        axes.plot(*edge, color=colour, linewidth=1)
        axes.plot(*points.mean(axis=0), "+", color=colour, markersize=9)
    ends = np.array(closest_points(X, sign, model))
    axes.plot(*ends.T, "o--", color=colour, markersize=5, linewidth=1)


def _hyperplane(axes: Any, model: Any, span: Any, colour: str, label: str) -> None:
    w, b = model.coef_[0], model.intercept_[0]
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    reach = np.hypot(*(s[1] - s[0] for s in span))
    for level, style in ((0, "-"), (1, ":"), (-1, ":")):
        foot = (level - b) * w / (w @ w)
        ends = np.array([foot - reach * along, foot + reach * along])
        axes.plot(
            *ends.T, style, color=colour, linewidth=1.6 if level == 0 else 0.8, label=label if level == 0 else None
        )
