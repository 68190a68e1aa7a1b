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
_BLOCK = 256  # values, of which the largest is looked for in the end
_TURNED, _LOWEST = np.int64(2**63 - 1), np.int64(-(2**63))


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
    gain_up, gain_down, gain = np.empty(n), np.empty(n), np.empty(n)  # of β up and down, per unit; of a pair with i
    for k in range(n):
        rise[k] = (above[k] if beta[k] >= 0 else below[k]) if beta[k] < high[k] else -_FAR
        fall[k] = (above[k] if beta[k] > 0 else below[k]) if beta[k] > low[k] else _FAR
        square[k] = K[k, k]
    for step in range(most):  # its loops are short and have no branches: only such are made of vectors
        for k in range(n):
            gain_up[k], gain_down[k] = rise[k] - G[k], G[k] - fall[k]
        i = largest(gain_up)
        row, own, best, least = K[i], square[i], gain_up[i], 1e-7 * square[i]
        if best + gain_down[largest(gain_down)] <= tol:
            return step
        for k in range(n):
            slope = best + gain_down[k]
            slope = slope if slope > 0 else 0.0
            curve = own + square[k] - 2 * row[k]
            gain[k] = slope * slope / (curve if curve > least else least)
        j = largest(gain)
        if j == i:  # what a pair gains is lost in rounding
            return step
        curved = max(own + square[j] - 2 * row[j], least)
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
        for k in range(n):
            G[k] += moved * (row[k] - other[k])
    return most


@compiled
def largest(values: Array) -> int:
    """Return the place of the largest value, the first of several.

    Bits of floats, seen as integers, have the order of the floats once those of negative ones are turned around; and only
    the largest of integers is found by vectors.
    """
    bits = values.view(np.int64)
    best, start = _LOWEST, 0
    for block in range(0, len(bits), _BLOCK):
        part, highest = bits[block : block + _BLOCK], _LOWEST
        for k in range(len(part)):
            highest = max(highest, part[k] ^ ((part[k] >> 63) & _TURNED))
        if highest > best:
            best, start = highest, block
    for k in range(start, len(bits)):
        if bits[k] ^ ((bits[k] >> 63) & _TURNED) == best:
            return k
    return start
