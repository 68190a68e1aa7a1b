"""Cholesky with pivots: coordinates for points of which only the Gram matrix is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpstrf, dtrtri

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.workspace import scratch, untouched

ROUNDING = 1e-10  # of the largest pivot
_SAME = 1e-9  # relative: solutions are known to some 1e-7
_BLOCK = 64  # pivots that are looked for in one go
_TRIANGLE = 64  # rows of a triangle that LAPACK inverts as quickly as products of blocks do
_WORTH = 0.1  # of the largest diagonal entry left: below, other points are better pivots
Index = NDArray[np.intp]


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
        return int(np.count_nonzero(squares > ROUNDING * squares[:1]))

    @property
    def triangle(self) -> Array:
        """Return the triangular L of the pivots."""
        return self.rows[self.pivots]


def pivoted_cholesky(K: Array, tol: float | None = None) -> PivotedFactor:
    """Factor a symmetric K ⪰ 0; stop when no diagonal entry above ``tol`` · max K_ii is left.

    ``tol=None`` stops where LAPACK does: at n · eps, the rounding errors of the factorisation itself.
    """
    factor, order, rank = _pivoted(K, -1.0 if tol is None else tol * float(np.max(np.diagonal(K))))
    rows = np.empty((len(K), rank))
    rows[order - 1] = np.tril(factor[:, :rank])
    return PivotedFactor(rows, order[:rank] - 1)


def _pivoted(K: Array, floor: float) -> tuple[Array, Index, int]:
    """Return LAPACK's factor, whose upper triangle has no meaning, the order of the pivots from 1 on, and the rank."""
    factor, order, rank, _ = dpstrf(K.T, tol=floor, lower=1)  # the transpose of a C array is what LAPACK can copy fast
    return factor, order, rank


def factored(A: Array, added: Array | float) -> tuple[Array, bool]:
    """Return the lower L with LL' = A, symmetric, plus ``added`` on its diagonal, and whether there is one.

    L is in `scratch`: it lasts until the next call. What is above its diagonal, and in columns that only fill up a cache line, has
    no meaning.
    """
    from mmc.methods.numerics.triangles import LARGE, lower  # compiled: not every method needs it

    n = len(A)
    M = scratch(n, n + -n % 8 if n < LARGE else n)
    np.copyto(M[:, :n], A)
    M.ravel()[: n * M.shape[1] : M.shape[1] + 1] += added
    return M, lower(M)


class Shifted:
    """A symmetric matrix ``A`` that is factorised with one diagonal after another."""

    def __init__(self, A: Array):
        self.A = A
        self._last: tuple[Array, Array] | None = None  # the diagonal and the factor

    def factored(self, added: Array) -> tuple[Array, bool]:
        """Return what `factored` does; the last factor again if it is still there and its diagonal was the same but for rounding."""
        last = self._last
        if last is not None and untouched(last[1]) and bool((np.abs(added - last[0]) <= _SAME * last[0]).all()):
            return last[1], True
        self._last = last = None  # frees it before the next one is made
        L, made = factored(self.A, added)
        if made:
            self._last = added, L
        return L, made

    def inverse_diagonal(self, added: Array) -> Array:
        """Return the diagonal of the inverse; nan where there is no factor."""
        L, made = self.factored(added)
        self._last = None  # the inverse may take its place
        return inverse_diagonal(L) if made else np.full(len(added), np.nan)


def inverse_diagonal(L: Array) -> Array:
    """Return the diagonal of (LL')⁻¹ for a lower L, which may be overwritten."""
    from mmc.methods.numerics.triangles import LARGE, inverse_squares  # compiled: not every method needs it

    if len(L) < LARGE:
        return inverse_squares(L)
    U = L.T  # whose columns lie side by side in memory, as LAPACK wants them
    _invert(U)
    squares: Array = np.einsum("ij,ij->i", U, U)
    return squares


def _invert(U: Array) -> None:
    """Invert an upper triangle in its place: by halves, for LAPACK takes more than twice as long for a large one."""
    if len(U) <= _TRIANGLE:
        U[...] = np.triu(dtrtri(U)[0])
        return
    half = len(U) // 2
    first, corner, second = U[:half, :half], U[:half, half:], U[half:, half:]
    _invert(first)
    _invert(second)
    corner[...] = dtrmm(1.0, first, dtrmm(-1.0, second, corner, side=1), overwrite_b=1)
    U[half:, :half] = 0.0


def dimensions(K: Array) -> int:
    """Return the ``dimensions`` of the factor of K, which need not be made if all eigenvalues are above the rounding errors."""
    least = ROUNDING * float(np.max(np.diagonal(K)))
    if factored(K, -(1 + ROUNDING) * least)[1]:  # no pivot is below the smallest eigenvalue
        return len(K)
    return _pivoted(K, least)[2]


def landmarks(columns: Callable[[Index], Array], diagonal: Array, most: int) -> PivotedFactor:
    """Factor a K ⪰ 0 of which ``columns`` makes some at a time; stop at rounding errors or ``most`` pivots.

    The pivots come in blocks: the points with the most left, as far as the pivots before them in the block leave them that.
    """
    left, rows = diagonal.copy(), np.zeros((len(diagonal), most))
    floor, pivots = ROUNDING / 10 * float(left.max()), np.empty(0, dtype=np.intp)
    while len(pivots) < most and left.max() > floor:
        done = len(pivots)
        largest = np.argsort(-left)[: min(_BLOCK, most - done)]
        C = columns(largest) - rows[:, :done] @ rows[largest, :done].T
        block = pivoted_cholesky(C[largest], max(_WORTH, floor / float(left.max())))
        new = solve_triangular(block.triangle, C[:, block.pivots].T, lower=True).T
        rows[:, done : done + block.rank] = new
        pivots = np.append(pivots, largest[block.pivots])
        left -= np.einsum("ij,ij->i", new, new)
        left[pivots] = 0.0
    return PivotedFactor(rows[:, : len(pivots)], pivots)
