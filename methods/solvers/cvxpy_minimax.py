"""The minimax machines written in cvxpy: Lanckriet et al.'s MPM, and BMPM (12) of Huang et al.

    MPM    max 1 / (√(a'Σx a) + √(a'Σy a))          s.t.  a'd = 1
    BMPM   max (1 - κ(γ) √(a'Σy a)) / √(a'Σx a)     s.t.  a'd = 1                                                (12)

Neither ratio depends on the length of a once its 1 is written as a'd. So the denominator may be 1 instead, and both are concave:

    MPM    max a'd                     s.t.  √(a'Σx a) + √(a'Σy a) ≤ 1
    BMPM   max a'd - κ(γ) √(a'Σy a)    s.t.  √(a'Σx a) ≤ 1

With uncertain means κ(γ) is κ(γ) + νy, and MPM's 1 is 1 - νx √(a'Σx a) - νy √(a'Σy a).
They are stated in coordinates in which Σx + Σy = I.
"""

from __future__ import annotations

import cvxpy as cp
from scipy.linalg import cholesky, solve_triangular

from mmc.methods.numerics.modelling import run, value
from mmc.methods.problems import Answer
from mmc.methods.problems.minimax import Directions, Minimax, certify
from mmc.methods.solvers import Capabilities

CAN = Capabilities()


def solve(problem: Minimax, *, backend: str = "CLARABEL", tol: float = 1e-10, gap: float = 1e-6) -> Directions:
    """Return the optimal a with a'd = 1; ``tol`` is the backend's, ``gap`` what the certificate must reach."""
    pair, kappa = problem.pair, problem.kappa
    L = cholesky(pair.Sx + pair.Sy, lower=True)
    Cx, Cy = (solve_triangular(L, cholesky(S, lower=True), lower=True).T for S in (pair.Sx, pair.Sy))
    d = solve_triangular(L, pair.d, lower=True)

    a = cp.Variable(len(d))
    if kappa is None:
        sx, sy = cp.norm(Cx @ a), cp.norm(Cy @ a)
        program = cp.Problem(cp.Maximize(d @ a - problem.nu[0] * sx - problem.nu[1] * sy), [sx + sy <= 1])
    else:
        program = cp.Problem(cp.Maximize(d @ a - kappa * cp.norm(Cy @ a)), [cp.norm(Cx @ a) <= 1])
    ended = run(program, backend, tol)

    if ended.infeasible:
        raise ended.stopped()
    found = solve_triangular(L, value(a), lower=True, trans=1)
    found /= found @ pair.d
    answer = Answer(found, found, ended.steps, ended.version)
    reached = certify(problem, answer).gap
    if not reached <= gap:
        raise ended.stopped(reached, gap)
    return answer
