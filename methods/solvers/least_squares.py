"""Iterative least squares for a sum of two standard deviations (Lanckriet et al., 2002; Huang et al., (18)).

    min λ √(a'Σx a) + κ √(a'Σy a)   s.t.   a'd = 1

is the minimum over η, ξ > 0 of (η + λ²/η a'Σx a + ξ + κ²/ξ a'Σy a)/2. For fixed a the best η and ξ are the two terms
themselves; for fixed η and ξ it is a least-squares problem. The papers write a = a0 + F u to remove the constraint;
its minimiser is the same as a ∝ (λ²/η Σx + κ²/ξ Σy)⁻¹ d, one Cholesky factorisation. MPM is λ = κ = 1.
"""

from __future__ import annotations

import scipy
from scipy.linalg import cho_factor, cho_solve

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer
from mmc.methods.problems.minimax import Directions, Minimax
from mmc.methods.problems.moment_pair import MomentPair
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities

VERSION = f"scipy {scipy.__version__}"
CAN = Capabilities()


def solve(problem: Minimax, *, tol: float = 1e-10, max_iter: int = 10_000) -> Directions:
    """Return the a of the MPM; it stops when a step changes the ratio of the two spreads by less than ``tol``."""
    a, steps = reweight(problem.pair, problem.pair.start, 1.0, 1.0, tol=tol, max_iter=max_iter)
    return Answer(a, a, steps, VERSION)


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
