"""The minimax machines of a large kernel: any of their solvers in a growing span, one pass over K for each step.

In the span of some vectors the problem is that of a small `MomentPair`, and its a is a hyperplane of the whole space with exactly
these moments. What the whole space could add is bounded as in ``problems/minimax.py``: with

    e = d - κ(β)/√(a'Σy a) Σy a - κ(α)/√(a'Σx a) Σx a,     v = Σx z + e,     z = κ(α)/√(a'Σx a) a,

the distance of the dual point is v'Σx⁻¹v = z'Σx z + 2 z'e + e'Σx⁻¹e, and e'Σx⁻¹e ≤ e'e/ridge. The span grows by
e, with the inverse of the same matrix among landmarks for a preconditioner, by Σx a and by Σy a.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer
from mmc.methods.problems.large_geometry import LargeGeometry, Span
from mmc.methods.problems.minimax import WorstCase
from mmc.methods.problems.moment_pair import MomentPair
from mmc.methods.solvers.demand_large import demanded

_PASSES = 40
Solve = Callable[[MomentPair], tuple[Array, Answer[object, object], WorstCase, object]]


@dataclass(frozen=True)
class LargeAnswer:
    """The hyperplane Φβ with its values ``y``, the solver's last answer, and what is proven of it."""

    beta: Array
    y: Array
    answer: Answer[object, object]
    bound: WorstCase
    passes: int


def solve_large(
    geometry: LargeGeometry,
    landmarks: MomentPair,
    solve: Solve,
    nu: tuple[float, float],
    asked: tuple[float, float],
    tol: float,
) -> LargeAnswer:
    """Return the best answer: the first whose relative duality gap in the whole space is at most ``tol``, if there is one.

    ``landmarks`` is the problem among landmarks; ``nu`` is part of both sizes, and the sizes ``asked`` must be kept at least.
    Where no hyperplane keeps them, ``solve`` raises InfeasibleProblem once that is proven.
    """
    span = Span(geometry.towards[:, None] / sqrt(geometry.dd), geometry.values_of_d[:, None] / sqrt(geometry.dd))
    spent = 0
    if max(asked) > 0 and geometry.edge.demand(asked)[1] >= 1:  # landmarks alone cannot keep them
        _, spent = demanded(geometry, asked, span)
    else:
        z, _, bound, _ = solve(landmarks)
        found, S = [z[:, None]], geometry.inner[1]
        factor, _ = _stationary(geometry, bound)
        for _ in range(2):  # the directions in which z moves if the weights of the two covariances do
            found.append(cho_solve(factor, np.hstack([part @ found[-1] for part in S])))
        Z = np.hstack(found)
        span.extend(geometry.on_landmarks(Z), geometry.factor.rows @ Z)
    best: LargeAnswer | None = None
    for step in range(1, _PASSES + 1):
        Sx, Sy = geometry.covariance(span.Y)
        pair = MomentPair.definite(span.Y.T @ geometry.towards, Sx, Sy, geometry.ridge)
        a, answer, bound, _ = solve(pair)
        beta, y = span.C @ a, span.Y @ a
        scatter = geometry.scatter(y)
        factor, c = _stationary(geometry, bound)
        e = geometry.towards - sum(
            w * (part + ridge * beta) for w, part, ridge in zip(c, scatter, geometry.ridge, strict=True)
        )
        outside = c[0] * geometry.ridge[0] + c[1] * geometry.ridge[1]
        more = np.column_stack([geometry.preconditioned(e, factor, outside), *scatter])
        products = geometry.K @ more
        values = geometry.values_of_d - sum(
            w * (product + ridge * y) for w, product, ridge in zip(c, products[:, 1:].T, geometry.ridge, strict=True)
        )
        z2 = c[0] ** 2 * (float(scatter[0] @ y) + geometry.ridge[0] * float(beta @ y))
        upper2 = z2 + 2 * c[0] * float(y @ e) + max(float(e @ values), 0.0) / geometry.ridge[0]
        upper = sqrt(max(upper2, z2)) - nu[0]
        gap = abs(upper / bound.objective - 1) if bound.objective > 0 else inf
        if best is None or gap < best.bound.gap:
            best = LargeAnswer(beta, y, answer, replace(bound, gap=gap, bound=upper), step + spent)
        if gap <= tol:
            break
        span.extend(more, products)
    assert best is not None
    return best


def _stationary(geometry: LargeGeometry, bound: WorstCase) -> tuple[tuple[Array, bool], tuple[float, float]]:
    """Return the factor among landmarks of the matrix that leads from a to d, and the weights of Σx and Σy in it."""
    first, second = (side / spread**2 for side, spread in zip(bound.sides, bound.spreads, strict=True))
    S = geometry.inner[1]
    matrix, lower = cho_factor(first * S[0] + second * S[1], lower=True, overwrite_a=True)
    return (matrix, bool(lower)), (first, second)
