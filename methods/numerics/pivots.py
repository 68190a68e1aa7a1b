"""Pivots of a descent from vertex to vertex, compiled. The program and the letters are those of `solvers/vertex_descent.py`.

A vertex has k positive v, the set S, and k + 1 rows B that are tight. N is the inverse of M = [z_B, A_BS]; row 0 of N belongs to
b, row p to v of S[p - 1], column q to λ of B[q]. The other rows have λ = 0 or λ = U. A pivot changes a row or a column of M, adds
one of each or takes one of each away: N follows by a matrix of rank one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.compiled import compiled
from mmc.methods.numerics.kernels import Array

Places = NDArray[np.int64]
NONE, FULL, TIGHT = 0, 1, 2  # λ = 0, λ = U, λ between
OPTIMAL, MORE, SPOILT, UNBOUNDED = 0, 1, 2, 3
_FORGET = 50  # pivots after which what was measured of an edge is no longer true
_TRIES = 20  # edges that are measured before one is taken
_SMALL = 1e-5  # of the fastest change: a row that changes more slowly makes a bad pivot if another can be had
_STILL = 1e-9  # of the fastest change: this is rounding


@compiled
def walk(
    A: Array,
    At: Array,
    z: Array,
    U: Array,
    S: Places,
    B: Places,
    k: int,
    N: Array,
    v: Array,
    b: Array,
    g: Array,
    state: Places,
    basic: NDArray[np.bool_],
    R: Array,
    rho: Array,
    most: int,
    tol: Array,
) -> tuple[int, int, int]:
    """Make up to ``most`` pivots, all in place; return k, their number and how it ended.

    ``g`` are A v + b z - e, ``R`` and ``rho`` what the full λ leave of c and of z'λ = 0, ``tol`` what λ and r may be beyond
    their bounds.
    """
    (m, n), room = A.shape, N.shape[0]
    dual, r, weight = np.empty(room), np.empty(n), np.ones(n)
    d, y, d_g = np.empty(room), np.empty(room), np.empty(m)
    met, times = np.empty(m, np.int64), np.empty(m)
    for step in range(most):
        if step % _FORGET == 0:
            weight[:] = 1.0
        multipliers(A, S, B, k, N, R, rho, dual, r)
        what, kind = steepest(At, U, S, B, k, N, basic, dual, r, weight, d, y, tol)
        if kind < 0:
            return k, step, OPTIMAL
        slope = r[what]  # along the edge, of the objective
        if kind != TIGHT:
            up = 1.0 if kind == NONE else -1.0
            slope = dual[what] if kind == NONE else U[B[what]] - dual[what]
            for p in range(k + 1):
                d[p] = up * N[p, what]
        for j in range(m):
            d_g[j] = d[0] * z[j] + (At[what, j] if kind == TIGHT else 0.0)
        add_rows(d_g, At, S, d[1:], k)
        length, enter, leave, passed = line_search(U, S, k, v, g, state, d, d_g, slope, met, times)
        if enter < 0 and leave < 0:
            return k, step, UNBOUNDED
        b[0] += length * d[0]
        for p in range(1, k + 1):
            v[S[p - 1]] = max(v[S[p - 1]] + length * d[p], 0.0)
        for j in range(m):
            g[j] += length * d_g[j]
        for o in range(passed):
            j = met[o]
            take(A, z, R, rho, j, U[j] if state[j] == FULL else -U[j])
            state[j] = FULL if state[j] == NONE else NONE
        if kind == FULL:
            take(A, z, R, rho, B[what], -U[B[what]])
        if enter >= 0:
            if state[enter] == FULL:
                take(A, z, R, rho, enter, U[enter])
            g[enter] = 0.0
            for q in range(k + 1):
                y[q] = z[enter] * N[0, q]
            for p in range(1, k + 1):
                factor = A[enter, S[p - 1]]
                for q in range(k + 1):
                    y[q] += factor * N[p, q]
            if kind == TIGHT:  # a row and a column more
                v[what], pivot = length, d_g[enter]
                for p in range(k + 1):
                    factor = d[p] / pivot
                    for q in range(k + 1):
                        N[p, q] -= factor * y[q]
                    N[p, k + 1] = factor
                for q in range(k + 1):
                    N[k + 1, q] = -y[q] / pivot
                N[k + 1, k + 1] = 1.0 / pivot
                S[k], basic[what] = what, True
                k += 1
                B[k] = enter
            else:  # another row
                pivot = y[what]
                y[what] -= 1.0
                for p in range(k + 1):
                    d[p] = N[p, what] / pivot
                for p in range(k + 1):
                    for q in range(k + 1):
                        N[p, q] -= d[p] * y[q]
                state[B[what]] = kind
                B[what] = enter
            state[enter] = TIGHT
        else:
            v[S[leave - 1]] = 0.0
            basic[S[leave - 1]] = False
            if kind == TIGHT:  # another column
                v[what], pivot = length, -d[leave]
                for q in range(k + 1):
                    y[q] = N[leave, q] / pivot
                for p in range(k + 1):
                    for q in range(k + 1):
                        N[p, q] += d[p] * y[q]
                for q in range(k + 1):
                    N[leave, q] = y[q]
                S[leave - 1], basic[what] = what, True
            else:
                state[B[what]] = kind
                pivot = N[leave, what]
                k = shrink(S, B, k, N, leave, what)
        if abs(pivot) < 1e-11:
            return k, step + 1, SPOILT
    return k, most, MORE


@compiled
def add_rows(total: Array, A: Array, places: Places, factors: Array, count: int) -> None:
    """Add the first ``count`` of the rows of A at ``places``, times ``factors``; by fours, which saves passes over the total."""
    for p in range(0, count - 3, 4):
        one, two, three, four = A[places[p]], A[places[p + 1]], A[places[p + 2]], A[places[p + 3]]
        f_1, f_2, f_3, f_4 = factors[p], factors[p + 1], factors[p + 2], factors[p + 3]
        for j in range(len(total)):
            total[j] += f_1 * one[j] + f_2 * two[j] + (f_3 * three[j] + f_4 * four[j])
    for p in range(count - count % 4, count):
        row, factor = A[places[p]], factors[p]
        for j in range(len(total)):
            total[j] += factor * row[j]


@compiled
def multipliers(A: Array, S: Places, B: Places, k: int, N: Array, R: Array, rho: Array, dual: Array, r: Array) -> None:
    """Compute λ of B, and r = c - A'λ."""
    for q in range(k + 1):
        dual[q] = N[0, q] * rho[0]
    for p in range(1, k + 1):
        factor = R[S[p - 1]]
        for q in range(k + 1):
            dual[q] += N[p, q] * factor
    r[:] = R
    add_rows(r, A, B, -dual, k + 1)


