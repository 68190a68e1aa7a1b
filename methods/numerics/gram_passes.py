"""Single passes over a Gram matrix, compiled: reading it from memory takes as long as the arithmetic."""

from __future__ import annotations

import numpy as np

from mmc.methods.numerics.compiled import compiled_safely
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.triangles import TILE, dot, subtract_products


@compiled_safely
def times_symmetric(C: Array, G: Array) -> Array:
    """Return CG for a few rows C and a symmetric G, of which BLAS would make several passes."""
    count, n = C.shape
    left = np.zeros((count + (-count) % TILE, n))
    found = np.zeros(left.shape)
    for i in range(count):
        for j in range(n):
            left[i, j] = -C[i, j]
    for j in range(0, n - n % TILE, TILE):
        for i in range(0, count, TILE):
            subtract_products(left, i, G, j, 0, n, found)
    for j in range(n - n % TILE, n):
        for i in range(count):
            found[i, j] = dot(C[i], G[j])
    return found[:count]


@compiled_safely
def centre(K: Array, weights: Array) -> tuple[Array, Array, Array, Array, float]:
    """Replace K by the inner products of the centred points, times v_i v_j; ``weights`` average over a class in each of two rows.

    With v_i the root of the weight of i and μ(i) the mean of its class, k_ij becomes v_i v_j (k_ij - <φ_i, μ(j)> - <μ(i), φ_j> +
    <μ(i), μ(j)>). Return the inner products of the points with the two means, one in each row, v, B'd and d'd for the B
    and d of `KernelMoments`, and of each class tr Σ, tr Σ² and Σ_i ‖v_i (φ_i - μ(i))‖⁴/v_i².
    """
    n, means, inside = len(K), times_symmetric(weights, K), np.sqrt(weights)
    v, g, a, sums, between = np.empty(n), np.empty(n), np.empty((2, n)), np.zeros((2, 3)), np.empty((2, 2))
    for side in range(2):
        for other in range(2):
            between[side, other] = dot(weights[side], means[other])
    toward = means[0] - means[1]
    middle = dot(weights[0], toward), dot(weights[1], toward)  # from what is left of large numbers, not from these
    for i in range(n):
        own = 0 if weights[0, i] > 0 else 1
        v[i] = inside[own, i]
        for side in range(2):
            a[side, i] = v[i] * (means[side, i] - between[own, side] / 2)
        g[i] = v[i] * (toward[i] - middle[own])
    for i in range(n):
        own = 0 if weights[0, i] > 0 else 1
        row, there, mine, first, second, scale, total = K[i], a[own], inside[own], a[0, i], a[1, i], v[i], 0.0
        for j in range(n):
            row[j] = scale * (v[j] * row[j] - there[j]) - first * inside[0, j] - second * inside[1, j]
            total += row[j] * row[j] if mine[j] > 0 else 0.0
        sums[own, 0] += row[i]
        sums[own, 1] += total
        sums[own, 2] += (row[i] / scale) ** 2
    return means, v, g, sums, between[0, 0] - between[0, 1] - between[1, 0] + between[1, 1]


@compiled_safely
def scale_both(G: Array, scale: Array) -> None:
    """Multiply each G_ij by scale_i scale_j."""
    for i in range(len(G)):
        own = scale[i]
        for j in range(len(G)):
            G[i, j] *= own * scale[j]
