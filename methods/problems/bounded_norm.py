"""The SVM with a bound on ‖w‖, and so with a margin of at least 1/W on either side (Nath & Bhattacharyya, (2.4)).

    min_{w,b,ξ≥0}  Σ_j c_j ξ_j     s.t.  y_j (⟨w, x_j⟩ + b) ≥ 1 − ξ_j,  ‖w‖ ≤ W

has the dual

    max_a  Σ_j a_j − W ‖Σ_j a_j y_j x_j‖ ,    0 ≤ a_j ≤ c_j,  Σ_j a_j y_j = 0.

For λ > 0 the SVM (2.11) with C = c/λ is a Lagrangian of it: λ times its multipliers α are a dual point, and its w is optimal if
‖w‖ = W. The paper says of (2.6) that "the parameters C and W are related": this is how. ‖w‖ falls as λ grows. Where no λ gives a
norm as large as W, the bound does not bind, and the gap λ‖w‖(W − ‖w‖) vanishes with λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer, Problem
from mmc.methods.problems.bracket import Bracket
from mmc.methods.problems.delivered import HARD, Delivered, Verdict, above
from mmc.methods.problems.hinges import Machine, MachineAnswer, Multipliers, SvmProblem


@dataclass(frozen=True)
class Scaled:
    """A dual point: ``times`` (λ) multiplies the multipliers of an SVM. ``cost`` times c are the costs of the SVM that has w."""

    svm: Multipliers
    times: float
    cost: float


BoundedAnswer = Answer[Machine, Scaled]


@dataclass(frozen=True)
class BoundedNorm(Problem[BoundedAnswer]):
    """Gram matrix K, labels ±1, the cost c_j > 0 of every point, and the largest norm W."""

    K: Array | LazyGram
    sign: Array
    cost: Array
    largest: float

    def svm(self, times: float) -> SvmProblem:
        """Return the SVM with C = c/λ."""
        return SvmProblem(self.K, self.sign, self.cost / times)

    def points(self, found: MachineAnswer, times: float) -> tuple[Machine, Scaled]:
        """Return the points of an SVM's answer; a w that is too long is shortened."""
        machine, norm = found.primal, self.norm(found)
        shorter = min(1.0, self.largest / norm) if norm > 0 else 1.0
        values = shorter * machine.values
        bias = machine.b if shorter == 1.0 else self.svm(1.0).hinges.least_bias(values)
        return Machine(shorter * machine.coef, bias, values), Scaled(found.dual, times, shorter / times)

    @staticmethod
    def norm(found: MachineAnswer) -> float:
        """Return ‖w‖ of an SVM's answer."""
        return sqrt(max(found.dual.square, 0.0))

    def certify(self, primal: Machine, dual: Scaled) -> Bracket:
        """Return what the two points prove."""
        loss = float(self.cost @ np.maximum(1 - self.sign * (primal.values + primal.b), 0.0))
        return Bracket.between(loss, self.bound(dual), self._rounding(dual), self._least)

    def bound(self, dual: Scaled) -> float:
        """Return the value of a dual point."""
        return dual.times * (float(dual.svm.a.sum()) - self.largest * sqrt(max(dual.svm.square, 0.0)))

    def judge(self, rule: Delivered, dual: Scaled) -> Verdict:
        """Return what the delivered rule is worth beside the dual point."""
        loss, more = rule.charged(1 - self.sign * rule.values, self.cost)
        loss = loss if sqrt(rule.norm2) <= self.largest * (1 + HARD) else inf
        return above(loss, self.bound(dual), self._rounding(dual) + more, self._least)

    def _rounding(self, dual: Scaled) -> float:
        hinges = self.svm(dual.times).hinges
        return dual.times * hinges.rounding(hinges.coef(dual.svm.a))

    @property
    def _least(self) -> float:
        """What the better constant costs: the size that a gap refers to where the points are separable."""
        return 2 * min(float(self.cost[self.sign > 0].sum()), float(self.cost[self.sign < 0].sum()))
