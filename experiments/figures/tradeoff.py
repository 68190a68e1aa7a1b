"""The trade-off between the classes: the worst-case accuracy of one over the other, and what was reached on test data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mmc.experiments.figures import Drawing, training_part
from mmc.methods import CATALOGUE


def draw(drawing: Drawing) -> Iterator[tuple[str, Any]]:
    """Yield one figure per data set. Options: ``method`` (whose frontier is drawn), ``methods`` (whose points are)."""
    import matplotlib.pyplot as plt

    experiment = drawing.config.experiment
    label = drawing.options["method"]
    spec = experiment.methods[label]
    for dataset in experiment.datasets:
        figure, axes = plt.subplots(figsize=(5.6, 4.8), layout="constrained")
        units = [u for u in drawing.units if (u.source.label, u.label) == (dataset, label)]
        for index, unit in enumerate(units):
            pos, neg = CATALOGUE[spec.method].load()(**spec.params).fit(*training_part(unit)).frontier(201)
            line = "worst case on the training moments, every split" if index == 0 else None
            axes.plot(100 * neg, 100 * pos, color="0.6", linewidth=0.6, alpha=0.6, label=line)
        for colour, name in zip(("crimson", "royalblue", "seagreen"), drawing.options["methods"], strict=False):
            means = {
                c.metric: c for c in drawing.table.cells if (c.keys["dataset"], c.keys["method"]) == (dataset, name)
            }
            wanted: Any = means["bound_neg"], means["bound_pos"]
            reached: Any = means["accuracy_neg"], means["accuracy_pos"]
            axes.plot(wanted[0].mean, wanted[1].mean, "o", color=colour, label=f"{name}: bound")
            axes.errorbar(
                reached[0].mean, reached[1].mean, xerr=reached[0].std, yerr=reached[1].std,
                marker="*", markersize=12, color=colour, linestyle="none", label=f"{name}: test accuracy",
            )  # fmt: skip
            axes.annotate(
                "", (reached[0].mean, reached[1].mean), (wanted[0].mean, wanted[1].mean),
                arrowprops={"arrowstyle": "->", "color": colour, "alpha": 0.5},
            )  # fmt: skip
        axes.set(xlabel="accuracy of the negative class, %", ylabel="accuracy of the positive class, %")
        axes.set(xlim=(0, 101.5), ylim=(0, 101.5), title=f"{label}: {drawing.table.label(dataset)}")
        axes.grid(alpha=0.3)
        axes.legend(loc="lower left", fontsize="small")
        yield (dataset if len(experiment.datasets) > 1 else ""), figure
