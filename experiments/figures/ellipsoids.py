"""The geometry of Nath & Bhattacharyya's Figure 4: classes as ellipsoids, their closest points, the hyperplanes.

One panel per data set of the config, each fitted on the whole set: this is a picture of solutions, not of errors.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from mmc.experiments.config import Experiment
from mmc.experiments.figures.drawing import Array, Drawing, Kind, Problem, not_in_the_plane, shown
from mmc.experiments.plan import Unit
from mmc.methods import BoundWarning, FitError
from mmc.methods.registry import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("crimson", "royalblue", "seagreen", "darkorange")


class Linear(Protocol):
    """A linear classifier."""

    coef_: Array
    intercept_: Array


class ErrorRates(Linear, Protocol):
    """A linear classifier with a bound on the error of each class."""

    eta_pos: float
    eta_neg: float
    mean_uncertainty: float | Sequence[float]
    covariance_uncertainty: float | Sequence[float]
    ridge_: Array
    shrinkage_: Array


class Ellipsoids(Kind):
    """``method`` is the label of the error-rate classifier whose ellipsoids are drawn."""

    shows: ClassVar[str] = "two-dimensional classes as ellipsoids, their closest points, the hyperplanes"

    method: str

    def check(self, experiment: Experiment) -> Iterator[Problem]:
        yield from super().check(experiment)
        spec = experiment.methods.get(self.method)
        if spec is not None and (spec.method != "error-rate" or None in map(spec.params.get, ("eta_pos", "eta_neg"))):
            yield ("method",), f"{self.method!r} has no ellipsoids: it needs 'method: error-rate', eta_pos and eta_neg"
        for label, other in experiment.methods.items():
            if other.params.get("kernel", "linear") != "linear":
                yield ("method",), f"the figure shows hyperplanes; {label} has a kernel"
            if other.grid is not None or other.tune is not None or experiment.grid is not None:
                yield ("method",), f"the figure shows one hyperplane for each method; {label} has a grid"

    def check_data(self, units: Sequence[Unit]) -> Iterator[Problem]:
        yield from not_in_the_plane(units, list(dict.fromkeys(unit.source.label for unit in units)), ("kind",))

    def draw(self, drawing: Drawing) -> Iterator[tuple[str, Figure]]:
        """Yield one figure."""
        import matplotlib.pyplot as plt

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
            self._panel(axes, drawing, np.asarray(data.X, dtype=float), data.sign())
            axes.set(title=drawing.label(dataset), xlabel="x₁", ylabel="x₂", aspect="equal")
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
        yield "", figure

    def _panel(self, axes: Axes, drawing: Drawing, X: Array, sign: NDArray[np.intp]) -> None:
        for side, marker, name in ((1, "o", "positive"), (-1, "s", "negative")):
            fill = "none" if side < 0 else "0.3"
            x, y = X[sign == side].T
            axes.scatter(x, y, marker=marker, s=16, facecolor=fill, edgecolor="0.3", label=name)
        models = {}
        for label, spec in drawing.experiment.methods.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", BoundWarning)
                    models[label] = METHODS[spec.method].load()(**spec.params).fit(X, sign)
            except FitError as error:
                axes.plot([], [], "none", label=f"{shown(label)}: {error.status}")
        colours = dict(zip(drawing.experiment.methods, _COLOURS * len(models), strict=False))
        if self.method in models:
            draw_ellipsoids(axes, X, sign, models[self.method], colours[self.method])
        span = axes.get_xlim(), axes.get_ylim()
        for label, model in models.items():
            draw_hyperplane(axes, model, span, colours[label], shown(label))
        axes.set(xlim=span[0], ylim=span[1])


def closest_points(X: Array, sign: NDArray[np.intp], model: ErrorRates) -> tuple[Array, Array]:
    """Return z1 and z2 of (3.25): where the hyperplanes w·x - b = ±1 touch the ellipsoids."""
    w = model.coef_[0]
    found = []
    for side in (1, -1):
        centre, covariance, kappa = _ellipsoid(X, sign, model, side)
        found.append(centre - side * kappa * covariance @ w / np.sqrt(w @ covariance @ w))
    return found[0], found[1]


def _ellipsoid(X: Array, sign: NDArray[np.intp], model: ErrorRates, side: int) -> tuple[Array, Array, float]:
    """Return centre, shape and size of the ellipsoid of a class, as the model saw it."""
    points, first = X[sign == side], side == 1
    eta = model.eta_pos if first else model.eta_neg
    nu, rho = (np.broadcast_to(u, 2)[1 - first] for u in (model.mean_uncertainty, model.covariance_uncertainty))
    ridge, shrinkage = model.ridge_[int(first)], model.shrinkage_[int(first)]  # in the order of the signs
    covariance = (1 - shrinkage) * np.cov(points.T, bias=True) + (ridge + rho) * np.eye(X.shape[1])
    return points.mean(axis=0), covariance, float(np.sqrt((1 - eta) / eta) + nu)


def draw_ellipsoids(
    axes: Axes, X: Array, sign: NDArray[np.intp], model: ErrorRates, colour: str, only: int | None = None
) -> None:
    """Draw the ellipsoids of both classes and their closest points, or the ellipsoid of one class alone."""
    angle = np.linspace(0, 2 * np.pi, 200)
    circle = np.array([np.cos(angle), np.sin(angle)])
    for side in (1, -1):
        if only not in (None, side):
            continue
        centre, covariance, kappa = _ellipsoid(X, sign, model, side)
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        edge = centre[:, None] + kappa * root @ circle
        axes.plot(*edge, color=colour, linewidth=1)
        axes.plot(*centre, "+", color=colour, markersize=9)
    if only is not None:
        return
    ends = np.array(closest_points(X, sign, model))
    axes.plot(*ends.T, "o--", color=colour, markersize=5, linewidth=1)


def draw_hyperplane(
    axes: Axes, model: Linear, span: tuple[tuple[float, float], tuple[float, float]], colour: str, label: str
) -> None:
    """Draw a hyperplane and the two that bound its margin."""
    w, b = model.coef_[0], model.intercept_[0]
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    reach = np.hypot(span[0][1] - span[0][0], span[1][1] - span[1][0])
    for level, style in ((0, "-"), (1, ":"), (-1, ":")):
        foot = (level - b) * w / (w @ w)
        ends = np.array([foot - reach * along, foot + reach * along])
        axes.plot(
            *ends.T, style, color=colour, linewidth=1.6 if level == 0 else 0.8, label=label if level == 0 else None
        )
