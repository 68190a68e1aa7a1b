"""The worst case of two classes of which only the moments are known: the problem of the minimax machines.

Huang et al., (9)-(12), with d = x̄ - ȳ and κ(p) = √(p / (1 - p)):

    max κ(α)   s.t.   1 ≥ κ(α) √(a'Σx a) + κ(β) √(a'Σy a),   a'd = 1,   κ(β) ≥ κ(γ).

The certificate is a distance. Every point of y's ellipsoid of size κ(γ) shows κ(α) ≤ its Mahalanobis distance from x̄,
because a hyperplane cannot keep the one and the other apart. The point where that ellipsoid touches the hyperplane
of any a, ȳ + κ(γ) Σy a / √(a'Σy a), makes the two sides equal at the optimum and differ by O(error²) near it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.linalg import cho_solve

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer, Certificate, Problem
from mmc.methods.problems.moment_pair import MomentPair
from mmc.methods.solution import InfeasibleProblem

Directions = Answer[Array, Array]  # a with a'd = 1, and the direction whose touching point is the dual point


@dataclass(frozen=True)
class Minimax(Problem[Directions]):
    """The problem (12) at κ(β) = ``kappa``; without it κ(β) = κ(α), the MPM."""

    pair: MomentPair
    kappa: float | None = None

    @classmethod
    def at_level(cls, pair: MomentPair, level: float) -> Minimax:
        """Return the problem whose β must be at least ``level``; raise InfeasibleProblem if no hyperplane keeps it."""
        kappa = sqrt(level / (1 - level))
        if kappa >= pair.largest * (1 - 1e-12):  # closer to the edge than rounding can tell
            largest = pair.largest**2 / (1 + pair.largest**2)
            raise InfeasibleProblem(
                f"min_accuracy_neg={level} cannot be kept on these training moments: the largest feasible level is "
                f"{largest:.9f}, and there nothing is left for the positive class",
                level - largest,
            )
        return cls(pair, kappa)

    @property
    def level(self) -> float:
        """Return the κ(β) to keep, of the MPM too: there it is that of the curve of all trade-offs."""
        if self.kappa is not None:
            return self.kappa
        curve = self.pair.spectrum[0]
        return float(curve.kappas(curve.balanced()[0])[1][0])


@dataclass(frozen=True)
class WorstCase(Certificate):
    """κ(α), the ``objective``, and κ(β) of a hyperplane, and √(a'Σy a)."""

    kappa_neg: float
    spread_neg: float


def certify(problem: Minimax, answer: Directions) -> WorstCase:
    """Return what any a with a'd = 1 promises, and how much more the best one could: ``gap``, relative."""
    pair, a = problem.pair, answer.primal
    y = pair.Sy @ a
    sx, sy = float(np.sqrt(a @ pair.Sx @ a)), float(np.sqrt(a @ y))
    kappa_neg = 1 / (sx + sy) if problem.kappa is None else problem.kappa
    kappa_pos = (1 - kappa_neg * sy) / sx
    touching = y / sy
    if answer.dual is not a:
        y = pair.Sy @ answer.dual
        touching = y / np.sqrt(answer.dual @ y)
    to_mean = pair.d - kappa_neg * touching
    upper = np.sqrt(to_mean @ cho_solve(pair.factors[0], to_mean))
    return WorstCase(kappa_pos, float(abs(upper / kappa_pos - 1)), kappa_neg, sy)
