"""Whether two ellipsoids of a large kernel are apart: a direction that separates them, or a proof that there is none.

The sizes κ1, κ2 are feasible iff p = min κ1 √(w'Σ1 w) + κ2 √(w'Σ2 w) s.t. d'w = 1 is below 1. Any w bounds p from above. With s_i² = w'Σ_i w and

    e = κ1 Σ1 w / s1 + κ2 Σ2 w / s2 - p d,

the points κ_i Σ_i w / s_i of the two ellipsoids miss p d by e. An ellipsoid of size κ_i holds a ball of radius κ_i √ridge_i, so both, larger by the
factor 1 + ‖e‖ / (κ1 √ridge1 + κ2 √ridge2), reach it: p divided by that factor is a bound from below. The span grows by e,
with the inverse of the same matrix among landmarks for a preconditioner, by Σ1 w and by Σ2 w.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
from scipy.linalg import cho_factor

from mmc.methods.problems.feasible_edge import FeasibleEdge
from mmc.methods.problems.large_geometry import LargeGeometry, Span
from mmc.methods.solution import NotConverged

_PASSES = 40
_SHARP = 1.01  # what is proven infeasible is looked at until p is known this well,
_SETTLED = 1.001  # or falls no further: the message says how far it is from feasible


def demanded(geometry: LargeGeometry, kappa: tuple[float, float], span: Span) -> tuple[float, int]:
    """Grow ``span`` until it has a direction that keeps the sizes apart, or none has; return p and the passes over K.

    p < 1 is what such a direction in the span asks for; p ≥ 1 is proven for the whole space. Raises NotConverged where neither is.
    """
    S = geometry.inner[1]
    reserve = sum(k * sqrt(ridge) for k, ridge in zip(kappa, geometry.ridge, strict=True))
    most, p, before = 0.0, inf, inf
    for passes in range(_PASSES):
        edge = FeasibleEdge.of(span.Y.T @ geometry.towards, *geometry.covariance(span.Y))
        _, p, z = edge.demand(kappa)
        if p < 1:
            return p, passes
        w = edge.direction(z)
        beta, y = span.C @ w, span.Y @ w
        size = float(geometry.towards @ y)
        beta, y = beta / size, y / size
        scatter = geometry.scatter(y)
        norm2 = float(beta @ y)
        c = [
            k / sqrt(float(part @ y) + ridge * norm2)
            for k, part, ridge in zip(kappa, scatter, geometry.ridge, strict=True)
        ]
        e = sum(w * (part + r * beta) for w, part, r in zip(c, scatter, geometry.ridge, strict=True))
        e = e - p * geometry.towards
        factor, lower = cho_factor(c[0] * S[0] + c[1] * S[1], lower=True, overwrite_a=True)
        outside = c[0] * geometry.ridge[0] + c[1] * geometry.ridge[1]
        more = np.column_stack([geometry.preconditioned(e, (factor, bool(lower)), outside), *scatter])
        products = geometry.K @ more
        values = sum(w * (part + r * y) for w, part, r in zip(c, products[:, 1:].T, geometry.ridge, strict=True))
        missed = sqrt(max(float(e @ (values - p * geometry.values_of_d)), 0.0))
        most = max(most, p / (1 + missed / reserve))
        if most >= 1 and (p <= _SHARP * most or p >= before / _SETTLED):
            return p, passes + 1
        before = p
        span.extend(more, products)
    if most >= 1:
        return p, _PASSES
    raise NotConverged(
        f"the rates are too close to the edge of what the data allow: after {_PASSES} passes over the kernel they ask for {most:.4g} to "
        f"{p:.4g} times of it; relax the rates or raise ridge",
        _PASSES,
        p - most,
    )
