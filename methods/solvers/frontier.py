"""Every trade-off between the worst-case accuracies of two classes, from one eigendecomposition.

At the optimum (9) and (11) of Huang et al. are active (Lemma 2), and stationarity in a says (r Σx + Σy) a ∝ d for some r in
(0, ∞). With V'(Σx + Σy)V = I, V'Σx V = diag(l) and c = V'd this is a = V (c/w), w = r l + (1 - l): the curve of
``problems/trade_off.py``, which costs O(n) a step.

For a single level the decomposition can be spared: with z = (r Σx + Σy)⁻¹ d, κ(α) = r √(z'Σx z) and κ(β) = √(z'Σy z),
one Cholesky factorisation a step and four to six steps. That is the option ``factor="cholesky"``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy
from scipy.linalg import cho_factor, cho_solve

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer
from mmc.methods.problems.minimax import Directions, Minimax
from mmc.methods.problems.moment_pair import Factor, MomentPair
from mmc.methods.problems.trade_off import Curve
from mmc.methods.solvers import Capabilities

VERSION = f"scipy {scipy.__version__}"
CAN = Capabilities()


@dataclass(frozen=True)
class _Factored(Curve):
    """The curve at one r at a time, each from a Cholesky factorisation of r Σx + Σy."""

    pair: MomentPair
    tol: ClassVar[float] = 1e-9  # rounding allows no more; the error of κ(α) is its square

    def direction(self, r: Array) -> tuple[Factor, Array]:
        """Return the factorisation at r and z."""
        factor = cho_factor(r[0] * self.pair.Sx + self.pair.Sy, lower=True, overwrite_a=True, check_finite=False)
        return factor, cho_solve(factor, self.pair.d, check_finite=False)

    def at_r(self, r: Array) -> tuple[Array, Array, Array, Array]:
        factor, z = self.direction(r)
        x, y = self.pair.Sx @ z, self.pair.Sy @ z
        change = r * cho_solve(factor, x, check_finite=False)  # -dz / d log r
        x2, y2 = z @ x, z @ y
        return r * np.sqrt(x2), 1 - x @ change / np.array([x2]), np.sqrt([y2]), -(y @ change) / np.array([y2])


def solve(problem: Minimax, *, factor: str = "eigen") -> Directions:
    """Return the optimal a.

    ``factor="eigen"`` keeps the decomposition in ``problem.pair``, where every further level finds it;
    ``factor="cholesky"`` is faster for one level of a large problem, and keeps nothing.
    """
    if factor not in ("eigen", "cholesky"):
        raise ValueError(f"solver 'frontier' has no factor {factor!r}: valid: eigen, cholesky")
    pair = problem.pair
    curve = pair.spectrum[0] if factor == "eigen" else _Factored(pair)
    r, steps = curve.balanced(problem.nu) if problem.kappa is None else curve.at(np.array([problem.kappa]))
    a = directions(pair, r)[0] if factor == "eigen" else _Factored(pair).direction(r)[1]
    a = a / (a @ pair.d)
    return Answer(a, a, steps, VERSION)


def solve_levels(pair: MomentPair, kappas: Array) -> Array:
    """Return the optimal a of every κ(γ) as rows, all found together."""
    return directions(pair, pair.spectrum[0].at(kappas)[0])


def directions(pair: MomentPair, r: Array) -> Array:
    """Return the optimal a of every r as rows, a'd = 1."""
    curve, V, c = pair.spectrum
    A = (c / (r[:, None] * curve.ell + (1 - curve.ell))) @ V.T
    return A / (A @ pair.d)[:, None]