@compiled
def steepest(
    At: Array,
    U: Array,
    S: Places,
    B: Places,
    k: int,
    N: Array,
    basic: NDArray[np.bool_],
    dual: Array,
    r: Array,
    weight: Array,
    d: Array,
    y: Array,
    tol: Array,
) -> tuple[int, int]:
    """Return the edge along which the objective falls fastest for the way that v and b go, and where it leads.

    NONE and FULL: row B[what] is no longer tight, and has this λ. TIGHT: v of ``what`` rises; ``d`` is then how v and b
    follow. -1: no edge leads down. ``weight`` are squares of the ways, for each v as they were last measured.
    """
    for q in range(k + 1):
        y[q] = 1.0
    for p in range(k + 1):
        for q in range(k + 1):
            y[q] += N[p, q] * N[p, q]
    what, kind, best = -1, -1, 0.0
    for q in range(k + 1):
        beyond = max(-dual[q], dual[q] - U[B[q]])
        if beyond > tol[0] and beyond * beyond > best * y[q]:
            best, what, kind = beyond * beyond / y[q], q, NONE if dual[q] < 0 else FULL
    for _ in range(_TRIES):
        other, gain = -1, best
        for i in range(len(r)):
            if r[i] < -tol[1] and not basic[i] and r[i] * r[i] > gain * weight[i]:
                other, gain = i, r[i] * r[i] / weight[i]
        if other < 0:
            break
        for q in range(k + 1):
            y[q] = At[other, B[q]]
        square = 1.0
        for p in range(k + 1):
            change = 0.0
            for q in range(k + 1):
                change -= N[p, q] * y[q]
            d[p] = change
            square += change * change
        before, weight[other] = weight[other], square
        if square <= 2 * before:
            return other, TIGHT
    else:
        return other, TIGHT
    return what, kind


@compiled
def line_search(
    U: Array,
    S: Places,
    k: int,
    v: Array,
    g: Array,
    state: Places,
    d: Array,
    d_g: Array,
    slope: float,
    met: Places,
    times: Array,
) -> tuple[float, int, int, int]:
    """Return how far the objective falls along the edge, the row that is tight there or the place of the v that is 0.

    On the way rows change sides, which makes the objective fall more slowly: their number is returned, and ``met`` has them.
    """
    fastest = 0.0
    for p in range(1, k + 1):
        fastest = max(fastest, abs(d[p]))
    end, leave = np.inf, -1
    for p in range(1, k + 1):
        if d[p] < -_STILL * fastest and v[S[p - 1]] < -d[p] * end:
            end, leave = v[S[p - 1]] / -d[p], p
    fastest = 0.0
    for j in range(len(g)):
        fastest = max(fastest, abs(d_g[j]))
    count = 0
    for j in range(len(g)):
        towards = -d_g[j] if state[j] == NONE else d_g[j]
        if state[j] != TIGHT and towards > _STILL * fastest:
            time = max(g[j] if state[j] == NONE else -g[j], 0.0) / towards
            if time < end:
                met[count], times[count] = j, time
                count += 1
    order = np.argsort(times[:count])
    met[:count] = met[order]
    last = 0
    while last < count:
        slope += U[met[last]] * abs(d_g[met[last]])
        if slope >= 0:
            break
        last += 1
    if last == count:
        return end, -1, leave, count
    if abs(d_g[met[last]]) < _SMALL * fastest:
        other = last
        while other >= 0 and abs(d_g[met[other]]) < _SMALL * fastest:
            other -= 1
        if other >= 0:
            last = other
    return times[order[last]], met[last], -1, last


@compiled
def take(A: Array, z: Array, R: Array, rho: Array, j: int, change: float) -> None:
    """Add ``change`` times row j to R and rho."""
    row = A[j]
    for i in range(len(R)):
        R[i] += change * row[i]
    rho[0] += change * z[j]


@compiled
def shrink(S: Places, B: Places, k: int, N: Array, leave: int, what: int) -> int:
    """Take the v at place ``leave`` and the row at ``what`` away; return the new k."""
    pivot = N[leave, what]
    for p in range(k + 1):
        if p != leave:
            factor = N[p, what] / pivot
            for q in range(k + 1):
                N[p, q] -= factor * N[leave, q]
    for p in range(k + 1):
        N[p, what] = N[p, k]
    for q in range(k + 1):
        N[leave, q] = N[k, q]
    B[what], S[leave - 1] = B[k], S[k - 1]
    return k - 1
