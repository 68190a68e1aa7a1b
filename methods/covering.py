"""Spheres that cover the points of each class (Wang & Zhang's data reduction, cited by Pothin & Richard as [3]).

The paper does not print the algorithm; this is the greedy one. Around every point x_i lies a ball of radius

    R_i = fraction · min {‖x_i − x_j‖ : y_j ≠ y_i},

and per class the ball that holds the most points not yet covered is taken until all are covered (ties: the larger
ball, then the first). Every point is covered and no ball has an enemy inside; with fraction ≤ ½ no two balls of
opposite classes overlap, since ‖x_i − x_j‖ ≥ 2 max(R_i, R_j) ≥ R_i + R_j. The two options that move or shrink a
ball keep it inside the one that was taken, and around its points: the guarantees stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from mmc.methods.numerics.kernels import Array
from mmc.words import nearest


@dataclass(frozen=True)
class Covering:
    """How the balls are made.

    ``fraction``: of the distance to the nearest enemy, 0 < fraction ≤ 1. ``center``: "point", a ball stays at its data
    point, or "mean", it moves to the mean of its points where a ball around them fits inside the first. ``shrink``:
    a ball shrinks until it just holds its points.
    """

    fraction: float = 0.5
    center: str = "point"
    shrink: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.fraction <= 1:
            raise ValueError(f"covering: fraction={self.fraction!r} must be in (0, 1]")
        if self.center not in ("point", "mean"):
            raise ValueError(f"covering: center={self.center!r}: {nearest(self.center, ['point', 'mean'])}")

    @classmethod
    def of(cls, options: str | Mapping[str, object] | Covering) -> Covering:
        """Return the covering that a parameter names: "half", a mapping of options, or a Covering."""
        if isinstance(options, Covering):
            return options
        if isinstance(options, str):
            if options != "half":
                raise ValueError(f"covering={options!r}: {nearest(options, ['half'])}")
            return cls()
        names = [field.name for field in fields(cls)]
        for name in options:
            if name not in names:
                raise ValueError(f"covering has no option {name!r}: {nearest(name, names)}")
        return cls(**options)  # type: ignore[arg-type]  # __post_init__ checks the values


@dataclass(frozen=True)
class Cover:
    """The balls taken: ``index`` is the data point that each was made around, ``owner`` the ball of every point."""

    centers: Array
    radii: Array
    sign: Array
    index: NDArray[np.intp]
    owner: NDArray[np.intp]


def cover(X: Array, sign: Array, options: Covering) -> Cover:
    """Cover the points of each class with balls that hold no point of the other class."""
    taken: list[tuple[int, Array, float]] = []
    owner = np.empty(len(X), dtype=np.intp)
    for side in (1.0, -1.0):
        mine = np.flatnonzero(sign == side)
        radii = options.fraction * cdist(X[mine], X[sign != side]).min(axis=1)
        inside = cdist(X[mine], X[mine]) <= radii[:, None]
        left = np.ones(len(mine), dtype=bool)
        count = inside.sum(axis=1)
        while left.any():
            best = int(np.lexsort((-radii, -count))[0])
            new = inside[best] & left
            owner[mine[new]] = len(taken)
            taken.append((int(mine[best]), *_settle(X[mine], best, radii[best], inside[best], options)))
            left &= ~new
            count -= inside[:, new].sum(axis=1)
    index = np.array([i for i, _, _ in taken], dtype=np.intp)
    return Cover(np.array([c for _, c, _ in taken]), np.array([r for _, _, r in taken]), sign[index], index, owner)


def _settle(X: Array, best: int, radius: float, inside: NDArray[np.bool_], options: Covering) -> tuple[Array, float]:
    """Return the centre and radius of a ball that was taken, moved and shrunk as the options say."""
    center, points = X[best], X[inside]
    if options.center == "mean":
        mean = points.mean(axis=0)
        room = radius - float(np.linalg.norm(mean - center))
        if np.linalg.norm(points - mean, axis=1).max() <= room:
            center, radius = mean, room
    if options.shrink:
        radius = float(np.linalg.norm(points - center, axis=1).max())
    return center, radius
