"""Passes over the rows of a few hundred points, compiled: numpy would take several for each, and longer to start than to do them."""

from __future__ import annotations

from math import inf, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.compiled import compiled_safely
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.triangles import backward, dot, forward, lower, products, squares

Pair = tuple[float, float]  # of the positive and of the negative class
Sums = tuple[float, float, float]
_LEAST, _MOST = 1e-6, 1e8  # of c_i tr Σ_i beside c0: outside, rounding decides


@compiled_safely
def centred(X: Array, positive: NDArray[np.bool_]) -> tuple[Array, Array, int]:
    """Return the means of both classes, the columns of the rows (x - mean)/√m_i, those of the positive class first, and how many these are."""
    m, n = X.shape
    split = 0
    for i in range(m):
        split += positive[i]
    means, columns, first, second = np.empty((2, n)), np.empty((n, m)), 0, split
    for i in range(m):
        place = first if positive[i] else second
        for j in range(n):
            columns[j, place] = X[i, j]
        if positive[i]:
            first += 1
        else:
            second += 1
    for side in range(2):
        start, end = side * split, split + side * (m - split)
        scale = 1 / sqrt(end - start)
        for j in range(n):
            x, total = columns[j][start:end], 0.0
            for k in range(len(x)):
                total += x[k]
            mean = total / len(x)
            for k in range(len(x)):
                x[k] = (x[k] - mean) * scale
            means[side, j] = mean
    return means, columns, split


@compiled_safely
def extents(X: Array) -> tuple[Array, Array]:
    """Return the smallest and the largest value of every column."""
    low, high = X[0].copy(), X[0].copy()
    for i in range(1, len(X)):
        for j in range(len(low)):
            low[j], high[j] = min(low[j], X[i, j]), max(high[j], X[i, j])
    return low, high


@compiled_safely
def turned(A: Array) -> Array:
    """Return the transpose, side by side in memory."""
    m, n = A.shape
    found = np.empty((n, m))
    for i in range(m):
        for j in range(n):
            found[j, i] = A[i, j]
    return found


@compiled_safely
def scatters(columns: Array, split: int) -> Array:
    """Return the products of the columns, over the first ``split`` rows and over the others."""
    S = np.empty((2, len(columns), len(columns)))
    for side in range(2):  # a loop: numba compiles a function anew for a 0 that is written out
        products(columns, side * split, split + side * (columns.shape[1] - split), S[side])
    return S


@compiled_safely
def _spread_sums(columns: Array, start: int, end: int, S: Array) -> Sums:
    squares = np.zeros(end - start)
    for column in columns:
        x = column[start:end]
        for k in range(len(squares)):
            squares[k] += x[k] ** 2
    trace, trace2 = 0.0, 0.0
    for k in range(len(squares)):
        trace += squares[k]
    for i in range(len(S)):
        trace2 += dot(S[i], S[i])
    return trace, trace2, dot(squares, squares)


@compiled_safely
def spread_sums(columns: Array, split: int, S: Array) -> tuple[Sums, Sums]:
    """Return Σ‖x‖², Σ S_ij² and Σ‖x‖⁴ of the rows x of either class, given as columns, and their S = `scatters`."""
    sums = np.empty((2, 3))
    for side in range(2):
        found = _spread_sums(columns, side * split, split + side * (columns.shape[1] - split), S[side])
        sums[side, 0], sums[side, 1], sums[side, 2] = found
    return (sums[0, 0], sums[0, 1], sums[0, 2]), (sums[1, 0], sums[1, 1], sums[1, 2])


@compiled_safely
def summed_up(
    X: Array, positive: NDArray[np.bool_]
) -> tuple[Array, Array, int, Array, Array, Array, tuple[Sums, Sums]]:
    """Return the means, the rows of `centred`, how many are positive, the difference of the means, marks of the rows of both classes,
    `scatters` and `spread_sums`.

    The last two are empty where a class has fewer rows than columns: there products of the rows take less.
    """
    means, columns, split = centred(X, positive)
    rows = turned(columns)
    member, S, none = np.zeros((len(rows), 2)), np.empty((0, 0, 0)), (0.0, 0.0, 0.0)
    member[:split, 0] = 1.0
    member[split:, 1] = 1.0
    sums = none, none
    if X.shape[1] <= min(split, len(rows) - split):
        S = scatters(columns, split)
        sums = spread_sums(columns, split, S)
    return means, rows, split, means[0] - means[1], member, S, sums


@compiled_safely
def regularised(S: Array, share: Pair, ridge: Pair) -> Array:
    """Return share_i S_i + ridge_i I."""
    found = np.empty_like(S)
    for side in range(2):
        for i in range(S.shape[1]):
            for j in range(S.shape[1]):
                found[side, i, j] = share[side] * S[side, i, j]
            found[side, i, i] += ridge[side]
    return found


@compiled_safely
def spread_along(values: Array, average: Array) -> tuple[float, float, float, float]:
    """Return the two averages of the values, and their variances about these; the weights are the columns of ``average``."""
    first, second, about_first, about_second = 0.0, 0.0, 0.0, 0.0
    for i in range(len(values)):
        first += average[i, 0] * values[i]
        second += average[i, 1] * values[i]
    for i in range(len(values)):
        about_first += average[i, 0] * (values[i] - first) ** 2
        about_second += average[i, 1] * (values[i] - second) ** 2
    return first, second, about_first, about_second


