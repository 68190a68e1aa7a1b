"""The secular equations of two multipliers, as in trust-region methods: n × n, one Cholesky a step, compiled.

For τ1, τ2 > 0 let (I + Σ1/τ1 + Σ2/τ2) r = d, s_i² = r'Σ_i r and ‖u_i‖ = s_i/τ_i. Wanted is the τ with ‖u_i‖ = κ_i, which
maximises the concave g(τ) = ½ d'r - ½ Σ τ_i κ_i². Newton's method runs on 1/‖u_i‖ - 1/κ_i, which is almost linear in τ.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.compiled import compiled_safely
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.triangles import backward, dot, forward, lower, times

NEVER = 1e30  # the multiplier of a ball of size 0
_SETTLED = 1e-11  # relative error of the lengths ‖u_i‖
_NEAR = 1e-6  # error, and change of r, from which a step along the derivatives of r leaves about its square
Pair = tuple[float, float]


def newton(
    d: Array, S: Array, kappa: Pair, tau: Pair | None, floor: Pair = (0.0, 0.0), patience: int = 100
) -> tuple[Array, Pair, int]:
    """Solve the secular equations in feature space; return r, τ and the number of factorisations.

    A multiplier that wants to fall below ``floor`` stays there. It gives up after ``patience`` steps without a feasible
    point, and after 100 anyway: the caller judges the answer by its certificate.
    """
    start = np.array([(-1.0, -1.0) if tau is None else tau])
    R, steps = newton_each(d, S, np.array([kappa]), start, np.array(floor), patience)
    first, second = start[0].tolist()
    return R[0], (first, second), int(steps[0])


@compiled_safely
def newton_each(
    d: Array, S: Array, kappas: Array, tau: Array, floor: Array, patience: int
) -> tuple[Array, NDArray[np.int64]]:
    """Solve them for each row of ``kappas``; return the r as rows, and the factorisations.

    A row of ``tau`` is where to start, and takes the τ that was found; -1 starts where r is parallel to d.
    """
    n = len(d)
    R, steps = np.zeros((len(kappas), n)), np.zeros(len(kappas), np.int64)
    M, Y = np.zeros((n, n)), np.empty((3, n))
    length, off, move, loose = np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2, np.bool_)
    best_t, best_length = np.zeros(2), np.zeros(2)
    for row in range(len(kappas)):
        kappa, t, r, step = kappas[row], tau[row], R[row], 0
        if t[0] < 0:
            _parallel(d, S, kappa, t, Y)
        for i in range(2):
            t[i] = max(t[i], floor[i]) if kappa[i] > 0 else NEVER
        best, halved, nearest = -inf, 0, inf  # best is the largest g so far
        while step < 100:
            step += 1
            _mix(S, t, M)
            if not lower(M):
                break
            for i in range(n):
                r[i] = d[i]
            forward(M, r)
            backward(M, r)
            for i in range(2):
                length[i] = sqrt(max(times(S[i], r, Y[i]), 0.0)) / t[i]
                loose[i] = kappa[i] > 0 and (t[i] > floor[i] or length[i] > kappa[i])
                off[i] = length[i] / kappa[i] - 1 if loose[i] else 0.0
            error = max(abs(off[0]), abs(off[1]))
            if error <= _SETTLED:
                break
            along, needed, value = dot(d, r), 0.0, 0.0
            for i in range(2):
                needed += kappa[i] * length[i] * t[i] if kappa[i] > 0 else 0.0
                value -= t[i] * kappa[i] ** 2
            value += along
            if step >= patience and along <= needed:
                break
            if error < 1e-5:  # Newton's own ground: it ends where rounding errors do
                if error >= nearest:
                    break
                nearest = error
            elif value < best - 1e-13 * abs(best):
                halved += 1
                for i in range(2):
                    if halved <= 3:
                        t[i] = sqrt(t[i] * best_t[i])
                    elif kappa[i] > 0:  # τ_i ← s_i/κ_i never lowers g
                        t[i] = max(best_t[i] * best_length[i] / kappa[i], floor[i])
                    else:
                        t[i] = best_t[i]
                if halved > 3:
                    best, halved = -inf, 0
                continue
            best, halved = value, 0
            for i in range(2):
                best_t[i], best_length[i] = t[i], length[i]
            for i in range(n):
                Y[2, i] = r[i]
            for i in range(3):
                forward(M, Y[i])
            # q holds τ_i τ_j times -∂(½‖u_i‖²)/∂τ_j; written with M - Σ_i/τ_i = I + Σ_j/τ_j nothing cancels
            cross = dot(Y[0], Y[1]) / (t[0] * t[1])
            first, second = dot(Y[0], Y[2]) / t[0], dot(Y[1], Y[2]) / t[1]
            q1, q2 = first + cross, second + cross
            f1, f2 = length[0] ** 2 * t[0] * off[0], length[1] ** 2 * t[1] * off[1]
            det = first * second + cross * (first + second)
            if loose[0] and loose[1] and min(q1, q2) > 0 and det > 0:
                move[0], move[1] = (q2 * f1 + cross * f2) / det, (q1 * f2 + cross * f1) / det
            else:
                move[0] = f1 / q1 if loose[0] and q1 > 0 else off[0]
                move[1] = f2 / q2 if loose[1] and q2 > 0 else off[1]
            share = min(1.0, 0.9 / max(-move[0], -move[1], 0.9))  # both may want to fall far: keep their ratio
            Y[2] = 0.0
            for i in range(2):
                if loose[i]:
                    before, t[i] = t[i], max(t[i] * (1 + share * move[i]), floor[i])
                    if error < _NEAR:  # M⁻¹Σ_i r = -∂r/∂(1/τ_i)
                        backward(M, Y[i])
                        for j in range(n):
                            Y[2, j] += (1 / before - 1 / t[i]) * Y[i, j]
            # close to the edge of feasibility r may change far more than τ
            if error < _NEAR and dot(Y[2], Y[2]) < _NEAR**2 * dot(r, r):
                r += Y[2]
                break
        steps[row] = step
    return R, steps


@compiled_safely
def _parallel(d: Array, S: Array, kappa: Array, t: Array, Y: Array) -> None:
    """Write into t the τ that is exact where r is parallel to d."""
    share = 1.0
    for i in range(2):
        t[i] = sqrt(max(times(S[i], d, Y[i]), 0.0))
        share -= kappa[i] * t[i] / dot(d, d)
    for i in range(2):
        t[i] *= max(share, 0.1) / (kappa[i] if kappa[i] > 0 else 1.0)


@compiled_safely
def _mix(S: Array, t: Array, M: Array) -> None:
    """Write the lower triangle of I + Σ1/τ1 + Σ2/τ2 into M."""
    first, second = 1 / t[0], 1 / t[1]
    for i in range(len(M)):
        for j in range(i + 1):
            M[i, j] = first * S[0, i, j] + second * S[1, i, j]
        M[i, i] += 1.0
