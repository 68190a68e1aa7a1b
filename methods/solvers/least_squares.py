"""Iterative least squares for a sum of two standard deviations (Lanckriet et al., 2002; Huang et al., (18)).

    min λ √(a'Σx a) + κ √(a'Σy a)   s.t.   a'd = 1

is the minimum over η, ξ > 0 of (η + λ²/η a'Σx a + ξ + κ²/ξ a'Σy a)/2. For fixed a the best η and ξ are the two terms
themselves; for fixed η and ξ it is a least-squares problem. The papers write a = a0 + F u to remove the constraint;
its minimiser is the same as a ∝ (λ²/η Σx + κ²/ξ Σy)⁻¹ d, one Cholesky factorisation. MPM is λ = κ = 1.
"""

from __future__ import annotations

from collections.abc import Callable

import scipy
from scipy.linalg import cho_factor, cho_solve

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer
from mmc.methods.problems.minimax import Directions, Minimax
from mmc.methods.problems.moment_pair import MomentPair
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities

Step = Callable[[Array, float, float], tuple[Array, int]]
VERSION = f"scipy {scipy.__version__}"
CAN = Capabilities()


def solve(problem: Minimax, *, tol: float = 1e-10, max_iter: int = 10_000) -> Directions:
    """Return the a of the MPM; it stops when a step changes the ratio of the two spreads by less than ``tol``."""
    pair = problem.pair

    def step(a: Array, lam: float, kappa: float) -> tuple[Array, int]:
        return reweight(pair, a, lam, kappa, tol=tol, max_iter=max_iter)

    a, steps = balanced(problem, step, tol=tol)
    return Answer(a, a, steps, VERSION)


def balanced(problem: Minimax, step: Step, *, tol: float, max_iter: int = 100) -> tuple[Array, int]:
    """Return the a of the MPM and the steps taken. ``step`` minimises λ √(a'Σx a) + κ √(a'Σy a).

    One step with λ = κ = 1 will do if the means are known, or known equally well. If not, the level κ is found by the
    parametric method: a is best for the sizes κ + νx and κ + νy, and κ is then what a reaches.
    """
    a, nu = problem.pair.start, problem.nu
    if nu[0] == nu[1]:
        return step(a, 1.0, 1.0)
    total, kappa, change = 0, max(problem.reached(a)[1] - nu[1], 0.0), float("inf")
    for _ in range(max_iter):
        a, steps = step(a, kappa + nu[0], kappa + nu[1])
        total += steps
        before, kappa = kappa, problem.reached(a)[1] - nu[1]
        change = abs(kappa - before) / max(kappa, *nu)
        if change <= tol:
            return a, total
    raise NotConverged(f"the level still changes by {change:.1e} after {max_iter} steps", total, change)


def reweight(pair: MomentPair, a: Array, lam: float, kappa: float, *, tol: float, max_iter: int) -> tuple[Array, int]:
    """Return the minimiser of λ √(a'Σx a) + κ √(a'Σy a) with a'd = 1, and the steps from the given a."""
    sx, sy = pair.spreads(a)
    change = float("inf")
    for step in range(1, max_iter + 1):
        a = cho_solve(cho_factor(lam / sx * pair.Sx + kappa / sy * pair.Sy, overwrite_a=True), pair.d)
        a /= a @ pair.d
        before = sx / sy
        sx, sy = pair.spreads(a)
        change = abs(sx / sy / before - 1)
        if change <= tol:
            return a, step
    raise NotConverged(
        f"iterative least squares: the spreads still change by {change:.1e} after {max_iter} steps", max_iter, change
    )
