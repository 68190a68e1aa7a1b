"""MPM and BMPM as cone programs, direct to Clarabel or ECOS.

Step 1 of the parametric method (Huang et al., (17)) is the second-order cone program

    min λ p + κ q   s.t.   ‖Cx'a‖ ≤ p,   ‖Cy'a‖ ≤ q,   a'd = 1,     Cx Cx' = Σx,  Cy Cy' = Σy;

step 2 sets λ = f(a)/g(a). MPM needs a single one, with λ = κ = 1. The program is stated in the coordinates
z = L'a with LL' = Σx + Σy: interior-point tolerances mean little on badly scaled data.
"""

from __future__ import annotations

import clarabel
import ecos
import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import block_array, csc_array, csc_matrix

from mmc.methods.numerics import clarabel_settings
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer
from mmc.methods.problems.minimax import Directions, Minimax
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities
from mmc.methods.solvers.fractional import parametric
from mmc.methods.solvers.least_squares import balanced

CAN = Capabilities()
VERSIONS = {"clarabel": clarabel.__version__, "ecos": ecos.__version__}


def solve(problem: Minimax, *, backend: str = "clarabel", tol: float = 1e-9, max_iter: int = 100) -> Directions:
    """Return the optimal a; ``iterations`` counts interior-point steps. ``backend`` is "clarabel" or "ecos"."""
    if backend not in VERSIONS:
        raise ValueError(f"solver 'socp' has no backend {backend!r}: valid: {', '.join(VERSIONS)}")
    pair = problem.pair
    L = cholesky(pair.Sx + pair.Sy, lower=True)
    halves = [solve_triangular(L, cholesky(S, lower=True), lower=True).T for S in (pair.Sx, pair.Sy)]
    d = solve_triangular(L, pair.d, lower=True)
    size = np.linalg.norm(d)
    n = len(d)
    # Variables (z, p, q); the rows of G say (p, Cx'z) and (q, Cy'z) lie in their cones: h - G v with h = 0.
    p_row, q_row = csc_array(([-1.0], ([0], [0])), (1, 2)), csc_array(([-1.0], ([0], [1])), (1, 2))
    G = block_array(
        [[None, p_row], [csc_array(-halves[0]), None], [None, q_row], [csc_array(-halves[1]), None]], format="csc"
    )
    A = csc_array(np.append(d / size, [0.0, 0.0])[None, :])
    run = _clarabel if backend == "clarabel" else _ecos

    def step1(_: Array, lam: float, kappa: float) -> tuple[Array, int]:
        z, steps = run(np.append(np.zeros(n), np.array([lam, kappa]) / max(lam, kappa)), A, G, tol)
        a = solve_triangular(L, z, lower=True, trans=1)
        return a / (a @ pair.d), steps

    if problem.kappa is None:
        a, steps = balanced(problem, step1, tol=tol)
    else:
        a, steps = parametric(problem, step1, tol=tol, max_iter=max_iter)
    return Answer(a, a, steps, f"{backend} {VERSIONS[backend]}")


def _clarabel(cost: Array, A: csc_array, G: csc_array, tol: float) -> tuple[Array, int]:
    # Clarabel's own regularisation holds the residual of a'd = 1 above 1e-9
    settings = clarabel_settings.settings(tol, static_regularization_constant=1e-12)
    n = len(cost) - 2
    cones = [clarabel.ZeroConeT(1), clarabel.SecondOrderConeT(n + 1), clarabel.SecondOrderConeT(n + 1)]
    rows = block_array([[A], [G]], format="csc")
    right = np.append(1.0, np.zeros(2 * n + 2))
    answer = clarabel.DefaultSolver(csc_array((n + 2, n + 2)), cost, rows, right, cones, settings).solve()
    if answer.status != clarabel.SolverStatus.Solved:
        raise NotConverged(f"clarabel stopped with {answer.status}", answer.iterations, answer.r_prim)
    return np.array(answer.x[:n]), answer.iterations


def _ecos(cost: Array, A: csc_array, G: csc_array, tol: float) -> tuple[Array, int]:
    n = len(cost) - 2
    dims = {"l": 0, "q": [n + 1, n + 1], "e": 0}
    answer = ecos.solve(
        cost,
        csc_matrix(G),
        np.zeros(2 * n + 2),
        dims,
        csc_matrix(A),
        np.ones(1),
        verbose=False,
        abstol=tol,
        reltol=tol,
        feastol=tol,
    )
    info = answer["info"]
    if info["exitFlag"] != 0:
        raise NotConverged(f"ecos stopped with {info['infostring']}", info["iter"], info["pres"])
    return answer["x"][:n], info["iter"]
