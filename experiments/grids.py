"""Grids of parameters: stated point by point, or as the product of axes. A grid can be counted without being spelled out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np
from pydantic import Discriminator, JsonValue, Tag, model_validator

from mmc.experiments.model import Model
from mmc.experiments.units import Params


class Axis(Model):
    """Values from first to last, evenly (``linspace``) or geometrically (``logspace``): [first, last, count]."""

    linspace: tuple[float, float, int] | None = None
    logspace: tuple[float, float, int] | None = None

    @model_validator(mode="after")
    def _check(self) -> Axis:
        if (self.linspace is None) == (self.logspace is None):
            raise ValueError("give either linspace or logspace, with [first, last, count]")
        first, last, count = self._given
        if count < 1:
            raise ValueError(f"a count of {count} gives no values; it is at least 1")
        if self.logspace is not None and not (first > 0 and last > 0):
            raise ValueError("logspace goes from one positive number to another")
        if not math.isfinite(last - first):
            raise ValueError("the ends are too far apart")
        return self

    @property
    def _given(self) -> tuple[float, float, int]:
        given = self.linspace if self.linspace is not None else self.logspace
        assert given is not None
        return given

    @property
    def count(self) -> int:
        """How many values there are."""
        return self._given[2]

    @property
    def ends(self) -> list[float]:
        """The first and the last value."""
        first, last, count = self._given
        return [_rounded(first), _rounded(last)][:count]

    def values(self) -> list[float]:
        """Return all values."""
        space = np.linspace if self.linspace is not None else np.geomspace
        return [_rounded(value) for value in space(*self._given)]


def _rounded(value: float) -> float:
    return float(f"{value:.12g}")


# A tag in brackets is a word of pydantic's in an error's path.
_Values = Annotated[
    Annotated[list[JsonValue], Tag("[values]")] | Annotated[Axis, Tag("[axis]")],
    Discriminator(lambda given: "[axis]" if isinstance(given, (dict, Axis)) else "[values]"),
]
GridSpec = Annotated[
    Annotated[list[Params], Tag("[points]")] | Annotated[dict[str, _Values], Tag("[axes]")],
    Discriminator(lambda given: "[axes]" if isinstance(given, dict) else "[points]"),
]


def tied(key: str) -> list[str]:
    """Return the parameters of an axis: one named "C_pos, C_neg" gives both the same value."""
    return [name.strip() for name in key.split(",")]


def size(grid: GridSpec | None) -> int:
    """Return how many points a grid has, by arithmetic."""
    if grid is None:
        return 1
    if isinstance(grid, list):
        return len(grid)
    return math.prod(axis.count if isinstance(axis, Axis) else len(axis) for axis in grid.values())


def points(grid: GridSpec | None) -> list[Params]:
    """Spell a grid out: a list is taken as it is, a mapping of axes becomes their product."""
    if grid is None:
        return [{}]
    if isinstance(grid, list):
        return grid
    axes = [axis.values() if isinstance(axis, Axis) else axis for axis in grid.values()]
    names = [tied(key) for key in grid]
    return [
        {name: value for tied, value in zip(names, values, strict=True) for name in tied}
        for values in itertools.product(*axes)
    ]


def samples(grid: GridSpec | None, most: int = 2000) -> Iterator[tuple[int | None, Params]]:
    """Yield points that together have every value of every axis, each with its place in a list.

    A small grid is spelled out. Of a large one the axes are walked one by one, the others staying at their first value;
    of a long linspace or logspace only the ends are taken.
    """
    if isinstance(grid, list):
        yield from enumerate(grid)
        return
    if grid is None or size(grid) <= most:
        yield from ((None, point) for point in points(grid))
        return
    axes = {key: axis.ends if isinstance(axis, Axis) else axis for key, axis in grid.items()}
    first: Params = {name: values[0] for key, values in axes.items() for name in tied(key)}
    for key, values in axes.items():
        for value in values:
            yield None, {**first, **dict.fromkeys(tied(key), value)}
