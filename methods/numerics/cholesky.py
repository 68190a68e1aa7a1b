"""Cholesky with pivots: coordinates for points of which only the Gram matrix is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from mmc.methods.numerics.kernels import Array

_ROUNDING = 1e-10  # of the largest pivot


@dataclass(frozen=True)
class PivotedFactor:
    """L with K = LL' as far as the tolerance goes: one row for each row of K, one column for each pivot.

    ``pivots`` are the rows of K that were eliminated, in that order, so that ``rows[pivots]`` is lower triangular.
    """

    rows: Array
    pivots: NDArray[np.intp]

    @property
    def rank(self) -> int:
        """Return the number of pivots: the rank of K at this tolerance."""
        return len(self.pivots)

    @property
    def dimensions(self) -> int:
        """Return the number of pivots that no rounding explains: of equal points, however often they occur, one."""
        squares = self.triangle.diagonal() ** 2
        return int(np.count_nonzero(squares > _ROUNDING * squares[:1]))

    @property
    def triangle(self) -> Array:
        """Return the triangular L of the pivots."""
        return self.rows[self.pivots]


def pivoted_cholesky(K: Array, tol: float | None = None) -> PivotedFactor:
    """Factor a symmetric K ⪰ 0; stop when no diagonal entry above ``tol`` · max K_ii is left.

    ``tol=None`` stops where LAPACK does: at n · eps, the rounding errors of the factorisation itself.
    """
    floor = -1.0 if tol is None else tol * float(np.max(np.diagonal(K)))
    factor, order, rank, _ = dpstrf(K.T, tol=floor, lower=1)  # the transpose of a C array is what LAPACK can copy fast
    rows = np.empty((len(K), rank))
    rows[order - 1] = np.tril(factor[:, :rank])
    return PivotedFactor(rows, order[:rank] - 1)
