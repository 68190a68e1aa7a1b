"""Every trade-off between the worst-case accuracies of two classes, from one eigendecomposition.

With V'(Σx + Σy)V = I, V'Σx V = diag(l) and c = V'd the optimal hyperplanes are a = V (c/w), w = r l + (1 - l), one for each r
in (0, ∞), and the whole curve is

    κ(α) = r √(Σ c² l / w²),     κ(β) = √(Σ c² (1 - l) / w²):

κ(α) rises with r and κ(β) falls. MPM is the point where they are equal, BMPM the point where κ(β) = κ(γ). Each is the root of
a monotone function of log r, found by Newton's method inside a bracket.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mmc.methods.numerics.kernels import Array
from mmc.methods.solution import NotConverged

LONGEST = 4.0  # step in log r while the root is not bracketed


class Curve:
    """The trade-offs as a function of r, however they are computed."""

    tol: ClassVar[float]

    def at_r(self, r: Array) -> tuple[Array, Array, Array, Array]:
        """Return κ(α), its slope d log κ(α) / d log r, κ(β) and its slope, at every r."""
        raise NotImplementedError

    def balanced(self, nu: tuple[float, float] = (0.0, 0.0)) -> tuple[Array, int]:
        """Return the r of the MPM, κ(α) - νx = κ(β) - νy, and the Newton steps taken."""
        more_a, more_b = max(nu[1] - nu[0], 0.0), max(nu[0] - nu[1], 0.0)

        def difference(r: Array) -> tuple[Array, Array]:
            a, slope_a, b, slope_b = self.at_r(r)
            a_share, b_share = a / (a + more_a), b / (b + more_b)
            return np.log((b + more_b) / (a + more_a)), b_share * slope_b - a_share * slope_a

        return falling_roots(difference, 1, self.tol)

    def at(self, kappas: Array) -> tuple[Array, int]:
        """Return the r at which κ(β) is each of ``kappas`` (0 < κ < the largest), and the Newton steps taken."""

        def excess(r: Array) -> tuple[Array, Array]:
            _, _, b, slope_b = self.at_r(r)
            return np.log(b / kappas), slope_b

        return falling_roots(excess, len(kappas), self.tol)


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

    @property
    def mirrored(self) -> TradeOff:
        """The same curve with the classes exchanged."""
        return TradeOff(1 - self.ell, self.c2)

    def beside(self, kappa: float) -> float:
        """Return the largest κ(α) where κ(β) is at least ``kappa``; 0 if it cannot be."""
        best_pos, best_neg = self.ends
        if kappa == 0:
            return best_pos
        if kappa >= best_neg * (1 - 1e-12):  # closer to the edge than rounding can tell
            return 0.0
        return float(self.kappas(self.at(np.array([kappa]))[0])[0][0])

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


def falling_roots(
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
