"""The widest margin to ellipsoids written in cvxpy: (5) and (6) of Pothin & Richard, for a linear kernel.

    min ½‖w‖² + C Σ_i ξ_i   s.t.   y_i(⟨w, x̄_i⟩ + b) - ‖Σ_i^{1/2} w‖ ≥ 1 - ξ_i,   ξ ≥ 0

is (6), its inner maximum over E_i written out; (5) has no ξ. The multiplier (α_i, v_i) of the cone of E_i is the weight of the
point x̄_i + y_i Σ_i^{1/2} v_i / α_i of E_i in the dual.
"""

from __future__ import annotations

from math import isinf

import cvxpy as cp
import numpy as np

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.modelling import cone_multipliers, root, run, value
from mmc.methods.problems import Answer
from mmc.methods.problems.knowledge import (
    CriticalPoints,
    KnowledgeAnswer,
    KnowledgeProblem,
    PointRule,
    inseparable_sets,
)
from mmc.methods.problems.shapes import KnowledgeSets
from mmc.methods.solvers import Capabilities

CAN = Capabilities(kernels=False)


def solve(
    problem: KnowledgeProblem, *, backend: str = "CLARABEL", tol: float = 1e-10, gap: float = 1e-6
) -> KnowledgeAnswer:
    """Return a point of every set and its weight; ``tol`` is the backend's, ``gap`` what the certificate must reach.

    Raises InfeasibleProblem if C = ∞ and no hyperplane separates the sets, NotConverged above ``gap``.
    """
    sets, C = problem.sets, problem.C
    roots = _roots(sets)

    w, b, slack = cp.Variable(sets.centers.shape[1]), cp.Variable(), cp.Variable(len(roots), nonneg=True)
    margins = cp.multiply(sets.sign, sets.centers @ w + b) - 1 + (0 if isinf(C) else slack)
    cones = [cp.SOC(margins[i], R.T @ w) for i, R in enumerate(roots)]
    cost = cp.sum_squares(w) / 2 + (0 if isinf(C) else C * cp.sum(slack))
    ended = run(cp.Problem(cp.Minimize(cost), [*cones]), backend, tol)

    if ended.infeasible and isinf(C):
        eased = [cp.SOC(margins[i] + slack[i], R.T @ w) for i, R in enumerate(roots)]
        least = cp.Problem(cp.Minimize(cp.sum(slack) / len(roots)), [*eased])
        run(least, backend, tol)
        raise inseparable_sets(float(least.value))
    if ended.infeasible:
        raise ended.stopped()
    points, alpha = sets.centers.copy(), np.zeros(len(roots))
    for i, (cone, R) in enumerate(zip(cones, roots, strict=True)):
        alpha[i], tail = cone_multipliers(cone)
        points[i] += sets.sign[i] * R @ tail / alpha[i] if alpha[i] > 0 else 0.0
    rule = PointRule(points, alpha * sets.sign, float(value(b)))
    dual = CriticalPoints(points, np.arange(len(points)), points @ points.T, alpha)
    bracket = problem.certify_sets(rule, dual)
    if not bracket.reached <= gap:
        raise ended.stopped(bracket.reached, gap)
    return Answer(rule, dual, ended.steps, ended.version)


def _roots(sets: KnowledgeSets) -> list[Array]:
    """Return R_i with R_i R_i' = Σ_i, one for every set."""
    roots: list[Array] = [radius * np.eye(sets.centers.shape[1]) for radius in sets.radii]
    for i, matrix in zip(sets.which, sets.matrices, strict=True):
        roots[i] = root(matrix)
    return roots
