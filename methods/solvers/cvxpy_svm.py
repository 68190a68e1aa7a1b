"""The soft-margin SVM with a cost for each point, written in cvxpy: (2.11) of Nath & Bhattacharyya.

    min ½‖w‖² + Σ_i C_i ξ_i   s.t.   y_i (⟨w, x_i⟩ + b) ≥ 1 - ξ_i,   ξ ≥ 0

The rows of Z stand for the points: ZZ' = K.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from mmc.methods.numerics.modelling import multipliers, root, run
from mmc.methods.problems.hinges import MachineAnswer, SvmProblem
from mmc.methods.solvers import Capabilities

CAN = Capabilities()


def solve(problem: SvmProblem, *, backend: str = "CLARABEL", tol: float = 1e-12, gap: float = 1e-6) -> MachineAnswer:
    """Return the machine; ``tol`` is the backend's, ``gap`` what the certificate must reach, or NotConverged is raised."""
    y, Z = problem.sign, root(np.asarray(problem.K))

    w, b, slack = cp.Variable(Z.shape[1]), cp.Variable(), cp.Variable(len(y), nonneg=True)
    margins = cp.multiply(y, Z @ w + b) >= 1 - slack
    ended = run(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + problem.C @ slack), [margins]), backend, tol)

    a = problem.hinges.settled(multipliers(margins))
    return problem.answer(a, gap, ended.steps, ended.version, interior=True)
