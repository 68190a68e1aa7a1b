"""Sequential minimal optimisation for a quadratic form with a kinked linear term, compiled.

    min_β  ½ β'Kβ − Σ_i h_i(β_i)     s.t.  Σβ = 0,  low ≤ β ≤ high,      h_i(β) = above_i β for β > 0,  below_i β for β < 0

with above ≤ below, so that h is concave. A step moves one pair, β_i up and β_j down. i has the largest gain per unit; j gives
the pair the largest gain of a full Newton step (Fan, Chen & Lin 2005). A step ends where it is best, at a bound, or at a kink.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.compiled import compiled
from mmc.methods.numerics.kernels import Array

_FAR = 1e300  # the slope of a multiplier that cannot move


@compiled
def descend(
    K: NDArray[np.float32] | Array,
    above: Array,
    below: Array,
    low: Array,
    high: Array,
    beta: Array,
    G: Array,
    tol: float,
    most: int,
) -> int:
    """Change ``beta`` and ``G`` = Kβ in place until no pair gains more than ``tol`` per unit; return the steps.

    It stops after ``most`` steps. K may be in single precision: what that does to G is for the caller to mend.
    """
    n = len(beta)
    rise, fall, square = np.empty(n), np.empty(n), np.empty(n)  # the slopes of h to the right and to the left
    i, best, least = 0, -_FAR, _FAR
    for k in range(n):
        rise[k] = (above[k] if beta[k] >= 0 else below[k]) if beta[k] < high[k] else -_FAR
        fall[k] = (above[k] if beta[k] > 0 else below[k]) if beta[k] > low[k] else _FAR
        square[k] = K[k, k]
        if rise[k] - G[k] > best:
            i, best = k, rise[k] - G[k]
        least = min(least, fall[k] - G[k])
    for step in range(most):
        if best - least <= tol:
            return step
        row, j, gain, curved = K[i], 0, 0.0, 1.0
        for k in range(n):
            slope = best - fall[k] + G[k]
            if slope > 0:
                curve = max(square[i] + square[k] - 2 * row[k], 1e-7 * square[i])
                if slope * slope * curved > gain * curve:
                    j, gain, curved = k, slope * slope, curve
        if j == i:  # what a pair gains is lost in rounding
            return step
        other, moved = K[j], 0.0
        while True:  # from one kink to the next
            slope = rise[i] - G[i] - fall[j] + G[j] - moved * curved
            up = -beta[i] if beta[i] < 0 else high[i] - beta[i]
            down = beta[j] if beta[j] > 0 else beta[j] - low[j]
            length = min(slope / curved, up, down)
            if not length > 0:
                break
            end = 0.0 if beta[i] < 0 else high[i]
            beta[i] = end if length == up else beta[i] + length
            end = 0.0 if beta[j] > 0 else low[j]
            beta[j] = end if length == down else beta[j] - length
            moved += length
            for k in (i, j):
                rise[k] = (above[k] if beta[k] >= 0 else below[k]) if beta[k] < high[k] else -_FAR
                fall[k] = (above[k] if beta[k] > 0 else below[k]) if beta[k] > low[k] else _FAR
            if length < up and length < down:
                break
        i, best, least = 0, -_FAR, _FAR
        for k in range(n):
            G[k] += moved * (row[k] - other[k])
            if rise[k] - G[k] > best:
                i, best = k, rise[k] - G[k]
            least = min(least, fall[k] - G[k])
    return most
