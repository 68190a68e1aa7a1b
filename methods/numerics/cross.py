"""A kernel between the training points and others: rules that are fitted one after the other share what they use of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mmc.methods.numerics.gram import Index
from mmc.methods.numerics.kernels import Array


class Cross:
    """A matrix with a row for every training point, made when it is first asked for."""

    def __init__(self, shape: tuple[int, int]):
        self._values, self._made = np.empty(shape), np.zeros(shape[0], dtype=bool)

    def rows(self, points: Index, make: Callable[[Index], Array]) -> Array:
        """Return a copy of the rows of these points; ``make`` makes those that are missing, or all at once if these are most."""
        many = 2 * len(points) > len(self._made)
        new = np.flatnonzero(~self._made) if many else points[~self._made[points]]
        if len(new):
            self._values[new] = make(new)
            self._made[new] = True
        return self._values[points]
