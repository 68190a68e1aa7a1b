"""What a certificate asks of r = z1 - z2: lengths, spreads, and the distance of the dual point that r determines; compiled."""

from __future__ import annotations

from math import sqrt

import numpy as np

from mmc.methods.numerics.compiled import compiled_safely
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.triangles import dot, times

Pair = tuple[float, float]
Measures = tuple[float, float, float, float, float]


@compiled_safely
def measured(rows: Array, split: int, part: Pair, d: Array, ridge: Pair, kappa: Pair, r: Array) -> Measures:
    """Return r'r, d'r, the spreads s_i(r), and ‖d - Σ_i κ_i Σ_i r/s_i‖²; the covariances are part_i rows'rows + ridge_i I of a class."""
    norm2, along, h = dot(r, r), dot(d, r), np.empty(len(rows))
    spread, between = np.zeros(2), d.copy()
    for side in range(2):
        first, last = side * split, split + side * (len(rows) - split)
        square = 0.0
        for i in range(first, last):
            h[i] = dot(rows[i], r)
            square += h[i] ** 2
        spread[side] = sqrt(part[side] * square + ridge[side] * norm2)
        share = kappa[side] / spread[side] if spread[side] > 0 else 0.0
        for i in range(first, last):
            weight = share * part[side] * h[i]
            for j in range(len(d)):
                between[j] -= weight * rows[i, j]
        for j in range(len(d)):
            between[j] -= share * ridge[side] * r[j]
    return norm2, along, spread[0], spread[1], dot(between, between)


@compiled_safely
def measured_each(S: Array, d: Array, kappas: Array, R: Array) -> Array:
    """Return the same five numbers for each row of ``kappas`` and of R, from the covariances S."""
    found, pushed, between = np.empty((len(R), 5)), np.empty(len(d)), np.empty(len(d))
    for row in range(len(R)):
        r = R[row]
        found[row, 0], found[row, 1] = dot(r, r), dot(d, r)
        for j in range(len(d)):
            between[j] = d[j]
        for side in range(2):
            spread = sqrt(times(S[side], r, pushed))
            share = kappas[row, side] / spread if spread > 0 else 0.0
            found[row, 2 + side] = spread
            for j in range(len(d)):
                between[j] -= share * pushed[j]
        found[row, 4] = dot(between, between)
    return found
