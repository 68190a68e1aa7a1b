"""Single passes over a Gram matrix, compiled: reading it from memory takes as long as the arithmetic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.compiled import compiled_safely
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.triangles import TILE, dot, subtract_products


@compiled_safely
def times_symmetric(C: Array, G: Array) -> Array:
    """Return CG for a few rows C and a symmetric G, of which BLAS would make several passes."""
    count, n = C.shape
    left = np.zeros((count + (-count) % TILE, n))
    found = np.zeros(left.shape)
    left[:count] = -C
    for j in range(0, n - n % TILE, TILE):
        for i in range(0, count, TILE):
            subtract_products(left, i, G, j, 0, n, found)
    for j in range(n - n % TILE, n):
        for i in range(count):
            found[i, j] = dot(C[i], G[j])
    return found[:count]


@compiled_safely
def centre(K: Array, v: Array, positive: NDArray[np.bool_], centred: Array) -> None:
    """Replace k_ij by v_i v_j k_ij - Σ_c (a_ci b_cj + b_ci a_cj); a is ``centred``, b_ci is v_i in class c and 0 outside."""
    n = len(K)
    inside = np.zeros((2, n))
    for i in range(n):
        inside[0 if positive[i] else 1, i] = v[i]
    for i in range(n):
        own = centred[0 if positive[i] else 1]
        first, second, scale = centred[0, i], centred[1, i], v[i]
        for j in range(n):
            K[i, j] = scale * (v[j] * K[i, j] - own[j]) - first * inside[0, j] - second * inside[1, j]


@compiled_safely
def scale_both(G: Array, scale: Array) -> None:
    """Multiply each G_ij by scale_i scale_j."""
    for i in range(len(G)):
        own = scale[i]
        for j in range(len(G)):
            G[i, j] *= own * scale[j]


@compiled_safely
def squares_within(G: Array, member: Array) -> tuple[float, float]:
    """Return Σ G_ij² over the i and j of the positive class, and over those of the other; ``member`` has a row for each class."""
    total = np.zeros(2)
    for i in range(len(G)):
        side = 0 if member[0, i] > 0 else 1
        for j in range(len(G)):
            total[side] += member[side, j] * G[i, j] ** 2
    return total[0], total[1]
