"""Two methods on the same test points: the interval of their difference over repetitions, or McNemar's exact test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mmc.experiments.cells import Cell, Discordance, Pair
from mmc.experiments.student import quantile


def intervals(cells: Sequence[Cell], first: str, overlap: float, same_rows: bool) -> Iterator[Pair]:
    """Compare one method with all others, with the corrected resampled t interval of Nadeau & Bengio (2003).

    ``same_rows``: every repetition is a cross-validation of the same rows, which no correction makes independent.
    """
    for one, other in _couples(cells, first):
        n = len(one.by_repetition)
        if n < 2 or len(other.by_repetition) != n:
            continue
        differences = np.subtract(one.by_repetition, other.by_repetition)
        spread = float(np.std(differences, ddof=1)) * math.sqrt(1 / n + overlap)
        width = quantile(n - 1, 0.975) * spread
        names = str(one.keys["dataset"]), one.metric, first, str(other.keys["method"])
        yield Pair(*names, float(np.mean(differences)), width, n, same_rows)


def discordances(cells: Sequence[Cell], first: str) -> Iterator[Discordance]:
    """Compare one method with all others, point by point, where each point was tested once."""
    for one, other in _couples(cells, first):
        if one.right is None or other.right is None:
            continue
        only = int(np.sum(one.right & ~other.right)), int(np.sum(other.right & ~one.right))
        yield Discordance(str(one.keys["dataset"]), first, str(other.keys["method"]), *only, len(one.right))


def nearest_methods(cells: Sequence[Cell]) -> list[Cell]:
    """Tell each cell of a single run on how many test points the most similar other method decides otherwise."""
    out = []
    for cell in cells:
        others = [
            o.right
            for o in cells
            if o.right is not None
            and (o.keys["dataset"], o.metric) == (cell.keys["dataset"], cell.metric)
            and o.keys["method"] != cell.keys["method"]
        ]
        if cell.right is not None and others:
            cell = replace(cell, discordant=min(int(np.sum(cell.right != other)) for other in others))
        out.append(cell)
    return out


def _couples(cells: Sequence[Cell], first: str) -> Iterator[tuple[Cell, Cell]]:
    """Yield the cells of one method with those of every other one on the same data set."""
    for one in cells:
        for other in cells:
            same = (one.keys["dataset"], one.metric) == (other.keys["dataset"], other.metric)
            if same and one.keys["method"] == first != other.keys["method"]:
                yield one, other
