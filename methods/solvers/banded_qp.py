"""The banded SVM's dual (Pendse (3.14)) as a quadratic program, solved by Clarabel's interior-point method.

With γ = α − θ as the variable beside θ, the quadratic form has n variables, not 2n:

    min_{γ,θ}  ½ γ'Bγ − ρ1 1'γ + (ρ2 − ρ1) 1'θ     s.t.  0 ≤ γ + θ ≤ C1,  0 ≤ θ ≤ C2,  y'γ = 0,      B = yy'∘K.

It shares nothing with the libsvm solver but the statement of the problem: it is the reference.
"""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse

from mmc.methods.numerics.clarabel_settings import settings
from mmc.methods.problems.banded import BandedProblem
from mmc.methods.problems.hinges import MachineAnswer
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities

CAN = Capabilities()
_CLARABEL_TOL = 1e-13  # of its own measures; what counts is the gap computed afterwards
VERSION = f"clarabel {clarabel.__version__}"


def solve(problem: BandedProblem, *, tol: float = 1e-6, max_iter: int = 200) -> MachineAnswer:
    """Return the banded SVM to a relative duality gap of ``tol``, or raise NotConverged."""
    y, n = problem.sign, len(problem.sign)
    rho = problem.rho2 / problem.rho1
    K = np.asarray(problem.K)
    mean = K.mean(axis=0)
    K = K - mean - mean[:, None] + mean.mean()  # the same form where y'γ = 0, and better conditioned
    # multipliers in the unit of a free one, about ρ1/k(x, x), keep the program's numbers near 1 for every C
    unit = min(problem.C1, problem.rho1 / max(np.median(np.diag(K)), 1e-12))
    B = unit / problem.rho1 * (y[:, None] * y * K)
    P = sparse.block_diag([sparse.csc_matrix(np.triu(B)), sparse.csc_matrix((n, n))], format="csc")
    q = np.concatenate([np.full(n, -1.0), np.full(n, rho - 1)])
    one, none = sparse.identity(n), sparse.csc_matrix((n, n))
    rows = [
        (np.zeros(1), sparse.hstack([sparse.csc_matrix(y), sparse.csc_matrix((1, n))])),
        (np.zeros(n), sparse.hstack([-one, -one])),
        (problem.costs[0] / unit, sparse.hstack([one, one])),
        (np.zeros(n), sparse.hstack([none, -one])),
    ]
    if np.isfinite(problem.C2):
        rows.append((problem.costs[1] / unit, sparse.hstack([none, one])))
    limit = np.concatenate([b for b, _ in rows])
    A = sparse.vstack([part for _, part in rows], format="csc")
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(len(limit) - 1)]
    answer = clarabel.DefaultSolver(P, q, A, limit, cones, settings(_CLARABEL_TOL, max_iter=max_iter)).solve()
    if not len(answer.x):
        raise NotConverged(f"Clarabel stopped: {answer.status}", answer.iterations)
    gamma, theta = unit * np.reshape(answer.x, (2, n))
    a = problem.hinges.settled(np.concatenate([gamma + theta, theta]))
    return problem.answer(a, tol, answer.iterations, VERSION, interior=True)
