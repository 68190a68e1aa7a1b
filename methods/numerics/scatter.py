"""The sums that a set of rows leaves: its mean, a factor of its scatter, and two sums of higher powers.

The rows are taken in blocks that fit into the cache, about a shift c near their mean: with z = x - c and weights w

    s = Σ w z,   G = Σ w z z',   t = Σ w ‖z‖² z,   q = Σ w ‖z‖⁴,   n = Σ w,   δ = s / n

give the scatter S = G - n δδ' about the mean c + δ. S is factored as R'R by Cholesky, with its columns scaled to length 1. The
backward error of R, relative to the rows, is about ε·cond (ε = 2⁻⁵³, cond the condition number of the scaled rows). So
Cholesky serves while cond ≤ 10⁴, and R is right as if the rows had been changed by about 10⁻¹². Beyond, or if there are fewer
rows than columns, R comes from a Householder QR of the centred rows, whose backward error is a small multiple of ε whatever
their condition. A column whose shift is more than about four standard deviations off its mean is shifted anew, so the subtraction in S
costs at most four bits. Nothing is squared when two sets are merged: R is that of the stacked factors.

The mean is kept as a sum of two numbers: means of 10⁸ still differ by 10⁻¹⁶ of their difference.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpocon, dpotrf

from mmc.methods.numerics.kernels import Array

_CELLS = 2**18  # of a block: 2 MB, which the cache holds
_LEAST = 1e-8  # reciprocal condition number of the scaled scatter down to which Cholesky serves
_FAR = 16.0  # Σz² over its part about the mean, from which the shift was a bad one
Index = NDArray[np.intp]
Rows = Index | range


@dataclass(frozen=True)
class Scatter:
    """n, the mean (``mean`` + ``low``), R with R'R = Σ w (x-μ)(x-μ)', Σ w ‖x-μ‖² (x-μ) and Σ w ‖x-μ‖⁴."""

    count: float
    mean: Array
    low: Array
    factor: Array
    third: Array
    fourth: float


@dataclass(frozen=True)
class _Sums:
    """n, s, G, t and q about the shift."""

    count: float
    first: Array
    second: Array
    third: Array
    fourth: float

    @property
    def centre(self) -> Array:
        """δ."""
        return self.first / self.count

    @property
    def scatter(self) -> Array:
        """S = G - n δδ'."""
        centred: Array = self.second - self.count * np.outer(self.centre, self.centre)
        return centred


class Room(threading.local):
    """Memory for a block of rows, used again for the next one of the same thread.

    New memory would cost as much as the arithmetic: the system hands it out page by page, and workers wait for each other
    there. C libraries keep it by themselves, but not on a worker of dask, which sets MALLOC_TRIM_THRESHOLD_.
    """

    def __init__(self) -> None:
        self._cells = np.empty(0)

    def rows(self, n: int, p: int, columns_first: bool) -> Array:
        """Return an array of n rows and p columns with anything in it, in C or in Fortran order."""
        if self._cells.size < n * p:
            self._cells = np.empty(n * p)
        cells = self._cells[: n * p]
        return cells.reshape(p, n).T if columns_first else cells.reshape(n, p)


_room = Room()


def scatter_of(X: Array, rows: Index | None = None, weight: Array | None = None) -> Scatter:
    """Return the sums of some rows of X (all by default), in C or Fortran order. Raise ValueError if they are not finite.

    ``weight`` has one positive number for each row of X.
    """
    chosen = range(len(X)) if rows is None else rows
    own = weight if weight is None or rows is None else weight[rows]
    shift = X[chosen[0]].copy()  # an actual row: what is constant becomes exactly 0
    with np.errstate(over="ignore", invalid="ignore"):
        sums = _sums(X, chosen, own, shift)
        inside = np.diag(sums.scatter)
        far = np.diag(sums.second) > _FAR * np.maximum(inside, 0)
        if far.any():
            shift = np.where(far, shift + sums.centre, shift)
            sums = _sums(X, chosen, own, shift)
        if not np.isfinite(sums.second).all():
            if not np.isfinite(X).all():
                raise ValueError("X contains NaN or infinity")
            raise ValueError("the values of X are too large: their squares overflow. Divide X by a constant")
        return _finished(X, chosen, own, shift, sums)


def _block(X: Array, rows: Rows, shift: Array, out: Array) -> Array:
    """Write rows X - shift to ``out``, which has X's own order of memory, and return it."""
    if isinstance(rows, range):
        return np.subtract(X[rows.start : rows.stop], shift, out=out)
    if out.flags.c_contiguous:
        X.take(rows, axis=0, out=out, mode="clip")  # the other modes make a copy first
    else:
        X.T.take(rows, axis=1, out=out.T, mode="clip")
    out -= shift
    return out


