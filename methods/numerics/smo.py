"""Sequential minimal optimisation for a quadratic form with a kinked linear term, compiled.

    min_β  ½ β'Kβ − Σ_i h_i(β_i)     s.t.  Σβ = 0,  low ≤ β ≤ high,      h_i(β) = above_i β for β > 0,  below_i β for β < 0

with above ≤ below, so that h is concave. A step moves one pair, β_i up and β_j down. i has the largest gain per unit; j gives
the pair the largest gain of a full Newton step (Fan, Chen & Lin 2005). A step ends where it is best, at a bound, or at a kink.

The gains per unit of all points are kept in single precision, which halves what a step reads. They count from the bias of the
start, in units of the largest gain of a pair: so rounding is small beside what is to be gained, however little that is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.compiled import compiled
from mmc.methods.numerics.kernels import Array

Single = NDArray[np.float32]
_FAR = 1e300  # the slope of a multiplier that cannot move
_NEVER = np.float32(-1e30)  # and its gain
_LEAST = np.float32(1e-7)  # of the largest K_ii: less curvature is rounding
_TINY = np.float32(1e-38)
_ZERO, _TWO = np.float32(0), np.float32(2)  # a float or an int would turn a loop into one in double precision
_BLOCK = 256  # values, of which the largest is looked for in the end
_TURNED, _LOWEST = np.int32(2**31 - 1), np.int32(-(2**31))


@compiled
def descend(
    K: Single | Array,
    above: Array,
    below: Array,
    low: Array,
    high: Array,
    beta: Array,
    G: Array,
    tol: float,
    most: int,
) -> int:
    """Change ``beta`` in place, where Kβ was ``G``, until no pair gains more than ``tol`` per unit; return the steps.

    It stops after ``most`` steps. K may have room for more points, and may be in single precision: what that does to β is for
    the caller to mend.
    """
    n = len(beta)
    rise, fall = np.empty(n), np.empty(n)  # the slopes of h to the right and to the left
    first, last = -_FAR, _FAR
    for k in range(n):
        rise[k], fall[k] = _slopes(beta[k], above[k], below[k], low[k], high[k])
        first, last = max(first, rise[k] - G[k]), min(last, fall[k] - G[k])
    unit, bias = first - last, (first + last) / 2
    if not unit > tol:
        return 0
    enough = np.float32(tol / unit)
    square = np.empty(n, K.dtype)
    for k in range(n):
        square[k] = K[k, k]
    scale = K.dtype.type(1 / max(square.max(), _TINY))  # a kernel may be 0
    for k in range(n):
        square[k] *= scale
    double = _TWO * scale
    up, down, gain = np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n, np.float32)
    for k in range(n):
        up[k] = (rise[k] - G[k] - bias) / unit if rise[k] > -_FAR else _NEVER
        down[k] = (G[k] + bias - fall[k]) / unit if fall[k] < _FAR else _NEVER
    for step in range(most):  # its loops are short and have no branches: only such are made of vectors
        i = largest(up)
        row, own, best = K[i], square[i], up[i]
        for k in range(n):
            slope = max(best + down[k], _ZERO)
            gain[k] = slope * slope / max(own + square[k] - double * row[k], _LEAST)
        j = largest(gain)
        if best + down[j] <= enough and best + down[largest(down)] <= enough:  # seldom more than one look
            return step
        if j == i or not gain[j] > 0:  # what a pair gains is lost in rounding
            return step
        other, moved = K[j], 0.0
        curved = np.float64(max(own + square[j] - double * row[j], _LEAST)) / scale
        # Kβ of both at the start of the step
        at_i = (rise[i] - bias) - unit * up[i]
        at_j = (fall[j] - bias) + unit * down[j]
        while True:  # from one kink to the next
            slope = (rise[i] - at_i) - (fall[j] - at_j) - moved * curved
            rest_i = -beta[i] if beta[i] < 0 else high[i] - beta[i]
            rest_j = beta[j] if beta[j] > 0 else beta[j] - low[j]
            length = min(slope / curved, rest_i, rest_j)
            if not length > 0:
                break
            end = 0.0 if beta[i] < 0 else high[i]
            beta[i] = end if length == rest_i else beta[i] + length
            end = 0.0 if beta[j] > 0 else low[j]
            beta[j] = end if length == rest_j else beta[j] - length
            moved += length
            rise[i], fall[i] = _slopes(beta[i], above[i], below[i], low[i], high[i])
            rise[j], fall[j] = _slopes(beta[j], above[j], below[j], low[j], high[j])
            if length < rest_i and length < rest_j:
                break
        for k, at in ((i, at_i), (j, at_j)):
            up[k] = (rise[k] - at - bias) / unit if rise[k] > -_FAR else _NEVER
            down[k] = (at + bias - fall[k]) / unit if fall[k] < _FAR else _NEVER
        change = K.dtype.type(moved / unit)
        for k in range(n):
            moves = change * (row[k] - other[k])
            up[k] -= moves
            down[k] += moves
    return most


@compiled
def _slopes(beta: float, above: float, below: float, low: float, high: float) -> tuple[float, float]:
    """Return the slopes of h to the right and to the left, infinitely bad at a bound."""
    rise = (above if beta >= 0 else below) if beta < high else -_FAR
    return rise, (above if beta > 0 else below) if beta > low else _FAR


@compiled
def largest(values: Single) -> int:
    """Return the place of the largest value, the first of several.

    Bits of floats, seen as integers, have the order of the floats once those of negative ones are turned around; and only
    the largest of integers is found by vectors.
    """
    bits = values.view(np.int32)
    best, start = _LOWEST, 0
    for block in range(0, len(bits), _BLOCK):
        part, highest = bits[block : block + _BLOCK], _LOWEST
        for k in range(len(part)):
            highest = max(highest, part[k] ^ ((part[k] >> np.int32(31)) & _TURNED))
        if highest > best:
            best, start = highest, block
    for k in range(start, len(bits)):
        if bits[k] ^ ((bits[k] >> np.int32(31)) & _TURNED) == best:
            return k
    return start
