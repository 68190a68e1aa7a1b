"""Pendse's Figures 2, 3 and 4: support vectors, decision values and sensitivity of a banded SVM beside those of an SVM.

The first two show one draw, the training part of the first split, fitted anew; the third shows all draws, from their
records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from mmc.experiments.config import Experiment
from mmc.experiments.figures.drawing import (
    Array,
    Drawing,
    Fitted,
    Kind,
    Problem,
    not_in_the_plane,
    over_the_plane,
    refitted,
    shown,
    training_part,
)
from mmc.experiments.measures import BandOptions
from mmc.experiments.plan import Unit
from mmc.methods import FitError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CLASSES = ((1, "class +1", "tab:red"), (-1, "class −1", "tab:blue"))
_MULTIPLIERS = {"α": "darkorange", "θ": "darkturquoise"}
_LINES = ("tab:blue", "tab:red", "tab:green", "tab:purple", "tab:olive", "tab:brown")


class _Multipliers(Fitted, Protocol):
    """What an SVM and a banded SVM leave; θ only the latter."""

    alpha_: Array
    C_pos: float
    C_neg: float
    alpha_free_: NDArray[np.intp]
    theta_: Array
    theta_free_: NDArray[np.intp]


@dataclass(frozen=True)
class _Fit:
    """A model and the training points that it was fitted on, labels ±1."""

    label: str
    model: _Multipliers
    X: Array
    y: NDArray[np.intp]

    def multipliers(self) -> Iterator[tuple[str, Array, NDArray[np.intp]]]:
        """Yield name, values and the indices of the free ones, those below their bound: of α, and of θ if there is one."""
        alpha = self.model.alpha_
        if hasattr(self.model, "theta_"):
            yield "α", alpha, self.model.alpha_free_
            yield "θ", self.model.theta_, self.model.theta_free_
        else:
            bound = np.where(self.y > 0, self.model.C_pos, self.model.C_neg)
            yield "α", alpha, np.flatnonzero((alpha > 0) & (alpha < (1 - 1e-9) * bound))

    def over_the_plane(self) -> tuple[Array, Array, Array]:
        """Return the axes of a grid around the points, and the decision values on it."""
        xs, ys, mesh = over_the_plane(self.X, points=160)
        return xs, ys, self.model.decision_function(mesh).reshape(len(ys), len(xs))


class Banded(Kind):
    """``dataset`` is the one of the first two figures, default the first one; ``methods`` are labels, default all."""

    shows: ClassVar[str] = "support vectors, decision values and sensitivity of a banded SVM beside those of an SVM"

    dataset: str | None = None
    methods: list[str] | None = None

    def check(self, experiment: Experiment) -> Iterator[Problem]:
        yield from super().check(experiment)
        if "band" not in experiment.measures:
            yield ("kind",), "a figure of kind 'banded' needs the measure 'band'"
        dataset = self.dataset or next(iter(experiment.datasets))
        for label in self.methods or experiment.methods:
            spec = experiment.methods.get(label)
            if spec is not None and spec.method not in ("svm", "bsvm", "rmm"):
                yield (
                    ("methods",),
                    f"{label!r} has no multipliers; methods of the keys 'svm', 'bsvm' and 'rmm' have them",
                )
            elif spec is not None and dataset in experiment.datasets and label not in experiment.methods_on(dataset):
                yield ("methods",), f"{label} is not run on {dataset}"

    def check_data(self, units: Sequence[Unit]) -> Iterator[Problem]:
        yield from not_in_the_plane(units, [self.dataset or units[0].source.label], ("dataset",))

    def draw(self, drawing: Drawing) -> Iterator[tuple[str, Figure]]:
        """Yield the three figures; the first two only where a method could be fitted."""
        low, high = BandOptions.model_validate(drawing.experiment.measures["band"]).rho
        labels = self.methods or list(drawing.experiment.methods)
        if fits := list(self._fits(drawing, labels)):
            yield "2_support_vectors", _support_vectors(fits)
            yield "3_decision_values", _decision_values(fits, (low, high))
        yield "4_sensitivity", _sensitivity(drawing, labels, high)

    def _fits(self, drawing: Drawing, labels: Sequence[str]) -> Iterator[_Fit]:
        """Fit the methods on the first draw as their records say: with the parameters that were chosen, where tuned."""
        dataset = self.dataset or next(iter(drawing.experiment.datasets))
        for label in labels:
            unit = drawing.units_of(dataset, label)[0]
            model = refitted(drawing, unit)
            if not isinstance(model, FitError):
                yield _Fit(shown(label), cast(_Multipliers, model), *training_part(unit))


def _support_vectors(fits: Sequence[_Fit]) -> Figure:
    """Figure 2: the classification and its support vectors; below, the multipliers of all points."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, len(fits), figsize=(5.6 * len(fits), 8.4), layout="constrained", squeeze=False)
    for fit, (above, below), letters in zip(fits, panels.T, _letters(len(fits)), strict=True):
        xs, ys, g = fit.over_the_plane()
        sides = [colour for _, _, colour in reversed(_CLASSES)]
        above.contourf(xs, ys, g, levels=[-np.inf, 0, np.inf], colors=sides, alpha=0.12)
        above.contour(xs, ys, g, levels=[0], colors="0.3", linewidths=1)
        for side, name, colour in _CLASSES:
            above.scatter(*fit.X[fit.y == side].T, marker=".", s=14, color=colour, label=name)
        below.axhline(0, color="0.6", linewidth=0.6)
        counts = []
        for name, values, free in fit.multipliers():
            support = np.flatnonzero(values)
            bounded = np.setdiff1d(support, free)
            counts.append(f"{len(support)} {name}-SVs, {len(free)} free")
            style = {"marker": "s", "facecolor": "none", "edgecolor": _MULTIPLIERS[name]}
            above.scatter(*fit.X[bounded].T, s=26, linewidth=0.8, label=f"{name}-SV at its bound", **style)
            above.scatter(*fit.X[free].T, s=60, linewidth=2, label=f"{name}-SV, free", **style)
            signed = values if name == "α" else -values
            below.vlines(support, 0, signed[support], color=_MULTIPLIERS[name], linewidth=0.8)
            below.plot(free, signed[free], "s", color=_MULTIPLIERS[name], markersize=3.5)
        what = "α" if len(counts) == 1 else "α − θ"
        above.set(title=f"({letters[0]}) {fit.label}", xlabel="x₁", ylabel="x₂", aspect="equal")
        below.set(title=f"({letters[1]}) {fit.label}: {'; '.join(counts)}", xlabel="training point", ylabel=what)
    most = max(panels[0], key=lambda axes: len(axes.collections))
    figure.legend(*most.get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


def _decision_values(fits: Sequence[_Fit], rho: tuple[float, float]) -> Figure:
    """Figure 3: g at every training point, the band shaded; below, g over the plane."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        2, len(fits), figsize=(5.6 * len(fits), 8.4), sharey="row", layout="constrained", squeeze=False
    )
    limit = max(float(np.max(np.abs(fit.model.decision_function(fit.X)))) for fit in fits)  # one scale for all panels
    for fit, (above, below), letters in zip(fits, panels.T, _letters(len(fits)), strict=True):
        g = fit.model.decision_function(fit.X)
        for side, name, colour in _CLASSES:
            at = np.flatnonzero(fit.y == side)
            above.plot(at, g[at], ".", color=colour, markersize=4, label=name)
            above.axhspan(*sorted(side * np.asarray(rho)), color=colour, alpha=0.15, linewidth=0)
        above.axhline(0, color="0.6", linewidth=0.6)
        inside = np.mean((fit.y * g >= rho[0] - 1e-6) & (fit.y * g <= rho[1] + 1e-6))
        above.set(title=f"({letters[0]}) {fit.label}: {100 * inside:.0f} % in the band", xlabel="training point")
        xs, ys, plane = fit.over_the_plane()
        box = (xs[0], xs[-1], ys[0], ys[-1])
        shades = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
        mesh = below.imshow(plane, extent=box, origin="lower", interpolation="none", **shades)
        lines = below.contour(xs, ys, plane, levels=[-rho[1], -rho[0], 0, *rho], colors="black", linewidths=0.7)
        below.clabel(lines, fontsize=7, fmt="%g")
        below.set(title=f"({letters[1]}) {fit.label}: g(x)", xlabel="x₁", aspect="equal")
        figure.colorbar(mesh, ax=below, shrink=0.9)
    panels[0][0].set_ylabel("g, the band shaded")
    panels[1][0].set_ylabel("x₂")
    panels[0][0].legend(loc="upper right", fontsize="small")
    return figure


def _sensitivity(drawing: Drawing, labels: Sequence[str], limit: float) -> Figure:
    """Figure 4: S(t) of every method, and of the unbounded ones with g clipped to ±ρ2; mean and range over the draws."""
    import matplotlib.pyplot as plt

    datasets = list(drawing.experiment.datasets)
    columns = min(len(datasets), 2)
    rows = -(-len(datasets) // columns)
    figure, panels = plt.subplots(
        rows,
        columns,
        figsize=(4.8 * columns, 3.6 * rows),
        sharex=True,
        sharey=True,
        layout="constrained",
        squeeze=False,
    )
    for axes, dataset in zip(panels.flat, datasets, strict=False):
        draws = 0
        for colour, label in zip(_LINES, labels, strict=False):
            found = [drawing.records.get(unit.trials[0].key) for unit in drawing.units_of(dataset, label)]
            records = [record for record in found if record is not None and "curve" in record.curves]
            if not records:
                continue
            draws = len(records)
            _curve(axes, [record.curves["curve"] for record in records], colour, "-", shown(label))
            if "n_theta" not in records[0].facts:
                clipped = [record.curves["curve_clipped"] for record in records]
                _curve(axes, clipped, colour, "--", f"{shown(label)} clipped to ±{limit:g}")
        axes.set(title=f"{drawing.label(dataset)}, {draws} draws")
        axes.grid(alpha=0.3)
    for axes in panels[-1]:
        axes.set_xlabel("threshold t, % of max |g|")
    for axes in panels[:, 0]:
        axes.set_ylabel("S(t), % of the training points")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _curve(axes: Axes, curves: Sequence[Sequence[float]], colour: str, style: str, label: str) -> None:
    shares = 100 * np.array(curves)
    at = np.linspace(0, 100, shares.shape[1])
    axes.plot(at, shares.mean(axis=0), style, color=colour, label=label)
    axes.fill_between(at, shares.min(axis=0), shares.max(axis=0), color=colour, alpha=0.15, linewidth=0)


def _letters(columns: int) -> list[tuple[str, str]]:
    """Letter the panels row by row, and return them column by column."""
    return [(ascii_lowercase[i], ascii_lowercase[columns + i]) for i in range(columns)]