@compiled_safely
def leverages(rows: Array, split: int, M: Array, d: Array) -> tuple[Array, Array, float]:
    """Return u'w and u'M⁻¹u for w = M⁻¹d and the rows u/√m_i, and d'w; all nan if M, whose place its factor takes, is not definite."""
    w, counts = d.copy(), (split, len(rows) - split)
    made = lower(M)
    forward(M, w)
    backward(M, w)
    if not made:
        w[:] = nan
    along, across = np.empty(len(rows)), squares(M, rows)
    for i in range(len(rows)):
        count = counts[0] if i < split else counts[1]
        along[i] = sqrt(count) * dot(rows[i], w)
        across[i] *= count
    return along, across, dot(d, w)


@compiled_safely
def traces(S: Array) -> Pair:
    """Return the traces of two matrices."""
    first, second = 0.0, 0.0
    for i in range(S.shape[1]):
        first += S[0, i, i]
        second += S[1, i, i]
    return first, second


@compiled_safely
def within_reach(weights: Pair, traces: Pair, c0: float) -> Pair:
    """Return the c_i, brought to where c_i Σ_i can be told from c0 I and c0 I from it."""
    return _within_reach(weights[0], traces[0], c0), _within_reach(weights[1], traces[1], c0)


@compiled_safely
def _within_reach(c: float, trace: float, c0: float) -> float:
    if not trace > 0:
        return c0
    return min(max(c * trace, _LEAST * c0), _MOST * c0) / trace


@compiled_safely
def mixed(S: Array, c0: float, c: Pair) -> Array:
    """Return c0 I + Σ_i c_i S_i."""
    n = S.shape[1]
    M = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            M[i, j] = c[0] * S[0, i, j] + c[1] * S[1, i, j]
        M[i, i] += c0
    return M


@compiled_safely
def spreads_away(e: Array, q: Array, split: int, along: float, weights: Pair, shares: Pair) -> Pair:
    """Return how many spreads the mean of the left-out points of either class is on its own side (see `left_out`); nan for one point."""
    return (
        _spreads_away(e[:split], q[:split], along, weights[0], shares[0], 1.0),
        _spreads_away(e[split:], q[split:], along, weights[1], shares[1], -1.0),
    )


@compiled_safely
def _spreads_away(e: Array, q: Array, along: float, weight: float, share: float, sign: float) -> float:
    n, total, square = len(e), 0.0, 0.0
    if n < 2:
        return nan
    gamma, values = weight / (n - 1), np.empty(n)
    for i in range(n):
        off = (sign * e[i] - q[i] / (n - 1)) / (1 - gamma * q[i])  # u'w_x
        d_along = along + (gamma * off - 1 / (n - 1)) * sign * e[i]  # d'w_x
        values[i] = (share * d_along + (1 + (1 - share) / (n - 1)) * off) / (d_along - off / (n - 1))
        total += values[i]
    mean = total / n
    for i in range(n):
        square += (values[i] - mean) ** 2
    spread = sqrt(square / (n - 1))
    if spread > 0:
        return mean / spread
    return inf if mean > 0 else 0.0


@compiled_safely
def left_out(rows: Array, split: int, S: Array, d: Array, c0: float, weights: Pair, shares: Pair) -> Pair:
    """Return `spreads_away` of the points whose rows u/√m_i and covariances are known."""
    weights = within_reach(weights, traces(S), c0)
    e, q, along = leverages(rows, split, mixed(S, c0, weights), d)
    return spreads_away(e, q, split, along, weights, shares)


@compiled_safely
def seen_along(X: Array, sign: Array, w: Array) -> tuple[Pair, Pair, float]:
    """Return the means of w'x in both classes, its variances, and the largest ‖x‖."""
    counts, means, variances, longest = np.zeros(2), np.zeros(2), np.zeros(2), 0.0
    values = np.empty(len(X))
    for i in range(len(X)):
        x, side = X[i], 0 if sign[i] > 0 else 1
        values[i] = dot(x, w)
        counts[side] += 1.0
        means[side] += values[i]
        longest = max(longest, dot(x, x))
    means /= counts
    for i in range(len(X)):
        side = 0 if sign[i] > 0 else 1
        variances[side] += (values[i] - means[side]) ** 2
    variances /= counts
    return (means[0], means[1]), (variances[0], variances[1]), sqrt(longest)


@compiled_safely
def spread_along_each(values: Array, sign: Array) -> tuple[Array, Array]:
    """Return, for every column of values, the means in both classes, a row for each class, and likewise the variances."""
    m, count = values.shape
    counts, middles, variances = np.zeros(2), np.zeros((2, count)), np.zeros((2, count))
    for i in range(m):
        side = 0 if sign[i] > 0 else 1
        counts[side] += 1
        for k in range(count):
            middles[side, k] += values[i, k]
    for side in range(2):
        middles[side] /= counts[side]
    for i in range(m):
        side = 0 if sign[i] > 0 else 1
        for k in range(count):
            variances[side, k] += (values[i, k] - middles[side, k]) ** 2
    for side in range(2):
        variances[side] /= counts[side]
    return middles, variances
