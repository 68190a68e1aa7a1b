"""The maxi-min margin machine as a cone program, direct to Clarabel (Gu & Guo, (12); Huang et al. 2008).

    min  s_x(w) + s_y(w) + C 1'ξ   s.t.  z_i(w'x_i + b') ≥ 1 - ξ_i,  ξ ≥ 0

as ``problems/scatter_margin.py`` states it. Σx + Σy = I and Σx = diag(l) there: both cones are diagonal, and only the rows of
the points are dense.
"""

from __future__ import annotations

from math import isinf

import clarabel
import numpy as np
from scipy.sparse import csc_array

from mmc.methods.numerics import clarabel_settings
from mmc.methods.problems import Judged
from mmc.methods.problems.ratio import RatioLP, inseparable
from mmc.methods.problems.ratio_matrices import dense_program
from mmc.methods.problems.scatter_margin import (
    ScatterAnswer,
    ScatterMargin,
    ScatterMultipliers,
    ScatterPlane,
    certify,
)
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities, lp

VERSION = f"clarabel {clarabel.__version__}"
CAN = Capabilities()


def solve(problem: ScatterMargin, *, gap: float = 1e-6, tol: float = 1e-8) -> ScatterAnswer:
    """Return the solution; ``tol`` is Clarabel's, ``gap`` what the certificate must reach.

    Raises InfeasibleProblem if C = ∞ and no hyperplane separates the points, NotConverged above ``gap``.
    """
    r = problem.points.shape[1]
    answer = _clarabel(problem, tol)
    if isinf(problem.C) and answer.status == clarabel.SolverStatus.PrimalInfeasible:
        separation = _separation(problem)
        least = lp.solve(separation)
        raise inseparable(separation.certify(least.primal, least.dual).objective)
    x, y = np.array(answer.x), np.array(answer.z)
    p, q = (-y[len(y) - k * (r + 1) + 1 :][:r] for k in (2, 1))
    plane, multipliers = ScatterPlane(x[:r], float(x[r])), ScatterMultipliers(y[: len(problem.sign)], p, q)
    width = certify(problem, plane, multipliers)
    if not width.gap <= gap:
        raise NotConverged(
            f"clarabel stopped with {answer.status}, certified to {width.gap:.2g}, not to {gap:.2g}",
            answer.iterations,
            width.gap,
        )
    return Judged(plane, multipliers, answer.iterations, VERSION, certificate=width)


def _clarabel(problem: ScatterMargin, tol: float) -> clarabel.DefaultSolution:
    """Solve for (w, b', s_x, s_y, ξ): the rows of the points, ξ ≥ 0, the two cones."""
    n, r = problem.points.shape
    hard = isinf(problem.C)
    unit = max(problem.C, 1.0)  # of 1/ξ: Clarabel's tolerances are relative to the largest cost
    slacks = 0 if hard else n
    points, axes, soft = np.arange(n), np.arange(r), np.arange(slacks)
    cones = [clarabel.NonnegativeConeT(n)] + ([] if hard else [clarabel.NonnegativeConeT(n)])
    entries = [  # rows, columns, values: the points, their ξ, ξ ≥ 0
        (np.repeat(points, r), np.tile(axes, n), (-problem.sign[:, None] * problem.points).ravel()),
        (points, np.full(n, r), -problem.sign),
        (soft, r + 3 + soft, np.full(slacks, -1 / unit)),
        (n + soft, r + 3 + soft, np.full(slacks, -1.0)),
    ]
    for k, share in enumerate((problem.share, 1 - problem.share)):
        top = n + slacks + k * (r + 1)
        head = np.array([top]), np.array([r + 1 + k]), np.array([-1.0])
        entries += [head, (top + 1 + axes, axes, -np.sqrt(share))]
        cones.append(clarabel.SecondOrderConeT(r + 1))
    rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    A = csc_array((values, (rows, columns)), (n + slacks + 2 * (r + 1), r + 3 + slacks))
    right = np.zeros(A.shape[0])
    right[:n] = -1.0
    cost = np.concatenate([np.zeros(r + 1), [1.0, 1.0], np.full(slacks, problem.C / unit)])
    settings = clarabel_settings.settings(tol, tol_gap_abs=1e-300)  # the objective can be far below 1
    return clarabel.DefaultSolver(csc_array((len(cost), len(cost))), cost, A, right, cones, settings).solve()


def _separation(problem: ScatterMargin) -> RatioLP:
    """Return the program of the smallest total slack."""
    G = problem.sign[:, None] * problem.points
    return dense_program(G, problem.sign, np.zeros(len(G)), 1.0, False)