def _columns_first(X: Array) -> bool:
    return X.strides[0] < X.strides[1]


def _sums(X: Array, rows: Rows, weight: Array | None, shift: Array) -> _Sums:
    p = X.shape[1]
    G, s, t, q = np.zeros((p, p), order="F"), np.zeros(p), np.zeros(p), 0.0
    step = max(256, _CELLS // p)
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        z = _block(X, some, shift, _room.rows(len(some), p, _columns_first(X)))
        size2 = np.einsum("ij,ij->i", z, z)
        if weight is None:
            s += z.sum(axis=0)
            weighted = size2
        else:
            w = weight[start : start + step]
            s += w @ z
            weighted = w * size2
        t += weighted @ z
        q += float(weighted @ size2)
        if weight is not None:
            z *= np.sqrt(w)[:, None]
        if z.flags.c_contiguous:
            G = dsyrk(1.0, z.T, 1.0, G, overwrite_c=1)
        else:
            G = dsyrk(1.0, z, 1.0, G, trans=1, overwrite_c=1)
    upper = np.triu(G)
    count = float(len(rows)) if weight is None else float(weight.sum())
    return _Sums(count, s, upper + np.triu(upper, 1).T, t, q)


def _finished(X: Array, rows: Rows, weight: Array | None, shift: Array, sums: _Sums) -> Scatter:
    """Move the sums to the mean and factor them."""
    n, delta, G = sums.count, sums.centre, sums.second
    Gd, trace, size2 = G @ delta, float(np.trace(G)), float(delta @ delta)
    third = sums.third - trace * delta - 2 * Gd + 2 * n * size2 * delta
    fourth = sums.fourth + 4 * float(delta @ Gd) - 4 * float(delta @ sums.third) + 2 * size2 * trace - 3 * n * size2**2
    factor = cholesky_factor(sums.scatter) if len(rows) > len(delta) else None
    if factor is None:
        centred = _block(X, rows, shift, np.empty((len(rows), len(delta)), order="F" if _columns_first(X) else "C"))
        centred -= delta
        if weight is not None:
            centred *= np.sqrt(weight)[:, None]
        factor = triangle(centred)
    return Scatter(n, *two_sum(shift, delta), factor, third, max(fourth, 0.0))


def cholesky_factor(S: Array) -> Array | None:
    """Return R with R'R = S, or None if the scaled S is too close to singular. What is constant stays 0."""
    scale = np.sqrt(np.maximum(np.diag(S), 0))
    active = np.flatnonzero(scale)
    own = scale[active]
    scaled = S[np.ix_(active, active)] / own[:, None] / own
    R, failed = dpotrf(scaled, clean=1)
    if not len(active):
        return np.zeros_like(S)
    if failed or not dpocon(R, float(np.abs(scaled).sum(axis=0).max()))[0] >= _LEAST:
        return None
    factor = np.zeros_like(S)
    factor[np.ix_(active, active)] = R * own
    return factor


def triangle(rows: Array) -> Array:
    """Return the square upper triangular R with R'R = rows'rows."""
    p = rows.shape[1]
    R = qr(rows, mode="r", overwrite_a=True, check_finite=False)[0][:p]
    return R if len(R) == p else np.vstack([R, np.zeros((p - len(R), p))])


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a + b and what rounding took from it, exactly (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def merged(a: Scatter, b: Scatter) -> Scatter:
    """Return the sums of both sets of rows."""
    n = a.count + b.count
    d = (b.mean - a.mean) + (b.low - a.low)
    step = d * (b.count / n)
    mean, rest = two_sum(a.mean, step)
    mean, low = two_sum(mean, rest + a.low)
    factor = triangle(np.vstack([a.factor, b.factor, np.sqrt(a.count * b.count / n) * d]))
    with np.errstate(over="ignore", invalid="ignore"):
        first, second = _moved(a, -step), _moved(b, d - step)
        return Scatter(n, mean, low, factor, first[0] + second[0], first[1] + second[1])


def _moved(a: Scatter, e: Array) -> tuple[Array, float]:
    """Return Σ w ‖y‖² y and Σ w ‖y‖⁴ of y = x - μ + e."""
    Re = a.factor @ e
    Se, trace, size2 = a.factor.T @ Re, float(np.vdot(a.factor, a.factor)), float(e @ e)
    third = a.third + trace * e + 2 * Se + a.count * size2 * e
    fourth = a.fourth + 4 * float(Re @ Re) + a.count * size2**2 + 4 * float(a.third @ e) + 2 * size2 * trace
    return third, fourth
