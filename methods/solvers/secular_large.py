"""Distance between two ellipsoids of a large kernel: the secular equations in a growing span, one pass over K for each step.

The problem is solved among the sums of landmarks first, then exactly in the span of d, of that solution with its derivatives by τ, and
of what every step adds: the residual d - (I + Σ1/τ1 + Σ2/τ2) r, with the inverse of the same matrix among landmarks for a
preconditioner, and Σ1 r, Σ2 r. The products of K with these three also give the values of the dual point that belongs to r, so
the gap is that of the whole problem: landmarks only decide how many steps it takes.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.secular_equations import newton
from mmc.methods.problems.ellipsoid_pair import ClosestPoints, EllipsoidPair, Separation, infeasible
from mmc.methods.problems.large_geometry import LargeGeometry, Span
from mmc.methods.solution import NotConverged
from mmc.methods.solvers.demand_large import demanded

_PASSES = 40
_EPS = float(np.finfo(float).eps)


def solve_large(problem: EllipsoidPair, geometry: LargeGeometry, tol: float, version: str) -> ClosestPoints:
    """Return the closest points; the relative duality gap of the whole problem is at most ``tol``."""
    kappa, d = problem.kappa, geometry.values_of_d
    if geometry.same_means:
        raise infeasible(problem, inf)
    inner, S = geometry.inner
    low = 1e-12 * float(S.trace(axis1=1, axis2=2).max())  # where nothing is feasible, τ would fall to 0
    z, tau, _ = newton(inner, S, kappa, None, (low, low), patience=25)
    span = Span(geometry.towards[:, None] / sqrt(geometry.dd), d[:, None] / sqrt(geometry.dd))
    found = [z[:, None]]
    M = _matrix(S, kappa, tau)
    for _ in range(2):  # the derivatives by τ1 and τ2
        found.append(cho_solve(M, np.hstack([part @ found[-1] for part in S])))
    Z = np.hstack(found)
    span.extend(geometry.on_landmarks(Z), geometry.factor.rows @ Z)
    least, spent = inf, 0
    for step in range(1, _PASSES + 1):
        along, spread = span.Y.T @ geometry.towards, geometry.covariance(span.Y)
        a, tau, _ = newton(along, spread, kappa, tau, (low, low), patience=25)
        if along @ a <= sum(k * sqrt(a @ part @ a) for k, part in zip(kappa, spread, strict=True)):
            p, passes = demanded(geometry, kappa, span)
            if p >= 1:
                raise infeasible(problem, p)
            spent += passes
            along, spread = span.Y.T @ geometry.towards, geometry.covariance(span.Y)
            a, tau, _ = newton(along, spread, kappa, None, (low, low), patience=25)
        beta, y = span.C @ a, span.Y @ a
        scatter = geometry.scatter(y)
        residual = geometry.towards - beta
        for k, t, ridge, part in zip(kappa, tau, geometry.ridge, scatter, strict=True):
            if k > 0:
                residual -= (part + ridge * beta) / t
        outside = 1 + sum(ridge / t for ridge, k, t in zip(geometry.ridge, kappa, tau, strict=True) if k > 0)
        step_to = geometry.preconditioned(residual, _matrix(S, kappa, tau), outside)
        more = np.column_stack([step_to, *scatter])
        products = geometry.K @ more
        proof = _certify(problem, geometry, beta, y, scatter, products[:, 1:])
        least = min(least, proof.gap)
        if proof.gap <= tol:
            return ClosestPoints(np.append(0.0, beta), None, step + spent, version, certificate=proof)
        span.extend(more, products)
    raise NotConverged(
        f"the secular equations stopped at a relative duality gap of {least:.2g} after {_PASSES} passes over the kernel, above "
        f"{tol:.2g}: raise ridge, relax the rates, or take a wider kernel",
        _PASSES,
        least,
    )


def _matrix(S: Array, kappa: tuple[float, float], tau: tuple[float, float]) -> tuple[Array, bool]:
    """Return the factor of I + Σ1/τ1 + Σ2/τ2 among landmarks."""
    M = sum((part / t for part, k, t in zip(S, kappa, tau, strict=True) if k > 0), start=np.eye(S.shape[1]))
    factor, lower = cho_factor(M, lower=True, overwrite_a=True)
    return factor, bool(lower)


def _certify(
    problem: EllipsoidPair,
    geometry: LargeGeometry,
    beta: Array,
    y: Array,
    scatter: tuple[Array, Array],
    products: Array,
) -> Separation:
    """Return what `certify` would: primal and dual point are those of the whole problem."""
    kappa = problem.kappa
    norm2, along = float(beta @ y), float(geometry.towards @ y)
    first, second = (sqrt(float(part @ y) + ridge * norm2) for part, ridge in zip(scatter, geometry.ridge, strict=True))
    margin = along - kappa[0] * first - kappa[1] * second
    if not margin > 0:
        return Separation(inf, inf, inf, norm2, (first, second), along)
    between, values = geometry.towards.copy(), geometry.values_of_d.copy()
    for k, s, ridge, part, product in zip(kappa, (first, second), geometry.ridge, scatter, products.T, strict=True):
        between -= k / s * (part + ridge * beta)
        values -= k / s * (product + ridge * y)
    distance2 = float(between @ values)
    objective, bound = 2 * norm2 / margin**2, 2 / max(distance2, _EPS * norm2)
    return Separation(objective, max(1 - bound / objective, 0.0), 2 / margin, norm2, (first, second), along)
