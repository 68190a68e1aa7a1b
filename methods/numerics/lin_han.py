"""The steps of Lin & Han between two ellipsoids, compiled; ``solvers/ellipsoid.py`` has the mathematics.

A row of every matrix is one pair of sizes κ. The first ellipsoid is written in the eigenvectors of Σ1, the second in those of
Σ2, both about their means; ``Q`` changes from the second to the first.
"""

from __future__ import annotations

import numpy as np

from mmc.methods.numerics.compiled import compiled
from mmc.methods.numerics.kernels import Array


@compiled
def _leave(c: Array, e: Array, way: float, values: Array, kappa2: float, z: Array) -> tuple[float, float]:
    """Find where c + t·way·e leaves the ellipsoid Σ z²/λ = κ²; return t, and the angle of the normal there with way·e."""
    n = len(c)
    a, b, inside, length = 0.0, 0.0, kappa2, 0.0
    for k in range(n):
        scaled = way * e[k] / values[k]
        a += way * e[k] * scaled
        b += c[k] * scaled
        inside -= c[k] * c[k] / values[k]
        length += e[k] * e[k]
    if not a > 0:  # the centres are one point: the ellipsoids overlap
        z[:] = c
        return 1.0, 0.0
    inside = max(inside, 0.0)
    root, length = np.sqrt(b * b + a * inside), np.sqrt(length)
    t = inside / max(b + root, 1e-300) if b > 0 else (root - b) / a
    size = 0.0
    for k in range(n):
        z[k] = c[k] + t * way * e[k]
        size += (z[k] / values[k]) ** 2
    size = np.sqrt(size)
    if not size > 0:  # an ellipsoid that is a point
        return t, 0.0
    off = 0.0
    for k in range(n):
        off += (way * e[k] / length - z[k] / values[k] / size) ** 2
    return t, 2 * np.arcsin(min(np.sqrt(off) / 2, 1.0))


@compiled
def walk(
    Q: Array,
    d1: Array,
    values: Array,
    kappa2: Array,
    c1: Array,
    c2: Array,
    distance: Array,
    z1: Array,
    z2: Array,
    apart: Array,
    gap: Array,
    angle: Array,
    tol: float,
    step: int,
    last: int,
) -> int:
    """Step until a row is done, or the ``last`` step is made, and return the number of that step.

    Changes in place the centres ``c1`` and ``c2`` and the ``distance`` of the step before. Fills in the points ``z1`` and ``z2``,
    how far ``apart`` they are as a share of the segment, their distance ``gap``, and the larger ``angle``. A row is done if the
    ellipsoids meet, if its angle is at most ``tol``, or if its distance rose. The centres are then those of that step.
    """
    rows, n = c1.shape
    back = np.ascontiguousarray(Q.T)
    least1, least2 = values[0].min(), values[1].min()
    while True:
        step += 1
        e1 = np.dot(c2, back)
        for j in range(rows):
            for k in range(n):
                e1[j, k] -= c1[j, k] + d1[k]
        e2 = np.dot(e1, Q)
        done = False
        for j in range(rows):
            there, angle1 = _leave(c1[j], e1[j], 1.0, values[0], kappa2[0, j], z1[j])
            here, angle2 = _leave(c2[j], e2[j], -1.0, values[1], kappa2[1, j], z2[j])
            length = 0.0
            for k in range(n):
                length += e1[j, k] * e1[j, k]
            apart[j], angle[j] = 1 - here - there, max(angle1, angle2)
            gap[j] = apart[j] * np.sqrt(length)
            if apart[j] <= 0 or angle[j] <= tol or gap[j] > distance[j] * (1 + 1e-9):
                done = True
        if done or step >= last:
            return step
        for j in range(rows):
            distance[j] = gap[j]
            for k in range(n):
                c1[j, k] = z1[j, k] - least1 * (z1[j, k] / values[0, k])
                c2[j, k] = z2[j, k] - least2 * (z2[j, k] / values[1, k])
