"""The largest margin under a bound on each class's error, written in cvxpy: (3.15) of Nath & Bhattacharyya, (3.30) for a kernel.

    min t   s.t.   ‖w‖ ≤ t,   w'μ1 - b ≥ 1 + κ1 s1,   b - w'μ2 ≥ 1 + κ2 s2,   ‖C1'w‖ ≤ s1,   ‖C2'w‖ ≤ s2

The origin is half-way between the means, which are one unit apart: only the direction of w is read. The multiplier (λ_i, v_i) of
the cone of s_i is the point u_i = -κ_i v_i / λ_i of the dual (3.23). With a ridge, C_i C_i' includes it.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.modelling import cone_multipliers, run, value
from mmc.methods.problems.ellipsoid_pair import ClosestPoints, EllipsoidPair, certify, check_feasible
from mmc.methods.solvers import Capabilities

CAN = Capabilities()


def solve(problem: EllipsoidPair, *, backend: str = "CLARABEL", tol: float = 1e-10, gap: float = 1e-6) -> ClosestPoints:
    """Return the closest points of the ellipsoids; ``tol`` is the backend's, ``gap`` what the certificate must reach.

    Raises InfeasibleProblem if the certificate agrees that there is no such w, NotConverged above ``gap``.
    """
    whole, (kappa1, kappa2) = problem.geometry.coordinates, problem.kappa
    geometry = whole.without_ridge if any(whole.ridge) else whole
    n, size = len(geometry.d), float(np.linalg.norm(geometry.d)) or 1.0
    mu1, mu2 = geometry.d / (2 * size), -geometry.d / (2 * size)
    C1, C2 = (rows / size for rows in geometry.parts)

    w, b, t, s1, s2 = cp.Variable(n), cp.Variable(), cp.Variable(), cp.Variable(), cp.Variable()
    margins = [w @ mu1 - b >= 1 + kappa1 * s1, b - w @ mu2 >= 1 + kappa2 * s2]
    spreads = [cp.SOC(s1, C1 @ w), cp.SOC(s2, C2 @ w)]
    ended = run(cp.Problem(cp.Minimize(t), [cp.SOC(t, w), *margins, *spreads]), backend, tol)

    check_feasible(problem)
    if ended.infeasible:
        raise ended.stopped()
    coordinates = EllipsoidPair(geometry, problem.kappa)
    # The multipliers of the cones are the better dual where a ball has collapsed, the support points elsewhere.
    proofs = [(certify(coordinates, value(w), dual), dual) for dual in (None, _points(spreads, problem.kappa))]
    proof, dual = min(proofs, key=lambda one: one[0].gap)
    if geometry is not whole:  # it belongs to these rows
        dual = None
    if not proof.gap <= gap:
        raise ended.stopped(proof.gap, gap)
    return ClosestPoints(value(w), dual, ended.steps, ended.version, in_coordinates=True, certificate=proof)


def _points(spreads: list[cp.SOC], kappa: tuple[float, float]) -> Array:
    """Return u, one multiplier per row of C1' and C2'."""
    parts = []
    for cone, size in zip(spreads, kappa, strict=True):
        head, tail = cone_multipliers(cone)
        parts.append(-size * tail / head if size > 0 and head > 0 else np.zeros(len(tail)))
    return np.concatenate(parts)
