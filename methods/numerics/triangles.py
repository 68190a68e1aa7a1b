"""Cholesky factors and triangles of up to a few hundred rows, compiled.

They are made in tiles of 4 × 4: what is read of eight rows serves sixteen sums, which stay in registers. With 200 to 450 rows
that takes two thirds of LAPACK's time, half of it for an inverse; with a few dozen, a call of LAPACK costs as much as the arithmetic.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import objmode
from scipy.linalg.lapack import dpotrf

from mmc.methods.numerics.compiled import compiled_safely
from mmc.methods.numerics.kernels import Array

LARGE = 500  # rows from which LAPACK is faster
_WIDE = 64  # columns from which numpy's products are faster
_ROWS = 64  # that are solved for together
TILE = 4  # `subtract_products` and `_solve` are written for it
_UNITS = 8  # columns of the inverse that are made together


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
def subtract_products(A: Array, i: int, B: Array, j: int, start: int, stop: int, out: Array) -> None:
    """Subtract from the tile of ``out`` at (i, j) the products of four rows of A and of B, over the columns from start to stop."""
    a, b, c, e = A[i, start:stop], A[i + 1, start:stop], A[i + 2, start:stop], A[i + 3, start:stop]
    p, q, r, s = B[j, start:stop], B[j + 1, start:stop], B[j + 2, start:stop], B[j + 3, start:stop]
    ap = aq = ar = az = bp = bq = br = bz = cp = cq = cr = cz = ep = eq = er = ez = 0.0
    for k in range(stop - start):
        w, x, y, z = p[k], q[k], r[k], s[k]
        v = a[k]
        ap, aq, ar, az = ap + v * w, aq + v * x, ar + v * y, az + v * z
        v = b[k]
        bp, bq, br, bz = bp + v * w, bq + v * x, br + v * y, bz + v * z
        v = c[k]
        cp, cq, cr, cz = cp + v * w, cq + v * x, cr + v * y, cz + v * z
        v = e[k]
        ep, eq, er, ez = ep + v * w, eq + v * x, er + v * y, ez + v * z
    f, g, h, m = out[i], out[i + 1], out[i + 2], out[i + 3]
    f[j], f[j + 1], f[j + 2], f[j + 3] = f[j] - ap, f[j + 1] - aq, f[j + 2] - ar, f[j + 3] - az
    g[j], g[j + 1], g[j + 2], g[j + 3] = g[j] - bp, g[j + 1] - bq, g[j + 2] - br, g[j + 3] - bz
    h[j], h[j + 1], h[j + 2], h[j + 3] = h[j] - cp, h[j + 1] - cq, h[j + 2] - cr, h[j + 3] - cz
    m[j], m[j + 1], m[j + 2], m[j + 3] = m[j] - ep, m[j + 1] - eq, m[j + 2] - er, m[j + 3] - ez


@compiled_safely
def _solve(R: Array, first: int, last: int, L: Array, j: int) -> None:
    """Divide the columns j to j + 3 of some rows of R by the transpose of the triangle that L has there."""
    s1, s2, s3, s4 = 1 / L[j, j], 1 / L[j + 1, j + 1], 1 / L[j + 2, j + 2], 1 / L[j + 3, j + 3]
    p, q, r = L[j + 1, j], L[j + 2, j], L[j + 3, j]
    x, y, z = L[j + 2, j + 1], L[j + 3, j + 1], L[j + 3, j + 2]
    for i in range(first, last):
        a = R[i, j] * s1
        b = (R[i, j + 1] - a * p) * s2
        c = (R[i, j + 2] - a * q - b * x) * s3
        R[i, j], R[i, j + 1], R[i, j + 2] = a, b, c
        R[i, j + 3] = (R[i, j + 3] - a * r - b * y - c * z) * s4


@compiled_safely
def _pivots(M: Array, first: int, last: int, start: int) -> bool:
    """Factorise the rows from first to last, of which the columns before ``start`` are done with."""
    for i in range(first, last):
        for j in range(start, i + 1):
            left = M[i, j] - dot(M[i, start:j], M[j, start:j])
            if j < i:
                M[i, j] = left / M[j, j]
            elif left > 0:
                M[i, i] = sqrt(left)
            else:
                return False
    return True


@compiled_safely
def _small(M: Array) -> bool:
    """Above the diagonal M loses its meaning."""
    whole = len(M) - len(M) % TILE
    for j in range(0, whole, TILE):
        for i in range(j, whole, TILE):
            subtract_products(M, i, M, j, 0, j, M)
        if not _pivots(M, j, j + TILE, j):
            return False
        _solve(M, j + TILE, whole, M, j)
    return _pivots(M, whole, len(M), 0)


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
    return _small(M) if len(M) < LARGE else _large(M)


@compiled_safely
def _divide(R: Array, L: Array, start: int) -> None:
    """Replace the rows x of R by L⁻¹x; they are a multiple of four, and 0 before ``start``, another one."""
    n = len(L)
    whole = n - n % TILE
    for j in range(start, whole, TILE):
        for i in range(0, len(R), TILE):
            subtract_products(R, i, L, j, start, j, R)
        _solve(R, 0, len(R), L, j)
    for i in range(len(R)):
        row = R[i]
        for j in range(max(whole, start), n):
            row[j] = (row[j] - dot(row[start:j], L[j, start:j])) / L[j, j]


@compiled_safely
def _back(x: Array, L: Array, start: int) -> None:
    """Take the four columns from ``start`` on out of L'x' = x."""
    for i in range(start + TILE - 1, start - 1, -1):
        x[i] /= L[i, i]
        for j in range(start, i):
            x[j] -= L[i, j] * x[i]
    a, b, c, e = x[start], x[start + 1], x[start + 2], x[start + 3]
    p, q, r, s = L[start, :start], L[start + 1, :start], L[start + 2, :start], L[start + 3, :start]
    for j in range(start):
        x[j] -= a * p[j] + b * q[j] + c * r[j] + e * s[j]


@compiled_safely
def _divide_back(R: Array, L: Array) -> None:
    """Replace the rows x of R by L'⁻¹x."""
    n = len(L)
    whole = n - n % TILE
    for row in range(len(R)):
        x = R[row]
        for i in range(n - 1, whole - 1, -1):
            x[i] /= L[i, i]
            for j in range(i):
                x[j] -= L[i, j] * x[i]
    for start in range(whole - TILE, -1, -TILE):
        for row in range(len(R)):
            _back(R[row], L, start)


@compiled_safely
def inverse_squares(L: Array) -> Array:
    """Return the diagonal of (LL')⁻¹ for a lower triangle L: the squared lengths of its inverse's columns, made a few at a time."""
    n = len(L)
    found, R = np.zeros(n), np.zeros((_UNITS, L.shape[1]))
    for start in range(0, n, _UNITS):
        count = min(_UNITS, n - start)
        for i in range(_UNITS):
            for j in range(start, n):
                R[i, j] = 0.0
            if i < count:
                R[i, start + i] = 1.0
        _divide(R, L, start)
        for i in range(count):
            found[start + i] = dot(R[i, start:n], R[i, start:n])
    return found


@compiled_safely
def solve_each(L: Array, R: Array) -> None:
    """Replace every row x of R by (LL')⁻¹x."""
    count = len(R)
    rows = np.zeros((count + -count % TILE, L.shape[1]))
    for i in range(count):  # loops compile quicker than assignments of slices
        for j in range(len(L)):
            rows[i, j] = R[i, j]
    _divide(rows, L, 0)
    for i in range(count):
        for j in range(len(L)):
            R[i, j] = rows[i, j]
    _divide_back(R, L)


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
    _divide_back(x.reshape((1, len(x))), L)
