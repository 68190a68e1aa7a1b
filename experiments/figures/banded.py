"""Pendse's Figures 2, 3 and 4: support vectors, decision values and sensitivity of a banded SVM beside those of an SVM.

The first two show one draw, the training part of the first split, fitted anew; the third shows all draws, from their
records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

import numpy as np

from mmc.experiments.errors import ConfigError
from mmc.experiments.figures import Drawing, refitted, training_part
from mmc.experiments.measures import BandOptions

_CLASSES = ((1, "class +1", "tab:red"), (-1, "class −1", "tab:blue"))
_MULTIPLIERS = {"α": "darkorange", "θ": "darkturquoise"}
_LINES = ("tab:blue", "tab:red", "tab:green", "tab:purple", "tab:olive", "tab:brown")


@dataclass(frozen=True)
class _Fit:
    """A model and the training points that it was fitted on, labels ±1."""

    label: str
    model: Any
    X: Any
    y: Any

    def multipliers(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield name, values and the indices of the free ones, those below their bound: of α, and of θ if there is one."""
        alpha = self.model.alpha_
        if hasattr(self.model, "theta_"):
            yield "α", alpha, self.model.alpha_free_
            yield "θ", self.model.theta_, self.model.theta_free_
        else:
            bound = np.where(self.y > 0, self.model.C_pos, self.model.C_neg)
            yield "α", alpha, np.flatnonzero((alpha > 0) & (alpha < (1 - 1e-9) * bound))

    def over_the_plane(self) -> tuple[Any, Any, Any]:
        """Return the axes of a grid around the points, and the decision values on it."""
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        pad = 0.06 * (high - low)
        xs, ys = (np.linspace(a, b, 160) for a, b in zip(low - pad, high + pad, strict=True))
        mesh = np.stack(np.meshgrid(xs, ys), axis=-1)
        return xs, ys, self.model.decision_function(mesh.reshape(-1, 2)).reshape(mesh.shape[:2])


def draw(drawing: Drawing) -> Iterator[tuple[str, Any]]:
    """Yield the three figures. Options: ``dataset`` for the first two (default the first one), ``methods`` (labels)."""
    experiment = drawing.config.experiment
    if "band" not in experiment.measures:
        raise ConfigError(f"{drawing.config.file}: a figure of kind 'banded' needs the measure 'band'")
    rho = BandOptions.model_validate(experiment.measures["band"]).rho
    fits = _fits(drawing)
    yield "2_support_vectors", _support_vectors(fits)
    yield "3_decision_values", _decision_values(fits, rho)
    yield "4_sensitivity", _sensitivity(drawing, rho)


def _fits(drawing: Drawing) -> list[_Fit]:
    """Fit the methods on the first draw as their records say: with the parameters that were chosen, where tuned."""
    dataset = drawing.options.get("dataset", next(iter(drawing.config.experiment.datasets)))
    units = {u.label: u for u in drawing.units if (u.source.label, u.split.repetition, u.split.fold) == (dataset, 0, 0)}
    fits = []
    for label in _labels(drawing):
        if label not in units:
            raise ConfigError(
                f"{drawing.config.file}: a figure names {label} on {dataset}, which the config does not run"
            )
        unit = units[label]
        if unit.source.load().X.shape[1] != 2:
            raise ConfigError(f"{drawing.config.file}: a figure of kind 'banded' needs two features, unlike {dataset}")
        fits.append(_Fit(label, refitted(drawing, unit), *training_part(unit)))
    return fits


def _labels(drawing: Drawing) -> list[str]:
    return drawing.options.get("methods") or list(drawing.config.experiment.methods)


def _support_vectors(fits: Sequence[_Fit]) -> Any:
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


def _decision_values(fits: Sequence[_Fit], rho: Sequence[float]) -> Any:
    """Figure 3: g at every training point, the band shaded; below, g over the plane."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        2, len(fits), figsize=(5.6 * len(fits), 8.4), sharey="row", layout="constrained", squeeze=False
    )
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
        limit = np.max(np.abs(g))
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


def _sensitivity(drawing: Drawing, rho: Sequence[float]) -> Any:
    """Figure 4: S(t) of every method, and of the unbounded ones with g clipped to ±ρ2; mean and range over the draws."""
    import matplotlib.pyplot as plt

    datasets = list(drawing.config.experiment.datasets)
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
        for colour, label in zip(_LINES, _labels(drawing), strict=False):
            units = [u for u in drawing.units if (u.source.label, u.label) == (dataset, label)]
            records = [r for u in units if (r := drawing.records.get(u.trials[0].key)) and "curve" in r.curves]
            if not records:
                continue
            draws = len(records)
            _curve(axes, [r.curves["curve"] for r in records], colour, "-", label)
            if "n_theta" not in records[0].facts:
                _curve(
                    axes, [r.curves["curve_clipped"] for r in records], colour, "--", f"{label} clipped to ±{rho[1]:g}"
                )
        axes.set(title=f"{drawing.table.label(dataset)}, {draws} draws")
        axes.grid(alpha=0.3)
    for axes in panels[-1]:
        axes.set_xlabel("threshold t, % of max |g|")
    for axes in panels[:, 0]:
        axes.set_ylabel("S(t), % of the training points")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _curve(axes: Any, curves: Sequence[Sequence[float]], colour: str, style: str, label: str) -> None:
    shares = 100 * np.array(curves)
    at = np.linspace(0, 100, shares.shape[1])
    axes.plot(at, shares.mean(axis=0), style, color=colour, label=label)
    axes.fill_between(at, shares.min(axis=0), shares.max(axis=0), color=colour, alpha=0.15, linewidth=0)


def _letters(columns: int) -> list[tuple[str, str]]:
    """Letter the panels row by row, and return them column by column."""
    return [(ascii_lowercase[i], ascii_lowercase[columns + i]) for i in range(columns)]
