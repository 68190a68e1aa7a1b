"""The maxi-min margin machine written in cvxpy: (12) of Gu & Guo, as ``problems/scatter_margin.py`` states it.

    min  s_x + s_y + C 1'ξ   s.t.  z_i (w'x_i + b') ≥ 1 - ξ_i,  ξ ≥ 0,  ‖Σx^½ w‖ ≤ s_x,  ‖Σy^½ w‖ ≤ s_y

C = ∞ is the hard margin (12). In the coordinates of the problem Σx = diag(l) and Σy = diag(1 - l).
"""

from __future__ import annotations

from math import isinf

import cvxpy as cp
import numpy as np

from mmc.methods.numerics.modelling import cone_multipliers, multipliers, run, value
from mmc.methods.problems import Judged
from mmc.methods.problems.ratio import inseparable
from mmc.methods.problems.ratio_matrices import dense_program
from mmc.methods.problems.scatter_margin import ScatterAnswer, ScatterMargin, ScatterMultipliers, ScatterPlane, certify
from mmc.methods.solvers import Capabilities, cvxpy_ratio

CAN = Capabilities()


def solve(problem: ScatterMargin, *, backend: str = "CLARABEL", tol: float = 1e-10, gap: float = 1e-6) -> ScatterAnswer:
    """Return the solution; ``tol`` is the backend's, ``gap`` what the certificate must reach.

    Raises InfeasibleProblem if C = ∞ and no hyperplane separates the points, NotConverged above ``gap``.
    """
    X, z, C = problem.points, problem.sign, problem.C

    w, b, s_x, s_y = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(), cp.Variable()
    slack = cp.Variable(len(z), nonneg=True)
    margins = cp.multiply(z, X @ w + b) >= (1 if isinf(C) else 1 - slack)
    spreads = [
        cp.SOC(s_x, cp.multiply(np.sqrt(problem.share), w)),
        cp.SOC(s_y, cp.multiply(np.sqrt(1 - problem.share), w)),
    ]
    cost = s_x + s_y + (0 if isinf(C) else C * cp.sum(slack))
    ended = run(cp.Problem(cp.Minimize(cost), [margins, *spreads]), backend, tol)

    if ended.infeasible and isinf(C):
        separation = dense_program(z[:, None] * X, z, np.zeros(len(z)), 1.0, False)
        least = cvxpy_ratio.solve(separation, backend="HIGHS", gap=gap)
        raise inseparable(separation.certify(least.primal, least.dual).objective)
    if ended.infeasible:
        raise ended.stopped()
    p, q = (-cone_multipliers(cone)[1] for cone in spreads)
    plane = ScatterPlane(value(w), float(value(b)))
    dual = ScatterMultipliers(multipliers(margins), p, q)
    width = certify(problem, plane, dual)
    if not width.gap <= gap:
        raise ended.stopped(width.gap, gap)
    return Judged(plane, dual, ended.steps, ended.version, certificate=width)
