"""Cholesky factors and triangles of a few dozen rows, compiled: there a call of LAPACK costs as much as the arithmetic."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import objmode
from scipy.linalg.lapack import dpotrf

from mmc.methods.numerics.compiled import compiled_safely
from mmc.methods.numerics.kernels import Array

_LARGE = 256  # rows from which LAPACK's Cholesky is faster
_WIDE = 64  # columns from which numpy's products are faster
_ROWS = 64  # that are solved for together


@compiled_safely
def dot(x: Array, y: Array) -> float:
    """Return x'y."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@compiled_safely
def times(A: Array, x: Array, y: Array) -> float:
    """Write Ax into y; return x'Ax."""
    for i in range(len(x)):
        y[i] = dot(A[i], x)
    return dot(x, y)


@compiled_safely
def _small(M: Array) -> bool:
    """Four rows at a time share what is read of the pivot's. With 30 rows it takes half of LAPACK's time."""
    n = len(M)
    for j in range(n):
        left = M[j, j]
        for k in range(j):
            left -= M[j, k] * M[j, k]
        if not left > 0:
            return False
        M[j, j] = sqrt(left)
        scale, i = 1 / M[j, j], j + 1
        while i + 4 <= n:
            a, b, c, e = 0.0, 0.0, 0.0, 0.0
            for k in range(j):
                x = M[j, k]
                a += M[i, k] * x
                b += M[i + 1, k] * x
                c += M[i + 2, k] * x
                e += M[i + 3, k] * x
            M[i, j] = scale * (M[i, j] - a)
            M[i + 1, j] = scale * (M[i + 1, j] - b)
            M[i + 2, j] = scale * (M[i + 2, j] - c)
            M[i + 3, j] = scale * (M[i + 3, j] - e)
            i += 4
        for rest in range(i, n):
            a = 0.0
            for k in range(j):
                a += M[rest, k] * M[j, k]
            M[rest, j] = scale * (M[rest, j] - a)
    return True


def _by_lapack(M: Array) -> bool:
    _, failed = dpotrf(M.T, overwrite_a=1, clean=0)
    return not failed and bool(M[-1, -1] > 0)  # which nan in any place would reach


@compiled_safely
def _large(M: Array) -> bool:
    """Leave the compiled code for LAPACK: numba's own way to it takes a copy, and seconds to compile."""
    with objmode(made="boolean"):
        made = _by_lapack(M)
    return made


@compiled_safely
def lower(M: Array) -> bool:
    """Replace the lower triangle of M by its Cholesky factor; False if M is not positive definite."""
    return _small(M) if len(M) < _LARGE else _large(M)


@compiled_safely
def _small_products(C: Array, start: int, end: int, S: Array) -> None:
    """Two columns with two at a time share what is read. With 30 columns it takes half of the time of BLAS."""
    n, i = len(C), 0
    while i + 2 <= n:
        u, v = C[i][start:end], C[i + 1][start:end]
        for j in range(0, i + 1, 2):
            x, y, a, b, c, e = C[j][start:end], C[j + 1][start:end], 0.0, 0.0, 0.0, 0.0
            for k in range(len(u)):
                a += u[k] * x[k]
                b += u[k] * y[k]
                c += v[k] * x[k]
                e += v[k] * y[k]
            S[i, j], S[i, j + 1], S[i + 1, j], S[i + 1, j + 1] = a, b, c, e
        i += 2
    if i < n:
        for j in range(n):
            S[i, j] = dot(C[i][start:end], C[j][start:end])
    for i in range(n):
        for j in range(i):
            S[j, i] = S[i, j]


@compiled_safely
def _large_products(C: Array, start: int, end: int, S: Array) -> None:
    """Leave the compiled code for numpy, which knows that the product is symmetric."""
    with objmode():
        part = C[:, start:end]
        np.matmul(part, part.T, out=S)


@compiled_safely
def products(C: Array, start: int, end: int, S: Array) -> None:
    """Write into S the products of the columns, which are the rows of C, from ``start`` to ``end``."""
    if len(C) < _WIDE:
        _small_products(C, start, end, S)
    else:
        _large_products(C, start, end, S)


@compiled_safely
def safely_definite(S: Array, ridge: tuple[float, float], least: float) -> bool:
    """Whether both covariances are positive definite, every pivot at least ``least`` times what the diagonal has there."""
    smallest, small = min(ridge[0], ridge[1]), True
    for side in range(2):
        for i in range(S.shape[1]):
            small = small and least * S[side, i, i] < smallest
    if small:  # no pivot is below the ridge
        return True
    for A in S:
        L = A.copy()
        if not lower(L):
            return False
        for i in range(len(A)):
            if L[i, i] ** 2 < least * A[i, i]:
                return False
    return True


@compiled_safely
def squares(L: Array, rows: Array) -> Array:
    """Return ‖L⁻¹x‖² for every row x."""
    m, n = rows.shape
    found, W = np.zeros(m), np.zeros((n, _ROWS))
    for start in range(0, m, _ROWS):
        count = min(_ROWS, m - start)
        for k in range(count):
            for i in range(n):
                W[i, k] = rows[start + k, i]
        for i in range(n):
            j = 0
            while j + 4 <= i:
                a, b, c, e = L[i, j], L[i, j + 1], L[i, j + 2], L[i, j + 3]
                for k in range(_ROWS):
                    W[i, k] -= a * W[j, k] + b * W[j + 1, k] + c * W[j + 2, k] + e * W[j + 3, k]
                j += 4
            for rest in range(j, i):
                for k in range(_ROWS):
                    W[i, k] -= L[i, rest] * W[rest, k]
            scale = 1 / L[i, i]
            for k in range(_ROWS):
                W[i, k] *= scale
        for i in range(n):
            for k in range(count):
                found[start + k] += W[i, k] ** 2
    return found


@compiled_safely
def forward(L: Array, x: Array) -> None:
    """Replace x by L⁻¹x."""
    for i in range(len(x)):
        left = x[i]
        for j in range(i):
            left -= L[i, j] * x[j]
        x[i] = left / L[i, i]


@compiled_safely
def backward(L: Array, x: Array) -> None:
    """Replace x by L'⁻¹x."""
    for i in range(len(x) - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]
