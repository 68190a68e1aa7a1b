"""The trade-off between the classes: the worst-case accuracy of one over the other, and what was reached on test data."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from mmc.experiments.config import Experiment
from mmc.experiments.figures.drawing import Drawing, Kind, Problem, shown, training_part
from mmc.methods import BoundWarning, FitError
from mmc.methods.registry import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NEEDED = ("bound_neg", "bound_pos", "accuracy_neg", "accuracy_pos")
_COLOURS = ("crimson", "royalblue", "seagreen", "darkorange", "purple")


class Tradeoff(Kind):
    """``method`` is the label of the one whose frontier is drawn, ``methods`` are those whose points are."""

    shows: ClassVar[str] = "worst-case accuracy of one class over the other, and what was reached on test data"

    method: str
    methods: list[str]

    def check(self, experiment: Experiment) -> Iterator[Problem]:
        yield from super().check(experiment)
        spec = experiment.methods.get(self.method)
        if spec is not None and spec.method in METHODS and not hasattr(METHODS[spec.method].load(), "frontier"):
            yield ("method",), f"{self.method!r} has no frontier; methods of the keys 'mpm' and 'bmpm' have one"
        if spec is not None and (spec.tune is not None or len(experiment.points_of(self.method)) > 1):
            yield ("method",), f"{self.method!r} has a grid; a frontier needs one set of parameters"
        missing = [name for name in _NEEDED if name not in experiment.table.metrics]
        if missing:
            yield ("kind",), f"a figure of the trade-off needs these in table.metrics: {', '.join(missing)}"

    def draw(self, drawing: Drawing) -> Iterator[tuple[str, Figure]]:
        """Yield one figure per data set."""
        import matplotlib.pyplot as plt

        datasets = list(drawing.experiment.datasets)
        for dataset in datasets:
            figure, axes = plt.subplots(figsize=(5.6, 4.8), layout="constrained")
            self._frontiers(axes, drawing, dataset)
            for colour, name in zip(_COLOURS, self.methods, strict=False):
                _reached(axes, drawing, dataset, name, colour)
            axes.set(xlabel="accuracy of the negative class, %", ylabel="accuracy of the positive class, %")
            title = f"{shown(self.method)}: {drawing.label(dataset)}"
            axes.set(xlim=(0, 101.5), ylim=(0, 101.5), title=title)
            axes.grid(alpha=0.3)
            axes.legend(loc="lower left", fontsize="small")
            yield (dataset if len(datasets) > 1 else ""), figure

    def _frontiers(self, axes: Axes, drawing: Drawing, dataset: str) -> None:
        label: str | None = "worst case on the training moments, every split"
        for unit in drawing.units_of(dataset, self.method):
            try:
                model = METHODS[unit.task.method].load()(**{**unit.task.params, **unit.trials[0].point})
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", BoundWarning)
                    pos, neg = model.fit(*training_part(unit)).frontier(201)
            except FitError:
                continue
            axes.plot(100 * neg, 100 * pos, color="0.6", linewidth=0.6, alpha=0.6, label=label)
            label = None


def _reached(axes: Axes, drawing: Drawing, dataset: str, name: str, colour: str) -> None:
    """Draw the mean bounds of a method, and an arrow to its mean accuracies; nothing where it has none."""
    here = (c for c in drawing.table.cells if (c.keys["dataset"], c.keys["method"]) == (dataset, name))
    means = {cell.metric: cell for cell in here if cell.mean is not None}
    if not all(metric in means for metric in _NEEDED):
        return
    bound_x, bound_y, x, y = (float(means[metric].mean or 0.0) for metric in _NEEDED)
    axes.plot(bound_x, bound_y, "o", color=colour, label=f"{shown(name)}: bound")
    axes.errorbar(
        x, y, xerr=means["accuracy_neg"].std, yerr=means["accuracy_pos"].std,
        marker="*", markersize=12, color=colour, linestyle="none", label=f"{shown(name)}: test accuracy",
    )  # fmt: skip
    axes.annotate("", (x, y), (bound_x, bound_y), arrowprops={"arrowstyle": "->", "color": colour, "alpha": 0.5})
