"""The mean ranks of methods over data sets, with what the Friedman test and Nemenyi's critical difference say of them.

Demšar (2006): on each of N data sets the k methods are ranked, 1 is the best, equals share their ranks. Two methods differ if
their mean ranks are farther apart than CD = q √(k (k + 1) / 6N), where q√2 is the quantile of the studentised range. A method
that found no classifier on a data set is the last there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mmc.experiments.cells import Table
from mmc.experiments.config import Experiment
from mmc.experiments.figures.drawing import Drawing, Kind, Problem
from mmc.experiments.metrics import Better
from mmc.experiments.tables import metric_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of methods, the best first; ``cd`` is Nemenyi's critical difference, ``p`` that of Friedman's test."""

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    datasets: int
    cd: float
    p: float

    @classmethod
    def of(cls, methods: list[str], scores: Array, alpha: float) -> Ranking:
        """Rank methods by scores, less is better: a row per data set, a column per method."""
        from scipy.stats import friedmanchisquare, rankdata, studentized_range

        n, k = scores.shape
        ranks = rankdata(scores, axis=1).mean(axis=0)
        cd = float(studentized_range.ppf(1 - alpha, k, np.inf)) / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n))
        equal = bool((scores == scores[:, :1]).all())
        p = 1.0 if equal else float(friedmanchisquare(*scores.T).pvalue) if k > 2 else math.nan
        order = np.argsort(ranks, kind="stable")
        return cls(tuple(methods[i] for i in order), tuple(float(ranks[i]) for i in order), n, cd, p)

    def groups(self) -> list[tuple[int, int]]:
        """Return the largest runs of methods (first, last) whose mean ranks do not differ by more than CD."""
        found: list[tuple[int, int]] = []
        for first, rank in enumerate(self.ranks):
            last = max(i for i, other in enumerate(self.ranks) if other - rank <= self.cd)
            if last > first and not any(a <= first and last <= b for a, b in found):
                found.append((first, last))
        return found


class Ranks(Kind):
    """A critical-difference diagram: methods by their mean rank over data sets, bars over those that do not differ."""

    shows: ClassVar[str] = "mean ranks of the methods over the data sets, and which of them do not differ"
    several_classes: ClassVar[bool] = True
    metric: str = "error"
    methods: list[str] | None = None
    datasets: list[str] | None = None
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05

    def check(self, experiment: Experiment) -> Iterator[Problem]:
        yield from super().check(experiment)
        if self.metric not in experiment.table.metrics:
            yield ("metric",), f"{self.metric!r} must be in table.metrics"
        elif metric_of(self.metric, experiment).better is Better.NEITHER:
            yield ("metric",), f"{self.metric!r} has no better and worse: take another one"
        if len(self.datasets or experiment.datasets) < 2:
            yield ("datasets",), "ranks need two data sets or more"
        methods = self.methods or list(experiment.methods)
        if len(methods) < 2:
            yield ("methods",), "ranks need two methods or more"
        for label in methods:
            if (
                label in experiment.methods
                and len(experiment.points_of(label)) > 1
                and not experiment.methods[label].best
            ):
                yield ("methods",), f"{label!r} has a grid: ranks need one number, by 'tune' or 'best'"

    def draw(self, drawing: Drawing) -> Iterator[tuple[str, Figure]]:
        """Yield one figure; none where all methods were run on fewer than two data sets."""
        import matplotlib.pyplot as plt

        labels, scores, kept = self.scores(drawing.table, drawing.experiment)
        if len(scores) < 2:
            return
        found = Ranking.of(labels, scores, self.alpha)
        figure, axes = plt.subplots(figsize=(8, 1.6 + 0.17 * len(labels)))
        _diagram(axes, found, [drawing.label(name) for name in found.methods])
        wanted, without = len(self.datasets or drawing.experiment.datasets), int(np.isinf(scores).sum())
        away = f" of {wanted}, the others were not run" if len(kept) < wanted else ""
        away += f"; no classifier counts as last ({without} of {scores.size})" if without else ""
        axes.set_title(
            f"{drawing.label(self.metric)}: mean rank over {found.datasets} data sets{away}\n"
            f"Friedman p = {found.p:.2g}; CD = {found.cd:.2f} at {100 * self.alpha:g} % (Nemenyi)",
            fontsize=9,
        )
        yield "", figure

    def scores(self, table: Table, experiment: Experiment) -> tuple[list[str], Array, list[str]]:
        """Return the methods, their scores (less is better, inf without a classifier) and the data sets, one for each row.

        Data sets on which not all methods were run are left out.
        """
        labels = self.methods or list(experiment.methods)
        sign = metric_of(self.metric, experiment).better.value
        means = {
            (cell.keys["dataset"], cell.keys["method"]): math.inf if cell.mean is None else sign * cell.mean
            for cell in table.cells
            if cell.metric == self.metric and cell.trials and not cell.missing
        }
        kept = [
            dataset
            for dataset in self.datasets or experiment.datasets
            if all((dataset, label) in means for label in labels)
        ]
        rows = [[means[dataset, label] for label in labels] for dataset in kept]
        return labels, np.array(rows, dtype=np.float64).reshape(len(kept), len(labels)), kept


def _diagram(axes: Axes, found: Ranking, names: list[str]) -> None:
    """Draw ranks from left, the best, to right; names on both sides, bars over groups that do not differ."""
    k = len(names)
    half = (k + 1) // 2
    groups = found.groups()
    below = -0.35 * (len(groups) + 1)
    axes.plot([1, k], [0, 0], color="black", linewidth=1)
    for tick in range(1, k + 1):
        axes.plot([tick, tick], [0, 0.15], color="black", linewidth=1)
        axes.text(tick, 0.25, str(tick), ha="center", va="bottom", fontsize=8)
    for i, (name, rank) in enumerate(zip(names, found.ranks, strict=True)):
        left = i < half
        height = below - 0.45 * (i if left else k - 1 - i)
        edge = 0.5 if left else k + 0.5
        axes.plot([rank, rank, edge], [0, height, height], color="0.4", linewidth=0.7)
        text = f"{name} ({rank:.1f})"
        axes.text(edge + (-0.1 if left else 0.1), height, text, ha="right" if left else "left", va="center", fontsize=8)
    for i, (first, last) in enumerate(groups):
        height = -0.3 - 0.35 * i
        ends = [found.ranks[first] - 0.06, found.ranks[last] + 0.06]
        axes.plot(ends, [height, height], color="black", linewidth=3, solid_capstyle="butt")
    axes.plot([1, 1 + found.cd], [1.3, 1.3], color="black", linewidth=1.5)
    axes.text(1 + found.cd / 2, 1.4, "CD", ha="center", va="bottom", fontsize=8)
    axes.set_xlim(-0.28 * k, 1.28 * k + 1)
    axes.set_ylim(below - 0.45 * half - 0.3, 2.0)
    axes.axis("off")
