"""Every trade-off between the worst-case accuracies of two classes, from one eigendecomposition.

Huang et al., (9)-(12), with d = x̄ - ȳ and κ(p) = √(p / (1 - p)):

    max κ(α)   s.t.   1 ≥ κ(α) √(a'Σx a) + κ(β) √(a'Σy a),   a'd = 1,   κ(β) ≥ κ(γ).

At the optimum (9) and (11) are active (Lemma 2), and stationarity in a says (r Σx + Σy) a ∝ d for some r in (0, ∞).
With V'(Σx + Σy)V = I, V'Σx V = diag(l) and c = V'd this is a = V (c/w), w = r l + (1 - l), and the whole curve is

    κ(α) = r √(Σ c² l / w²),     κ(β) = √(Σ c² (1 - l) / w²):

κ(α) rises with r and κ(β) falls. MPM is the point where they are equal, BMPM the point where κ(β) = κ(γ). Each
is the root of a monotone function of log r, found by Newton's method inside a bracket at O(n) a step.

For a single level the decomposition can be spared: with z = (r Σx + Σy)⁻¹ d, κ(α) = r √(z'Σx z) and κ(β) = √(z'Σy z),
one Cholesky factorisation a step and four to six steps. That is the option ``factor="cholesky"``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy
from scipy.linalg import cho_factor, cho_solve, eigh

from mmc.methods.numerics.kernels import Array
from mmc.methods.solution import NotConverged

VERSION = f"scipy {scipy.__version__}"
LONGEST = 4.0  # step in log r while the root is not bracketed


class Curve:
    """The trade-offs as a function of r, however they are computed."""

    tol: ClassVar[float]

    def at_r(self, r: Array) -> tuple[Array, Array, Array, Array]:
        """Return κ(α), its slope d log κ(α) / d log r, κ(β) and its slope, at every r."""
        raise NotImplementedError

    def balanced(self) -> tuple[Array, int]:
        """Return the r of the MPM, κ(α) = κ(β), and the Newton steps taken."""

        def difference(r: Array) -> tuple[Array, Array]:
            a, slope_a, b, slope_b = self.at_r(r)
            return np.log(b / a), slope_b - slope_a

        return _root(difference, 1, self.tol)

    def at(self, kappas: Array) -> tuple[Array, int]:
        """Return the r at which κ(β) is each of ``kappas`` (0 < κ < the largest), and the Newton steps taken."""

        def excess(r: Array) -> tuple[Array, Array]:
            _, _, b, slope_b = self.at_r(r)
            return np.log(b / kappas), slope_b

        return _root(excess, len(kappas), self.tol)


@dataclass(frozen=True)
class TradeOff(Curve):
    """The curve from the eigenvalues l (``ell``) and the squares c² alone."""

    ell: Array
    c2: Array
    tol: ClassVar[float] = 1e-14

    @property
    def ends(self) -> tuple[float, float]:
        """Return the largest κ(α), where κ(β) = 0, and the largest κ(β), where κ(α) = 0."""
        return float(np.sqrt(np.sum(self.c2 / self.ell))), float(np.sqrt(np.sum(self.c2 / (1 - self.ell))))

    def kappas(self, r: Array) -> tuple[Array, Array]:
        """Return κ(α) and κ(β) at every r."""
        return self.at_r(r)[0], self.at_r(r)[2]

    def at_r(self, r: Array) -> tuple[Array, Array, Array, Array]:
        w = 1 / (r[:, None] * self.ell + (1 - self.ell))
        w2 = w * w
        w3 = w2 * w
        x, y = self.c2 * self.ell, self.c2 * (1 - self.ell)
        x2, y2 = w2 @ x, w2 @ y
        return r * np.sqrt(x2), w3 @ (x * (1 - self.ell)) / x2, np.sqrt(y2), -r * (w3 @ (y * self.ell)) / y2


@dataclass(frozen=True)
class Pair:
    """The two classes as the problem sees them: d = x̄ - ȳ and the covariances, both positive definite."""

    d: Array
    Sx: Array
    Sy: Array

    @cached_property
    def spectrum(self) -> tuple[TradeOff, Array, Array]:
        """Return the curve, V and c."""
        ell, V = eigh(self.Sx, self.Sx + self.Sy)
        c = V.T @ self.d
        tiny = np.finfo(float).eps
        return TradeOff(np.clip(ell, tiny, 1 - tiny), c * c), V, c

    @cached_property
    def factors(self) -> tuple[Any, Any]:
        """Return the Cholesky factors of Σx and Σy."""
        return cho_factor(self.Sx), cho_factor(self.Sy)

    @cached_property
    def start(self) -> Array:
        """Return the a that is best for y alone: it satisfies the constraints of every feasible κ(γ)."""
        a = cho_solve(self.factors[1], self.d)
        return a / (a @ self.d)

    @cached_property
    def largest(self) -> float:
        """Return the κ(β) that ``start`` reaches, where κ(α) = 0: a κ(γ) is feasible if it is smaller."""
        return 1 / self.spreads(self.start)[1]

    def spreads(self, a: Array) -> tuple[float, float]:
        """Return √(a'Σx a) and √(a'Σy a)."""
        return float(np.sqrt(a @ self.Sx @ a)), float(np.sqrt(a @ self.Sy @ a))


@dataclass(frozen=True)
class Minimax:
    """The problem (12) at κ(β) = ``kappa``; without it κ(β) = κ(α), the MPM."""

    pair: Pair
    kappa: float | None = None


@dataclass(frozen=True)
class Direction:
    """A solver's answer: a with a'd = 1."""

    a: Array
    iterations: int
    version: str


@dataclass(frozen=True)
class Factored(Curve):
    """The curve at one r at a time, each from a Cholesky factorisation of r Σx + Σy."""

    pair: Pair
    tol: ClassVar[float] = 1e-9  # rounding allows no more; the error of κ(α) is its square

    def direction(self, r: Array) -> tuple[Any, Array]:
        """Return the factorisation at r and z."""
        factor = cho_factor(r[0] * self.pair.Sx + self.pair.Sy, lower=True, overwrite_a=True, check_finite=False)
        return factor, cho_solve(factor, self.pair.d, check_finite=False)

    def at_r(self, r: Array) -> tuple[Array, Array, Array, Array]:
        factor, z = self.direction(r)
        x, y = self.pair.Sx @ z, self.pair.Sy @ z
        change = r * cho_solve(factor, x, check_finite=False)  # -dz / d log r
        x2, y2 = z @ x, z @ y
        return r * np.sqrt(x2), 1 - x @ change / np.array([x2]), np.sqrt([y2]), -(y @ change) / np.array([y2])


def solve(problem: Minimax, *, factor: str = "eigen") -> Direction:
    """Return the optimal a.

    ``factor="eigen"`` keeps the decomposition in ``problem.pair``, where every further level finds it;
    ``factor="cholesky"`` is faster for one level of a large problem, and keeps nothing.
    """
    if factor not in ("eigen", "cholesky"):
        raise ValueError(f"solver 'frontier' has no factor {factor!r}: valid: eigen, cholesky")
    pair = problem.pair
    curve = pair.spectrum[0] if factor == "eigen" else Factored(pair)
    r, steps = curve.balanced() if problem.kappa is None else curve.at(np.array([problem.kappa]))
    a = _directions(pair, r)[0] if factor == "eigen" else Factored(pair).direction(r)[1]
    return Direction(a / (a @ pair.d), steps, VERSION)


def solve_levels(pair: Pair, kappas: Array) -> Array:
    """Return the optimal a of every κ(γ) as rows, all found together."""
    return _directions(pair, pair.spectrum[0].at(kappas)[0])


def _directions(pair: Pair, r: Array) -> Array:
    curve, V, c = pair.spectrum
    A = (c / (r[:, None] * curve.ell + (1 - curve.ell))) @ V.T
    return A / (A @ pair.d)[:, None]


def _root(
    function: Callable[[Array], tuple[Array, Array]], count: int, tol: float, max_iter: int = 100
) -> tuple[Array, int]:
    """Return the roots, element by element, of falling functions of log r that are given with their slopes."""
    q = np.zeros(count)
    low, high = np.full(count, -np.inf), np.full(count, np.inf)
    for step in range(1, max_iter + 1):
        value, slope = function(np.exp(q))
        low, high = np.where(value >= 0, q, low), np.where(value <= 0, q, high)
        settled = (np.abs(value) <= tol) | (high - low <= 1e-15 * np.maximum(1, np.abs(q)))
        if settled.all():
            return np.exp(q), step
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = q - value / slope
        wide = ~np.isfinite(high - low)  # one end still unknown: go there, but not too far
        far = q + np.sign(value) * LONGEST
        inside = (newton >= low) & (newton <= high) & (~wide | (np.abs(newton - q) <= LONGEST))
        with np.errstate(invalid="ignore"):
            fallback = np.where(wide, far, (low + high) / 2)
        q = np.where(settled, q, np.where(inside, newton, fallback))
    raise NotConverged("the search for the trade-off did not settle", max_iter, float(np.abs(value).max()))
