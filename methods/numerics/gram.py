"""Stand-in for a Gram matrix too large for memory; rows on demand."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.kernels import UNIT, Array, KernelSpec

WHOLE = 2**28  # bytes up to which a Gram matrix is held as a whole
_SLAB = 2**25  # bytes of rows that are made in one go
_TILE = 256  # points on either side of a part of K that stays in the processor's cache
_THIN = 32  # rows in one go where none is kept: these stay in the processor's cache
Index = NDArray[np.intp]


class LazyGram:
    """K of the points X. ``K @ a`` makes the rows of a's support and keeps them while they fit into ``memory`` bytes.

    It stands in for an array: ``len(K)``, ``K.diagonal()``, ``K @ a``, ``K @ A`` for a few dense columns, and
    ``K[np.ix_(I, J)]``, which are all that the solvers for large data use.
    """

    def __init__(self, spec: KernelSpec, X: Array, memory: float = 4e9):
        self.spec, self.X, self.memory = spec, X, memory
        self._kept = np.zeros(len(X), dtype=bool)
        self._slabs: list[tuple[Index, Array]] = []

    def __len__(self) -> int:
        return len(self.X)

    def limit(self, memory: float) -> None:
        """Keep no more than ``memory`` bytes of rows from now on."""
        self.memory = memory
        while self._slabs and 8 * len(self) * np.sum(self._kept) > memory:
            points, _ = self._slabs.pop()
            self._kept[points] = False

    def diagonal(self) -> Array:
        """Return k(x_i, x_i)."""
        if self.spec.kernel in UNIT:
            return np.ones(len(self))
        return np.concatenate([np.diag(self.spec(x, x)) for x in np.array_split(self.X, 1 + len(self) // 64)])

    def __getitem__(self, index: tuple[Index, ...]) -> Array:
        rows, columns = (np.ravel(part) for part in index)
        return self.spec(self.X[rows], self.X[columns])

    def __matmul__(self, a: Array | Index) -> Array:
        if a.ndim == 2:
            return self._by_tiles(a)
        total = np.zeros(len(self))
        for points, rows in self._slabs:
            if a[points].any():
                total += a[points] @ rows
        for part in self._parts(np.flatnonzero((a != 0) & ~self._kept)):
            total += a[part] @ self._make(part)
        return total

    def _by_tiles(self, a: Array | Index) -> Array:
        """Return K a for dense columns: each tile on one side of the diagonal serves both sides, and is not kept."""
        total, side = np.zeros(a.shape), min(_TILE, isqrt(_SLAB // 8))
        parts = [slice(start, start + side) for start in range(0, len(self), side)]
        for i, here in enumerate(parts):
            points = self.X[here]
            total[here] += self.spec(points, points) @ a[here]
            for there in parts[:i]:
                K = self.spec(points, self.X[there])
                total[here] += K @ a[there]
                total[there] += K.T @ a[here]
        return total

    def passed(self, function: Callable[[Array], Array]) -> Array:
        """Return a function of the rows, made of a few at a time, for all rows."""
        parts = self._parts(np.arange(len(self)), _THIN)
        return np.vstack([function(self.spec(self.X[part], self.X)) for part in parts])

    def single(self, points: Index) -> NDArray[np.float32]:
        """Return K between some points in single precision. Their whole rows are made and kept."""
        K, place = np.empty((len(points), len(points)), dtype=np.float32), np.full(len(self), -1)
        place[points] = np.arange(len(points))
        for part, rows in self._slabs:
            for i in np.flatnonzero(place[part] >= 0):
                K[place[part[i]]] = rows[i].take(points)
        for part in self._parts(points[~self._kept[points]]):
            K[place[part]] = self._make(part)[:, points]
        return K

    def _make(self, part: Index) -> Array:
        """Return the rows of some points, and keep them if they fit into memory."""
        rows = self.spec(self.X[part], self.X)
        if 8 * len(self) * (np.sum(self._kept) + len(part)) <= self.memory:
            self._slabs.append((part, rows))
            self._kept[part] = True
        return rows

    def _parts(self, points: Index, most: int | None = None) -> list[Index]:
        step = max(1, min(_SLAB // (8 * len(self)), most or len(self)))
        return [points[i : i + step] for i in range(0, len(points), step)]
