"""The geometry of Nath & Bhattacharyya's Figures 1 to 3: convex hulls, one ellipsoid and its hyperplane, two ellipsoids.

Figure 1: the hard-margin SVM is perpendicular to the line between the closest points u* and v* of the convex hulls (2.10). Figure 2: a
constraint of (3.15) keeps an ellipsoid on one side of a hyperplane; where they touch, the normals are opposite. Figure 3: (3.15)
separates two ellipsoids with the widest margin (3.23). One data set, fitted whole: a picture of solutions, not of errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mmc.experiments.config import Experiment
from mmc.experiments.figures.drawing import Array, Drawing, Kind, Problem, not_in_the_plane
from mmc.experiments.figures.ellipsoids import ErrorRates, Linear, closest_points, draw_ellipsoids, draw_hyperplane
from mmc.experiments.plan import Unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_RED, _BLUE = "crimson", "royalblue"
Span: TypeAlias = tuple[tuple[float, float], tuple[float, float]]


class Hulls(Kind):
    """``svm`` is the label of a hard-margin SVM, ``ellipsoids`` that of an error-rate classifier; ``dataset`` must be separable."""

    shows: ClassVar[str] = (
        "a separable two-dimensional set: convex hulls, ellipsoids, their closest points and hyperplanes"
    )

    dataset: str
    svm: str
    ellipsoids: str

    def check(self, experiment: Experiment) -> Iterator[Problem]:
        yield from super().check(experiment)
        if self.dataset not in experiment.datasets:
            yield ("dataset",), f"there is no data set {self.dataset!r}"
        for key, label, method in (("svm", self.svm, "svm"), ("ellipsoids", self.ellipsoids, "error-rate")):
            spec = experiment.methods.get(label)
            if spec is None or spec.method != method or spec.params.get("kernel", "linear") != "linear":
                yield (key,), f"{label!r} is no linear method of the kind {method!r}"

    def check_data(self, units: Sequence[Unit]) -> Iterator[Problem]:
        yield from not_in_the_plane(units, [self.dataset], ("dataset",))

    def draw(self, drawing: Drawing) -> Iterator[tuple[str, Figure]]:
        """Yield one figure with three panels."""
        import matplotlib.pyplot as plt

        from mmc.methods import SVM, ErrorRateClassifier

        data = next(unit.source for unit in drawing.units if unit.source.label == self.dataset).load()
        X, sign = np.asarray(data.X, dtype=float), data.sign()
        methods = drawing.experiment.methods
        svm = SVM(**methods[self.svm].params).fit(X, sign)
        rates = ErrorRateClassifier(**methods[self.ellipsoids].params).fit(X, sign)
        figure, panels = plt.subplots(1, 3, figsize=(13, 3.2), sharex=True, sharey=True, layout="constrained")
        for axes in panels:
            for side, marker in ((1, "o"), (-1, "s")):
                axes.scatter(
                    *X[sign == side].T, s=12, marker=marker, facecolor="none" if side < 0 else "0.5", edgecolor="0.5"
                )
        draw_ellipsoids(panels[2], X, sign, rates, _RED)
        span = panels[2].get_xlim(), panels[2].get_ylim()
        _hulls(panels[0], X, sign, svm)
        draw_hyperplane(panels[0], svm, span, _BLUE, "SVM")
        draw_ellipsoids(panels[1], X, sign, rates, _RED, only=1)
        draw_hyperplane(panels[2], rates, span, _RED, "ellipsoids")
        _touching(panels[1], X, sign, rates, span)
        for axes, title in zip(panels, ("1: convex hulls", "2: one constraint", "3: two ellipsoids"), strict=True):
            axes.set(title=title, xlabel="x₁", ylabel="x₂", xlim=span[0], ylim=span[1], aspect="equal")
        yield "", figure


class Machine(Linear, Protocol):
    """A linear SVM, with what its dual says."""

    support_vectors_: Array
    dual_coef_: Array


def hull_points(model: Machine) -> tuple[Array, Array]:
    """Return u* and v* of (2.10), the closest points of the two convex hulls: β = α / Σα in each class."""
    weights = model.dual_coef_[0]
    found = [np.maximum(side * weights, 0.0) @ model.support_vectors_ for side in (1, -1)]
    total = float(np.sum(np.maximum(weights, 0.0)))
    return found[0] / total, found[1] / total


def _hulls(axes: Axes, X: Array, sign: NDArray[np.intp], model: Machine) -> None:
    from scipy.spatial import ConvexHull

    for side in (1, -1):
        points = X[sign == side]
        corners = points[ConvexHull(points).vertices]
        axes.fill(*corners.T, facecolor="none", edgecolor=_BLUE, linewidth=1)
    axes.plot(*np.array(hull_points(model)).T, "o--", color=_BLUE, markersize=5, linewidth=1)


def _touching(axes: Axes, X: Array, sign: NDArray[np.intp], model: ErrorRates, span: Span) -> None:
    """Draw the hyperplane w·x − b = 1 of one constraint, the point where its ellipsoid touches it, and both normals."""
    point, _ = closest_points(X, sign, model)
    w = model.coef_[0]
    normal = w / np.linalg.norm(w)
    along = np.array([-normal[1], normal[0]]) * np.hypot(span[0][1] - span[0][0], span[1][1] - span[1][0])
    axes.plot(*np.array([point - along, point + along]).T, color=_RED, linewidth=1.2)
    axes.plot(*point, "o", color=_RED, markersize=5)
    for way, name in ((1, "w"), (-1, "normal at x*")):
        x, y = (point + way * normal).tolist()
        axes.annotate("", (x, y), (float(point[0]), float(point[1])), arrowprops={"arrowstyle": "->", "color": _RED})
        axes.text(x, y, f" {name} ", color=_RED, va="bottom", ha="left" if way > 0 else "right")
