"""The sizes at which two ellipsoids with definite covariances touch, by Cholesky factors; compiled.

With A = tΣ1 + (1 - t)Σ2 and Ay = d the ellipsoids of the sizes κ1 = t s1(y), κ2 = (1 - t) s2(y) touch, for every 0 < t < 1. The t at which
they have a given ratio is the root of a monotone function of z = log(t/(1 - t)). For a few sizes this is much less than the
eigendecompositions of `FeasibleEdge`.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt

import numpy as np

from mmc.methods.numerics.compiled import compiled_safely
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.triangles import backward, dot, forward, lower, times

_END = 36.0  # z beyond which 1 - t is below rounding
_LONGEST = 4.0  # step in z while the root is not bracketed
_SETTLED = 1e-13  # relative error of the ratio


@compiled_safely
def touching_each(d: Array, S: Array, kappas: Array) -> tuple[Array, Array]:
    """Return, for each row κ, bounds of p = min κ1 s1(w) + κ2 s2(w) s.t. d'w = 1, and multipliers τ to start from if p < 1.

    The lower bound is a dual point, the upper one a primal point. The τ are those of an r that is parallel to it.
    """
    n = len(d)
    bounds, tau = np.full((len(kappas), 2), inf), np.zeros((len(kappas), 2))
    A, y, Y, spread = np.zeros((n, n)), np.empty(n), np.empty((2, n)), np.zeros(2)
    for row in range(len(kappas)):
        kappa, low, high = kappas[row], -inf, inf
        z = 0.0 if min(kappa[0], kappa[1]) > 0 else _END if kappa[0] > 0 else -_END
        for _ in range(100):
            t, rest = 1 / (1 + exp(-z)), 1 / (1 + exp(z))
            for i in range(n):
                y[i] = d[i]
                for j in range(i + 1):
                    A[i, j] = t * S[0, i, j] + rest * S[1, i, j]
            if not lower(A):
                break
            forward(A, y)
            backward(A, y)
            for i in range(2):
                spread[i] = sqrt(times(S[i], y, Y[i]))
            along, length = dot(d, y), sqrt(dot(y, y))
            room = along - kappa[0] * spread[0] - kappa[1] * spread[1]
            first, second = t * spread[0], rest * spread[1]
            bounds[row, 1] = (kappa[0] * spread[0] + kappa[1] * spread[1]) / along
            bounds[row, 0] = min(
                kappa[0] / first if kappa[0] > 0 else inf, kappa[1] / second if kappa[1] > 0 else inf, bounds[row, 1]
            )
            for i in range(2):
                tau[row, i] = room / length * spread[i] / length / (kappa[i] if kappa[i] > 0 else 1.0)
            if not min(kappa[0], kappa[1]) > 0:
                break
            value = log(second / first * kappa[0] / kappa[1])
            if value >= 0:
                low = z
            if value <= 0:
                high = z
            if abs(value) <= _SETTLED or high - low <= 1e-15 * max(1.0, abs(z)):
                break
            for i in range(2):
                forward(A, Y[i])
            cross = dot(Y[0], Y[1])
            step = value / (t * cross / spread[1] ** 2 + rest * cross / spread[0] ** 2)  # the slope is below 0
            if high - low == inf:
                z += max(min(step, _LONGEST), -_LONGEST)
            elif low <= z + step <= high:
                z += step
            else:
                z = (low + high) / 2
            z = max(min(z, _END), -_END)
    return bounds, tau
