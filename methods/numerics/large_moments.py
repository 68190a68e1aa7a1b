"""The moments of two classes in the space of a kernel whose Gram matrix K is too large to be held: one pass over its rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from mmc.methods.numerics.cholesky import ROUNDING, PivotedFactor, landmarks
from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.memory import require
from mmc.methods.numerics.shrinkage import Spread

_MOST = 1024  # landmarks: more of them cost more than the passes that they spare
_BYTES = 2**28  # that their coordinates may take


@dataclass(frozen=True)
class LargeMoments:
    """``means`` = K·average and ``squares`` = (K∘K)·average, where the two columns of ``average`` average over each class.

    ``factor`` are the landmarks, and ``complete`` says that they span all points.
    """

    K: LazyGram
    average: Array
    means: Array
    squares: Array
    diagonal: Array
    factor: PivotedFactor
    complete: bool

    @classmethod
    def of(cls, K: LazyGram, positive: NDArray[np.bool_], weight: Array | None = None) -> LargeMoments:
        """Pass over the rows of K once, and choose landmarks."""
        n = len(K)
        most = min(_MOST, n, max(_BYTES // (8 * n), 64))
        require(4 * 8 * n * most, f"the coordinates of {n:,} points among {most:,} landmarks", "take fewer rows")
        of_each = np.column_stack([positive, ~positive]).astype(float)
        if weight is not None:
            of_each *= weight[:, None]
        average = of_each / of_each.sum(axis=0)
        means, squares = np.hsplit(K.passed(lambda rows: np.hstack([rows @ average, (rows * rows) @ average])), 2)
        diagonal = K.diagonal()
        everyone = np.arange(n)
        factor = landmarks(lambda points: K[everyone, points], diagonal, most)
        return cls(K, average, means, squares, diagonal, factor, factor.rank < most)

    @cached_property
    def rank(self) -> int | None:
        """The rank of K as Cholesky with pivots one by one finds it; None if it is more than the landmarks show."""
        if not self.complete:
            return None
        pivots = np.abs(qr(self.factor.rows.T, mode="r", pivoting=True)[0].diagonal())
        return int(np.count_nonzero(pivots**2 > ROUNDING * pivots[0] ** 2))

    def spreads(self, counts: tuple[float, float]) -> tuple[Spread, Spread]:
        """Return what the rule of shrinkage asks of both classes; ``counts`` are their sizes or sums of weights."""
        assert self.rank is not None
        found = []
        for share, mean, square, count in zip(self.average.T, self.means.T, self.squares.T, counts, strict=True):
            middle = float(share @ mean)
            norm2 = self.diagonal - 2 * mean + middle
            trace2 = float(share @ (square - 2 * mean * mean)) + middle**2
            fourth = count * float(share @ (norm2 * norm2))
            found.append(Spread(count, self.rank, float(share @ norm2), trace2, fourth))
        return found[0], found[1]
