"""The parametric method for the fractional program (12) (Huang et al., section 3).

    max f(a)/g(a)   s.t.   a'd = 1,     f(a) = 1 - κ(γ) √(a'Σy a),   g(a) = √(a'Σx a).

Step 1 maximises f(a) - λ g(a), here by the iterative least squares of (18); step 2 sets λ = f(a)/g(a). λ rises to
the optimal κ(α), faster than linearly, from any a with f(a) > 0.
"""

from __future__ import annotations

from collections.abc import Callable

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer
from mmc.methods.problems.minimax import Directions, Minimax
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities
from mmc.methods.solvers.least_squares import VERSION, reweight

CAN = Capabilities()
Inner = Callable[[Array, float, float], tuple[Array, int]]


def solve(problem: Minimax, *, tol: float = 1e-10, max_iter: int = 100, max_inner: int = 10_000) -> Directions:
    """Return the optimal a; ``iterations`` counts the least-squares problems of all inner steps together."""

    def step1(a: Array, lam: float, kappa: float) -> tuple[Array, int]:
        return reweight(problem.pair, a, lam, kappa, tol=tol, max_iter=max_inner)

    a, steps = parametric(problem, step1, tol=tol, max_iter=max_iter)
    return Answer(a, a, steps, VERSION)


def parametric(problem: Minimax, step1: Inner, *, tol: float, max_iter: int) -> tuple[Array, int]:
    """Repeat step 1 and step 2 until λ is settled; return a and the inner steps taken."""
    pair, kappa = problem.pair, problem.level
    a, total = pair.start, 0
    lam, change = pair.ratio(a, kappa), float("inf")
    for _ in range(max_iter):
        a, steps = step1(a, lam, kappa)
        total += steps
        before, lam = lam, pair.ratio(a, kappa)
        change = abs(lam - before) / lam
        if change <= tol:
            return a, total
    raise NotConverged(f"the parametric method still changes λ by {change:.1e} after {max_iter} steps", total, change)
