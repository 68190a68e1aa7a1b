"""Two-dimensional data with the decision boundaries of the methods, fitted on the training part of the first split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from mmc.experiments.figures.drawing import (
    Array,
    Drawing,
    Kind,
    Problem,
    not_in_the_plane,
    over_the_plane,
    refitted,
    shown,
    test_part,
    training_part,
)
from mmc.experiments.plan import Unit
from mmc.methods import FitError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import LineStyleType
    from numpy import intp
    from numpy.typing import NDArray

_COLOURS = ("crimson", "seagreen", "black", "royalblue", "darkorange", "purple")


class Boundaries(Kind):
    """``datasets`` and ``methods`` are labels, default all; those of ``dashed`` methods are dashed lines."""

    shows: ClassVar[str] = "two-dimensional data with the decision boundaries of the methods"

    datasets: list[str] | None = None
    methods: list[str] | None = None
    dashed: tuple[str, ...] = ()

    def check_data(self, units: Sequence[Unit]) -> Iterator[Problem]:
        drawn = self.datasets or list(dict.fromkeys(unit.source.label for unit in units))
        yield from not_in_the_plane(units, drawn, ("datasets",))

    def draw(self, drawing: Drawing) -> Iterator[tuple[str, Figure]]:
        """Yield one figure per data set."""
        datasets = self.datasets or list(drawing.experiment.datasets)
        for dataset in datasets:
            yield (dataset if len(datasets) > 1 else ""), self._figure(drawing, dataset)

    def _figure(self, drawing: Drawing, dataset: str) -> Figure:
        import matplotlib.pyplot as plt
        from matplotlib.lines import Line2D

        wanted = self.methods or list(drawing.experiment.methods)
        units = {label: drawing.units_of(dataset, label)[0] for label in drawing.experiment.methods_on(dataset)}
        first = next(iter(units.values()))
        train, test = training_part(first), test_part(first)
        figure, axes = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
        _points(axes, train, 20, 0.9, "training")
        _points(axes, test, 12, 0.45, "test")
        handles = axes.get_legend_handles_labels()[0]
        xs, ys, mesh = over_the_plane(train[0], test[0], points=240)
        for colour, label in zip(_COLOURS, (label for label in wanted if label in units), strict=False):
            model = refitted(drawing, units[label])
            style: LineStyleType = "--" if label in self.dashed else "-"
            words = shown(label)
            if isinstance(model, FitError):
                words, style = f"{words}: {model}", "none"
            else:
                values = model.decision_function(mesh).reshape(len(ys), len(xs))
                axes.contour(xs, ys, values, levels=[0.0], colors=[colour], linestyles=[style], linewidths=1.8)
            handles.append(Line2D([], [], color=colour, linestyle=style, label=words))
        axes.set(xlabel="x₁", ylabel="x₂", title=drawing.label(dataset))
        figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize="small")
        return figure


def _points(axes: Axes, part: tuple[Array, NDArray[intp]], size: int, alpha: float, name: str) -> None:
    points, sign = part
    for side, marker, word, shade in ((1, "s", "positive", "tab:pink"), (-1, "x", "negative", "0.35")):
        chosen = points[sign == side]
        axes.scatter(
            chosen[:, 0], chosen[:, 1], marker=marker, s=size, alpha=alpha, color=shade, label=f"{word}, {name}"
        )
