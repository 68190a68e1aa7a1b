"""Knowledge sets in the plane, as in Pothin & Richard's Figures 2 and 3: one panel of boundaries, then one per method.

A method's panel shows the points that its algorithm trained on (squares and triangles, by class), its boundary with the
margins, and the part of the sets that lies on the wrong side. The sets of the first repetition are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.dataset import Shape
from mmc.experiments.config import Experiment
from mmc.experiments.figures.drawing import (
    Array,
    Drawing,
    Fitted,
    Kind,
    Problem,
    not_in_the_plane,
    refitted,
    shown,
    training_part,
)
from mmc.experiments.metrics import COUNTED, Costs
from mmc.experiments.plan import Unit
from mmc.experiments.preparation import prepared
from mmc.methods import FitError

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path
    from matplotlib.typing import LineStyleType

# Okabe and Ito's colours, told apart with any colour vision; in grey by line style, edge and marker.
_CLASSES = {1: ("#0072B2", "-", "s"), -1: ("#E69F00", "--", "^")}
_WRONG = "#D55E00"
_LINES: tuple[tuple[str, LineStyleType], ...] = (
    ("#000000", "-"),
    ("#CC79A7", "--"),
    ("#009E73", "-."),
    ("#56B4E9", (0, (1, 1))),
    ("#D55E00", (0, (6, 2, 1, 2, 1, 2))),
    ("#0072B2", (0, (8, 3))),
)
_COLUMNS = 3


@dataclass(frozen=True)
class _Fit:
    label: str
    title: str
    model: Fitted | None


@dataclass(frozen=True)
class _Sets:
    """The sets as they are trained on, labels ±1, and how each class is called."""

    X: Array
    y: NDArray[np.intp]
    shapes: Sequence[Shape]
    names: dict[int, str]

    def outlines(self) -> Iterator[tuple[int, Path]]:
        """Yield the class and the outline of every set, a path of a few curves."""
        from matplotlib.path import Path
        from matplotlib.transforms import Affine2D

        for x, sign, shape in zip(self.X, self.y, self.shapes, strict=True):
            values, vectors = np.linalg.eigh(_matrix(shape, 0.0))
            place = np.eye(3)
            place[:2, :2] = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
            place[:2, 2] = x
            yield int(sign), Path.unit_circle().transformed(Affine2D(place))

    def owners(self, points: Array) -> NDArray[np.intp]:
        """Return the class of the set that every point lies deepest in."""
        depths = [
            np.einsum("ij,jk,ik->i", points - x, np.linalg.pinv(_matrix(shape, 1e-12)), points - x)
            for x, shape in zip(self.X, self.shapes, strict=True)
        ]
        owners: NDArray[np.intp] = self.y[np.argmin(depths, axis=0)]
        return owners


def _matrix(shape: Shape, least: float) -> Array:
    """Return Σ of a set in the plane; a radius is at least so large."""
    return shape if isinstance(shape, np.ndarray) else max(shape, least) ** 2 * np.eye(2)


class Knowledge(Kind):
    """``datasets`` and ``methods`` are labels, default all."""

    shows: ClassVar[str] = (
        "two-dimensional knowledge sets, what each method trains on, its boundary, and the area it gets wrong"
    )

    datasets: list[str] | None = None
    methods: list[str] | None = None

    def check(self, experiment: Experiment) -> Iterator[Problem]:
        yield from super().check(experiment)
        for dataset in self.datasets or experiment.datasets:
            spec = experiment.datasets.get(dataset)
            if spec is not None and spec.knowledge is None and spec.file is None and spec.name is None:
                yield ("datasets",), f"{dataset} has no knowledge sets to draw"
            for label in self.methods or () if dataset in experiment.datasets else ():
                if label in experiment.methods and label not in experiment.methods_on(dataset):
                    yield ("methods",), f"{label} is not run on {dataset}"

    def check_data(self, units: Sequence[Unit]) -> Iterator[Problem]:
        drawn = self.datasets or list(dict.fromkeys(unit.source.label for unit in units))
        yield from not_in_the_plane(units, drawn, ("datasets",))
        for unit in {unit.source.label: unit for unit in units}.values():
            if unit.source.label in drawn and not unit.source.load().shapes:
                yield ("datasets",), f"the figure needs knowledge sets; {unit.source.label} has none"

    def draw(self, drawing: Drawing) -> Iterator[tuple[str, Figure]]:
        """Yield a figure per data set."""
        chosen = self.datasets or list(drawing.experiment.datasets)
        for dataset in chosen:
            labels = self.methods or list(drawing.experiment.methods_on(dataset))
            units = [drawing.units_of(dataset, label)[0] for label in labels]
            yield (dataset if len(chosen) > 1 else ""), _figure(drawing, units)


def _figure(drawing: Drawing, units: Sequence[Unit]) -> Figure:
    import matplotlib.pyplot as plt

    data = units[0].source.load()
    X, y = training_part(units[0])
    names = dict(zip(y.tolist(), map(shown, data.y[prepared(units[0].where).rows.train].tolist()), strict=True))
    sets = _Sets(X, y, prepared(units[0].where).shapes or [], names)
    fits = [_fit(drawing, unit) for unit in units]
    rows = -(-(len(fits) + 1) // _COLUMNS)
    extents = [outline.get_extents() for _, outline in sets.outlines()]
    low, high = np.min([box.min for box in extents], axis=0), np.max([box.max for box in extents], axis=0)
    low, high = low - 0.06 * (high - low), high + 0.06 * (high - low)
    across, upward = high - low
    figure, panels = plt.subplots(
        rows,
        _COLUMNS,
        figsize=(4 * _COLUMNS, rows * (3.6 * float(upward / across) + 0.3) + 1.1),
        sharex=True,
        sharey=True,
        layout="constrained",
        squeeze=False,
    )
    xs, ys = (np.linspace(a, b, 160) for a, b in zip(low, high, strict=True))
    mesh = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    first, *others = panels.flat
    handles = _draw_sets(first, sets)
    lines: dict[str, Artist] = {}
    for axes, fit, (colour, style) in zip(others, fits, _LINES * len(fits), strict=False):
        _draw_sets(axes, sets)
        axes.set_title(fit.title, fontsize="medium")
        if fit.model is None:
            continue
        values = fit.model.decision_function(mesh).reshape(len(ys), len(xs))
        if values.min() < 0 < values.max():
            first.contour(xs, ys, values, levels=[0], colors=[colour], linestyles=[style], linewidths=1.8)
            lines[shown(fit.label)] = plt.Line2D([], [], color=colour, linestyle=style, linewidth=1.8)
        handles |= _draw_fit(axes, sets, fit.model, (xs, ys, values))
    first.set_title("all boundaries", fontsize="medium")
    for axes in panels.flat:
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    for axes in others[len(fits) :]:
        axes.set_axis_off()
    for axes in panels[-1]:
        axes.set_xlabel("x₁")
    for axes in panels[:, 0]:
        axes.set_ylabel("x₂")
    handles |= lines
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=5, fontsize="small")
    return figure


def _fit(drawing: Drawing, unit: Unit) -> _Fit:
    model, name = refitted(drawing, unit), shown(unit.label)
    if isinstance(model, FitError):
        return _Fit(unit.label, f"{name}: {model}", None)
    return _Fit(unit.label, f"{name}: {_error(drawing, unit)}", model)


def _draw_sets(axes: Axes, sets: _Sets) -> dict[str, Artist]:
    """Draw the sets, filled lightly; return an example of each class for the legend."""
    from matplotlib.patches import PathPatch

    handles: dict[str, Artist] = {}
    for sign, outline in sets.outlines():
        colour, style, _ = _CLASSES[sign]
        patch = PathPatch(outline, facecolor=(colour, 0.18), edgecolor=colour, linestyle=style, linewidth=1.2)
        handles[f"set: {sets.names[sign]}"] = axes.add_patch(patch)
    return handles


def _draw_fit(axes: Axes, sets: _Sets, model: Fitted, plane: tuple[Array, Array, Array]) -> dict[str, Artist]:
    """Draw one method: what it gets wrong, its boundary and margins, its training points; return them for the legend."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch
    from matplotlib.path import Path

    for side in _CLASSES:
        wrong = axes.contourf(*plane, levels=[-np.inf, 0] if side > 0 else [0, np.inf], colors=[_WRONG], alpha=0.85)
        outlines = [outline for sign, outline in sets.outlines() if sign == side]
        wrong.set_clip_path(Path.make_compound_path(*outlines), axes.transData)
    if plane[2].min() < 0 < plane[2].max():
        levels = [v for v in (-1, 0, 1) if plane[2].min() < v < plane[2].max()]
        widths, styles = [0.8 if v else 1.8 for v in levels], [":" if v else "-" for v in levels]
        axes.contour(*plane, levels=levels, colors="black", linewidths=widths, linestyles=styles)
    handles: dict[str, Artist] = {
        "wrong side": Patch(color=_WRONG, alpha=0.85),
        "boundary": plt.Line2D([], [], color="black", linewidth=1.8),
        "margin": plt.Line2D([], [], color="black", linewidth=0.8, linestyle=":"),
    }
    points = getattr(model, "training_points_", sets.X)
    owners = sets.owners(points)
    for sign, (colour, _, marker) in _CLASSES.items():
        x, y = points[owners == sign].T
        handles[f"training point: {sets.names[sign]}"] = axes.scatter(
            x, y, marker=marker, s=22, facecolor="white", edgecolor=colour, linewidth=1.4, zorder=3
        )
    return handles


def _error(drawing: Drawing, unit: Unit) -> str:
    counts = drawing.records[unit.trials[0].key].counts
    return "no answer" if counts is None else f"{COUNTED['error'].value(counts, Costs()):.2f} % wrong"
