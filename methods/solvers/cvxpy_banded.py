"""SVMs whose decision values are kept in a band, written in cvxpy: (2.3) of Pendse, (13) of Gu & Guo.

    min ½‖w‖² + C1 Σ ξ_i + C2 Σ ζ_i   s.t.   ρ1 - ξ_i ≤ y_i (⟨w, x_i⟩ + b) ≤ ρ2 + ζ_i,   ξ, ζ ≥ 0

The relative margin machine is C2 = ∞: ζ = 0. The rows of Z stand for the points: ZZ' = K.
"""

from __future__ import annotations

from math import isinf

import cvxpy as cp
import numpy as np

from mmc.methods.numerics.modelling import multipliers, root, run
from mmc.methods.problems.banded import BandedProblem
from mmc.methods.problems.hinges import MachineAnswer
from mmc.methods.solvers import Capabilities

CAN = Capabilities()


def solve(problem: BandedProblem, *, backend: str = "CLARABEL", tol: float = 1e-12, gap: float = 1e-6) -> MachineAnswer:
    """Return the machine; ``tol`` is the backend's, ``gap`` what the certificate must reach, or NotConverged is raised."""
    y, Z, hard = problem.sign, root(np.asarray(problem.K)), isinf(problem.C2)

    w, b = cp.Variable(Z.shape[1]), cp.Variable()
    below, above = cp.Variable(len(y), nonneg=True), cp.Variable(len(y), nonneg=True)
    margins = cp.multiply(y, Z @ w + b)
    band = [margins >= problem.rho1 - below, margins <= problem.rho2 + (0 if hard else above)]
    cost = problem.costs[0] @ below + (0 if hard else problem.costs[1] @ above)
    ended = run(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + cost), band), backend, tol)

    a = problem.hinges.settled(np.concatenate([multipliers(side) for side in band]))
    return problem.answer(a, gap, ended.steps, ended.version, interior=True)
