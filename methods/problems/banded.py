"""SVMs whose decision values are kept in a band.

The banded SVM (Pendse (2.3)) charges a decision value below ρ1 and one above ρ2:

    min_{w,b}  ½‖w‖² + C1 Σ [ρ1 − y_i f(x_i)]_+ + C2 Σ [y_i f(x_i) − ρ2]_+ ,       f(x) = ⟨w, x⟩ + b.

Its dual (3.14), with α for the first sum and θ for the second, B = yy'∘K:

    max  ρ1 1'α − ρ2 1'θ − ½ (α − θ)'B(α − θ)     s.t.  0 ≤ α ≤ C1,  0 ≤ θ ≤ C2,  y'(α − θ) = 0.

The relative margin machine (Gu & Guo (13), with slacks on the margin) is ρ1 = 1, ρ2 = B, C2 = ∞: y_i f(x_i) ≤ B is
hard, and w = 0 always satisfies it. As in (13), only y f is bounded: a point on the wrong side may be farther away than
B, at the price of its slack.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems.bracket import Bracket
from mmc.methods.problems.delivered import HARD, Delivered, Verdict, above
from mmc.methods.problems.hinges import HingeProblem, Hinges, Machine, Multipliers

_HARD = 1e-9  # by how much rounding may exceed the hard bound, relative


@dataclass(frozen=True)
class BandedProblem(HingeProblem):
    """The problem of the module: Gram matrix, labels ±1, and four numbers; C2 may be infinite. Multipliers are a = (α, θ).

    ``weight`` multiplies both costs of a point; without it all weigh 1.
    """

    K: Array | LazyGram
    sign: Array
    C1: float
    C2: float
    rho1: float
    rho2: float
    weight: Array | None = None

    @cached_property
    def costs(self) -> tuple[Array, Array]:
        """Return C1 and C2 of every point."""
        weight = np.ones(len(self.sign)) if self.weight is None else self.weight
        return self.C1 * weight, self.C2 * weight

    @cached_property
    def largest_theta(self) -> Array:
        """Return C2, or what no θ can exceed: the dual objective is 0 at 0, so that ρ2 1'θ ≤ ρ1 1'α ≤ ρ1 Σ C1."""
        below, above = self.costs
        return np.minimum(above, self.rho1 / self.rho2 * float(below.sum()))

    @cached_property
    def hinges(self) -> Hinges:
        """Return the problem with one hinge for every α, then one for every θ."""
        y, n = self.sign, len(self.sign)
        return Hinges(
            self.K,
            np.tile(np.arange(n), 2),
            np.concatenate([y, -y]),
            np.concatenate([self.rho1 * y, self.rho2 * y]),
            np.concatenate([self.costs[0], self.largest_theta]),
        )

    def points(self, a: Array, interior: bool = False) -> tuple[Machine, Multipliers]:
        """Return the points of a = (α, θ), made feasible: α_i θ_i = 0, since lowering both gains ρ2 − ρ1.

        Where the upper bound is hard, rounding may have left f above it: then f is shrunk.
        """
        gamma = a[: len(self.sign)] - a[len(self.sign) :]
        a = self.hinges.feasible(np.concatenate([np.maximum(gamma, 0.0), np.maximum(-gamma, 0.0)]))
        primal, dual = self.hinges.points(a, interior)
        if np.isinf(self.C2):
            shrink = min(1.0, self.rho2 / max(np.max(self._margins(primal)), self.rho2))
            primal = Machine(shrink * primal.coef, shrink * primal.b, shrink * primal.values)
        return primal, dual

    def certify(self, primal: Machine, dual: Multipliers) -> Bracket:
        """Return what the two points prove; the objective is ∞ if a hard bound is violated."""
        bracket = self.hinges.certify(primal, dual)
        if not np.isinf(self.C2):
            return bracket
        margins = self._margins(primal)
        if np.max(margins) > self.rho2 * (1 + _HARD):
            return Bracket.between(np.inf, bracket.bound)
        loss = self.costs[0] @ np.maximum(self.rho1 - margins, 0.0)
        objective = float(primal.coef @ primal.values / 2 + loss)
        return Bracket.between(objective, bracket.bound, bracket.rounding)

    def judge(self, rule: Delivered, dual: Multipliers) -> Verdict:
        """Return what the delivered rule is worth, with the C2 that was asked for, beside the dual point."""
        margins = self.sign * rule.values
        below = self.hinges.C[: len(margins)]  # C1, for every point
        loss, more = rule.charged(self.rho1 - margins, below)
        above_band = margins - self.rho2
        if np.isfinite(self.C2):
            upper, rounding = rule.charged(above_band, below * (self.C2 / self.C1))
            loss, more = loss + upper, more + rounding
        elif np.max(above_band) > HARD * self.rho2:
            loss = np.inf
        rounding = self.hinges.rounding(self.hinges.coef(dual.a)) + more
        return above(rule.norm2 / 2 + loss, self.hinges.bound(dual), rounding)

    def _margins(self, primal: Machine) -> Array:
        return self.sign * (primal.values + primal.b)
